#include <weir/telemetry/meter.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <weir/tests/telemetry/support/metrics.hpp>

namespace weir::telemetry {
namespace {

using testing::find_record;
using testing::sum_of;

template <class Function>
std::string refusal_of(Function function) {
  try {
    function();
  } catch (const std::invalid_argument& refusal) {
    return refusal.what();
  }
  return "not refused";
}

TEST(Meter, RefusesANameThatOpenTelemetryWouldNotTake) {
  Meter meter;
  const std::string long_name(256, 'a');
  for (const std::string_view name :
       {std::string_view(""), std::string_view("1a"), std::string_view("_a"),
        std::string_view(".a"), std::string_view("a b"), std::string_view("a\nb"),
        std::string_view("a\0b", 3), std::string_view("\xC3\xA4"), std::string_view("a{b}"),
        std::string_view(long_name)}) {
    EXPECT_THROW(meter.counter(name), std::invalid_argument) << name;
    EXPECT_THROW(meter.histogram(name), std::invalid_argument) << name;
    EXPECT_THROW(meter.observe_gauge(name, {}, [](Observer&) {}).remove(), std::invalid_argument);
  }
  for (const std::string_view name : {std::string_view("a"), std::string_view("A.b-c_d/e9"),
                                      std::string_view(long_name).substr(1)}) {
    EXPECT_NO_THROW(meter.counter(name)) << name;
  }
}

TEST(Meter, NamesWhatItRefusesWithoutControlCharacters) {
  Meter meter;
  EXPECT_EQ(refusal_of([&] { meter.counter("a\n'b"); }),
            "metric name 'a\\x0a\\'b': begin with a letter, then at most 254 letters, digits or "
            "._-/");
}

TEST(Meter, RefusesAUnitThatIsNotShortPrintableAscii) {
  Meter meter;
  for (const std::string_view unit : {"a b", "\n", "\xC2\xB5s"}) {
    EXPECT_THROW(meter.counter("c", {.unit = unit}), std::invalid_argument);
  }
  EXPECT_THROW(meter.counter("c", {.unit = std::string(64, 's')}), std::invalid_argument);
  EXPECT_NO_THROW(meter.counter("c", {.unit = "{message}/s"}));
}

TEST(Meter, RefusesBoundsThatAreNotFiniteAndAscending) {
  Meter meter;
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& bounds : std::vector<std::vector<double>>{
           {1, 1}, {2, 1}, {1, infinity}, {-infinity, 1}, {std::nan("")}, {1, std::nan(""), 2}}) {
    EXPECT_THROW(meter.histogram("h", {.bounds = bounds}), std::invalid_argument);
  }
}

TEST(Meter, GivesTheSameInstrumentForTheSameName) {
  Meter meter;
  meter.counter("messages", {.unit = "{message}", .description = "First."}).add(1);
  meter.counter("Messages", {.unit = "{message}", .description = "Second."}).add(2);
  EXPECT_EQ(sum_of(meter, "messages"), 3);
  EXPECT_EQ(find_record(meter.collect(0), "messages")->description, "First.");
}

TEST(Meter, RefusesANameThatStandsForSomethingElseAndSaysWhat) {
  Meter meter;
  meter.counter("a", {.unit = "{message}"});
  EXPECT_EQ(refusal_of([&] { meter.gauge("a", {.unit = "{message}"}); }),
            "metric 'a' is a counter in '{message}', not a gauge in '{message}'");
  EXPECT_EQ(refusal_of([&] { meter.counter("a", {.unit = "By"}); }),
            "metric 'a' is a counter in '{message}', not a counter in 'By'");
  meter.histogram("h", {.bounds = {1, 2.5}});
  EXPECT_EQ(
      refusal_of([&] { meter.histogram("h", {.bounds = {1}}); }),
      "metric 'h' is a histogram in 's' with bounds 1 2.5, not a histogram in 's' with bounds "
      "1");
  EXPECT_NE(refusal_of([&] { meter.observe_counter("a", {}, [](Observer&) {}).remove(); }),
            "not refused");
}

TEST(Meter, RefusesMoreInstrumentsThanItsLimit) {
  Meter meter({.instruments_max = 3});
  meter.counter("a");
  meter.counter("b");
  EXPECT_THROW(meter.counter("c"), std::length_error);
  EXPECT_NO_THROW(meter.counter("a"));
}

TEST(Meter, DescribesEachInstrumentInTheOrderTheyWereMade) {
  Meter meter({.begin = 100});
  meter.counter("b", {.unit = "{message}", .description = "Messages."}).add(1);
  meter.up_down_counter("a").add(1);
  const std::vector<MetricRecord> records = meter.collect(250);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].name, "b");
  EXPECT_EQ(records[0].description, "Messages.");
  EXPECT_EQ(records[0].unit, "{message}");
  EXPECT_TRUE(records[0].is_monotonic);
  EXPECT_EQ(records[0].begin, 100);
  EXPECT_EQ(records[0].time, 250);
  EXPECT_EQ(records[1].name, "a");
  EXPECT_FALSE(records[1].is_monotonic);
}

// [instruments]
class Checkout {
 public:
  explicit Checkout(Meter& meter)
      : card_(count_payments(meter).with({{"payment.method", "card"}})),
        cash_(count_payments(meter).with({{"payment.method", "cash"}})),
        duration_(meter.histogram("shop.checkout.duration",
                                  {.unit = "s", .description = "From basket to receipt."})),
        open_(meter.observe_gauge(
            "shop.baskets.open", {.unit = "{basket}", .description = "Not paid yet."},
            [this](Observer& observer) { observer.report(baskets_.load()); })) {}

  void open() { ++baskets_; }
  void pay_by_card(double seconds) {
    --baskets_;
    card_.add();
    duration_.record(seconds);
  }

 private:
  static Counter count_payments(Meter& meter) {
    return meter.counter("shop.payments", {.unit = "{payment}", .description = "Received."});
  }

  Counter::Series card_;
  Counter::Series cash_;
  Histogram duration_;
  std::atomic<int> baskets_{0};
  Observation open_;  // last: its callback uses what stands above
};
// [/instruments]

TEST(Meter, ServesAClassThatMeasuresItself) {
  Meter meter;
  Checkout checkout(meter);
  checkout.open();
  checkout.open();
  checkout.pay_by_card(0.3);
  EXPECT_EQ(sum_of(meter, "shop.payments", {{"payment.method", "card"}}), 1);
  EXPECT_EQ(sum_of(meter, "shop.payments", {{"payment.method", "cash"}}), 0);
  EXPECT_EQ(testing::point_of<GaugePoint>(meter, "shop.baskets.open").value, 1);
  EXPECT_EQ(testing::point_of<HistogramPoint>(meter, "shop.checkout.duration").sum, 0.3);
}

}  // namespace
}  // namespace weir::telemetry
