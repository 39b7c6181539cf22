#include <weir/flow/data/uuid.hpp>

#include <cctype>
#include <cstdio>

#include <gtest/gtest.h>

#include <weir/flow/data/errc.hpp>
#include <weir/tests/storage/support/arbitrary.hpp>

namespace weir::flow::data {
namespace {

using storage::testing::Random;

constexpr int uuids_tried = 2'000;
constexpr std::string_view example = "123e4567-e89b-12d3-a456-426614174000";

Uuid arbitrary_uuid(Random& random) {
  Uuid uuid;
  for (auto& byte : uuid.bytes) byte = static_cast<std::uint8_t>(random.bits());
  return uuid;
}

// By the C library, which knows nothing of the code under test.
std::string printed(const Uuid& uuid) {
  const auto& b = uuid.bytes;
  char text[37];
  std::snprintf(text, sizeof(text),
                "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
                b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14],
                b[15]);
  return text;
}

TEST(Uuid, IsWrittenInTheCanonicalForm) {
  Random random;
  for (int i = 0; i < uuids_tried; ++i) {
    const Uuid uuid = arbitrary_uuid(random);
    ASSERT_EQ(to_string(uuid), printed(uuid));
  }
}

TEST(Uuid, IsReadAsItWasWrittenInEitherCase) {
  Random random;
  for (int i = 0; i < uuids_tried; ++i) {
    const Uuid uuid = arbitrary_uuid(random);
    std::string text = printed(uuid);
    for (char& digit : text) {
      if (random.one_in(2)) digit = static_cast<char>(std::toupper(digit));
    }
    ASSERT_EQ(parse_uuid(text), uuid) << text;
  }
}

TEST(Uuid, RefusesAnyOtherByteInAnyPlace) {
  for (std::size_t place = 0; place < example.size(); ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text(example);
      text[place] = static_cast<char>(byte);
      const bool is_digit = byte < 128 && std::isxdigit(byte) != 0;
      const bool is_valid = example[place] == '-' ? byte == '-' : is_digit;
      ASSERT_EQ(parse_uuid(text).has_value(), is_valid) << place << ' ' << byte;
    }
  }
}

TEST(Uuid, RefusesAnyOtherLength) {
  std::string text(example);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(parse_uuid(text.substr(0, size)).error(), Errc::invalid_value);
  }
  EXPECT_FALSE(parse_uuid(text + "0"));
  EXPECT_FALSE(parse_uuid("{" + text + "}"));
  EXPECT_FALSE(parse_uuid("123e4567e89b12d3a456426614174000"));
}

TEST(Uuid, NamesTheTextThatIsNone) {
  EXPECT_EQ(parse_uuid("12\n").error().detail(),
            "uuid '12\\x0A': expected 8-4-4-4-12 hexadecimal digits, with hyphens between them");
}

TEST(Uuid, IsOrderedAsItsText) {
  Random random;
  for (int i = 0; i < uuids_tried; ++i) {
    const Uuid left = arbitrary_uuid(random);
    Uuid right = left;
    right.bytes[random.below(16)] = static_cast<std::uint8_t>(random.bits());
    ASSERT_EQ(left < right, printed(left) < printed(right));
    ASSERT_EQ(left == right, printed(left) == printed(right));
  }
}

}  // namespace
}  // namespace weir::flow::data
