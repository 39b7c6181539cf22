#include <weir/telemetry/internal/prometheus_names.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <weir/telemetry/internal/character.hpp>
#include <weir/telemetry/internal/instrument_state.hpp>
#include <weir/telemetry/internal/text.hpp>

namespace weir::telemetry::internal {
namespace {

using Word = std::pair<std::string_view, std::string_view>;

// The units of UCUM that the rules for OpenTelemetry metrics in Prometheus spell out.
constexpr std::array<Word, 29> plural_words{{
    {"d", "days"},          {"h", "hours"},         {"min", "minutes"},    {"s", "seconds"},
    {"ms", "milliseconds"}, {"us", "microseconds"}, {"ns", "nanoseconds"}, {"By", "bytes"},
    {"KiBy", "kibibytes"},  {"MiBy", "mebibytes"},  {"GiBy", "gibibytes"}, {"TiBy", "tibibytes"},
    {"KBy", "kilobytes"},   {"MBy", "megabytes"},   {"GBy", "gigabytes"},  {"TBy", "terabytes"},
    {"kBy", "kilobytes"},   {"bit", "bits"},        {"m", "meters"},       {"V", "volts"},
    {"A", "amperes"},       {"J", "joules"},        {"W", "watts"},        {"g", "grams"},
    {"Cel", "celsius"},     {"Hz", "hertz"},        {"%", "percent"},      {"wk", "weeks"},
    {"mo", "months"},
}};
constexpr std::array<Word, 8> singular_words{{
    {"s", "second"},
    {"m", "minute"},
    {"min", "minute"},
    {"h", "hour"},
    {"d", "day"},
    {"wk", "week"},
    {"mo", "month"},
    {"y", "year"},
}};

bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

std::string_view word_for(std::span<const Word> words, std::string_view unit) noexcept {
  for (const auto& [symbol, word] : words) {
    if (symbol == unit) return word;
  }
  return unit;
}

// `{request}` says what is counted, and is no unit.
std::string without_annotations(std::string_view unit) {
  std::string rest;
  int depth = 0;
  for (const char c : unit) {
    if (c == '{') ++depth;
    if (depth == 0) rest += c;
    if (c == '}' && depth > 0) --depth;
  }
  return rest;
}

// Letters and digits with single `_` between them.
std::string words_of(std::string_view text) {
  std::string words;
  for (const char c : text) {
    if (is_letter(c) || is_digit(c)) {
      words += c;
    } else if (!words.empty() && words.back() != '_') {
      words += '_';
    }
  }
  if (words.ends_with('_')) words.pop_back();
  return words;
}

std::string joined(std::string_view a, std::string_view b) {
  std::string both(a);
  if (!a.empty() && !b.empty()) both += '_';
  return both.append(b);
}

bool ends_with_word(std::string_view name, std::string_view word) noexcept {
  return name == word || (name.size() > word.size() && name.ends_with(word) &&
                          name[name.size() - word.size() - 1] == '_');
}

std::string without_word(std::string name, std::string_view word) {
  if (ends_with_word(name, word) && name.size() > word.size() + 1) {
    name.resize(name.size() - word.size() - 1);
  }
  return name;
}

// The same for the same name on every machine (FNV-1a).
std::string digest_of(std::string_view name) {
  std::uint32_t hash = 2'166'136'261u;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619u;
  const std::uint8_t bytes[] = {
      static_cast<std::uint8_t>(hash >> 24), static_cast<std::uint8_t>(hash >> 16),
      static_cast<std::uint8_t>(hash >> 8), static_cast<std::uint8_t>(hash)};
  std::string text;
  append_hex(text, bytes);
  return text;
}

std::vector<std::string> sample_names(const Family& family) {
  const std::string& name = family.name;
  switch (family.type) {
    case FamilyType::counter: return {name, name + "_total"};
    case FamilyType::gauge: return {name};
    case FamilyType::histogram: return {name, name + "_bucket", name + "_sum", name + "_count"};
  }
  return {};
}

// Names the family, with something between its name and its unit if that is needed to differ.
void rename(Family& family, std::string_view addition) {
  std::string name = prometheus_name(family.record->name);
  if (family.type == FamilyType::counter) name = without_word(std::move(name), "total");
  family.unit = prometheus_unit(family.record->unit, family.type);
  if (!family.unit.empty()) name = without_word(std::move(name), family.unit);
  name = joined(name, addition);
  family.name = ends_with_word(name, family.unit) ? name : joined(name, family.unit);
}

// False if another family has one of the names.
bool claim(const Family& family, std::set<std::string>& taken) {
  std::vector<std::string> names = sample_names(family);
  for (const std::string& name : names) {
    if (taken.contains(name)) return false;
  }
  for (std::string& name : names) taken.insert(std::move(name));
  return true;
}

void name_family(Family& family, std::set<std::string>& taken) {
  rename(family, "");
  if (claim(family, taken)) return;
  const std::string digest = digest_of(family.record->name);
  rename(family, digest);
  for (int number = 2; !claim(family, taken); ++number) {
    rename(family, digest + '_' + std::to_string(number));
  }
}

std::string value_text(const AttributeValue& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
  if (const double* real = std::get_if<double>(&value)) return number_text(*real);
  return std::get<std::string>(value);
}

}  // namespace

FamilyType family_type(const MetricRecord& record) noexcept {
  const auto& first = record.points.front().value;
  if (std::holds_alternative<HistogramPoint>(first)) return FamilyType::histogram;
  // A counter that is negative or no number would make a reader refuse the page.
  const bool counts = std::ranges::all_of(record.points, [](const MetricPoint& point) {
    const auto* sum = std::get_if<SumPoint>(&point.value);
    return sum && sum->value >= 0;
  });
  return record.is_monotonic && counts ? FamilyType::counter : FamilyType::gauge;
}

std::string prometheus_name(std::string_view name) {
  std::string words = words_of(name);
  if (words.empty()) return "unnamed";
  return is_digit(words.front()) ? '_' + words : words;
}

std::string prometheus_unit(std::string_view unit, FamilyType type) {
  const std::string plain = without_annotations(unit);
  if (plain == "1") return type == FamilyType::gauge ? "ratio" : "";
  const std::size_t slash = plain.find('/');
  const std::string_view above = std::string_view(plain).substr(0, slash);
  const std::string result = words_of(word_for(plural_words, above));
  if (slash == std::string::npos) return result;
  const std::string per = words_of(word_for(singular_words, plain.substr(slash + 1)));
  return per.empty() ? result : joined(result, "per_" + per);
}

std::vector<Family> name_families(std::span<const MetricRecord> records) {
  std::vector<Family> families;
  for (const MetricRecord& record : records) {
    if (record.points.empty()) continue;
    families.push_back({.record = &record, .type = family_type(record), .name = {}, .unit = {}});
  }
  const auto precedes = [](const Family& a, const Family& b) {
    return std::tie(a.record->name, a.record->unit, a.type, a.record) <
           std::tie(b.record->name, b.record->unit, b.type, b.record);
  };
  std::ranges::sort(families, precedes);
  std::set<std::string> taken;
  for (Family& family : families) name_family(family, taken);
  std::ranges::sort(families, {}, &Family::name);
  return families;
}

std::vector<Label> labels_of(const Attributes& attributes, FamilyType type) {
  std::map<std::string, std::string> labels;
  for (const Attribute& attribute : normalised(attributes)) {
    std::string name = prometheus_name(attribute.name);
    // The label by which a histogram's own samples differ.
    if (name == "le" && type == FamilyType::histogram) name = "exported_le";
    std::string value = value_text(attribute.value);
    if (value.empty()) continue;  // to Prometheus that is no label
    const auto [place, is_new] = labels.try_emplace(std::move(name), value);
    if (!is_new) place->second += ';' + value;
  }
  std::vector<Label> sorted;
  for (const auto& [name, value] : labels) sorted.push_back({name, value});
  return sorted;
}

}  // namespace weir::telemetry::internal
