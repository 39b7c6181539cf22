#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/operator/state_reader.hpp>
#include <weir/flow/view/internal/encoded.hpp>
#include <weir/storage/store.hpp>

namespace weir::flow::view::internal {

/// Where the state of all flows is: the number of the flow, eight bytes, the greatest first, then
/// the key of the entry.
using FlowStateSpace = storage::StateSpace<EncodedKey, EncodedValue>;

EncodedKey flow_state_key(std::uint64_t flow, std::string_view key);
/// A value of the store is never empty: what is empty, or begins with a zero, gets a zero in front.
EncodedValue flow_state_value(std::string_view value);

/// Reads the state of one flow. Whether it waits for the disk is decided for each cycle.
class FlowStateReader final : public operators::StateReader {
 public:
  FlowStateReader(const storage::Store* store, FlowStateSpace space, std::uint64_t flow)
      : store_(store), space_(std::move(space)), flow_(flow) {}

  void set_may_wait(bool may_wait) noexcept { may_wait_ = may_wait; }
  /// What was committed since is seen.
  void refresh() { transaction_.emplace(store_->begin()); }
  void release() noexcept { transaction_.reset(); }

  Result<std::optional<std::string>> get(std::string_view key) override;
  Result<std::vector<Entry>> scan(const Range& range) override;

 private:
  storage::Transaction& transaction() {
    if (!transaction_) refresh();
    return *transaction_;
  }

  const storage::Store* store_;
  FlowStateSpace space_;
  std::uint64_t flow_;
  bool may_wait_ = false;
  std::optional<storage::Transaction> transaction_;
};

}  // namespace weir::flow::view::internal
