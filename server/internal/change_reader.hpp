#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/view/database.hpp>
#include <weir/runtime/task.hpp>
#include <weir/server/internal/problem.hpp>

namespace weir::server::internal {

/// How far a subscriber has come: all up to a version, or some messages of that one.
struct Position {
  static constexpr std::uint32_t whole = std::numeric_limits<std::uint32_t>::max();

  storage::Version version = {};
  std::uint32_t part = whole;

  /// The version behind which to read for what is missing.
  storage::Version after() const noexcept {
    return part == whole ? version : storage::Version{version.number - 1};
  }
  friend auto operator<=>(const Position&, const Position&) = default;
};

/// Messages about changes, in frames as they are sent: one behind the other, made once however many
/// take them.
struct Chunk {
  struct Message {
    Position position;    // of who has taken it
    std::size_t end = 0;  // in `frames`
  };

  /// Those behind `position` begin here.
  std::size_t first_behind(Position position) const noexcept;

  std::string frames = {};
  std::vector<Message> messages = {};
  /// Where all of it has been taken: there may be commits behind the last message that are of
  /// others.
  Position upto = {};
};
using ChunkRef = std::shared_ptr<const Chunk>;

/// What a subscriber follows. Versions are those of one store: after another one was put in its
/// place, as one that was restored, they mean something else.
struct Followed {
  std::uint64_t store;  // its identity
  flow::view::Relation relation;
};

/// Makes messages of what commits do to a table or view. Confined to one actor.
class ChangeReader {
 public:
  ChangeReader(Followed followed, flow::view::Subscription subscription)
      : followed_(std::move(followed)), subscription_(std::move(subscription)) {}

  /// What is in the log already, up to a limit; without messages if there is nothing. Errors are
  /// those of `Subscription`, behind the messages before them.
  Task<Result<ChunkRef>> next_if_any();
  /// Up to here commits have been looked at.
  storage::Version seen() const noexcept { return subscription_.seen(); }

 private:
  void append_part(Chunk& chunk);

  const Followed followed_;
  flow::view::Subscription subscription_;
  std::optional<flow::view::Delta> delta_ = {};  // with rows that are not in a message yet
  std::size_t next_row_ = 0;
  std::uint32_t next_part_ = 0;
  std::string text_ = {};
};

/// Some rows of a table or view as of one version, as the text of a message. The last one has the
/// token to go on from.
struct SnapshotPage {
  const Followed* followed;
  storage::Version version;
  const flow::data::ChangeBatch* rows;
  std::size_t first_row = 0;
  bool ends_with_rows = true;  // there are none behind `rows`
};
/// Gives the row that the next page begins with.
std::size_t print_snapshot_page(std::string& text, const SnapshotPage& page);
/// Where a subscriber is that has got nothing else.
std::string print_position(const Followed& followed, storage::Version version);
std::string print_end(std::string_view code, std::string_view detail);

/// Where a subscriber goes on after a version, as it keeps it:
///
///     w2.<identity of the store>.<id of the table or view>.<version>
std::string print_resume_token(const Followed& followed, storage::Version version);
/// `malformed_resume_token`, or `foreign_resume_token` if it is of another store, table or view.
Outcome<storage::Version> parse_resume_token(const Followed& followed, std::string_view token);

}  // namespace weir::server::internal
