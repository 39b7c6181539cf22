#include <weir/storage/internal/manifest.hpp>

#include <zlib.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string_view>

#include <weir/storage/errc.hpp>
#include <weir/storage/internal/files.hpp>

namespace weir::storage::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_lines = "weir backup\nformat 1\n";

std::uint32_t add_to_checksum(std::uint32_t checksum, std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(checksum, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::string hexadecimal(std::uint32_t number) {
  std::array<char, 9> text{};
  std::snprintf(text.data(), text.size(), "%08x", number);
  return text.data();
}

Error broken(const fs::path& directory, std::string_view why) {
  return Error(Errc::corruption, (directory / manifest_name).string() + ": " + std::string(why));
}

/// Takes `word number ` from the front of a line.
template <class Number>
bool take(std::string_view& line, std::string_view word, Number& number, int base = 10) {
  if (!line.starts_with(word)) return false;
  line.remove_prefix(word.size());
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number, base);
  if (error != std::errc()) return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  return true;
}

bool take_file(std::string_view line, Manifest& manifest) {
  ManifestFile file;
  if (!take(line, "file ", file.checksum, 16) || !take(line, "", file.bytes) || line.empty()) {
    return false;
  }
  file.path = line;
  manifest.files.push_back(std::move(file));
  return true;
}

bool take_line(std::string_view line, int number, Manifest& manifest) {
  if (number == 0) return take(line, "version ", manifest.version.number) && line.empty();
  if (number == 1) return take(line, "microseconds ", manifest.microseconds) && line.empty();
  return take_file(line, manifest);
}

}  // namespace

BackupInfo Manifest::info(const fs::path& directory) const {
  BackupInfo info{.directory = directory, .version = version, .files = files.size()};
  info.time += std::chrono::microseconds(microseconds);
  for (const ManifestFile& file : files) info.bytes += file.bytes;
  return info;
}

Result<ManifestFile> read_file(const fs::path& directory, std::string path) {
  std::ifstream in(directory / path, std::ios::binary);
  if (!in) return Error(Errc::corruption, (directory / path).string() + " is missing");
  ManifestFile file{.path = std::move(path)};
  std::string piece(std::size_t{1} << 20, '\0');
  while (in) {
    in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    const auto count = static_cast<std::size_t>(in.gcount());
    file.checksum = add_to_checksum(file.checksum, std::string_view(piece).substr(0, count));
    file.bytes += count;
  }
  if (in.bad()) return Error(Errc::io_error, (directory / file.path).string());
  return file;
}

Result<> write_manifest(const fs::path& directory, const Manifest& manifest) {
  std::ostringstream text;
  text << first_lines << "version " << manifest.version.number << "\nmicroseconds "
       << manifest.microseconds << '\n';
  for (const ManifestFile& file : manifest.files) {
    text << "file " << hexadecimal(file.checksum) << ' ' << file.bytes << ' ' << file.path << '\n';
  }
  const std::string content = text.str();
  return write_whole_file(directory / manifest_name,
                          content + "end " + hexadecimal(add_to_checksum(0, content)) + "\n");
}

Result<Manifest> read_manifest(const fs::path& directory) {
  auto content = read_whole_file(directory / manifest_name);
  if (!content) return content.error();
  std::string_view rest = *content;
  if (!rest.starts_with("weir backup\n")) return broken(directory, "not of a backup");
  if (!rest.starts_with(first_lines)) {
    return Error(Errc::unsupported_format,
                 (directory / manifest_name).string() + ": this version of Weir knows format 1");
  }
  const std::size_t end = rest.rfind("end ");
  if (end == std::string_view::npos) return broken(directory, "cut short");
  const std::string expected = "end " + hexadecimal(add_to_checksum(0, rest.substr(0, end))) + "\n";
  if (rest.substr(end) != expected) return broken(directory, "its checksum is wrong");

  Manifest manifest;
  rest = rest.substr(first_lines.size(), end - first_lines.size());
  for (int number = 0; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    if (!take_line(line, number, manifest)) return broken(directory, "an unknown line");
  }
  return manifest;
}

}  // namespace weir::storage::internal
