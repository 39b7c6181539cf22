#include <weir/server/internal/request_parser.hpp>

#include <algorithm>
#include <optional>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace weir::server::internal {

namespace http = boost::beast::http;
using BeastError = boost::beast::error_code;
using StringView = boost::beast::string_view;

namespace {

std::string_view to_std(StringView text) noexcept { return {text.data(), text.size()}; }

}  // namespace

class RequestParser::Parser final : public http::basic_parser<true> {
 public:
  Parser(const Limits& limits, Request& request) : request_(request) {
    request.clear();
    header_limit(static_cast<std::uint32_t>(limits.header_bytes_max));
    body_limit(limits.body_bytes_max);
    eager(true);
  }

 private:
  void on_request_impl(http::verb, StringView method, StringView target, int version,
                       BeastError&) override {
    request_.set_line(to_std(method), to_std(target));
    request_.is_http_1_0 = version == 10;
  }
  void on_response_impl(int, StringView, int, BeastError&) override {}
  void on_field_impl(http::field, StringView name, StringView value, BeastError&) override {
    request_.add_header(to_std(name), to_std(value));
  }
  void on_header_impl(BeastError&) override {
    request_.keeps_alive = keep_alive();
    request_.has_body = content_length().value_or(0) > 0;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, BeastError&) override {}
  std::size_t on_body_impl(StringView body, BeastError&) override {
    request_.has_body = request_.has_body || !body.empty();
    request_.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, StringView, BeastError&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, StringView body, BeastError& error) override {
    return on_body_impl(body, error);
  }
  void on_finish_impl(BeastError&) override {}

  Request& request_;
};

struct RequestParser::State {
  const Limits& limits;
  Request request;
  std::optional<Parser> parser;
  BeastError error = {};
  bool has_continued = false;
};

RequestParser::RequestParser(const Limits& limits)
    : state_(std::make_unique<State>(State{.limits = limits, .request = {}, .parser = {}})) {
  reset();
}

RequestParser::~RequestParser() = default;

std::size_t RequestParser::put(std::string_view bytes) {
  std::size_t used = 0;
  // It stops at the end of the header although there is more.
  while (used < bytes.size() && !is_done() && !has_failed()) {
    const auto rest = bytes.substr(used);
    const std::size_t taken =
        state_->parser->put(boost::asio::const_buffer(rest.data(), rest.size()), state_->error);
    used += taken;
    if (state_->error == http::error::need_more) {
      state_->error = {};
      break;
    }
    if (taken == 0) break;
  }
  return used;
}

bool RequestParser::has_begun() const noexcept { return state_->parser->got_some(); }
bool RequestParser::has_header() const noexcept { return state_->parser->is_header_done(); }
bool RequestParser::is_done() const noexcept { return state_->parser->is_done(); }
bool RequestParser::has_failed() const noexcept { return state_->error.failed(); }

Problem RequestParser::problem() const {
  const Limits& limits = state_->limits;
  if (state_->error == http::error::header_limit) {
    return {.status = 431,
            .code = "header_too_large",
            .detail = "headers have at most " + std::to_string(limits.header_bytes_max) + " bytes"};
  }
  if (state_->error == http::error::body_limit) {
    return {.status = 413,
            .code = "body_too_large",
            .detail = "a body has at most " + std::to_string(limits.body_bytes_max) + " bytes"};
  }
  if (state_->error == http::error::bad_version) {
    return {.status = 505, .code = "bad_http_version", .detail = "this is HTTP/1.1"};
  }
  return {.status = 400, .code = "malformed_request", .detail = state_->error.message()};
}

bool RequestParser::takes_continue() noexcept {
  if (!has_header() || is_done() || has_failed() || state_->has_continued) return false;
  state_->has_continued = true;
  return !state_->request.is_http_1_0 &&
         boost::beast::iequals(state_->request.header("expect"), "100-continue");
}

Request& RequestParser::request() noexcept { return state_->request; }

void RequestParser::reset() {
  // Memory for a large body is not kept for the small ones behind it.
  constexpr std::size_t kept_bytes = 4096;
  if (state_->request.body.capacity() > kept_bytes) state_->request = {};
  state_->parser.emplace(state_->limits, state_->request);
  state_->error = {};
  state_->has_continued = false;
}

}  // namespace weir::server::internal
