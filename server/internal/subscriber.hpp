#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <weir/flow/view/snapshot.hpp>
#include <weir/runtime/channel.hpp>
#include <weir/server/internal/feed.hpp>
#include <weir/server/internal/network.hpp>
#include <weir/server/internal/websocket.hpp>

namespace weir::server::internal {

/// Rows that are sent before the changes behind them.
struct SnapshotRows {
  static constexpr std::size_t batch_rows = 256;

  flow::view::Snapshot of;
  flow::view::RowScan scan;
  flow::data::ChangeBatch batch;
  std::size_t next_row = 0;

  bool ends_with_batch() const noexcept { return batch.size() < batch_rows; }
};

/// What a client subscribes to, and from where on.
struct NewSubscription {
  flow::view::Relation relation;
  Seat seat;
  Position position;
  std::optional<SnapshotRows> snapshot = {};
  /// How many messages it wants until it says more; any number without it.
  std::optional<std::uint64_t> credit = {};
};

/// A subscription over a WebSocket: one task hears the client, one sends.
///
///     snapshot ──> changes of the feed <──> changes of the log, while it is too far behind
///
/// At most one chunk is under way to the client; what it does not take stays in the log. Confined
/// to the actor of its connection.
class Subscriber {
 public:
  struct Host {
    GatewayCore* core;
    Stream* stream;
    ActorRef<News> actor;
  };

  Subscriber(Host host, NewSubscription wanted);
  ~Subscriber();
  Subscriber(const Subscriber&) = delete;
  Subscriber& operator=(const Subscriber&) = delete;

  /// Until both sides are done. `input` has come behind the request.
  Task<> run(std::string input);

  /// Whether more may come of what broke the protocol.
  bool is_unheard() const noexcept { return frames_.violation() != nullptr && !is_gone_; }

  void on(News);
  /// Ends what takes too long; now and then.
  void check_time();
  /// Says good-bye.
  void drain();

 private:
  // How it ends: what is said, and the code of the close.
  struct Ending {
    std::string message;
    std::uint16_t code;
    std::string reason;
  };

  Task<> receive(std::string input);
  /// False if nothing more is to be heard.
  bool take(std::string_view bytes);
  bool take(const Incoming& incoming);
  void take_text(std::string_view text);

  Task<> send();
  /// The next thing to be sent, or waits for something to do. False if nothing is left.
  Task<bool> send_next();
  Task<bool> send_control();
  Task<bool> send_page();
  /// False also if there is nothing to be sent.
  Task<Result<bool>> send_changes();
  Task<Result<bool>> send_chunk(ChunkRef chunk);
  Task<Result<ChunkRef>> read_log();
  Task<bool> write(std::string_view bytes);
  Task<bool> write_text(std::string_view text);

  bool has_credit() const noexcept { return !credit_ || *credit_ > 0; }
  void spend(std::uint64_t messages) noexcept;
  void end(const Problem& problem, std::uint16_t code = 0);
  void close(std::uint16_t code, std::string_view reason);
  void hang_up() noexcept;
  void wake() { static_cast<void>(wake_.try_push({})); }
  TimePoint now() const;
  void check_peer(TimePoint time);
  void check_place(TimePoint time);

  struct Wake {};

  const Host host_;
  const Limits& limits_;
  const Followed followed_;
  Channel<Wake> wake_{1};

  // Where it is.
  Seat seat_;
  Position position_;
  std::optional<SnapshotRows> snapshot_;
  // What came since then is in the log as long as it is held.
  std::optional<flow::view::Snapshot> pin_;
  std::optional<ChangeReader> reader_;  // while it is too far behind for the feed
  ChunkRef unsent_;                     // what it has read
  std::optional<std::uint64_t> credit_;
  storage::Version told_ = {};  // what the client could go on from
  bool tells_position_ = false;
  bool waits_for_news_ = false;

  // What is to be said besides.
  std::optional<std::string> pong_;
  bool pings_ = false;
  std::optional<Ending> ending_;
  bool is_gone_ = false;

  // Since when, or until when; `TimePoint::max()` for never.
  const TimePoint begun_;
  TimePoint heard_;
  TimePoint said_;
  TimePoint pinged_ = TimePoint::max();
  TimePoint paused_ = TimePoint::max();
  TimePoint write_deadline_ = TimePoint::max();
  TimePoint close_deadline_ = TimePoint::max();

  FrameParser frames_;
};

}  // namespace weir::server::internal
