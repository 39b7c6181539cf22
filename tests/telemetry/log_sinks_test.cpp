#include <weir/telemetry/log_sinks.hpp>

#include <cstdlib>
#include <limits>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <weir/tests/telemetry/support/json_reader.hpp>
#include <weir/tests/telemetry/support/random.hpp>

namespace weir::telemetry {
namespace {

using testing::JsonReader;

LogRecord make_record(std::string message, Attributes attributes = {}) {
  LogRecord record;
  record.time = 1'794'817'801'123'456'789;  // 2026-11-16 08:30:01 UTC
  record.message = std::move(message);
  record.attributes = std::move(attributes);
  record.file = "/somewhere/bank.cpp";
  record.line = 17;
  return record;
}

void set_context(LogRecord& record) {
  record.context.trace.bytes = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255};
  record.context.span.bytes = {1, 2, 3, 4, 5, 6, 7, 8};
}

TEST(TerminalLine, ReadsAsOneLine) {
  LogRecord record =
      make_record("charged", {{"cents", 100}, {"by", "a b"}, {"ok", true}, {"r", 0.5}});
  set_context(record);
  EXPECT_EQ(terminal_line(record, false),
            "2026-11-16 08:30:01.123 INFO  charged cents=100 by=\"a b\" ok=true r=0.5 "
            "trace_id=000102030405060708090a0b0c0d0eff span_id=0102030405060708 (bank.cpp:17)");
}

TEST(TerminalLine, ColoursOnlyWhatItAddsItself) {
  const std::string line = terminal_line(make_record("a\x1b[31mb"), true);
  EXPECT_EQ(line,
            "\x1b[2m2026-11-16 08:30:01.123\x1b[0m \x1b[32mINFO \x1b[0m a\\x1b[31mb "
            "\x1b[2m(bank.cpp:17)\x1b[0m");
}

TEST(TerminalLine, ShowsTimesBefore1970) {
  LogRecord record = make_record("m");
  record.time = -1;
  EXPECT_TRUE(terminal_line(record, false).starts_with("1969-12-31 23:59:59.999 "));
}

TEST(TerminalLine, HoldsNothingThatATerminalWouldObey) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1'000; ++i) {
    const std::string line = terminal_line(
        make_record(testing::hostile_text(random, 6),
                    {{testing::hostile_text(random, 3), testing::hostile_text(random, 6)}}),
        false);
    for (const char c : line)
      ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) << line;
    for (const char* control : {"\xC2\x9B", "\xE2\x80\xA8", "\xE2\x80\xAE", "\xFF"}) {
      ASSERT_EQ(line.find(control), std::string::npos) << line;
    }
  }
}

TEST(JsonLine, IsAnObjectOfTheWholeRecord) {
  LogRecord record =
      make_record("charged", {{"cents", 100}, {"by", "a b"}, {"ok", true}, {"r", 0.5}});
  set_context(record);
  EXPECT_EQ(json_line(record),
            R"({"time":"2026-11-16T08:30:01.123456789Z","level":"info","message":"charged",)"
            R"("attributes":{"cents":100,"by":"a b","ok":true,"r":0.5},)"
            R"("trace_id":"000102030405060708090a0b0c0d0eff","span_id":"0102030405060708",)"
            R"("file":"bank.cpp","line":17})");
}

TEST(JsonLine, WritesNumbersThatJsonDoesNotHaveAsTexts) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto values = JsonReader::read(json_line(
      make_record("m", {{"a", infinity}, {"b", -infinity}, {"c", std::nan("")}, {"d", 1e300}})));
  EXPECT_EQ(values.at("attributes.a"), "inf");
  EXPECT_EQ(values.at("attributes.b"), "-inf");
  EXPECT_EQ(values.at("attributes.c"), "nan");
  EXPECT_EQ(values.at("attributes.d"), "1e+300");
}

TEST(JsonLine, ReplacesWhatIsNoText) {
  const auto values =
      JsonReader::read(json_line(make_record("a\xFF"
                                             "b\xC3")));
  EXPECT_EQ(values.at("message"),
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
}

TEST(JsonLine, GivesEveryTextBack) {
  const std::uint64_t seed = testing::test_seed();
  WEIR_TRACE_SEED(seed);
  std::mt19937_64 random(seed);
  for (int i = 0; i < 1'000; ++i) {
    const std::string message = testing::hostile_text(random, 6, true);
    const std::string name = testing::hostile_text(random, 4, true);
    const std::string value = testing::hostile_text(random, 6, true);
    const std::string line = json_line(make_record(message, {{name, value}}));
    const auto values = JsonReader::read(line);
    ASSERT_EQ(values.at("message"), message) << line;
    ASSERT_EQ(values.at("attributes." + name), value) << line;
  }
}

const char* no_variable(const char*) { return nullptr; }

TEST(WantsColour, OnATerminalWhoseUserDoesNotObject) {
  EXPECT_TRUE(wants_colour(true, no_variable));
  EXPECT_FALSE(wants_colour(false, no_variable));
  const auto with = [](std::string_view set, const char* value) {
    return [=](const char* name) { return name == set ? value : nullptr; };
  };
  EXPECT_FALSE(wants_colour(true, with("NO_COLOR", "1")));
  EXPECT_TRUE(wants_colour(true, with("NO_COLOR", "")));
  EXPECT_FALSE(wants_colour(true, with("TERM", "dumb")));
  EXPECT_TRUE(wants_colour(true, with("TERM", "xterm")));
}

// A file that is gone when it is closed.
struct TemporaryFile {
  std::vector<std::string> lines() const {
    std::rewind(stream.get());
    std::vector<std::string> all(1);
    for (int c = 0; (c = std::fgetc(stream.get())) != EOF;) {
      if (c == '\n') {
        all.emplace_back();
      } else {
        all.back() += static_cast<char>(c);
      }
    }
    EXPECT_EQ(all.back(), "") << "the last line has no end";
    all.pop_back();
    return all;
  }

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream{std::tmpfile(), std::fclose};
};

TEST(TerminalSink, WritesNoColoursToAFile) {
  TemporaryFile file;
  ASSERT_TRUE(file.stream);
  terminal_sink(file.stream.get())(make_record("m"));
  EXPECT_EQ(file.lines(), std::vector{terminal_line(make_record("m"), false)});
}

TEST(LogSink, IsJsonWhereNoTerminalIs) {
  TemporaryFile file;
  ASSERT_TRUE(file.stream);
  log_sink(file.stream.get())(make_record("m"));
  EXPECT_EQ(file.lines(), std::vector{json_line(make_record("m"))});
}

TEST(LogSink, LeavesOutWhatIsBelowItsLevel) {
  TemporaryFile file;
  ASSERT_TRUE(file.stream);
  LogRecord record = make_record("m");
  for (const Level level : {Level::info, Level::warning, Level::error}) {
    record.level = level;
    log_sink(file.stream.get(), Level::warning)(record);
  }
  EXPECT_EQ(file.lines().size(), 2u);
}

TEST(LogSink, IsAColouredLineForPeopleOnATerminal) {
  const int screen = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(screen, 0);
  ASSERT_EQ(::grantpt(screen), 0);
  ASSERT_EQ(::unlockpt(screen), 0);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> terminal{std::fopen(::ptsname(screen), "w"),
                                                                 std::fclose};
  ASSERT_TRUE(terminal);
  ASSERT_EQ(::setenv("TERM", "xterm", 1), 0);
  ASSERT_EQ(::unsetenv("NO_COLOR"), 0);
  log_sink(terminal.get())(make_record("charged"));
  std::string line;
  char shown[512];
  while (!line.ends_with('\n')) {
    const ::ssize_t size = ::read(screen, shown, sizeof shown);
    ASSERT_GT(size, 0);
    line.append(shown, static_cast<std::size_t>(size));
  }
  ::close(screen);
  EXPECT_EQ(line,
            "\x1b[2m2026-11-16 08:30:01.123\x1b[0m \x1b[32mINFO \x1b[0m charged "
            "\x1b[2m(bank.cpp:17)\x1b[0m\r\n");
}

TEST(JsonSink, WritesWholeLinesEvenIfLoggersShareAStream) {
  TemporaryFile file;
  ASSERT_TRUE(file.stream);
  Logger first(
      {.lines_per_second = 0, .sinks = {json_sink(file.stream.get())}, .now = {}, .context = {}});
  Logger second(
      {.lines_per_second = 0, .sinks = {json_sink(file.stream.get())}, .now = {}, .context = {}});
  const std::string text(3'000, 'x');
  std::vector<std::thread> threads;
  for (Logger* logger : {&first, &second, &first, &second}) {
    threads.emplace_back([logger, &text] {
      for (int i = 0; i < 50; ++i) logger->info(text, {{"text", text}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<std::string> lines = file.lines();
  EXPECT_EQ(lines.size(), 200u);
  for (const std::string& line : lines) EXPECT_EQ(JsonReader::read(line).at("message"), text);
}

}  // namespace
}  // namespace weir::telemetry
