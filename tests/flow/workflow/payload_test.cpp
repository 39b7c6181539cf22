#include <weir/flow/workflow/payload.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace weir::flow::workflow {
namespace {

enum class Colour : std::uint8_t { red = 1, blue };

struct Address {
  std::string street;
  std::optional<std::int32_t> number;
  friend bool operator==(const Address&, const Address&) = default;
};
struct Parcel {
  Address to;
  std::vector<Address> stops;
  std::optional<Address> from;
  Colour colour = Colour::red;
  std::map<std::string, std::int64_t> prices;
  std::chrono::milliseconds patience{};
  bool is_fragile = false;
  double weight = 0;
  friend bool operator==(const Parcel&, const Parcel&) = default;
};
struct One {
  std::vector<std::string> names;
  friend bool operator==(const One&, const One&) = default;
};

std::string random_text(std::mt19937_64& random) {
  std::string text(random() % 12, ' ');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}
Address random_address(std::mt19937_64& random) {
  Address address{random_text(random), {}};
  if (random() % 2 == 0) address.number = static_cast<std::int32_t>(random());
  return address;
}
Parcel random_parcel(std::mt19937_64& random) {
  Parcel parcel;
  parcel.to = random_address(random);
  for (std::uint64_t i = random() % 4; i > 0; --i) parcel.stops.push_back(random_address(random));
  if (random() % 2 == 0) parcel.from = random_address(random);
  parcel.colour = random() % 2 == 0 ? Colour::blue : Colour::red;
  for (std::uint64_t i = random() % 3; i > 0; --i) {
    parcel.prices[random_text(random)] = static_cast<std::int64_t>(random());
  }
  parcel.patience = std::chrono::milliseconds(static_cast<std::int64_t>(random() % 100'000));
  parcel.is_fragile = random() % 2 == 0;
  parcel.weight = static_cast<double>(random() % 1000) / 8;
  return parcel;
}

TEST(Payload, PlainStructsNeedNothingSaid) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000; ++i) {
    const Parcel parcel = random_parcel(random);
    EXPECT_EQ(from_payload<Parcel>(to_payload(parcel)).value(), parcel) << "seed 7, case " << i;
  }
  EXPECT_EQ(from_payload<One>(to_payload(One{{"a", ""}})).value(), (One{{"a", ""}}));
  EXPECT_EQ(from_payload<std::string>(to_payload("text")).value(), "text");
  EXPECT_EQ(to_payload(std::string("text")), "text");
}

TEST(Payload, BytesOfSomethingElseAreRefused) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 500; ++i) {
    const std::string bytes = to_payload(random_parcel(random));
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      EXPECT_EQ(from_payload<Parcel>(bytes.substr(0, size)).error(), Errc::corruption)
          << "seed 11, case " << i << ", " << size << " of " << bytes.size();
    }
    EXPECT_EQ(from_payload<Parcel>(bytes + '\0').error(), Errc::corruption);
  }
  // A count that no bytes can hold.
  EXPECT_EQ(from_payload<std::vector<Address>>("\xff\xff\xff\xff\x7f").error(), Errc::corruption);
}

}  // namespace
}  // namespace weir::flow::workflow
