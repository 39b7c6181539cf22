#include <weir/tests/storage/support/format_scenario.hpp>

#include <utility>

#include <gtest/gtest.h>

#include <weir/runtime/span.hpp>
#include <weir/runtime/try.hpp>

namespace weir::storage::test {
namespace {

using namespace std::chrono_literals;

/// Nothing happens by itself: no time passes but what the scenario lets pass.
SimulationOptions still(telemetry::Telemetry* telemetry) {
  SimulationOptions options{.seed = 1, .preemption = 0, .blocking_time_max = {}};
  options.system.telemetry = telemetry;
  return options;
}

telemetry::TraceContext trace_from_elsewhere() {
  telemetry::TraceContext trace;
  trace.span.bytes = {1, 2, 3, 4, 5, 6, 7, 8};
  trace.is_sampled = true;
  for (std::uint8_t i = 0; i < 16; ++i) trace.trace.bytes[i] = static_cast<std::uint8_t>(0xA0 + i);
  return trace;
}

}  // namespace

SampleKey sample_key() {
  return {true,         200,
          -2,           -0.5F,
          2.25,         std::string("a\0b", 3),
          {0xCA, 0xFE}, std::nullopt,
          -1500ms,      std::chrono::sys_seconds(1'000'000'000s),
          {7}};
}

SampleValue sample_value() {
  return {true,
          200,
          -3,
          300,
          -300,
          0.5F,
          -1e300,
          {std::byte{0}, std::byte{0xFF}},
          {0xCA, 0xFE},
          "there",
          {1, -1, 64},
          {{"one", 1}, {"two", 2}},
          "second",
          90ms,
          std::chrono::sys_seconds(-1s)};
}

FormatScenario::FormatScenario() : simulation_(still(spans_.telemetry())) {}

void FormatScenario::run(StoreOptions options) {
  options.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
  options.collect_interval = 1000h;
  store_.emplace(Store::open(system(), std::move(options)).value());
  ASSERT_TRUE(simulation_.run(open_spaces(&*store_)));
  fill();
  {
    const ReadTransaction reader = store_->read();
    change();
    ASSERT_TRUE(simulation_.run(store_->collect()));
  }
  end();
  ASSERT_TRUE(simulation_.run(store_->close()));
  store_.reset();
}

Task<Result<>> FormatScenario::open_spaces(Store* store) {
  WEIR_CO_TRY(accounts, (co_await store->open_rows<std::uint64_t, SampleAccount>("accounts")));
  WEIR_CO_TRY(types, (co_await store->open_rows<SampleKey, SampleValue>("types")));
  WEIR_CO_TRY(states, (co_await store->open_state<std::string, std::string>("states")));
  accounts_ = accounts;
  types_ = types;
  states_ = states;
  co_return {};
}

Task<Result<Version>> FormatScenario::commit_traced(Transaction* transaction) {
  const auto span = remote_span("sample", trace_from_elsewhere());
  co_return co_await transaction->commit();
}

void FormatScenario::commit(Transaction transaction, std::string origin) {
  simulation_.run_for(1s);
  const bool is_traced = origin == "traced";
  transaction.set_origin(std::move(origin));
  const auto version =
      simulation_.run(is_traced ? commit_traced(&transaction) : transaction.commit());
  ASSERT_TRUE(version) << version.error().message();
}

/// Versions 4 to 6, of which the last stays readable.
void FormatScenario::fill() {
  auto first = store_->begin();
  first.put(*accounts_, 1, {"ann", 1000});
  first.put(*accounts_, 2, {"bob", 0});
  first.put(*states_, "place", "4");
  commit(std::move(first), "teller");
  auto second = store_->begin();
  second.put(*types_, sample_key(), sample_value());
  commit(std::move(second), "traced");
  auto third = store_->begin();
  third.put(*accounts_, 2, {"bob", 250});
  third.put(*accounts_, 1, {"ann", 750});
  third.set_checkpoint("auditor", Version{3});
  commit(std::move(third), "");
}

/// Version 7; collecting then leaves the log from 4 on, and rows as of 6.
void FormatScenario::change() {
  auto transaction = store_->begin();
  transaction.remove(*accounts_, 2);
  transaction.put(*accounts_, 3, {"", -1});
  transaction.put(*states_, "place", "7");
  transaction.put(*states_, "gone", "soon");
  commit(std::move(transaction), "teller");
}

/// Versions 8 to 11.
void FormatScenario::end() {
  auto first = store_->begin();
  first.put(*accounts_, 1, {"ann", 200'000});
  first.remove(*states_, "gone");
  first.set_checkpoint("auditor", Version{7}, std::string_view("p\0q", 3));
  first.set_checkpoint("late", Version{5});
  commit(std::move(first), "");
  simulation_.run_for(1s);
  ASSERT_TRUE((simulation_.run(store_->open_rows<std::uint64_t, std::string>("empty"))));
  auto second = store_->begin();
  second.remove(*accounts_, 3);
  second.remove(*accounts_, 99);
  second.forget_checkpoint("late");
  commit(std::move(second), "");
  auto third = store_->begin();
  third.put(*states_, "place", "");
  commit(std::move(third), "");
}

}  // namespace weir::storage::test
