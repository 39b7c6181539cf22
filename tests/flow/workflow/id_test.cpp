#include <weir/flow/workflow/id.hpp>

#include <set>
#include <unordered_set>

#include <gtest/gtest.h>

#include <weir/flow/workflow/errc.hpp>
#include <weir/tests/flow/workflow/support/command_board.hpp>

namespace weir::flow::workflow {
namespace {

using testing::refuses;

constexpr std::string_view uuid_text = "123e4567-e89b-12d3-a456-426614174000";

data::Uuid uuid_of(std::string_view bytes) {
  data::Uuid uuid;
  std::ranges::copy(bytes, uuid.bytes.begin());
  return uuid;
}

// By a table of remainders, where the code shifts bit by bit.
std::uint16_t crc16_by_table(std::string_view bytes) {
  std::array<std::uint16_t, 256> table = {};
  for (unsigned i = 0; i < 256; ++i) {
    std::uint32_t value = i << 8U;
    for (int bit = 0; bit < 8; ++bit) value = (value << 1U) ^ ((value >> 15U) & 1U ? 0x11021U : 0U);
    table[i] = static_cast<std::uint16_t>(value);
  }
  std::uint16_t crc = 0;
  for (const char c : bytes) {
    const auto index = static_cast<std::uint8_t>((crc >> 8U) ^ static_cast<std::uint8_t>(c));
    crc = static_cast<std::uint16_t>((crc << 8U) ^ table[index]);
  }
  return crc;
}

TEST(Id, PartitionsAreTheChecksumThatXmodemHas) {
  EXPECT_EQ(crc16_by_table("123456789"), 0x31C3);
  EXPECT_EQ(ExecutionId::in_lane("123456789", {}).partition.number, 0xC3);
  EXPECT_EQ(ExecutionId::in_lane("", {}).partition.number, 0);
  for (int i = 0; i < 1000; ++i) {
    const std::string lane = "lane-" + std::to_string(i * 7919);
    EXPECT_EQ(ExecutionId::in_lane(lane, {}).partition.number, crc16_by_table(lane) % 256);
  }
}

TEST(Id, AWorkflowIsInThePartitionOfTheBytesOfItsId) {
  EXPECT_EQ(WorkflowId{}.partition().number, 0);
  for (int i = 0; i < 200; ++i) {
    std::string bytes(16, static_cast<char>(i));
    bytes[3] = static_cast<char>(i * 37);
    const WorkflowId id{uuid_of(bytes)};
    EXPECT_EQ(id.partition().number, crc16_by_table(bytes) % 256);
    // Where its executions are too, whatever their own ids.
    EXPECT_EQ(ExecutionId::in_workflow(id, uuid_of("another")).partition, id.partition());
  }
}

TEST(Id, IsReadBackAsItIsWritten) {
  const data::Uuid uuid = data::parse_uuid(uuid_text).value();
  for (std::uint16_t number = 0; number < partitions_max; ++number) {
    const Partition partition{number};
    EXPECT_EQ(to_string(partition), "{fp:" + std::to_string(number) + "}");
    EXPECT_EQ(parse_partition(to_string(partition)), partition);
    const ExecutionId id{partition, uuid};
    EXPECT_EQ(to_string(id), to_string(partition) + ":" + std::string(uuid_text));
    EXPECT_EQ(parse_execution_id(to_string(id)), id);
  }
  EXPECT_EQ(to_string(WorkflowId{uuid}), uuid_text);
  EXPECT_EQ(parse_workflow_id(uuid_text), WorkflowId{uuid});
  EXPECT_EQ(to_string(EdgeId{uuid}), uuid_text);
  EXPECT_EQ(parse_edge_id(uuid_text), EdgeId{uuid});
}

TEST(Id, APartitionOfAnotherFormIsRefusedByName) {
  for (const std::string text :
       {"",        "{",        "}",        "{}",         "{fp:",
        "{fp:}",   "fp:7",     "{fp:7",    "fp:7}",      "{b:7}",
        "{q:7}",   "{FP:7}",   "{fp:-1}",  "{fp:+1}",    "{fp: 1}",
        "{fp:1 }", "{fp:0x1}", "{fp:1.0}", "{fp:a}",     "{fp:7}}",
        "{{fp:7}", " {fp:7}",  "{fp:7} ",  "{fp:65536}", "{fp:99999999999999999999}"}) {
    EXPECT_TRUE(refuses(parse_partition(text), Errc::invalid_argument, "'" + text + "'")) << text;
  }
  for (const std::string text : {"{fp:256}", "{fp:32768}", "{fp:65535}"}) {
    EXPECT_TRUE(refuses(parse_partition(text), Errc::invalid_argument, "below 256")) << text;
    EXPECT_TRUE(refuses(parse_partition(text), Errc::invalid_argument, text)) << text;
  }
}

TEST(Id, AnExecutionIdOfAnotherFormIsRefusedByName) {
  const std::string uuid(uuid_text);
  for (const std::string& text : {std::string(), uuid, "{fp:7}" + uuid, "{fp:7:" + uuid,
                                  "{fp:7} :" + uuid, ":" + uuid, std::string("{fp:7}")}) {
    EXPECT_TRUE(refuses(parse_execution_id(text), Errc::invalid_argument, "{fp:N}:uuid")) << text;
    EXPECT_TRUE(refuses(parse_execution_id(text), Errc::invalid_argument, "'" + text + "'"))
        << text;
  }
  for (const std::string& end : {std::string(), uuid.substr(1), uuid + "0", "{" + uuid + "}",
                                 uuid + " ", std::string(36, 'g'), std::string(36, '-')}) {
    EXPECT_TRUE(refuses(parse_execution_id("{fp:7}:" + end), Errc::invalid_argument,
                        "the end of an execution id is no uuid: '" + end + "'"))
        << end;
  }
  // What comes before the last delimiter is the partition, all of it.
  EXPECT_TRUE(refuses(parse_execution_id("{fp:7}:{fp:7}:" + uuid), Errc::invalid_argument,
                      "'{fp:7}:{fp:7}'"));
  EXPECT_TRUE(refuses(parse_execution_id("{fp:256}:" + uuid), Errc::invalid_argument, "below 256"));
  EXPECT_TRUE(refuses(parse_execution_id("{b:7}:" + uuid), Errc::invalid_argument, "'{b:7}'"));
}

TEST(Id, WorkflowsAndEdgesAreNamedByUuidsAlone) {
  const std::string uuid(uuid_text);
  for (const std::string& text :
       {std::string(), std::string("{fp:7}:") + uuid, uuid.substr(1), uuid + "0"}) {
    EXPECT_TRUE(refuses(parse_workflow_id(text), Errc::invalid_argument,
                        "workflow id is no uuid: '" + text + "'"));
    EXPECT_TRUE(
        refuses(parse_edge_id(text), Errc::invalid_argument, "edge id is no uuid: '" + text + "'"));
  }
}

TEST(Id, NewUuidsAreOfVersionSevenAndInTheOrderOfTime) {
  std::string last;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::string text = data::to_string(make_timed_uuid(i * 77'777, ~i << 9U, ~i));
    EXPECT_EQ(text[14], '7');
    EXPECT_NE(std::string_view("89ab").find(text[19]), std::string_view::npos) << text;
    EXPECT_LT(last, text);
    last = text;
  }
  EXPECT_EQ(
      data::to_string(make_timed_uuid(0x0123456789ab, 0xffffffffffffffff, 0xfedcba9876543210)),
      "01234567-89ab-7fff-bedc-ba9876543210");
}

TEST(Id, HashesTellIdsApart) {
  std::unordered_set<std::size_t> seen;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const ExecutionId id{{7}, make_timed_uuid(i, i * 0x9e3779b97f4a7c15U, i)};
    seen.insert(std::hash<ExecutionId>()(id));
    EXPECT_EQ(std::hash<WorkflowId>()({id.uuid}), std::hash<EdgeId>()({id.uuid}));
  }
  EXPECT_GT(seen.size(), 990U);
}

}  // namespace
}  // namespace weir::flow::workflow
