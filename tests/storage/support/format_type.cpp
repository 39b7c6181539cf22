#include <weir/tests/storage/support/format_type.hpp>

#include <bit>
#include <cstdint>
#include <sstream>
#include <stdexcept>

namespace weir::storage::test {
namespace {

[[noreturn]] void fail(const std::string& what) { throw std::runtime_error(what); }

char take_one(std::string_view& text) {
  if (text.empty()) fail("a signature is cut short");
  const char first = text.front();
  text.remove_prefix(1);
  return first;
}

void expect(std::string_view& text, char wanted) {
  if (take_one(text) != wanted) fail(std::string("a signature without its ") + wanted);
}

StoredType take_type(std::string_view& text);

/// Up to and with `end`, with separators between.
std::vector<StoredType> take_parts(std::string_view& text, char separator, char end) {
  std::vector<StoredType> parts;
  for (;;) {
    parts.push_back(take_type(text));
    const char next = take_one(text);
    if (next == end) return parts;
    if (next != separator) fail("a signature with a strange separator");
  }
}

StoredType take_named(std::string_view& text) {
  const std::size_t size = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789");
  StoredType type{std::string(text.substr(0, size)), 0, {}};
  text.remove_prefix(type.name.size());
  if (type.name == "desc") {
    expect(text, '(');
    type.parts = take_parts(text, ')', ')');
  } else if (type.name == "duration" || type.name == "time") {
    text.remove_prefix(text.find(')') + 1);
  } else if (type.name == "bytes" && text.starts_with('[')) {
    for (take_one(text); !text.starts_with(']'); take_one(text)) {
      type.count = type.count * 10 + static_cast<std::size_t>(text.front() - '0');
    }
    expect(text, ']');
  }
  return type;
}

StoredType take_type(std::string_view& text) {
  StoredType type;
  switch (text.empty() ? '\0' : text.front()) {
    case '(': type = {std::string(1, take_one(text)), 0, take_parts(text, ',', ')')}; break;
    case '[': type = {std::string(1, take_one(text)), 0, take_parts(text, ']', ']')}; break;
    case '{': type = {std::string(1, take_one(text)), 0, take_parts(text, ':', '}')}; break;
    case '<': type = {std::string(1, take_one(text)), 0, take_parts(text, '|', '>')}; break;
    default: type = take_named(text);
  }
  for (; text.starts_with('?'); take_one(text)) type = {"?", 0, {type}};
  return type;
}

std::size_t bits_of(const std::string& name) {
  if (name == "duration" || name == "time") return 64;
  if (name.size() < 2 || std::string_view("uif").find(name[0]) == std::string_view::npos) {
    fail("unknown type " + name);
  }
  return static_cast<std::size_t>(std::stoi(name.substr(1)));
}

bool is_signed(const std::string& name) {
  return name[0] == 'i' || name == "duration" || name == "time";
}

std::string float_text(std::size_t bits, std::uint64_t number) {
  std::ostringstream out;
  if (bits == 32) {
    out << std::bit_cast<float>(static_cast<std::uint32_t>(number));
  } else {
    out << std::bit_cast<double>(number);
  }
  return out.str();
}

std::string boolean(unsigned byte) {
  if (byte > 1) fail("a bool that is neither");
  return byte == 0 ? "false" : "true";
}

std::string unescaped_key(StoredBytes& bytes) {
  std::string text;
  for (;;) {
    const unsigned byte = bytes.byte();
    if (byte != 0) {
      text.push_back(static_cast<char>(byte));
      continue;
    }
    const unsigned next = bytes.byte();
    if (next == 0x01) return text;
    if (next != 0xFF) fail("00 followed by neither FF nor 01");
    text.push_back('\0');
  }
}

std::string number_key(const std::string& name, StoredBytes& bytes) {
  const std::size_t bits = bits_of(name);
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  const std::uint64_t all = bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
  std::uint64_t number = bytes.big_endian(bits / 8);
  if (name[0] == 'f') return float_text(bits, (number & sign) != 0 ? number ^ sign : number ^ all);
  if (!is_signed(name)) return std::to_string(number);
  number ^= sign;
  if ((number & sign) != 0) number |= ~all;
  return std::to_string(static_cast<std::int64_t>(number));
}

std::string descending_key(const StoredType& type, StoredBytes& bytes) {
  std::string complement(bytes.rest());
  for (char& byte : complement) byte = static_cast<char>(~byte);
  StoredBytes inner(complement);
  std::string text = read_key(type.parts[0], inner);
  bytes.take(complement.size() - inner.rest().size());
  return text;
}

template <class Read>
std::string joined(const char* brackets, std::size_t count, Read read) {
  std::string text(1, brackets[0]);
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + read(i);
  return text + brackets[1];
}

std::string number_value(const std::string& name, StoredBytes& bytes) {
  const std::size_t bits = bits_of(name);
  if (name[0] == 'f') {
    std::string little(bytes.take(bits / 8));
    const std::string big(little.rbegin(), little.rend());
    return float_text(bits, StoredBytes(big).big_endian(bits / 8));
  }
  if (name == "u8") return std::to_string(bytes.byte());
  if (name == "i8") return std::to_string(static_cast<std::int8_t>(bytes.byte()));
  const std::uint64_t number = bytes.varint();
  if (!is_signed(name)) return std::to_string(number);
  const auto half = static_cast<std::int64_t>(number >> 1);
  return std::to_string((number & 1) != 0 ? -half - 1 : half);
}

std::string inner_value(const StoredType& type, StoredBytes& bytes) {
  const auto part = [&](std::size_t i) { return inner_value(type.parts[i], bytes); };
  switch (type.name[0]) {
    case '(': return joined("()", type.parts.size(), part);
    case '[': return joined("[]", bytes.varint(), [&](std::size_t) { return part(0); });
    case '{':
      return joined("{}", bytes.varint(), [&](std::size_t) {
        std::string key = part(0);
        return key + ": " + part(1);
      });
    case '<': {
      const std::size_t index = bytes.varint();
      return "<" + std::to_string(index) + ": " + part(index) + ">";
    }
    case '?': return boolean(bytes.byte()) == "true" ? part(0) : "none";
    default: break;
  }
  if (type.name == "none") return "none";
  if (type.name == "bool") return boolean(bytes.byte());
  if (type.name == "text") return quoted(bytes.text());
  if (type.name == "bytes") {
    return hexadecimal(type.count > 0 ? bytes.take(type.count) : bytes.text());
  }
  return number_value(type.name, bytes);
}

}  // namespace

std::string_view StoredBytes::take(std::size_t count) {
  if (count > rest_.size()) fail("bytes end too early");
  const std::string_view taken = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return taken;
}

std::uint64_t StoredBytes::big_endian(std::size_t count) {
  std::uint64_t number = 0;
  for (; count > 0; --count) number = number << 8 | byte();
  return number;
}

std::uint64_t StoredBytes::varint() {
  std::uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const unsigned next = byte();
    number |= std::uint64_t{next & 0x7F} << shift;
    if (next < 0x80) {
      if (next == 0 && shift > 0) fail("a varint that is not in its shortest form");
      return number;
    }
  }
}

void StoredBytes::expect_end() const {
  if (!rest_.empty()) fail(std::to_string(rest_.size()) + " bytes too many");
}

StoredType StoredType::parse(std::string_view signature) {
  StoredType type = take_type(signature);
  if (!signature.empty()) fail("a signature that goes on: " + std::string(signature));
  return type;
}

std::string read_key(const StoredType& type, StoredBytes& bytes) {
  const auto part = [&](std::size_t i) { return read_key(type.parts[i], bytes); };
  if (type.name == "(") return joined("()", type.parts.size(), part);
  if (type.name == "?") return boolean(bytes.byte()) == "true" ? part(0) : "none";
  if (type.name == "desc") return descending_key(type, bytes);
  if (type.name == "bool") return boolean(bytes.byte());
  if (type.name == "text") return test::quoted(unescaped_key(bytes));
  if (type.name == "bytes") {
    return hexadecimal(type.count > 0 ? std::string(bytes.take(type.count)) : unescaped_key(bytes));
  }
  return number_key(type.name, bytes);
}

std::string read_value(const StoredType& type, StoredBytes& bytes) {
  if (type.name == "text") return quoted(bytes.take(bytes.rest().size()));
  if (type.name == "bytes" && type.count == 0) return hexadecimal(bytes.take(bytes.rest().size()));
  return inner_value(type, bytes);
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += "\\x" + hexadecimal({&c, 1});
    }
  }
  return out + "\"";
}

std::string hexadecimal(std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char byte : bytes) {
    out += digits[static_cast<unsigned char>(byte) >> 4];
    out += digits[static_cast<unsigned char>(byte) & 15];
  }
  return out;
}

}  // namespace weir::storage::test
