#include <weir/telemetry/sampler.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace weir::telemetry {
namespace {

constexpr int traces_tried = 100'000;

TraceId random_trace(std::mt19937_64& random) {
  TraceId id;
  for (auto& byte : id.bytes) byte = static_cast<std::uint8_t>(random());
  return id;
}

Sampler by_ratio(double ratio) {
  return Sampler({.kind = SamplerKind::ratio, .ratio = ratio, .is_parent_based = false});
}

Sampler of_kind(SamplerKind kind) { return Sampler({.kind = kind, .is_parent_based = false}); }

TraceContext parent(bool is_sampled) {
  TraceContext context;
  context.trace = parse_trace_id("4bf92f3577b34da6a3ce929d0e0e4736").value();
  context.span = parse_span_id("00f067aa0ba902b7").value();
  context.is_sampled = is_sampled;
  return context;
}

static_assert(noexcept(Sampler(SamplerOptions{}).samples(TraceId{})));
static_assert(noexcept(Sampler(SamplerOptions{}).samples_child_of(TraceContext{})));

TEST(Sampler, AlwaysOnSamplesEverythingAndAlwaysOffNothing) {
  std::mt19937_64 random(1);
  TraceId greatest;
  greatest.bytes.fill(0xFF);
  std::vector<TraceId> traces = {greatest, TraceId{}};
  for (int i = 0; i < 1000; ++i) traces.push_back(random_trace(random));
  for (const TraceId& trace : traces) {
    EXPECT_TRUE(of_kind(SamplerKind::always_on).samples(trace));
    EXPECT_TRUE(by_ratio(1).samples(trace));
    EXPECT_FALSE(of_kind(SamplerKind::always_off).samples(trace));
    EXPECT_FALSE(by_ratio(0).samples(trace));
  }
}

TEST(Sampler, SamplesThatRatioOfAllTraces) {
  for (const double ratio : {0.001, 0.01, 0.1, 0.25, 0.5, 0.9, 0.99}) {
    std::mt19937_64 random(7);
    const Sampler sampler = by_ratio(ratio);
    int sampled = 0;
    for (int i = 0; i < traces_tried; ++i) sampled += sampler.samples(random_trace(random));
    const double deviation = std::sqrt(traces_tried * ratio * (1 - ratio));
    EXPECT_NEAR(sampled, traces_tried * ratio, 5 * deviation) << ratio;
  }
}

TEST(Sampler, WhatIsSampledAtARatioIsSampledAtEveryLargerOne) {
  std::vector<Sampler> samplers;
  for (int i = 0; i <= 1000; ++i) samplers.push_back(by_ratio(i / 1000.0));
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    const TraceId trace = random_trace(random);
    bool was_sampled = false;
    for (const Sampler& sampler : samplers) {
      const bool is_sampled = sampler.samples(trace);
      EXPECT_TRUE(is_sampled || !was_sampled) << to_string(trace);
      was_sampled = is_sampled;
    }
    EXPECT_TRUE(was_sampled);
  }
}

TEST(Sampler, AgreesWithOtherImplementationsOnTheLastEightBytes) {
  const auto samples_half = [](std::string_view trace) {
    return by_ratio(0.5).samples(parse_trace_id(trace).value());
  };
  EXPECT_TRUE(samples_half("ffffffffffffffff0000000000000000"));
  EXPECT_TRUE(samples_half("ffffffffffffffff7fffffffffffffff"));
  EXPECT_FALSE(samples_half("00000000000000008000000000000000"));
  EXPECT_FALSE(samples_half("0000000000000000ffffffffffffffff"));
}

TEST(Sampler, IgnoresTheFirstEightBytes) {
  std::mt19937_64 random(5);
  const Sampler sampler = by_ratio(0.5);
  for (int i = 0; i < 1000; ++i) {
    const TraceId trace = random_trace(random);
    TraceId other = random_trace(random);
    std::copy(trace.bytes.begin() + 8, trace.bytes.end(), other.bytes.begin() + 8);
    EXPECT_EQ(sampler.samples(trace), sampler.samples(other));
  }
}

TEST(Sampler, TreatsARatioOutOfRangeAsTheNearestAndNoNumberAsNone) {
  TraceId greatest;
  greatest.bytes.fill(0xFF);
  EXPECT_TRUE(by_ratio(2).samples(greatest));
  EXPECT_TRUE(by_ratio(std::numeric_limits<double>::infinity()).samples(greatest));
  EXPECT_FALSE(by_ratio(-1).samples(TraceId{}));
  EXPECT_FALSE(by_ratio(std::numeric_limits<double>::quiet_NaN()).samples(TraceId{}));
  EXPECT_FALSE(by_ratio(std::nextafter(1.0, 0.0)).samples(greatest));
}

TEST(Sampler, BasedOnTheParentFollowsIt) {
  for (const auto kind : {SamplerKind::always_on, SamplerKind::always_off, SamplerKind::ratio}) {
    const Sampler sampler({.kind = kind, .ratio = 0.5, .is_parent_based = true});
    EXPECT_TRUE(sampler.samples_child_of(parent(true)));
    EXPECT_FALSE(sampler.samples_child_of(parent(false)));
  }
}

TEST(Sampler, NotBasedOnTheParentDecidesForItself) {
  for (const bool is_sampled : {false, true}) {
    EXPECT_TRUE(of_kind(SamplerKind::always_on).samples_child_of(parent(is_sampled)));
    EXPECT_FALSE(of_kind(SamplerKind::always_off).samples_child_of(parent(is_sampled)));
    EXPECT_EQ(by_ratio(0.5).samples_child_of(parent(is_sampled)),
              by_ratio(0.5).samples(parent(is_sampled).trace));
  }
}

}  // namespace
}  // namespace weir::telemetry
