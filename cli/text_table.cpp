#include <weir/cli/text_table.hpp>

#include <algorithm>
#include <utility>

#include <weir/cli/format.hpp>
#include <weir/runtime/check.hpp>

namespace weir::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr std::size_t narrowest = 4;

const char* code_of(Style style) noexcept {
  switch (style) {
    case Style::plain: return "";
    case Style::bold: return "\x1b[1m";
    case Style::faint: return "\x1b[2m";
    case Style::good: return "\x1b[32m";
    case Style::warning: return "\x1b[33m";
    case Style::bad: return "\x1b[31m";
  }
  return "";
}

struct Place {
  std::size_t width;
  bool is_right;
  bool is_last;
};

std::string placed(const TextTable::Cell& cell, Place place, bool is_coloured) {
  std::string text = cut(cell.text, place.width);
  const std::string padding(place.width - columns(text), ' ');
  text = styled(std::move(text), cell.style, is_coloured);
  if (place.is_right) return padding + text;
  return place.is_last ? text : text + padding;
}

}  // namespace

std::string styled(std::string text, Style style, bool is_coloured) {
  if (!is_coloured || style == Style::plain || text.empty()) return text;
  return code_of(style) + text + "\x1b[0m";
}

TextTable::TextTable(const std::vector<std::string>& titles) {
  for (const std::string& title : titles) {
    const bool is_right = title.starts_with('>');
    titles_.emplace_back(printable(is_right ? title.substr(1) : title), Style::bold);
    is_right_.push_back(is_right);
  }
}

void TextTable::add(std::vector<Cell> cells) {
  check(cells.size() == titles_.size(), "a row of a table has a cell for each title");
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths(std::size_t width) const {
  std::vector<std::size_t> found;
  for (std::size_t column = 0; column < titles_.size(); ++column) {
    std::size_t widest = columns(titles_[column].text);
    for (const auto& row : rows_) widest = std::max(widest, columns(row[column].text));
    found.push_back(widest);
  }
  if (width == 0) return found;
  // In a narrow terminal the last columns are left out.
  while (found.size() > 1 && found.size() * (narrowest + gap) - gap > width) found.pop_back();
  std::size_t sum = gap * (found.size() - 1);
  for (const std::size_t each : found) sum += each;
  while (sum > width) {
    const auto widest = std::ranges::max_element(found);
    if (*widest <= narrowest) break;
    --*widest;
    --sum;
  }
  return found;
}

std::string TextTable::print(Layout layout) const {
  const std::vector<std::size_t> found = widths(layout.width);
  std::string text;
  const auto add_line = [&](const std::vector<Cell>& cells) {
    for (std::size_t column = 0; column < found.size(); ++column) {
      const bool is_last = column + 1 == found.size();
      text +=
          placed(cells[column], {found[column], is_right_[column], is_last}, layout.is_coloured);
      if (!is_last) text.append(gap, ' ');
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  add_line(titles_);
  for (const auto& row : rows_) add_line(row);
  return text;
}

}  // namespace weir::cli
