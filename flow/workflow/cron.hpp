#pragma once

#include <bitset>
#include <optional>
#include <string_view>

#include <weir/flow/workflow/records.hpp>
#include <weir/runtime/result.hpp>

namespace weir::flow::workflow {

/// When something happens again and again: `minute hour day month weekday`, in UTC.
///
/// Each is `*`, a number, a range `1-5`, a list `1,15` or any of those with a step, `*/10`. Months
/// and weekdays have names too: `jan`, `mon`; Sunday is 0 or 7. If both day and weekday are given,
/// either will do, as ever.
class Cron {
 public:
  /// `invalid_argument` says what is wrong with the text, and has it.
  static Result<Cron> parse(std::string_view text);

  /// The first time after `time`; none within eight years, which is never.
  std::optional<Time> next_after(Time time) const;

 private:
  bool is_on(std::chrono::year_month_day day, std::chrono::weekday weekday) const;

  std::bitset<60> minutes_;
  std::bitset<24> hours_;
  std::bitset<32> days_;
  std::bitset<13> months_;
  std::bitset<8> weekdays_;
  bool is_any_day_ = true;
  bool is_any_weekday_ = true;
};

}  // namespace weir::flow::workflow
