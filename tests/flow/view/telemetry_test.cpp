// What views tell of themselves: spans, metrics and lines of the log.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/view/database.hpp>
#include <weir/flow/view/errc.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/span.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/telemetry/prometheus.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/flow/view/support/view_fixture.hpp>
#include <weir/tests/runtime/support/recorded_spans.hpp>

namespace weir::flow::view {
namespace {

using data::col;
using telemetry::SpanRecord;
using weir::testing::RecordedSpans;

struct Write {
  using Reply = storage::Version;
  std::vector<Row> rows;
};

/// Writes in a span of its own.
class Client final : public Actor<Write> {
 public:
  Client(const Database* database, Relation table)
      : database_(database), table_(std::move(table)) {}
  Task<Result<storage::Version>> on(Write write) {
    auto transaction = database_->begin();
    for (Row& row : write.rows)
      if (auto inserted = co_await transaction.insert(table_, std::move(row)); !inserted)
        co_return std::move(inserted).error();
    co_return co_await transaction.commit();
  }

 private:
  const Database* database_;
  Relation table_;
};

class ViewTelemetryTest : public ::testing::Test {
 protected:
  void open(telemetry::Telemetry* telemetry) {
    system_.emplace(ActorSystemOptions{.threads = 2, .telemetry = telemetry});
    store_.emplace(storage::Store::open(*system_, {}).value());
    EXPECT_TRUE(registry_.add("picky", [this](const operators::OperatorRegistry::Arguments& of) {
      return Result<std::unique_ptr<operators::Operator>>(
          std::make_unique<test::Picky>(of.inputs[0], script_));
    }));
    database_.emplace(run(Database::open(&*store_, {.library = {.operators = &registry_},
                                                    .retry_backoff = std::chrono::milliseconds(1),
                                                    .failures_max = 2}))
                          .value());
    orders_ = run(database_->create_table("orders", test::orders_schema)).value();
    picky_ = run(database_->create_view("picky",
                                        from(*orders_).filter(col("amount") > 1).apply("picky")))
                 .value();
    ASSERT_TRUE(run(database_->fresh(*picky_, store_->version())));
    // One that nobody touches.
    const Relation others = run(database_->create_table("others", test::orders_schema)).value();
    const Relation idle = run(database_->create_view("idle", from(others))).value();
    ASSERT_TRUE(run(database_->fresh(idle, store_->version())));
    client_ = system_->spawn<Client>(&*database_, *orders_);
  }
  void close() {
    client_.stop();
    ASSERT_TRUE(run(database_->close()));
    database_.reset();
    ASSERT_TRUE(run(store_->close()));
    store_.reset();
    system_.reset();
  }
  template <class T>
  T run(Task<T> task) {
    return system_->run(std::move(task));
  }
  static Task<Result<storage::Version>> ask(RefOf<Client> client, std::vector<Row> rows) {
    co_return co_await client.ask<Write>(std::move(rows));
  }
  storage::Version write(std::vector<Row> rows) {
    return run(ask(client_, std::move(rows))).value();
  }

  std::shared_ptr<test::Picky::Script> script_ = std::make_shared<test::Picky::Script>();
  operators::OperatorRegistry registry_;
  std::optional<ActorSystem> system_;
  std::optional<storage::Store> store_;
  std::optional<Database> database_;
  std::optional<Relation> orders_;
  std::optional<Relation> picky_;
  RefOf<Client> client_;
};

/// The last of a name whose trace is given.
std::optional<SpanRecord> find(const std::vector<SpanRecord>& spans, std::string_view name,
                               telemetry::TraceId trace) {
  std::optional<SpanRecord> found;
  for (const SpanRecord& span : spans)
    if (span.name == name && span.context.trace == trace) found = span;
  return found;
}

std::int64_t number(const SpanRecord& span, std::string_view name) {
  const auto* value = RecordedSpans::attribute(span, name);
  EXPECT_NE(value, nullptr) << span.name << ": " << name;
  return value == nullptr ? -1 : std::get<std::int64_t>(*value);
}

TEST_F(ViewTelemetryTest, OneTraceShowsACommitAndWhatBecameOfItInViews) {
  RecordedSpans recorded;
  open(recorded.telemetry());
  const auto version = write({{1, "apples", 1}, {2, "pears", 2}, {3, "plums", 3}});
  ASSERT_TRUE(run(database_->fresh(*picky_, version)));
  close();
  const auto spans = recorded.all();
  const auto writing = std::ranges::find_if(
      spans, [](const SpanRecord& span) { return span.name.ends_with("::Write"); });
  ASSERT_NE(writing, spans.end());
  const telemetry::TraceId trace = writing->context.trace;

  const auto consume = find(spans, "flow.coordinator.consume", trace);
  ASSERT_TRUE(consume);
  EXPECT_EQ(number(*consume, "flow.records"), 1);
  EXPECT_EQ(number(*consume, "flow.batches"), 1);
  EXPECT_EQ(number(*consume, "flow.version.first"), static_cast<std::int64_t>(version.number));
  EXPECT_EQ(number(*consume, "flow.version.last"), static_cast<std::int64_t>(version.number));
  const auto filter = find(spans, "flow.coordinator.filter", trace);
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->parent, consume->context.span);
  EXPECT_EQ(number(*filter, "flow.changes.in"), 3);
  EXPECT_EQ(number(*filter, "flow.rows.out"), 3);
  const auto route = find(spans, "flow.coordinator.route_and_group", trace);
  ASSERT_TRUE(route);
  EXPECT_EQ(number(*route, "flow.changes"), 3);
  EXPECT_EQ(number(*route, "flow.flows.active"), 2);
  EXPECT_EQ(number(*route, "flow.relations"), 1);
  EXPECT_EQ(number(*route, "flow.flows"), 1);
  EXPECT_EQ(number(*route, "flow.batches"), 1);
  const auto submit = find(spans, "flow.pool.submit", trace);
  ASSERT_TRUE(submit);
  EXPECT_EQ(number(*submit, "flow.batches"), 1);
  const auto process = find(spans, "flow.worker.process", trace);
  ASSERT_TRUE(process);
  EXPECT_EQ(*RecordedSpans::attribute(*process, "flow.view"),
            telemetry::AttributeValue(std::string("picky")));
  EXPECT_EQ(number(*process, "flow.rows.in"), 3);
  EXPECT_EQ(number(*process, "flow.rows.out"), 2);
  const auto op = find(spans, "flow.operator.filter", trace);
  ASSERT_TRUE(op);
  EXPECT_EQ(op->parent, process->context.span);
  EXPECT_EQ(number(*op, "flow.rows.in"), 3);
  EXPECT_EQ(number(*op, "flow.rows.out"), 2);
  EXPECT_TRUE(find(spans, "flow.operator.picky", trace));
}

TEST_F(ViewTelemetryTest, TheTraceOfAWriterShowsItsTransactionalViews) {
  RecordedSpans recorded;
  open(recorded.telemetry());
  write({{1, "apples", 1}, {2, "pears", 2}});
  const auto plan = from(*orders_).filter(col("amount") > 1);
  const Relation large =
      run(database_->create_view("large", plan, {.update = ViewUpdate::transactional})).value();
  ASSERT_TRUE(run(database_->fresh(large, store_->version())));
  write({{3, "plums", 3}, {4, "figs", 0}});
  close();
  const auto spans = recorded.all();
  const auto with_name = [&](std::string_view name) {
    std::vector<SpanRecord> found;
    for (const SpanRecord& span : spans)
      if (span.name == name) found.push_back(span);
    return found;
  };
  const auto process_in = [&](const SpanRecord& parent) {
    const auto at = std::ranges::find_if(spans, [&](const SpanRecord& span) {
      return span.name == "flow.worker.process" && span.parent == parent.context.span;
    });
    return at == spans.end() ? std::optional<SpanRecord>() : *at;
  };
  const telemetry::AttributeValue name(std::string("large"));
  // It took the rows that were there, in a span that names it.
  const auto fills = with_name("flow.transactional.fill");
  ASSERT_FALSE(fills.empty());
  EXPECT_EQ(*RecordedSpans::attribute(fills.front(), "flow.view"), name);
  const auto taken = process_in(fills.front());
  ASSERT_TRUE(taken);
  EXPECT_EQ(number(*taken, "flow.rows.in"), 2);
  // It is part of the commit that came then, which is part of what the client did.
  const auto commits = with_name("flow.transactional.commit");
  ASSERT_EQ(commits.size(), 1u);
  const auto writing = std::ranges::find_if(spans, [&](const SpanRecord& span) {
    return span.name.ends_with("::Write") && span.context.trace == commits[0].context.trace;
  });
  EXPECT_NE(writing, spans.end());
  EXPECT_EQ(number(commits[0], "flow.tables"), 1);
  EXPECT_EQ(number(commits[0], "flow.views"), 1);
  const auto process = process_in(commits[0]);
  ASSERT_TRUE(process);
  EXPECT_EQ(*RecordedSpans::attribute(*process, "flow.view"), name);
  EXPECT_EQ(number(*process, "flow.rows.in"), 2);
  EXPECT_EQ(number(*process, "flow.rows.out"), 1);
  EXPECT_EQ(find(spans, "flow.operator.filter", commits[0].context.trace).has_value(), true);
}

TEST_F(ViewTelemetryTest, MetricsTellHowViewsAre) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  open(&telemetry);
  const auto page = [&] {
    return telemetry::prometheus_page(telemetry.meter().collect({}),
                                      telemetry::PrometheusFormat::text);
  };
  const auto has = [&](const std::string& line) { return page().find(line) != std::string::npos; };
  write({{1, "apples", 1}, {2, "pears", 2}, {3, "plums", 3}});
  ASSERT_TRUE(run(database_->fresh(*picky_, store_->version())));
  EXPECT_TRUE(has("weir_flow_views{weir_phase=\"live\"} 2\n")) << page();
  EXPECT_TRUE(has("weir_flow_rows_in_total 3\n")) << page();
  EXPECT_TRUE(has("weir_flow_rows_out_total 2\n"));
  EXPECT_TRUE(has("weir_flow_failures_total 0\n"));
  EXPECT_TRUE(has("weir_flow_cycle_duration_seconds_count"));
  EXPECT_TRUE(has("weir_flow_state_size_bytes"));
  EXPECT_TRUE(has("weir_flow_lag"));
  EXPECT_EQ(page().find("weir_flow_view_lag{"), std::string::npos) << "it is not behind";
  script_->failures = 1'000;
  write({{4, "poison", 4}});
  EXPECT_EQ(run(database_->fresh(*picky_, store_->version())).error(), Errc::quarantined);
  EXPECT_TRUE(has("weir_flow_views{weir_phase=\"quarantined\"} 1\n")) << page();
  EXPECT_TRUE(has("weir_flow_failures_total 2\n"));
  EXPECT_TRUE(has("weir_flow_view_lag{weir_view=\"picky\"}"));
  close();
  EXPECT_EQ(page().find("weir_flow_views{"), std::string::npos);
}

TEST_F(ViewTelemetryTest, CountersDoNotFallWhenAViewIsDroppedOrReplaced) {
  telemetry::Telemetry telemetry({.measures_always = true}, {});
  open(&telemetry);
  const auto has = [&](const std::string& line) {
    return telemetry::prometheus_page(telemetry.meter().collect({}),
                                      telemetry::PrometheusFormat::text)
               .find(line) != std::string::npos;
  };
  write({{1, "apples", 1}, {2, "pears", 2}, {3, "plums", 3}});
  ASSERT_TRUE(run(database_->fresh(*picky_, store_->version())));
  const Relation inside =
      run(database_->create_view("inside", from(*orders_), {.update = ViewUpdate::transactional}))
          .value();
  ASSERT_TRUE(run(database_->fresh(inside, store_->version())));
  EXPECT_TRUE(has("weir_flow_rows_in_total 6\n"));
  EXPECT_TRUE(has("weir_flow_rows_out_total 5\n"));
  ASSERT_TRUE(run(database_->drop_view("picky")));
  ASSERT_TRUE(run(database_->drop_view("inside")));
  const Relation all = run(database_->replace_view("idle", from(*orders_))).value();
  ASSERT_TRUE(run(database_->fresh(all, store_->version())));
  EXPECT_TRUE(has("weir_flow_views{weir_phase=\"live\"} 1\n"));
  EXPECT_TRUE(has("weir_flow_rows_in_total 9\n"));
  EXPECT_TRUE(has("weir_flow_rows_out_total 8\n"));
  EXPECT_TRUE(has("weir_flow_backfill_rows_total 6\n"));
  close();
}

/// Keeps lines as `level message view`.
class LogLines final : public telemetry::Exporter<telemetry::LogRecord> {
 public:
  using Lines = std::vector<std::string>;
  explicit LogLines(std::shared_ptr<Lines> lines) : lines_(std::move(lines)) {}
  bool export_batch(std::span<const telemetry::LogRecord> batch) override {
    for (const telemetry::LogRecord& record : batch) {
      std::string line = record.message;
      for (const auto& [name, value] : record.attributes)
        if (name == "view") line += " " + std::get<std::string>(value);
      lines_->push_back(std::move(line));
    }
    return true;
  }
  void shut_down(std::chrono::milliseconds) override {}

 private:
  std::shared_ptr<Lines> lines_;
};

TEST_F(ViewTelemetryTest, TheLogTellsOfProgressAndFaults) {
  auto lines = std::make_shared<LogLines::Lines>();
  telemetry::Exporters exporters;
  exporters.logs = std::make_unique<LogLines>(lines);
  telemetry::Telemetry telemetry({.logs = {.exporter = telemetry::ExporterKind::console}},
                                 std::move(exporters));
  open(&telemetry);
  script_->failures = 1'000;
  write({{4, "poison", 4}});
  EXPECT_EQ(run(database_->fresh(*picky_, store_->version())).error(), Errc::quarantined);
  ASSERT_TRUE(run(database_->skip(*picky_)));
  ASSERT_TRUE(run(database_->fresh(*picky_, store_->version())));
  script_->failures = 0;
  ASSERT_TRUE(run(database_->rebuild(*picky_)));
  ASSERT_TRUE(run(database_->fresh(*picky_, store_->version())));
  close();
  ASSERT_TRUE(telemetry.flush(std::chrono::minutes(1)));
  const LogLines::Lines expected = {
      "view became live picky",    "view became live idle",         "view failed picky",
      "view quarantined picky",    "view left out a version picky", "view became live picky",
      "view is built again picky", "view became live picky"};
  std::erase_if(*lines, [](const std::string& line) { return !line.starts_with("view "); });
  EXPECT_EQ(*lines, expected);
}

}  // namespace
}  // namespace weir::flow::view
