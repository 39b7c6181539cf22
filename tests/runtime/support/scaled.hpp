#pragma once

namespace weir::testing {

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WEIR_TEST_IS_SLOW 1
#endif
#endif
#ifndef WEIR_TEST_IS_SLOW
#define WEIR_TEST_IS_SLOW 0
#endif

/// How often to repeat something: less under sanitizers.
constexpr int scaled(int repetitions) noexcept {
  return WEIR_TEST_IS_SLOW ? repetitions / 8 + 1 : repetitions;
}

/// The same for seeds of whole scenarios, which take twenty times as long there.
constexpr int scaled_seeds(int seeds) noexcept {
  return WEIR_TEST_IS_SLOW ? seeds / 16 + 1 : seeds;
}

}  // namespace weir::testing
