#include <weir/tests/storage/support/format_decoder.hpp>

#include <cstdint>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <weir/tests/storage/support/format_type.hpp>

namespace weir::storage::test {
namespace {

constexpr std::uint64_t catalog = 1;

std::string bytes_of(const std::string& digits) {
  std::string bytes;
  if (digits == "-") return bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return bytes;
}

std::string digits_of(const std::string& bytes) { return bytes.empty() ? "-" : hexadecimal(bytes); }

struct Space {
  std::string name;
  StoredType key;
  StoredType value;
};

/// Gives every pair its meaning; the catalog among them tells the types of the others.
class Describer {
 public:
  explicit Describer(const StoredPairs& pairs) : pairs_(pairs) {
    const StoredType text = StoredType::parse("text");
    spaces_[catalog] = {"catalog", text, StoredType::parse("(u32,u8,text,text)")};
    for (const auto& [key, value] : family("rows")) read_catalog(key, value);
  }

  std::vector<std::string> run() {
    for (const auto& [key, value] : family("checkpoints")) describe_checkpoint(key, value);
    for (const auto& [key, value] : family("default")) {
      StoredBytes bytes(value);
      add("default " + key + " = " + std::to_string(bytes.big_endian(8)), bytes);
    }
    for (const auto& [key, value] : family("history")) describe_history(key, value);
    for (const auto& [key, value] : family("log")) describe_record(key, value);
    for (const char* name : {"rows", "state"}) {
      for (const auto& [key, value] : family(name)) describe_single(name, key, value);
    }
    return lines_;
  }

 private:
  const std::map<std::string, std::string>& family(const std::string& name) const {
    static const std::map<std::string, std::string> none;
    const auto found = pairs_.find(name);
    return found == pairs_.end() ? none : found->second;
  }
  const Space& space(std::uint64_t id) const {
    const auto found = spaces_.find(id);
    if (found == spaces_.end()) throw std::runtime_error("no key space " + std::to_string(id));
    return found->second;
  }
  void add(std::string line, const StoredBytes& bytes) {
    bytes.expect_end();
    lines_.push_back(std::move(line));
  }

  void read_catalog(const std::string& key, const std::string& value) {
    StoredBytes key_bytes(key);
    if (key_bytes.big_endian(4) != catalog) return;
    const std::string name = read_key(space(catalog).key, key_bytes);
    StoredBytes bytes(value);
    bytes.varint();  // since which version
    const std::uint64_t id = bytes.varint();
    bytes.byte();  // rows or state
    const StoredType key_type = StoredType::parse(bytes.text());
    const StoredType value_type = StoredType::parse(bytes.text());
    spaces_[id] = {name, key_type, value_type};
  }

  void describe_single(const std::string& name, const std::string& key, const std::string& value) {
    StoredBytes key_bytes(key);
    const Space& in = space(key_bytes.big_endian(4));
    const std::string row = read_key(in.key, key_bytes);
    key_bytes.expect_end();
    StoredBytes bytes(value);
    const std::string version = std::to_string(bytes.varint());
    add(name + " " + in.name + " " + row + " = " + read_value(in.value, bytes) + " since " +
            version,
        bytes);
  }

  void describe_history(const std::string& key, const std::string& value) {
    StoredBytes key_bytes(key);
    const Space& in = space(key_bytes.big_endian(4));
    const std::string row = read_key(in.key, key_bytes);
    const std::string until = std::to_string(key_bytes.big_endian(8));
    key_bytes.expect_end();
    StoredBytes bytes(value);
    const std::string version = std::to_string(bytes.varint());
    add("history " + in.name + " " + row + " = " + read_value(in.value, bytes) + " since " +
            version + " until " + until,
        bytes);
  }

  void describe_checkpoint(const std::string& name, const std::string& value) {
    StoredBytes bytes(value);
    const std::string version = std::to_string(bytes.varint());
    const std::string passed = std::to_string(bytes.varint());
    const std::string payload = quoted(bytes.take(bytes.rest().size()));
    add("checkpoints " + name + " has passed " + passed + ", " + payload + " since " + version,
        bytes);
  }

  void describe_record(const std::string& key, const std::string& value) {
    StoredBytes key_bytes(key);
    std::string line = "log " + std::to_string(key_bytes.big_endian(8));
    key_bytes.expect_end();
    StoredBytes bytes(value);
    if (bytes.byte() != 1) throw std::runtime_error("a record of an unknown format");
    line += " at " + std::to_string(bytes.varint());
    const std::uint64_t total = bytes.varint();
    if (total_ && total != *total_ + value.size()) throw std::runtime_error("a wrong total");
    total_ = total;
    line += " total " + std::to_string(total) + " by " + quoted(bytes.text()) + trace(bytes);
    for (std::uint64_t spaces = bytes.varint(); spaces > 0; --spaces) {
      const Space& in = space(bytes.varint());
      line += "; " + in.name + ":";
      for (std::uint64_t count = bytes.varint(); count > 0; --count) line += change(in, bytes);
    }
    add(line, bytes);
  }

  static std::string trace(StoredBytes& bytes) {
    const unsigned flags = bytes.byte();
    if (flags == 0) return "";
    if (flags != 1 && flags != 3) throw std::runtime_error("unknown flags of a trace");
    const std::string trace_id = hexadecimal(bytes.take(16));
    return " trace " + trace_id + " " + hexadecimal(bytes.take(8)) + (flags == 3 ? " sampled" : "");
  }

  static std::string change(const Space& in, StoredBytes& bytes) {
    static constexpr const char* kinds[] = {"", " insert ", " update ", " remove "};
    const unsigned kind = bytes.byte();
    if (kind < 1 || kind > 3) throw std::runtime_error("an unknown kind of change");
    StoredBytes key_bytes(bytes.text());
    std::string text = kinds[kind] + read_key(in.key, key_bytes);
    key_bytes.expect_end();
    const auto add_row = [&](const char* before) {
      StoredBytes row(bytes.text());
      text += before + read_value(in.value, row);
      row.expect_end();
    };
    if (kind != 1) add_row(" from ");
    if (kind != 3) add_row(" to ");
    return text;
  }

  const StoredPairs& pairs_;
  std::map<std::uint64_t, Space> spaces_;
  std::optional<std::uint64_t> total_;
  std::vector<std::string> lines_;
};

}  // namespace

StoredPairs parse_pairs(std::string_view text) {
  StoredPairs pairs;
  std::istringstream in{std::string(text)};
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string family;
    std::string key;
    std::string value;
    if (!(words >> family >> key >> value)) throw std::runtime_error("not a pair: " + line);
    pairs[family][bytes_of(key)] = bytes_of(value);
  }
  return pairs;
}

std::string to_text(const StoredPairs& pairs) {
  std::string text;
  for (const auto& [family, content] : pairs) {
    for (const auto& [key, value] : content) {
      text += family + " " + digits_of(key) + " " + digits_of(value) + "\n";
    }
  }
  return text;
}

std::vector<std::string> describe(const StoredPairs& pairs) { return Describer(pairs).run(); }

std::vector<std::string> read_manifest_lines(std::string_view text) {
  const std::size_t end = text.rfind("end ");
  if (end == std::string_view::npos) throw std::runtime_error("a manifest without an end");
  std::ostringstream expected;
  expected << "end " << std::hex;
  expected.width(8);
  expected.fill('0');
  expected << crc32(text.substr(0, end)) << "\n";
  if (text.substr(end) != expected.str()) throw std::runtime_error("a wrong end of a manifest");
  std::vector<std::string> lines;
  std::istringstream in{std::string(text.substr(0, end))};
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t checksum = ~std::uint32_t{0};
  for (const char byte : bytes) {
    checksum ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) {
      checksum = checksum >> 1 ^ ((checksum & 1) != 0 ? 0xEDB88320U : 0U);
    }
  }
  return ~checksum;
}

}  // namespace weir::storage::test
