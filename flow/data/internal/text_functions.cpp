#include <weir/flow/data/internal/builtin.hpp>
#include <weir/flow/data/internal/kernels.hpp>

#include <algorithm>

#include <weir/flow/data/utf8.hpp>

namespace weir::flow::data::internal {
namespace {

using Text = std::string_view;

Result<> expect_text(std::span<const ArgumentType> arguments) {
  for (const ArgumentType& argument : arguments) {
    if (argument.type && argument.type->kind != Kind::text) {
      return Error(Errc::type_mismatch, "text is expected, not " + to_string(*argument.type));
    }
  }
  return {};
}

/// A function of one text.
template <class R, class Compute>
Bind bind_one(DataType result, Compute compute) {
  return [result, compute](std::span<const ArgumentType> arguments) -> Result<BoundFunction> {
    if (auto counted = expect_count(arguments, 1); !counted) return counted.error();
    if (auto checked = expect_text(arguments); !checked) return checked.error();
    return BoundFunction{.result = result,
                         .kernel = kernel_of<Text, R>(result, compute),
                         .parameters = {Kind::text}};
  };
}

/// Whether something holds of two texts.
template <class Compute>
Bind bind_test(Compute compute) {
  return [compute](std::span<const ArgumentType> arguments) -> Result<BoundFunction> {
    if (auto counted = expect_count(arguments, 2); !counted) return counted.error();
    if (auto checked = expect_text(arguments); !checked) return checked.error();
    return BoundFunction{.result = Kind::boolean,
                         .kernel =
                             [compute](std::span<const Evaluated> operands, std::size_t rows) {
                               return map_two<Text, Text, std::uint8_t>(
                                   operands[0], operands[1], Kind::boolean, rows,
                                   [compute](Text a, Text b, std::uint8_t& out) {
                                     out = compute(a, b) ? 1 : 0;
                                     return Errc{};
                                   });
                             },
                         .parameters = {Kind::text, Kind::text}};
  };
}

Text trim(Text text) noexcept {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == Text::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Where the next character begins.
std::size_t next_character(Text text, std::size_t at) noexcept {
  ++at;
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
  return at;
}

/// `%` stands for any text, `_` for one character; a backslash takes the next one as it is.
/// Takes time in proportion to both lengths, whatever the pattern.
bool is_like(Text text, Text pattern) noexcept {
  std::size_t at = 0;
  std::size_t in_pattern = 0;
  std::size_t retry_pattern = Text::npos;  // behind the last `%`
  std::size_t retry_text = 0;
  while (at < text.size()) {
    const char wanted = in_pattern < pattern.size() ? pattern[in_pattern] : '\0';
    const bool is_escaped = wanted == '\\' && in_pattern + 1 < pattern.size();
    if (in_pattern < pattern.size() && wanted == '%') {
      retry_pattern = ++in_pattern;
      retry_text = at;
    } else if (in_pattern < pattern.size() && wanted == '_') {
      at = next_character(text, at);
      ++in_pattern;
    } else if (in_pattern < pattern.size() &&
               text[at] == pattern[in_pattern + (is_escaped ? 1 : 0)]) {
      ++at;
      in_pattern += is_escaped ? 2 : 1;
    } else if (retry_pattern != Text::npos) {
      at = retry_text = next_character(text, retry_text);
      in_pattern = retry_pattern;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('%', in_pattern) == Text::npos;
}

Errc replace_all(Text text, Text what, Text with, std::string& out) {
  if (what.empty()) {
    out = text;
    return Errc{};
  }
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t found = text.find(what, at);
    out += text.substr(at, found - at);
    if (found == Text::npos) break;
    out += with;
    at = found + what.size();
  }
  return Errc{};
}

Result<BoundFunction> bind_replace(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 3); !counted) return counted.error();
  if (auto checked = expect_text(arguments); !checked) return checked.error();
  return BoundFunction{.result = Kind::text,
                       .kernel =
                           [](std::span<const Evaluated> operands, std::size_t rows) {
                             return map_three<Text, Text, Text, std::string>(operands, Kind::text,
                                                                             rows, &replace_all);
                           },
                       .parameters = {Kind::text, Kind::text, Kind::text}};
}

/// The first character is 1, as in SQL; what is before it is cut off.
Errc part_of(Text text, std::int64_t first, std::int64_t count, std::string& out) {
  if (count < 0) return Errc::invalid_value;
  std::int64_t end = 0;
  if (__builtin_add_overflow(first, count, &end)) end = INT64_MAX;
  const std::int64_t begin = std::max<std::int64_t>(first, 1);
  if (end <= begin) return Errc{};
  out = substring(text, static_cast<std::size_t>(begin - 1), static_cast<std::size_t>(end - begin));
  return Errc{};
}

Result<BoundFunction> bind_substring(std::span<const ArgumentType> arguments) {
  if (auto counted = expect_count(arguments, 3); !counted) return counted.error();
  if (auto checked = expect_text(arguments.first(1)); !checked) return checked.error();
  return BoundFunction{.result = Kind::text,
                       .kernel =
                           [](std::span<const Evaluated> operands, std::size_t rows) {
                             return map_three<Text, std::int64_t, std::int64_t, std::string>(
                                 operands, Kind::text, rows, &part_of);
                           },
                       .parameters = {Kind::text, Kind::int64, Kind::int64}};
}

Evaluated join_texts(std::span<const Evaluated> operands, std::size_t rows) {
  Output<std::string> output(Kind::text, rows);
  for (const Evaluated& operand : operands) add_nulls(operand, rows, output.nulls());
  output.compute_all([&](std::size_t row, std::string& out) {
    for (const Evaluated& operand : operands) out += operand.column->strings()[operand.at(row)];
    return Errc{};
  });
  return std::move(output).finish(std::ranges::all_of(operands, &Evaluated::is_constant));
}

Result<BoundFunction> bind_concat(std::span<const ArgumentType> arguments) {
  if (arguments.empty()) return Error(Errc::invalid_argument, "no arguments");
  if (auto checked = expect_text(arguments); !checked) return checked.error();
  return BoundFunction{.result = Kind::text,
                       .kernel = &join_texts,
                       .parameters = std::vector<DataType>(arguments.size(), Kind::text)};
}

}  // namespace

void add_text_functions(FunctionRegistry& registry) {
  (void)registry.add("lower", bind_one<std::string>(Kind::text, &to_lower));
  (void)registry.add("upper", bind_one<std::string>(Kind::text, &to_upper));
  (void)registry.add(
      "trim", bind_one<std::string>(Kind::text, [](Text text) { return std::string(trim(text)); }));
  (void)registry.add("length", bind_one<std::int64_t>(Kind::int64, [](Text text) {
                       return static_cast<std::int64_t>(count_characters(text));
                     }));
  (void)registry.add("starts_with", bind_test([](Text a, Text b) { return a.starts_with(b); }));
  (void)registry.add("ends_with", bind_test([](Text a, Text b) { return a.ends_with(b); }));
  (void)registry.add("contains", bind_test([](Text a, Text b) { return a.find(b) != Text::npos; }));
  (void)registry.add("like", bind_test(&is_like));
  (void)registry.add("replace", &bind_replace);
  (void)registry.add("substring", &bind_substring);
  (void)registry.add("concat", &bind_concat);
}

}  // namespace weir::flow::data::internal
