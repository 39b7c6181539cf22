#include <weir/telemetry/log.hpp>

#include <latch>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include <weir/telemetry/internal/site_table.hpp>
#include <weir/tests/telemetry/support/allocations.hpp>
#include <weir/tests/telemetry/support/random.hpp>

namespace weir::telemetry {
namespace {

constexpr WallTime second = 1'000'000'000;

// A logger whose clock stands still until it is moved, and which keeps its lines.
struct Fixture {
  explicit Fixture(std::uint32_t lines_per_second = 0, Level level = Level::info)
      : logger({.level = level,
                .lines_per_second = lines_per_second,
                .sinks = {[this](const LogRecord& record) { lines.push_back(record); }},
                .now = [this] { return now.load(); },
                .context = {}}) {}

  std::vector<std::string> messages() const {
    std::vector<std::string> all;
    for (const LogRecord& line : lines) all.push_back(line.message);
    return all;
  }

  std::atomic<WallTime> now{1'000 * second};
  std::vector<LogRecord> lines;
  Logger logger;
};

TEST(Logger, WritesMessageFieldsTimeAndPlace) {
  Fixture test;
  test.now = 42;
  Logger& logger = test.logger;
  // [log]
  logger.warning("charged", {{"cents", 100}, {"by", "card"}, {"is_new", true}, {"rate", 0.5}});
  // [/log]
  const std::uint32_t line = std::source_location::current().line() - 2;
  ASSERT_EQ(test.lines.size(), 1u);
  const LogRecord& record = test.lines.front();
  EXPECT_EQ(record.time, 42);
  EXPECT_EQ(record.level, Level::warning);
  EXPECT_EQ(record.message, "charged");
  EXPECT_EQ(record.attributes,
            (Attributes{{"cents", 100}, {"by", "card"}, {"is_new", true}, {"rate", 0.5}}));
  EXPECT_TRUE(std::string_view(record.file).ends_with("log_test.cpp"));
  EXPECT_EQ(record.line, line);
  EXPECT_FALSE(record.context.is_valid());
}

TEST(Logger, KeepsTheLastOfFieldsWithTheSameName) {
  Fixture test;
  test.logger.info("m", {{"a", 1}, {"b", 2}, {"a", 3}});
  EXPECT_EQ(test.lines.at(0).attributes, (Attributes{{"b", 2}, {"a", 3}}));
}

TEST(Logger, SaysEvenOfASingleLineThatItWasSuppressed) {
  for (int more = 1; more <= 2; ++more) {
    Fixture test(1);
    for (int i = 0; i < more + 2; ++i) {
      if (i == more + 1) test.now = test.now + 2 * second;
      test.logger.info("a");
    }
    const std::string said = more == 1 ? "1 similar line suppressed" : "2 similar lines suppressed";
    EXPECT_EQ(test.messages(), (std::vector<std::string>{"a", said, "a"}));
  }
}

TEST(Logger, BoundsTexts) {
  Fixture test;
  const std::string text(2 * Attribute::text_bytes_max, 'x');
  test.logger.info(text, {{text, text}});
  EXPECT_EQ(test.lines.at(0).message.size(), Attribute::text_bytes_max);
  EXPECT_EQ(test.lines.at(0).attributes.at(0).name.size(), Attribute::text_bytes_max);
  EXPECT_EQ(test.lines.at(0).attributes.at(0).value,
            AttributeValue(text.substr(0, Attribute::text_bytes_max)));
}

TEST(Logger, WritesNothingBelowItsLevel) {
  Fixture test;
  const auto log_all = [&] {
    test.logger.trace("trace");
    test.logger.debug("debug");
    test.logger.info("info");
    test.logger.warning("warning");
    test.logger.error("error");
    test.logger.fatal("fatal");
    test.logger.write(LogRecord{});  // a line at level info
  };
  test.logger.set_level(Level::error);
  log_all();
  EXPECT_EQ(test.messages(), (std::vector<std::string>{"error", "fatal"}));
  test.logger.set_level(Level::trace);
  log_all();
  EXPECT_EQ(test.lines.size(), 9u);
}

TEST(Logger, AllocatesNothingBelowItsLevelOrBeyondTheLimit) {
  if (!testing::counts_allocations) GTEST_SKIP() << "a sanitizer has its own operator new";
  Fixture test(1);
  const std::string_view text = "a text that is too long to be kept inside of a string object";
  std::uint64_t before = testing::allocations();
  for (int i = 0; i < 100; ++i) test.logger.debug(text, {{text, text}, {"b", i}});
  EXPECT_EQ(testing::allocations() - before, 0u);
  for (int i = 0; i < 100; ++i) {
    if (i == 1) before = testing::allocations();
    test.logger.info(text, {{text, text}, {"b", i}});
  }
  EXPECT_EQ(testing::allocations() - before, 0u);
  EXPECT_EQ(test.lines.size(), 1u);
}

TEST(Logger, AsksForTheSpanOnlyWhenItWrites) {
  int asked = 0;
  std::vector<LogRecord> lines;
  TraceContext context;
  context.trace.bytes[0] = 1;
  context.span.bytes[7] = 2;
  Logger logger({.lines_per_second = 1,
                 .sinks = {[&](const LogRecord& record) { lines.push_back(record); }},
                 .now = [] { return WallTime{0}; },
                 .context =
                     [&] {
                       ++asked;
                       return context;
                     }});
  for (int i = 0; i < 3; ++i) logger.info("m");
  logger.debug("m");
  EXPECT_EQ(asked, 1);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].context.trace, context.trace);
  EXPECT_EQ(lines[0].context.span, context.span);
}

TEST(Logger, SumsUpWhatIsBeyondTheLimitOfAPlace) {
  Fixture test(2);
  const auto log_from_one_place = [&](int times) {
    for (int i = 0; i < times; ++i) test.logger.error("a");
  };
  log_from_one_place(14);
  test.logger.info("b");
  EXPECT_EQ(test.messages(), (std::vector<std::string>{"a", "a", "b"}));
  test.lines.clear();
  test.now += second;
  log_from_one_place(3);
  EXPECT_EQ(test.messages(), (std::vector<std::string>{"12 similar lines suppressed", "a", "a"}));
  EXPECT_EQ(test.lines[0].level, Level::error);
  EXPECT_EQ(test.lines[0].line, test.lines[1].line);
  EXPECT_EQ(test.lines[0].attributes, (Attributes{{"suppressed", 12}}));
}

TEST(Logger, ReportsWhatWasSuppressedWhenAsked) {
  Fixture test(1);
  for (int i = 0; i < 5; ++i) test.logger.info("a");
  for (int i = 0; i < 2; ++i) test.logger.info("b");
  test.lines.clear();
  test.logger.report_suppressed();
  test.logger.report_suppressed();
  const std::vector<std::string> messages = test.messages();
  EXPECT_EQ(
      std::multiset<std::string>(messages.begin(), messages.end()),
      (std::multiset<std::string>{"4 similar lines suppressed", "1 similar line suppressed"}));
}

TEST(Logger, SurvivesSinksThatThrowOrLog) {
  Logger* self = nullptr;
  int taken = 0;
  Logger logger({.lines_per_second = 0,
                 .sinks = {[](const LogRecord&) { throw std::runtime_error("full"); }, nullptr,
                           [&](const LogRecord&) { self->info("inner"); },
                           [&](const LogRecord&) { ++taken; }},
                 .now = {},
                 .context = {}});
  self = &logger;
  logger.info("outer");
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(logger.lost_lines(), 2u);
}

LoggerOptions with_sink(LogSink sink) {
  return {.lines_per_second = 0, .sinks = {std::move(sink)}, .now = {}, .context = {}};
}

TEST(Logger, KnowsItsOwnSinkThoughThatWritesToAnotherOne) {
  Logger* self = nullptr;
  int taken = 0;
  Logger other(with_sink([&](const LogRecord&) { ++taken; }));
  Logger logger(with_sink([&](const LogRecord&) {
    other.info("elsewhere");
    self->info("inner");
  }));
  self = &logger;
  logger.info("outer");
  logger.info("outer again");
  EXPECT_EQ(taken, 2);
  EXPECT_EQ(logger.lost_lines(), 2u);
  EXPECT_EQ(other.lost_lines(), 0u);
}

TEST(Logger, OnesWhoseSinksWriteToEachOtherDoNotWaitForEachOther) {
  Logger* other = nullptr;
  Logger one(with_sink([&](const LogRecord&) { other->info("forth"); }));
  Logger two(with_sink([&](const LogRecord&) { one.info("and back"); }));
  other = &two;
  one.info("out");
  EXPECT_EQ(one.lost_lines(), 1u);
  EXPECT_EQ(two.lost_lines(), 0u);
  two.info("out");
  EXPECT_EQ(two.lost_lines(), 1u);
}

// Each thread is within the sink of its logger before it writes to the other one.
TEST(Logger, OnesWhoseSinksWriteToEachOtherDoNotWaitForEverOnTwoThreads) {
  std::latch both_are_within(2);
  Logger* other = nullptr;
  std::atomic<bool> is_first_of_one{true};
  std::atomic<bool> is_first_of_two{true};
  Logger one(with_sink([&](const LogRecord&) {
    if (is_first_of_one.exchange(false)) both_are_within.arrive_and_wait();
    other->info("forth");
  }));
  Logger two(with_sink([&](const LogRecord&) {
    if (is_first_of_two.exchange(false)) both_are_within.arrive_and_wait();
    one.info("and back");
  }));
  other = &two;
  std::thread thread([&] { one.info("out"); });
  two.info("out");
  thread.join();
  EXPECT_GE(one.lost_lines() + two.lost_lines(), 1u);
}

TEST(Logger, GivesASinkOneLineAtATime) {
  std::atomic<int> inside{0};
  std::map<std::int64_t, std::int64_t> last_of;
  Logger logger({.lines_per_second = 0,
                 .sinks = {[&](const LogRecord& record) {
                   EXPECT_EQ(++inside, 1);
                   const auto thread = std::get<std::int64_t>(record.attributes.at(0).value);
                   const auto number = std::get<std::int64_t>(record.attributes.at(1).value);
                   EXPECT_EQ(number, last_of[thread] + 1);
                   last_of[thread] = number;
                   --inside;
                 }},
                 .now = {},
                 .context = {}});
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&logger, thread] {
      for (int i = 1; i <= 500; ++i) logger.info("m", {{"thread", thread}, {"number", i}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int thread = 0; thread < 4; ++thread) EXPECT_EQ(last_of[thread], 500);
}

TEST(SiteTable, AdmitsWhatAModelAdmits) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  const std::source_location sites[] = {std::source_location::current(),
                                        std::source_location::current(),
                                        std::source_location::current()};
  constexpr std::uint64_t limit = 3;
  internal::SiteTable table(limit);
  struct Model {
    WallTime second = -1;
    std::uint64_t lines = 0;
    std::uint64_t suppressed = 0;
  };
  Model models[std::size(sites)];
  WallTime now = 5 * second;
  for (int i = 0; i < 20'000; ++i) {
    if (testing::pick(random, 4) == 0) {
      now += static_cast<WallTime>(testing::pick(random, second)) - second / 4;
    }
    const std::size_t site = testing::pick(random, std::size(sites));
    Model& model = models[site];
    const bool is_new = model.second != now / second;
    const std::uint64_t reported = is_new ? std::exchange(model.suppressed, 0) : 0;
    model.lines = is_new ? 1 : model.lines + 1;
    model.second = now / second;
    const bool is_admitted = model.lines <= limit;
    model.suppressed += is_admitted ? 0 : 1;
    const auto verdict = table.admit(sites[site], Level::info, now);
    ASSERT_EQ(verdict.is_admitted, is_admitted) << i;
    ASSERT_EQ(verdict.report.suppressed, reported) << i;
  }
}

TEST(SiteTable, LosesNoLineWhateverThreadsDo) {
  internal::SiteTable table(5);
  std::atomic<WallTime> now{0};
  std::atomic<std::uint64_t> admitted{0};
  std::atomic<std::uint64_t> reported{0};
  constexpr std::uint64_t rounds = 5'000;
  const std::source_location site = std::source_location::current();
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const auto verdict = table.admit(site, Level::info, now.fetch_add(second / 100));
        admitted += verdict.is_admitted ? 1 : 0;
        reported += verdict.report.suppressed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  table.take_reports([&](const internal::SiteReport& report) { reported += report.suppressed; });
  EXPECT_EQ(admitted + reported, 4 * rounds);
  EXPECT_GT(reported, 0u);
}

}  // namespace
}  // namespace weir::telemetry
