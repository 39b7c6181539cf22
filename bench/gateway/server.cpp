#include <weir/bench/gateway/server.hpp>

#include <chrono>

#include <weir/bench/actors/measure.hpp>
#include <weir/flow/data/expression.hpp>
#include <weir/runtime/sleep.hpp>

namespace weir::bench::gateway {

std::int64_t now_us() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since_start).count();
}

WeirServer::WeirServer()
    : system_(ActorSystemOptions{.threads = static_cast<unsigned>(actors::threads())}),
      store_(storage::Store::open(system_).value()),
      database_(system_.run(flow::view::Database::open(&store_)).value()) {
  using flow::data::col;
  using flow::data::Kind;
  auto schema = std::make_shared<const flow::data::Schema>(
      flow::data::Schema::make(
          {{"id", Kind::int64, false}, {"item", Kind::text, false}, {"cents", Kind::int64}}, {"id"})
          .value());
  orders_ = std::make_unique<flow::view::Relation>(
      system_.run(database_.create_table("orders", schema)).value());
  large_ = std::make_unique<flow::view::Relation>(
      system_.run(database_.create_view("large", from(*orders_).filter(col("cents") > 1000)))
          .value());
  auto transaction = database_.begin();
  for (; next_id_ < 1000; ++next_id_)
    system_.run(transaction.insert(*orders_, {next_id_, "apples", 2000})).value();
  const auto version = system_.run(transaction.commit()).value();
  system_.run(database_.fresh(*large_, version)).value();
  gateway_ = std::make_unique<server::Gateway>(
      server::Gateway::start({&store_, &database_}, {.port = 0}).value());
}

void WeirServer::insert(std::int64_t count, std::int64_t per_second) {
  system_.run(insert_all(count, std::chrono::nanoseconds(std::chrono::seconds(1)) / per_second));
}

Task<> WeirServer::insert_all(std::int64_t count, Duration period) {
  TimePoint due = system_.now();
  storage::Version version;
  for (std::int64_t index = 0; index < count; ++index, due += period) {
    if (due > system_.now()) static_cast<void>(co_await sleep_until(due));
    auto transaction = database_.begin();
    (co_await transaction.insert(*orders_, {next_id_++, "apples", now_us()})).value();
    version = (co_await transaction.commit()).value();
  }
  // Who subscribes from here on gets none of these.
  (co_await database_.fresh(*large_, version)).value();
}

}  // namespace weir::bench::gateway
