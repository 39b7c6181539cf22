#include <weir/server/internal/change_reader.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include <weir/runtime/try.hpp>
#include <weir/server/internal/json_value.hpp>
#include <weir/server/internal/websocket.hpp>

namespace weir::server::internal {

namespace data = flow::data;

namespace {

/// A message has about as much, if no row is longer.
constexpr std::size_t message_bytes_about = std::size_t{32} << 10;
/// What subscribers hold while they send it.
constexpr std::size_t chunk_bytes_about = std::size_t{32} << 10;

constexpr std::string_view resume_prefix = "w2";
/// `w1.<id>.<version>`: such a token does not tell of which store it is.
constexpr std::string_view storeless_prefix = "w1.";

/// Rows from `first` on until there are enough; gives the one behind them.
std::size_t write_rows(JsonWriter& json, const std::string& text, const data::ChangeBatch& batch,
                       std::size_t first) {
  json.key("rows").begin_array();
  std::size_t row = first;
  do {
    if (row == batch.size()) break;
    write_row(json, *batch.schema(), batch.row(row));
    ++row;
  } while (text.size() < message_bytes_about);
  json.end_array();
  return row;
}

void write_weights(JsonWriter& json, const data::ChangeBatch& batch, std::size_t first,
                   std::size_t end) {
  json.key("weights").begin_array();
  for (std::size_t row = first; row < end; ++row) json.number(batch.weights()[row]);
  json.end_array();
}

void write_resume_token(JsonWriter& json, const Followed& followed, storage::Version version) {
  json.key("token").text(print_resume_token(followed, version));
}

Problem no_resume_token(std::string_view token) {
  return {.status = 400,
          .code = "malformed_resume_token",
          .detail = "'" + std::string(token) + "' is no token of a subscription"};
}

Problem foreign_resume_token(std::string detail) {
  return {.status = 409, .code = "foreign_resume_token", .detail = std::move(detail)};
}

/// A number up to a point or the end; both are taken off.
std::optional<std::uint64_t> take_number(std::string_view& text) noexcept {
  const std::string_view digits = text.substr(0, text.find('.'));
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc{} || rest != digits.end()) return std::nullopt;
  text.remove_prefix(std::min(digits.size() + 1, text.size()));
  return number;
}

}  // namespace

std::size_t Chunk::first_behind(Position position) const noexcept {
  const auto found = std::ranges::upper_bound(messages, position, {}, &Message::position);
  return static_cast<std::size_t>(found - messages.begin());
}

Task<Result<ChunkRef>> ChangeReader::next_if_any() {
  auto chunk = std::make_shared<Chunk>();
  while (chunk->frames.size() < chunk_bytes_about) {
    if (!delta_) {
      auto delta = co_await subscription_.next_if_any();
      if (!delta) {
        if (chunk->messages.empty()) co_return std::move(delta).error();
        break;  // it fails again
      }
      if (!*delta) break;
      delta_ = **std::move(delta);
      next_row_ = 0;
      next_part_ = 0;
    }
    append_part(*chunk);
  }
  chunk->upto = delta_ ? chunk->messages.back().position : Position{subscription_.seen()};
  co_return ChunkRef(std::move(chunk));
}

void ChangeReader::append_part(Chunk& chunk) {
  const data::ChangeBatch& changes = delta_->changes;
  text_.clear();
  JsonWriter json(&text_);
  json.begin_object().key("type").text("change");
  json.key("version").number(changes.version.number);
  const std::size_t first = next_row_;
  next_row_ = write_rows(json, text_, changes, first);
  write_weights(json, changes, first, next_row_);
  const bool is_done = next_row_ == changes.size();
  json.key("done").boolean(is_done);
  if (is_done) write_resume_token(json, followed_, changes.version);
  json.end_object();
  append_frame(chunk.frames, Opcode::text, text_);
  chunk.messages.push_back({.position = {changes.version, is_done ? Position::whole : next_part_},
                            .end = chunk.frames.size()});
  ++next_part_;
  if (is_done) delta_.reset();
}

std::size_t print_snapshot_page(std::string& text, const SnapshotPage& page) {
  const data::ChangeBatch& batch = *page.rows;
  JsonWriter json(&text);
  json.begin_object().key("type").text("snapshot").key("version").number(page.version.number);
  const std::size_t next = write_rows(json, text, batch, page.first_row);
  if (batch.schema()->primary_key().empty()) write_weights(json, batch, page.first_row, next);
  const bool is_done = page.ends_with_rows && next == batch.size();
  json.key("done").boolean(is_done);
  if (is_done) write_resume_token(json, *page.followed, page.version);
  json.end_object();
  return next;
}

std::string print_position(const Followed& followed, storage::Version version) {
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("type").text("position").key("version").number(version.number);
  write_resume_token(json, followed, version);
  json.end_object();
  return text;
}

std::string print_end(std::string_view code, std::string_view detail) {
  std::string text;
  JsonWriter json(&text);
  json.begin_object().key("type").text("end").key("code").text(code);
  json.key("detail").text(detail).end_object();
  return text;
}

std::string print_resume_token(const Followed& followed, storage::Version version) {
  return std::string(resume_prefix) + '.' + std::to_string(followed.store) + '.' +
         std::to_string(followed.relation.id()) + '.' + to_string(version);
}

Outcome<storage::Version> parse_resume_token(const Followed& followed, std::string_view token) {
  std::string_view rest = token;
  if (rest.starts_with(storeless_prefix)) {
    return foreign_resume_token(
        "the token is of an older server, which did not say of which store"
        " it is: begin again with a snapshot");
  }
  if (!rest.starts_with(resume_prefix)) return no_resume_token(token);
  rest.remove_prefix(resume_prefix.size());
  if (!rest.starts_with('.')) return no_resume_token(token);
  rest.remove_prefix(1);
  const auto store = take_number(rest);
  const auto id = take_number(rest);
  const auto version = take_number(rest);
  if (!store || !id || !version || !rest.empty() ||
      token != std::string(resume_prefix) + '.' + std::to_string(*store) + '.' +
                   std::to_string(*id) + '.' + std::to_string(*version))
    return no_resume_token(token);
  if (*store != followed.store) {
    return foreign_resume_token(
        "the token is of another store, or of this one before it was"
        " restored: begin again with a snapshot");
  }
  if (*id != followed.relation.id()) {
    return foreign_resume_token("the token is of another table or view than '" +
                                followed.relation.name() + "', or of one that is gone");
  }
  return storage::Version{*version};
}

}  // namespace weir::server::internal
