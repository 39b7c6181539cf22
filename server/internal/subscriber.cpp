#include <weir/server/internal/subscriber.hpp>

#include <algorithm>
#include <utility>

#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/server/internal/gateway_core.hpp>
#include <weir/server/internal/json_reader.hpp>
#include <weir/server/internal/tracing.hpp>
#include <weir/storage/errc.hpp>

namespace weir::server::internal {
namespace {

constexpr std::size_t heard_bytes = 512;
constexpr std::size_t message_depth_max = 4;
/// Nobody means more.
constexpr std::int64_t grant_max = 1'000'000'000;
/// For the other side to close too.
constexpr Duration close_time = std::chrono::seconds(2);
/// What one subscriber that is behind reads at once.
constexpr storage::ReadLimits behind_limits{.records_max = 256, .bytes_max = std::size_t{64} << 10};

/// Closes of our own have the status of the problem behind them.
std::uint16_t close_code_of(const Problem& problem) noexcept {
  return static_cast<std::uint16_t>(4000 + problem.status);
}

Outcome<std::uint64_t> read_grant(const JsonReader& json) {
  if (auto problem = json.allow_only({"type", "messages"})) return *std::move(problem);
  auto type = json.required("type");
  if (!type) return std::move(type).error();
  auto name = type->text();
  if (!name) return std::move(name).error();
  if (*name != "credit")
    return type->refuse("invalid_value", "a subscriber sends messages of the type 'credit'");
  auto messages = json.required("messages");
  if (!messages) return std::move(messages).error();
  const JsonReader::Scalar scalar = messages->scalar();
  const auto* number = std::get_if<std::int64_t>(&scalar);
  if (!number || *number < 1 || *number > grant_max)
    return messages->refuse("out_of_range", "a number of messages from 1 to 1,000,000,000");
  return static_cast<std::uint64_t>(*number);
}

}  // namespace

Subscriber::Subscriber(Host host, NewSubscription wanted)
    : host_(std::move(host)),
      limits_(host_.core->options.limits),
      followed_{.store = host_.core->store->identity(), .relation = wanted.relation},
      seat_(std::move(wanted.seat)),
      position_(wanted.position),
      snapshot_(std::move(wanted.snapshot)),
      credit_(wanted.credit),
      tells_position_(!snapshot_),
      begun_(now()),
      heard_(begun_),
      said_(heard_),
      frames_(limits_.message_bytes_max) {
  host_.core->subscriptions.fetch_add(1, std::memory_order_relaxed);
}

Subscriber::~Subscriber() {
  host_.core->subscriptions.fetch_sub(1, std::memory_order_relaxed);
  if (waits_for_news_) seat_.feed().forget(host_.actor);
}

TimePoint Subscriber::now() const { return host_.core->system().now(); }

Task<> Subscriber::run(std::string input) {
  TaskScope both;
  both.spawn(receive(std::move(input)));
  both.spawn(send());
  co_await both.join();
}

void Subscriber::on(News) {
  waits_for_news_ = false;
  wake();
}

Task<> Subscriber::receive(std::string input) {
  bool goes_on = take(input);
  input = std::string(heard_bytes, '\0');
  while (goes_on && !is_gone_) {
    const auto count = co_await host_.stream->read(input.data(), input.size());
    if (!count) {
      hang_up();
      break;
    }
    heard_ = now();
    pinged_ = TimePoint::max();
    goes_on = take(std::string_view(input).substr(0, *count));
  }
}

bool Subscriber::take(std::string_view bytes) {
  while (auto incoming = frames_.next(bytes))
    if (!take(*incoming)) return false;
  const Violation* violation = frames_.violation();
  if (violation) close(violation->code, violation->reason);
  return !violation;
}

bool Subscriber::take(const Incoming& incoming) {
  switch (incoming.kind) {
    case Opcode::text: take_text(incoming.payload); break;
    case Opcode::ping:
      // Of several that have not been answered the last one is.
      pong_ = incoming.payload;
      wake();
      break;
    case Opcode::close: close(incoming.code, ""); return false;
    case Opcode::binary: close(close_code::unsupported_data, "messages are text"); return false;
    default: break;
  }
  return true;
}

void Subscriber::take_text(std::string_view text) {
  auto document = JsonDocument::parse(text, message_depth_max);
  if (!document) return end(document.error());
  auto granted = read_grant(document->root());
  if (!granted) return end(granted.error());
  if (credit_) *credit_ = std::min<std::uint64_t>(*credit_ + *granted, grant_max);
  paused_ = TimePoint::max();
  wake();
}

Task<> Subscriber::send() {
  while (co_await send_next()) {
  }
}

Task<bool> Subscriber::send_next() {
  if (is_gone_) co_return false;
  if (pong_ || pings_ || ending_) co_return co_await send_control();
  if (has_credit()) {
    if (snapshot_) co_return co_await send_page();
    auto sent = co_await send_changes();
    if (!sent) {
      end(problem_of(sent.error()));
      co_return true;
    }
    if (*sent || ending_ || pong_) co_return true;
  } else if (paused_ == TimePoint::max()) {
    paused_ = now();
  }
  co_return static_cast<bool>(co_await wake_.pop());
}

Task<bool> Subscriber::send_control() {
  std::string bytes;
  if (pong_) append_frame(bytes, Opcode::pong, *std::exchange(pong_, std::nullopt));
  if (std::exchange(pings_, false)) append_frame(bytes, Opcode::ping, "");
  const bool is_last = ending_.has_value();
  if (is_last) {
    if (!ending_->message.empty()) append_frame(bytes, Opcode::text, ending_->message);
    append_close(bytes, ending_->code, ending_->reason);
    close_deadline_ = now() + close_time;
  }
  co_return co_await write(bytes) && !is_last;
}

Task<bool> Subscriber::send_page() {
  std::string text;
  SnapshotRows& rows = *snapshot_;
  rows.next_row = print_snapshot_page(text, {.followed = &followed_,
                                             .version = position_.version,
                                             .rows = &rows.batch,
                                             .first_row = rows.next_row,
                                             .ends_with_rows = rows.ends_with_batch()});
  spend(1);
  const bool is_done = rows.next_row == rows.batch.size() && rows.ends_with_batch();
  if (is_done) told_ = position_.version;
  if (!co_await write_text(text)) co_return false;
  if (is_done) {
    pin_ = std::move(rows.of);
    snapshot_.reset();
  } else if (rows.next_row == rows.batch.size()) {
    auto batch = co_await rows.scan.next(SnapshotRows::batch_rows);
    if (!batch) {
      end(problem_of(batch.error()));
      co_return true;
    }
    rows.batch = *std::move(batch);
    rows.next_row = 0;
  }
  co_await yield();
  co_return true;
}

Task<Result<bool>> Subscriber::send_changes() {
  Feed::Found found = seat_.feed().find(position_, waits_for_news_ ? nullptr : &host_.actor);
  if (found.error) co_return *std::move(found.error);
  if (found.is_behind) {
    if (!unsent_) {
      WEIR_CO_TRY(chunk, co_await read_log());
      unsent_ = std::move(chunk);
    }
    WEIR_CO_TRY(sent, co_await send_chunk(unsent_));
    if (position_ >= unsent_->upto) unsent_.reset();
    co_return sent;
  }
  pin_.reset();
  reader_.reset();
  unsent_.reset();
  if (found.chunk) co_return co_await send_chunk(std::move(found.chunk));
  waits_for_news_ = true;
  position_ = found.upto;
  if (!std::exchange(tells_position_, false) || position_.part != Position::whole) co_return false;
  told_ = position_.version;
  spend(1);
  static_cast<void>(co_await write_text(print_position(followed_, position_.version)));
  co_return true;
}

/// What the feed has no more.
Task<Result<ChunkRef>> Subscriber::read_log() {
  if (!reader_) {
    WEIR_CO_TRY(subscription,
                host_.core->database->subscribe(
                    followed_.relation, {.after = position_.after(), .limits = behind_limits}));
    reader_.emplace(followed_, std::move(subscription));
  }
  WEIR_CO_TRY(chunk, co_await reader_->next_if_any());
  // Others want to run too: a client that takes everything at once makes nobody wait.
  co_await yield();
  co_return chunk;
}

Task<Result<bool>> Subscriber::send_chunk(ChunkRef chunk) {
  const std::size_t first = chunk->first_behind(position_);
  std::size_t count = chunk->messages.size() - first;
  if (credit_) count = std::min<std::uint64_t>(count, *credit_);
  const std::size_t end = first + count;
  if (count > 0) {
    const std::size_t begin_byte = first == 0 ? 0 : chunk->messages[first - 1].end;
    const std::size_t end_byte = chunk->messages[end - 1].end;
    spend(count);
    position_ = chunk->messages[end - 1].position;
    told_ = position_.after();
    tells_position_ = false;
    static_cast<void>(
        co_await write(std::string_view(chunk->frames).substr(begin_byte, end_byte - begin_byte)));
  }
  if (end == chunk->messages.size()) position_ = std::max(position_, chunk->upto);
  co_return true;
}

Task<bool> Subscriber::write_text(std::string_view text) {
  std::string bytes;
  append_frame(bytes, Opcode::text, text);
  co_return co_await write(bytes);
}

Task<bool> Subscriber::write(std::string_view bytes) {
  write_deadline_ = now() + limits_.write_time;
  const auto written = co_await host_.stream->write(bytes);
  write_deadline_ = TimePoint::max();
  said_ = now();
  if (!written) hang_up();
  co_return static_cast<bool>(written);
}

void Subscriber::spend(std::uint64_t messages) noexcept {
  if (credit_) *credit_ -= messages;
}

void Subscriber::end(const Problem& problem, std::uint16_t code) {
  if (!ending_) {
    if (!problem.cause.empty()) log_end(*host_.core, followed_.relation.name(), problem.cause);
    ending_ = Ending{.message = print_end(problem.code, problem.detail),
                     .code = code == 0 ? close_code_of(problem) : code,
                     .reason = problem.code};
  }
  wake();
}

void Subscriber::close(std::uint16_t code, std::string_view reason) {
  if (!ending_) ending_ = Ending{.message = "", .code = code, .reason = std::string(reason)};
  wake();
}

void Subscriber::hang_up() noexcept {
  is_gone_ = true;
  host_.stream->cancel();
  wake();
}

void Subscriber::drain() {
  end({.status = 503, .code = "stopping", .detail = "the server stops; go on with the last token"},
      close_code::going_away);
}

void Subscriber::check_time() {
  const TimePoint time = now();
  if (time >= write_deadline_ || time >= close_deadline_) return hang_up();
  if (ending_) return;
  check_peer(time);
  check_place(time);
}

void Subscriber::check_peer(TimePoint time) {
  if (pinged_ != TimePoint::max()) {
    if (time - pinged_ >= limits_.ping_time) hang_up();
  } else if (time - heard_ >= limits_.ping_time) {
    pinged_ = time;
    pings_ = true;
    wake();
  }
}

void Subscriber::check_place(TimePoint time) {
  // An old version is not held for long for who does not take what is there.
  const bool is_paused = paused_ != TimePoint::max() && time - paused_ >= limits_.write_time;
  const bool is_too_slow = is_paused || time - begun_ >= limits_.snapshot_time;
  if (is_too_slow) pin_.reset();
  if (snapshot_) {
    if (is_too_slow) {
      end({.status = 408,
           .code = "too_slow",
           .detail = "the rows of a snapshot are not kept for who does not take them"});
    }
    return;
  }
  if (!has_credit()) {
    const bool is_behind = seat_.feed().find(position_, nullptr).is_behind;
    const storage::Version oldest = host_.core->store->log().oldest();
    if (is_behind && oldest > position_.after().next())
      end(problem_of(Error(storage::Errc::overtaken, "'" + followed_.relation.name() + "'")));
  } else if (time - said_ >= limits_.ping_time) {
    tells_position_ = seat_.feed().find(position_, nullptr).upto.version > told_;
    if (tells_position_) wake();
  }
}

}  // namespace weir::server::internal
