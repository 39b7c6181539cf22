#include <weir/tests/server/fuzz/harness.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <utility>

#include <weir/flow/data/expression.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/server/internal/connection.hpp>

namespace weir::server::fuzz {
namespace {

/// The bytes of a client, and what is answered.
class MemoryStream final : public internal::Stream {
 public:
  explicit MemoryStream(const Sent& sent) : sent_(sent) {}

  Task<Result<>> open() override { co_return {}; }
  Task<Result<std::size_t>> read(char* data, std::size_t size) override {
    if (is_cancelled_ || sent_.bytes.empty()) co_return Error(Errc::closed);
    const std::size_t count = std::min({size, sent_.piece_bytes, sent_.bytes.size()});
    std::memcpy(data, sent_.bytes.data(), count);
    sent_.bytes.remove_prefix(count);
    co_return count;
  }
  Task<Result<>> write(std::string_view bytes) override {
    said_ += bytes;
    co_return {};
  }
  Task<Result<>> finish() override { co_return {}; }
  void cancel() noexcept override { is_cancelled_ = true; }
  void close() noexcept override {
    const std::scoped_lock hold(mutex_);
    is_closed_ = true;
    closed_.notify_all();
  }
  /// Whoever sent all that stays to hear what is said to it.
  bool has_hung_up() noexcept override { return false; }
  Task<Result<>> arrived(Duration) override { co_return {}; }
  Task<Result<>> hung_up() override { co_return co_await sleep_for(std::chrono::hours(24)); }
  std::string peer() const override { return "127.0.0.1:1"; }

  std::string wait() {
    std::unique_lock hold(mutex_);
    closed_.wait(hold, [this] { return is_closed_; });
    return said_;
  }

 private:
  // Of the connection, until it is closed.
  Sent sent_;
  std::string said_;
  bool is_cancelled_ = false;

  std::mutex mutex_;
  std::condition_variable closed_;
  bool is_closed_ = false;  // guarded by it
};

/// Nobody comes this way.
class NoAcceptor final : public internal::Acceptor {
 public:
  Task<Result<std::shared_ptr<internal::Stream>>> accept() override {
    co_return Error(Errc::closed);
  }
  void close() noexcept override {}
  std::uint16_t port() const override { return 80; }
};

GatewayOptions options() {
  return {.limits = {.header_bytes_max = 4096,
                     .body_bytes_max = 16384,
                     .wait_time = std::chrono::milliseconds(1),
                     .message_bytes_max = 4096}};
}

}  // namespace

Harness::Harness()
    : system_(ActorSystemOptions{.threads = 1}),
      store_(storage::Store::open(system_).value()),
      database_(system_.run(flow::view::Database::open(&store_)).value()),
      engine_(system_.run(flow::workflow::Engine::open(&store_)).value()) {
  using flow::data::col;
  using flow::data::Kind;
  auto schema = std::make_shared<const flow::data::Schema>(
      flow::data::Schema::make(
          {{"id", Kind::int64, false}, {"item", Kind::text, false}, {"cents", Kind::int64}}, {"id"})
          .value());
  const auto orders = system_.run(database_.create_table("orders", schema)).value();
  static_cast<void>(
      system_.run(database_.create_view("large", from(orders).filter(col("cents") > 1000)))
          .value());
  static_cast<void>(
      system_.run(database_.create_view("items", from(orders).map({{"item", col("item")}})))
          .value());
  core_ = std::make_shared<internal::GatewayCore>(
      Served{.store = &store_, .database = &database_, .engine = &engine_}, options(),
      internal::Access::make({}).value(), std::make_shared<NoAcceptor>());
}

Harness::~Harness() {
  static_cast<void>(system_.run(engine_.close()));
  static_cast<void>(system_.run(database_.close()));
  static_cast<void>(system_.run(store_.close()));
}

std::string Harness::talk(const Sent& sent) {
  auto stream = std::make_shared<MemoryStream>(sent);
  static_cast<void>(system_.spawn<internal::Connection>(core_, stream));
  return stream->wait();
}

}  // namespace weir::server::fuzz
