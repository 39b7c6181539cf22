#include <weir/telemetry/otel/internal/wire_writer.hpp>

#include <algorithm>
#include <utility>

namespace weir::telemetry::otel {
namespace {

constexpr std::size_t kept_bytes_max = std::size_t{1} << 20;
constexpr std::size_t first_bytes = 4096;

}  // namespace

void WireWriter::clear() {
  if (buffer_.size() > kept_bytes_max) buffer_ = {};
  begin_ = buffer_.size();
}

// Seven bits in each byte, the lowest first; all but the last have the highest bit set.
void WireWriter::long_varint(std::uint64_t value) {
  const std::size_t size = (static_cast<std::size_t>(std::bit_width(value)) + 6) / 7;
  char* to = room_for(size);
  for (std::size_t i = 1; i < size; ++i, value >>= 7) *to++ = static_cast<char>(value | 0x80);
  *to = static_cast<char>(value);
}

void WireWriter::grow(std::size_t bytes) {
  const std::string_view old = written();
  std::string larger(std::max(2 * buffer_.size() + bytes, first_bytes), '\0');
  const std::size_t begin = larger.size() - old.size();
  old.copy(larger.data() + begin, old.size());
  buffer_ = std::move(larger);
  begin_ = begin;
}

}  // namespace weir::telemetry::otel
