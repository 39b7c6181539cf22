#include <weir/server/internal/feed.hpp>

#include <algorithm>
#include <utility>

#include <weir/runtime/sleep.hpp>
#include <weir/server/internal/gateway_core.hpp>

namespace weir::server::internal {
namespace {

/// Of all chunks of a feed.
constexpr std::size_t feed_bytes_max = std::size_t{1} << 20;
constexpr Duration gather_time_each = std::chrono::microseconds(50);
constexpr Duration gather_time_min = std::chrono::milliseconds(1);
constexpr Duration gather_time_max = std::chrono::milliseconds(50);

void tell(const std::vector<ActorRef<News>>& followers) {
  for (const ActorRef<News>& follower : followers) static_cast<void>(follower.send<News>());
}

}  // namespace

Feed::Found Feed::find(Position position, const ActorRef<News>* follower) {
  const std::scoped_lock hold(mutex_);
  if (position < begin_) return {.is_behind = true, .error = {}};
  const auto chunk = std::ranges::upper_bound(
      chunks_, position, {}, [](const ChunkRef& candidate) { return candidate->upto; });
  if (chunk != chunks_.end()) return {.chunk = *chunk, .error = {}};
  if (end_) return {.error = end_};
  if (follower) waiting_.push_back(*follower);
  return {.error = {}, .upto = std::max(position, upto_)};
}

void Feed::publish(ChunkRef chunk) {
  std::vector<ActorRef<News>> followers;
  {
    const std::scoped_lock hold(mutex_);
    upto_ = chunk->upto;
    if (chunk->messages.empty()) return;
    bytes_ += chunk->frames.size();
    chunks_.push_back(std::move(chunk));
    while (bytes_ > feed_bytes_max && chunks_.size() > 1) {
      bytes_ -= chunks_.front()->frames.size();
      begin_ = chunks_.front()->upto;
      chunks_.pop_front();
    }
    followers.swap(waiting_);
  }
  tell(followers);
}

void Feed::end(Error reason) {
  std::vector<ActorRef<News>> followers;
  {
    const std::scoped_lock hold(mutex_);
    end_ = std::move(reason);
    followers.swap(waiting_);
  }
  tell(followers);
}

void Feed::forget(const ActorRef<News>& follower) {
  const std::scoped_lock hold(mutex_);
  std::erase(waiting_, follower);
}

bool Feed::has_ended() const {
  const std::scoped_lock hold(mutex_);
  return end_.has_value();
}

Feeder::Feeder(std::shared_ptr<GatewayCore> core, std::shared_ptr<Feed> feed, ChangeReader reader,
               flow::view::Snapshot pin)
    : core_(std::move(core)),
      feed_(std::move(feed)),
      reader_(std::move(reader)),
      pin_(std::move(pin)) {}

Feeder::~Feeder() { core_->feeds.note_end(); }

void Feeder::on_start() { tasks_.spawn(follow()); }

Task<> Feeder::follow() {
  const storage::ChangeLog log = core_->store->log();
  for (;;) {
    auto chunk = co_await read();
    if (!chunk) {
      feed_->end(std::move(chunk).error());
      co_return;
    }
    const bool has_messages = !(*chunk)->messages.empty();
    feed_->publish(*std::move(chunk));
    if (!co_await sleep_for(gather_time(has_messages))) co_return;
    if (has_messages) continue;
    if (auto newest = co_await log.wait_past(reader_.seen()); !newest) {
      feed_->end(std::move(newest).error());
      co_return;
    }
  }
}

Task<Result<ChunkRef>> Feeder::read() {
  if (!ahead_) ahead_ = core_->database->read();
  auto chunk = co_await reader_.next_if_any();
  if (reader_.seen() >= ahead_->version()) {
    pin_ = *std::move(ahead_);
    ahead_.reset();
  }
  co_return chunk;
}

/// Each who follows has to be woken and to write: with many of them changes wait for each other.
Duration Feeder::gather_time(bool has_messages) const {
  if (!has_messages) return gather_time_min;
  const auto seats = static_cast<std::int64_t>(core_->feeds.seats_at(feed_.get()));
  return std::clamp<Duration>(gather_time_each * seats, gather_time_min, gather_time_max);
}

Seat& Seat::operator=(Seat&& other) noexcept {
  Seat moved(std::move(other));
  std::swap(feeds_, moved.feeds_);
  std::swap(feed_, moved.feed_);
  return *this;
}

Seat::~Seat() {
  if (feed_) feeds_->leave(feed_.get());
}

Result<Seat> Feeds::join(const std::shared_ptr<GatewayCore>& core,
                         const flow::view::Relation& relation) {
  const std::scoped_lock hold(mutex_);
  const auto found = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return entry.relation.shared_info() == relation.shared_info() && !entry.feed->has_ended();
  });
  if (found != entries_.end()) {
    ++found->seats;
    return Seat(this, found->feed);
  }
  flow::view::Snapshot pin = core->database->read();
  auto subscription = core->database->subscribe(relation, {.after = pin.version()});
  if (!subscription) return std::move(subscription).error();
  auto feed = std::make_shared<Feed>(Position{pin.version()});
  ++begun_;
  ChangeReader reader({.store = core->store->identity(), .relation = relation},
                      *std::move(subscription));
  auto feeder = core->system().spawn<Feeder>(SpawnOptions{.name = "feeder"}, core, feed,
                                             std::move(reader), std::move(pin));
  entries_.push_back({.feed = feed, .relation = relation, .feeder = feeder, .seats = 1});
  return Seat(this, std::move(feed));
}

void Feeds::leave(const Feed* feed) noexcept {
  ActorRef<> feeder;
  {
    const std::scoped_lock hold(mutex_);
    const auto found = std::ranges::find(entries_, feed, [](const Entry& entry) {
      return static_cast<const Feed*>(entry.feed.get());
    });
    if (--found->seats > 0) return;
    feeder = found->feeder;
    entries_.erase(found);
  }
  feeder.stop();
}

std::size_t Feeds::seats() const {
  const std::scoped_lock hold(mutex_);
  std::size_t all = 0;
  for (const Entry& entry : entries_) all += entry.seats;
  return all;
}

std::size_t Feeds::seats_at(const Feed* feed) const {
  const std::scoped_lock hold(mutex_);
  for (const Entry& entry : entries_)
    if (entry.feed.get() == feed) return entry.seats;
  return 0;
}

void Feeds::note_end() noexcept { all_ended_.publish(ended_.fetch_add(1) + 1); }

Task<> Feeds::finish() {
  std::uint64_t begun = 0;
  {
    const std::scoped_lock hold(mutex_);
    begun = begun_;
  }
  static_cast<void>(co_await all_ended_.wait_until(begun));
}

}  // namespace weir::server::internal
