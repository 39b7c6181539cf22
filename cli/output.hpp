#pragma once

#include <string>
#include <string_view>

#include <weir/cli/text_table.hpp>
#include <weir/runtime/result.hpp>

namespace weir::cli {

/// Standard output, for people or for programs. What cannot be written is told by `flush`.
class Output {
 public:
  /// Asks the terminal, if there is one, how wide it is; colours only there, and not if `NO_COLOR`
  /// is set.
  explicit Output(bool is_json);

  bool is_json() const noexcept { return is_json_; }
  bool is_coloured() const noexcept { return layout_.is_coloured; }

  void write(std::string_view text);
  void line(std::string_view text);
  void table(const TextTable& table) { write(table.print(layout_)); }
  /// What is written is there, also if the process is killed then. `failed` if something since the
  /// begin is not, `closed` if nobody is left to read it.
  Result<> flush();

 private:
  bool is_json_;
  TextTable::Layout layout_;
  int failure_ = 0;  // the first; what `errno` was
};

}  // namespace weir::cli
