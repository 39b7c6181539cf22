#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <weir/storage/key.hpp>

// Random values of the types that can be stored: mostly small or at an edge, so that many of them
// are equal, begin alike, or differ by one.
namespace weir::storage::testing {

struct OrderKey {
  std::string customer;
  std::int64_t number = 0;

  static auto weir_fields(auto& self) { return std::tie(self.customer, self.number); }
  friend auto operator<=>(const OrderKey&, const OrderKey&) = default;
};

enum class Colour : std::uint8_t { red = 1, green = 2 };
enum class Balance : std::int16_t {};

class Random {
 public:
  std::uint64_t bits() { return generator_(); }
  std::size_t below(std::size_t bound) { return generator_() % bound; }
  bool one_in(std::size_t chances) { return below(chances) == 0; }

 private:
  static std::uint64_t seed() {
    if (const char* fixed = std::getenv("WEIR_SEED")) return std::strtoull(fixed, nullptr, 0);
    return std::random_device{}();
  }

  std::uint64_t seed_ = seed();
  ::testing::ScopedTrace trace_{__FILE__, __LINE__,
                                "replay with WEIR_SEED=" + std::to_string(seed_)};
  std::mt19937_64 generator_{seed_};
};

template <class T>
struct Arbitrary;

template <class T>
T arbitrary(Random& random) {
  return Arbitrary<T>::make(random);
}

template <>
struct Arbitrary<bool> {
  static bool make(Random& random) { return random.one_in(2); }
};

template <internal::Integer T>
struct Arbitrary<T> {
  static T make(Random& random) {
    using Limits = std::numeric_limits<T>;
    const T near = static_cast<T>(random.below(4));
    switch (random.below(6)) {
      case 0: return static_cast<T>(Limits::min() + near);
      case 1: return static_cast<T>(Limits::max() - near);
      case 2: return near;
      case 3: return static_cast<T>(T{0} - near);
      case 4: return static_cast<T>(T{1} << random.below(8 * sizeof(T) - 1));
      default: return static_cast<T>(random.bits() >> random.below(64));
    }
  }
};

template <internal::FixedEnum T>
struct Arbitrary<T> {
  static T make(Random& random) {
    return static_cast<T>(arbitrary<std::underlying_type_t<T>>(random));
  }
};

template <internal::Float T>
struct Arbitrary<T> {
  static T make(Random& random) {
    using Limits = std::numeric_limits<T>;
    static constexpr T edges[] = {
        T{0},          T{1},          Limits::infinity(), Limits::quiet_NaN(), Limits::denorm_min(),
        Limits::min(), Limits::max(), Limits::epsilon()};
    T value = edges[random.below(std::size(edges))];
    if (random.one_in(3)) value = std::bit_cast<T>(arbitrary<internal::Bits<sizeof(T)>>(random));
    return random.one_in(2) ? value : -value;
  }
};

template <>
struct Arbitrary<std::string> {
  static std::string make(Random& random) {
    static constexpr char bytes[] = {'\x00', '\x01', '\x02', 'a', '\x7F', '\x80', '\xFE', '\xFF'};
    std::string text;
    for (std::size_t runs = random.below(4); runs > 0; --runs) {
      const char byte =
          random.one_in(8) ? static_cast<char>(random.bits()) : bytes[random.below(sizeof(bytes))];
      text.append(1 + random.below(random.one_in(16) ? 40 : 2), byte);
    }
    return text;
  }
};

template <>
struct Arbitrary<std::vector<std::byte>> {
  static std::vector<std::byte> make(Random& random) {
    std::vector<std::byte> bytes;
    for (const char byte : arbitrary<std::string>(random)) bytes.push_back(std::byte(byte));
    return bytes;
  }
};

template <class T, std::size_t Size>
struct Arbitrary<std::array<T, Size>> {
  static std::array<T, Size> make(Random& random) {
    std::array<T, Size> items{};
    for (T& item : items) item = random.one_in(2) ? T{0} : arbitrary<T>(random);
    return items;
  }
};

template <class Rep, class Period>
struct Arbitrary<std::chrono::duration<Rep, Period>> {
  static std::chrono::duration<Rep, Period> make(Random& random) {
    return std::chrono::duration<Rep, Period>(arbitrary<Rep>(random));
  }
};

template <class Duration>
struct Arbitrary<std::chrono::sys_time<Duration>> {
  static std::chrono::sys_time<Duration> make(Random& random) {
    return std::chrono::sys_time<Duration>(arbitrary<Duration>(random));
  }
};

template <class T>
struct Arbitrary<std::optional<T>> {
  static std::optional<T> make(Random& random) {
    if (random.one_in(3)) return std::nullopt;
    return arbitrary<T>(random);
  }
};

template <class T>
struct Arbitrary<Descending<T>> {
  static Descending<T> make(Random& random) { return {arbitrary<T>(random)}; }
};

template <internal::Composite T>
struct Arbitrary<T> {
  static T make(Random& random) {
    T value{};
    internal::apply_components(
        [&]<class... Ts>(Ts&... components) { ((components = arbitrary<Ts>(random)), ...); },
        value);
    return value;
  }
};

template <class T>
struct Arbitrary<std::vector<T>> {
  static std::vector<T> make(Random& random) {
    std::vector<T> items;
    const std::size_t size = random.below(random.one_in(16) ? 200 : 4);
    while (items.size() < size) items.push_back(arbitrary<T>(random));
    return items;
  }
};

template <class K, class V>
struct Arbitrary<std::map<K, V>> {
  static std::map<K, V> make(Random& random) {
    std::map<K, V> entries;
    for (std::size_t tries = random.below(5); tries > 0; --tries) {
      entries.emplace(arbitrary<K>(random), arbitrary<V>(random));
    }
    return entries;
  }
};

template <>
struct Arbitrary<std::monostate> {
  static std::monostate make(Random&) { return {}; }
};

template <class... Ts>
struct Arbitrary<std::variant<Ts...>> {
  static std::variant<Ts...> make(Random& random) {
    std::size_t index = random.below(sizeof...(Ts));
    std::variant<Ts...> value;
    ((index-- == 0 ? void(value = arbitrary<Ts>(random)) : void()), ...);
    return value;
  }
};

/// One to three bytes changed, added, removed or repeated, or a new start or end.
inline std::string damaged(std::string bytes, Random& random) {
  static constexpr char likely[] = {'\x00', '\x01', '\x7F', '\x80', '\xFE', '\xFF'};
  for (std::size_t count = 1 + random.below(3); count > 0; --count) {
    const std::size_t at = random.below(bytes.size() + 1);
    const char byte =
        random.one_in(3) ? static_cast<char>(random.bits()) : likely[random.below(sizeof(likely))];
    switch (random.below(5)) {
      case 0: bytes.insert(at, 1, byte); break;
      case 1: bytes.insert(at, bytes.substr(at, random.below(8))); break;
      case 2: bytes.erase(at, 1 + random.below(3)); break;
      case 3: bytes.resize(at); break;
      default:
        if (at < bytes.size()) bytes[at] = byte;
    }
  }
  return bytes;
}

/// Any bytes at all.
inline std::string noise(Random& random) {
  std::string bytes = arbitrary<std::string>(random);
  while (!random.one_in(4)) bytes.push_back(static_cast<char>(random.bits()));
  return bytes;
}

}  // namespace weir::storage::testing
