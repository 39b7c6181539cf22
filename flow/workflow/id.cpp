#include <weir/flow/workflow/id.hpp>

#include <array>
#include <charconv>
#include <cstring>
#include <span>

#include <weir/flow/workflow/errc.hpp>

namespace weir::flow::workflow {
namespace {

/// What each first byte comes to.
constexpr std::array<std::uint16_t, 256> make_crc16_table() {
  std::array<std::uint16_t, 256> table = {};
  for (unsigned byte = 0; byte < table.size(); ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc << 1) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U);
    }
    table[byte] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

/// CRC-16 with the polynomial 0x1021 from zero, as XMODEM has it. Ids depend on it.
std::uint16_t crc16(std::span<const std::uint8_t> bytes) {
  static constexpr std::array<std::uint16_t, 256> table = make_crc16_table();
  unsigned crc = 0;
  for (const std::uint8_t byte : bytes) {
    crc = ((crc << 8) ^ table[((crc >> 8) ^ byte) & 0xff]) & 0xffff;
  }
  return static_cast<std::uint16_t>(crc);
}

Partition partition_of(std::span<const std::uint8_t> bytes) {
  return {static_cast<std::uint16_t>(crc16(bytes) % partitions_max)};
}

Error invalid(std::string what, std::string_view text) {
  return {Errc::invalid_argument, std::move(what).append(": '").append(text).append("'")};
}

Result<data::Uuid> parse_uuid(std::string_view what, std::string_view text) {
  auto uuid = data::parse_uuid(text);
  if (!uuid) return invalid(std::string(what) + " is no uuid", text);
  return *uuid;
}

}  // namespace

Partition WorkflowId::partition() const noexcept { return partition_of(uuid.bytes); }

ExecutionId ExecutionId::in_workflow(const WorkflowId& workflow, data::Uuid uuid) noexcept {
  return {workflow.partition(), uuid};
}

ExecutionId ExecutionId::in_lane(std::string_view lane, data::Uuid uuid) noexcept {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(lane.data());
  return {workflow::partition_of({bytes, lane.size()}), uuid};
}

std::string to_string(Partition partition) {
  return "{fp:" + std::to_string(partition.number) + "}";
}
std::string to_string(const WorkflowId& id) { return data::to_string(id.uuid); }
std::string to_string(const ExecutionId& id) {
  return to_string(id.partition) + ":" + data::to_string(id.uuid);
}
std::string to_string(const EdgeId& id) { return data::to_string(id.uuid); }

Result<Partition> parse_partition(std::string_view text) {
  constexpr std::string_view prefix = "{fp:";
  if (!text.starts_with(prefix) || !text.ends_with('}')) {
    return invalid("a partition is written {fp:N}", text);
  }
  const std::string_view digits = text.substr(prefix.size(), text.size() - prefix.size() - 1);
  Partition partition;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), partition.number);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return invalid("a partition is written {fp:N}", text);
  }
  if (partition.number >= partitions_max) {
    return invalid("partitions are numbered below " + std::to_string(partitions_max), text);
  }
  return partition;
}

Result<WorkflowId> parse_workflow_id(std::string_view text) {
  auto uuid = parse_uuid("workflow id", text);
  if (!uuid) return uuid.error();
  return WorkflowId{*uuid};
}

Result<ExecutionId> parse_execution_id(std::string_view text) {
  const std::size_t colon = text.rfind("}:");
  if (colon == std::string_view::npos) {
    return invalid("an execution id is written {fp:N}:uuid", text);
  }
  auto partition = parse_partition(text.substr(0, colon + 1));
  if (!partition) return partition.error();
  auto uuid = parse_uuid("the end of an execution id", text.substr(colon + 2));
  if (!uuid) return uuid.error();
  return ExecutionId{*partition, *uuid};
}

Result<EdgeId> parse_edge_id(std::string_view text) {
  auto uuid = parse_uuid("edge id", text);
  if (!uuid) return uuid.error();
  return EdgeId{*uuid};
}

data::Uuid make_timed_uuid(std::uint64_t milliseconds, std::uint64_t high,
                           std::uint64_t low) noexcept {
  constexpr std::uint64_t version = 0x7000;
  constexpr std::uint64_t variant = std::uint64_t{1} << 63;
  const std::uint64_t first = (milliseconds << 16) | version | (high & 0x0fff);
  const std::uint64_t second = variant | (low & ~(std::uint64_t{3} << 62));
  data::Uuid uuid;
  for (std::size_t i = 0; i < 8; ++i) {
    uuid.bytes[i] = static_cast<std::uint8_t>(first >> (56 - 8 * i));
    uuid.bytes[i + 8] = static_cast<std::uint8_t>(second >> (56 - 8 * i));
  }
  return uuid;
}

}  // namespace weir::flow::workflow
