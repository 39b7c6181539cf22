// First, and without a precompiled header: what follows asks what these have brought.
#include <weir/runtime/actor.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/phase.hpp>
#include <weir/runtime/result.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task.hpp>

namespace weir {
namespace {

#ifdef BOOST_CONFIG_HPP
constexpr bool brings_boost = true;
#else
constexpr bool brings_boost = false;
#endif

// <memory>, <chrono> and <functional> of libstdc++ bring streams, calendars and hash tables.
#if defined(_GLIBCXX_OSTREAM) || defined(_GLIBCXX_MEMORY) || defined(_GLIBCXX_CHRONO) || \
    defined(_GLIBCXX_FUNCTIONAL) || defined(_GLIBCXX_ALGORITHM)
constexpr bool brings_heavy_standard_headers = true;
#else
constexpr bool brings_heavy_standard_headers = false;
#endif

}  // namespace
}  // namespace weir

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(LightHeaders, OfActorsBringNoBoostAndSoNoAsio) { EXPECT_FALSE(brings_boost); }

TEST(LightHeaders, OfActorsBringNoHeavyStandardHeaders) {
  EXPECT_FALSE(brings_heavy_standard_headers);
}

}  // namespace
}  // namespace weir
