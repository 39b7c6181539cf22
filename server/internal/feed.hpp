#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <weir/runtime/actor.hpp>
#include <weir/runtime/sequence_barrier.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/server/internal/change_reader.hpp>

namespace weir::server::internal {

struct GatewayCore;
class Feeds;

/// There is more in a feed.
struct News {
  static constexpr bool is_notice = true;
};

/// The latest changes of a table or view, read and encoded once for all who follow it:
///
///     log ──Feeder──> [chunk][chunk][chunk] ──> each subscriber, when it has sent what it had
///                     ^ `begin_`            ^ `upto_`
///
/// Who is further behind than `begin_` reads the log by itself until it is not: nothing is kept for
/// it here. Usable from any actor.
class Feed {
 public:
  explicit Feed(Position begin) noexcept : begin_(begin), upto_(begin) {}

  /// What comes behind a position.
  struct Found {
    ChunkRef chunk = {};         // what is next
    bool is_behind = false;      // it is not here any more: read the log
    std::optional<Error> error;  // nothing more will come
    Position upto = {};          // none of these: up to here there is nothing
  };
  /// If there is nothing yet, `follower` is told as soon as there is, once; null for who does not
  /// wait, or does already.
  Found find(Position position, const ActorRef<News>* follower);
  /// Who waits no longer.
  void forget(const ActorRef<News>& follower);
  bool has_ended() const;

  // For the one who fills it.
  void publish(ChunkRef chunk);
  void end(Error reason);

 private:
  mutable std::mutex mutex_;
  // Guarded by it.
  std::deque<ChunkRef> chunks_;
  std::size_t bytes_ = 0;
  Position begin_;
  Position upto_;
  std::optional<Error> end_;
  std::vector<ActorRef<News>> waiting_;
};

/// Reads the log for a feed until it is stopped. What it has not read yet is kept, however little
/// the store keeps otherwise: it pins a version that it has seen, and waits for no client.
class Feeder final : public Actor<> {
 public:
  Feeder(std::shared_ptr<GatewayCore> core, std::shared_ptr<Feed> feed, ChangeReader reader,
         flow::view::Snapshot pin);
  ~Feeder();

  void on_start();

 private:
  Task<> follow();
  Task<Result<ChunkRef>> read();
  Duration gather_time(bool has_messages) const;

  const std::shared_ptr<GatewayCore> core_;
  const std::shared_ptr<Feed> feed_;
  ChangeReader reader_;
  flow::view::Snapshot pin_;                   // not newer than what was read
  std::optional<flow::view::Snapshot> ahead_;  // the next one, when all before it was read
  TaskScope tasks_;                            // last: it uses what stands above
};

/// The right to follow a feed. The last one that goes ends it.
class Seat {
 public:
  Seat() noexcept = default;
  Seat(Seat&& other) noexcept = default;
  Seat& operator=(Seat&& other) noexcept;
  ~Seat();

  Feed& feed() const noexcept { return *feed_; }

 private:
  friend class Feeds;
  Seat(Feeds* feeds, std::shared_ptr<Feed> feed) noexcept : feeds_(feeds), feed_(std::move(feed)) {}

  Feeds* feeds_ = nullptr;
  std::shared_ptr<Feed> feed_;  // null when moved from
};

/// The feeds of a gateway. Usable from any actor; outlives its seats.
class Feeds {
 public:
  /// A seat at the feed of a relation, which begins if there is none.
  Result<Seat> join(const std::shared_ptr<GatewayCore>& core, const flow::view::Relation& relation);
  /// How many seats there are.
  std::size_t seats() const;
  /// Waits until all feeders have ended. Only when nobody joins any more.
  Task<> finish();

 private:
  friend class Feeder;
  friend class Seat;
  struct Entry {
    std::shared_ptr<Feed> feed;
    flow::view::Relation relation;
    ActorRef<> feeder;
    std::size_t seats = 0;
  };

  void leave(const Feed* feed) noexcept;
  std::size_t seats_at(const Feed* feed) const;
  void note_end() noexcept;

  mutable std::mutex mutex_;
  // Guarded by it. A relation that was altered has a feed of its own, and so has one whose feed
  // has ended while somebody has a seat there still.
  std::vector<Entry> entries_;
  std::uint64_t begun_ = 0;

  std::atomic<std::uint64_t> ended_{0};
  SequenceBarrier all_ended_;
};

}  // namespace weir::server::internal
