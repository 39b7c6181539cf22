#include <weir/telemetry/otel/internal/wire_writer.hpp>

#include <limits>
#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>
#include <gtest/gtest.h>

namespace weir::telemetry::otel {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

/// What protobuf writes.
template <class Write>
std::string by_protobuf(const Write& write) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  {
    CodedOutputStream out(&stream);
    write(out);
  }
  return bytes;
}

TEST(WireWriter, WritesNumbersOfEachLength) {
  for (int bits = 0; bits <= 64; ++bits) {
    const std::uint64_t power = bits == 64 ? 0 : std::uint64_t{1} << bits;
    for (const std::uint64_t value : {power - 1, power, power + 1}) {
      WireWriter writer;
      writer.number(3, value);
      EXPECT_EQ(writer.written(), by_protobuf([&](CodedOutputStream& out) {
                  WireFormatLite::WriteUInt64(3, value, &out);
                }))
          << value;
    }
  }
}

TEST(WireWriter, WritesFieldsOfEachType) {
  WireWriter writer;
  writer.fixed32(2'000, 0x01020304);
  writer.fixed64(16, 0x0102030405060708);
  writer.bytes(15, std::string(300, 'x'));
  writer.bytes(1, "");
  EXPECT_EQ(writer.written(), by_protobuf([](CodedOutputStream& out) {
              WireFormatLite::WriteBytes(1, "", &out);
              WireFormatLite::WriteBytes(15, std::string(300, 'x'), &out);
              WireFormatLite::WriteFixed64(16, 0x0102030405060708, &out);
              WireFormatLite::WriteFixed32(2'000, 0x01020304, &out);
            }));
}

TEST(WireWriter, PutsTheLengthOfAMessageBeforeIt) {
  WireWriter writer;
  writer.message(2, [&] {
    writer.message(5, [] {});
    writer.fields("ab");
    writer.number(1, 7);
  });
  EXPECT_EQ(writer.written(), std::string("\x12\x06\x08\x07"
                                          "ab\x2A\x00",
                                          8));
}

TEST(WireWriter, BeginsAnewWhenItIsCleared) {
  WireWriter writer;
  for (const std::size_t size : {std::size_t{10}, std::size_t{3} << 20, std::size_t{10}}) {
    writer.clear();
    EXPECT_TRUE(writer.written().empty());
    writer.fields(std::string(size, 'x'));
    writer.fields("y");
    EXPECT_EQ(writer.written(), "y" + std::string(size, 'x'));
  }
}

}  // namespace
}  // namespace weir::telemetry::otel
