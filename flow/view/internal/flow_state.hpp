#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/operator/state.hpp>
#include <weir/flow/operator/state_reader.hpp>
#include <weir/flow/view/internal/encoded.hpp>
#include <weir/flow/view/internal/relation_info.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::view::internal {

/// A value of the store is never empty: what is empty, or begins with a zero, gets a zero in front.
EncodedValue flow_state_value(std::string_view value);

/// Reads the state of one flow. Whether it waits for the disk is decided for each cycle.
///
/// What the flow has submitted is its state before the store shows it: until then it is kept here.
class FlowStateReader final : public operators::StateReader {
 public:
  FlowStateReader(const storage::Store* store, FlowStateSpace space)
      : store_(store), space_(std::move(space)) {}

  void set_may_wait(bool may_wait) noexcept { may_wait_ = may_wait; }
  /// Writes that were submitted as part of `version`, in order of their keys.
  void remember(storage::Version version, std::vector<operators::State::Write> writes);
  /// The same of rows of the flow's view, by key, for `get_row`.
  using Rows = std::map<std::string, std::optional<EncodedValue>>;
  void remember(storage::Version version, Rows rows);
  /// What the store shows meanwhile need not be remembered any more.
  void refresh();

  Result<std::optional<std::string>> get(std::string_view key) override;
  Result<std::vector<Entry>> scan(const Range& range) override;
  /// A row of the flow's view, as it was committed or submitted.
  Result<std::optional<EncodedValue>> get_row(
      const storage::RowSpace<EncodedKey, EncodedValue>& rows, const EncodedKey& key);

 private:
  using Overlay = std::map<std::string_view, std::optional<std::string_view>>;
  struct Submitted {
    storage::Version version;
    std::vector<operators::State::Write> writes;
  };
  struct SubmittedRows {
    storage::Version version;
    Rows rows;
  };

  const operators::State::Write* find_submitted(std::string_view key) const;
  Overlay submitted_in(const Range& range) const;
  Result<std::optional<Entry>> next(storage::Scan<EncodedKey, EncodedValue>& scan) const;

  const storage::Store* store_;
  FlowStateSpace space_;
  bool may_wait_ = false;
  std::deque<Submitted> submitted_;           // the oldest first
  std::deque<SubmittedRows> submitted_rows_;  // the oldest first
};

}  // namespace weir::flow::view::internal
