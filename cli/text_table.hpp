#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace weir::cli {

enum class Style { plain, bold, faint, good, warning, bad };

/// In the colours of a terminal, if `is_coloured`.
std::string styled(std::string text, Style style, bool is_coloured);

/// Text in columns.
class TextTable {
 public:
  struct Cell {
    Cell(std::string content, Style how = Style::plain) : text(std::move(content)), style(how) {}
    Cell(const char* content) : Cell(std::string(content)) {}
    std::string text;
    Style style;
  };
  struct Layout {
    /// Zero: as wide as it takes. Otherwise the widest columns are cut until a line fits, and the
    /// last are left out if that does not do.
    std::size_t width = 0;
    bool is_coloured = false;
  };

  /// A title that begins with `>` is of a column whose cells stand at the right.
  explicit TextTable(const std::vector<std::string>& titles);

  /// As many cells as there are titles. What they contain is made printable.
  void add(std::vector<Cell> cells);
  bool is_empty() const noexcept { return rows_.empty(); }
  std::size_t size() const noexcept { return rows_.size(); }

  /// Each line with its end.
  std::string print(Layout layout) const;

 private:
  std::vector<std::size_t> widths(std::size_t width) const;

  std::vector<Cell> titles_;
  std::vector<bool> is_right_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace weir::cli
