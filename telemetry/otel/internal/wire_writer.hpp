#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace weir::telemetry::otel {

/// Writes a message in protobuf's wire format, from its end to its beginning: the length of a part
/// goes before it, and is known once the part is there. So the last field is written first.
class WireWriter {
 public:
  std::string_view written() const noexcept { return {buffer_.data() + begin_, size()}; }
  /// Begins another message, in the same memory unless that is much.
  void clear();

  /// Fields of those types. Writes them whatever their value is.
  void number(int field, std::uint64_t value) {
    varint(value);
    tag(field, wire_varint);
  }
  void fixed32(int field, std::uint32_t value) {
    std::memcpy(room_for(sizeof(value)), &value, sizeof(value));
    tag(field, wire_fixed32);
  }
  void fixed64(int field, std::uint64_t value) {
    std::memcpy(room_for(sizeof(value)), &value, sizeof(value));
    tag(field, wire_fixed64);
  }
  void bytes(int field, std::string_view value) {
    fields(value);
    varint(value.size());
    tag(field, wire_bytes);
  }
  /// What `write()` writes, as a message in that field.
  template <class Write>
  void message(int field, const Write& write) {
    const std::size_t before = size();
    write();
    varint(size() - before);
    tag(field, wire_bytes);
  }
  /// Fields that are encoded already.
  void fields(std::string_view encoded) { encoded.copy(room_for(encoded.size()), encoded.size()); }

 private:
  static_assert(std::endian::native == std::endian::little, "fixed-width fields are copied");

  // Of protobuf's encoding.
  static constexpr unsigned wire_varint = 0;
  static constexpr unsigned wire_fixed64 = 1;
  static constexpr unsigned wire_bytes = 2;
  static constexpr unsigned wire_fixed32 = 5;

  std::size_t size() const noexcept { return buffer_.size() - begin_; }

  void tag(int field, unsigned wire_type) { varint(static_cast<unsigned>(field) << 3 | wire_type); }
  void varint(std::uint64_t value) {
    if (value < 0x80) {
      *room_for(1) = static_cast<char>(value);
    } else {
      long_varint(value);
    }
  }
  void long_varint(std::uint64_t value);

  char* room_for(std::size_t bytes) {
    if (begin_ < bytes) [[unlikely]]
      grow(bytes);
    begin_ -= bytes;
    return buffer_.data() + begin_;
  }
  void grow(std::size_t bytes);

  std::string buffer_;
  std::size_t begin_ = 0;  // of what is written: it ends where the buffer does
};

}  // namespace weir::telemetry::otel
