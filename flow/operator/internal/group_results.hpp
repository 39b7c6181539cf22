#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include <weir/flow/operator/internal/accumulator.hpp>

namespace weir::flow::operators::internal {

/// What an aggregate gives for each group, before a batch and after it.
template <class T>
class GroupResults {
 public:
  using Status = Accumulator::Status;

  void resize(std::size_t groups) {
    for (auto& values : values_) values.resize(groups);
    for (auto& statuses : statuses_) statuses.resize(groups);
  }
  void set(bool is_after, std::size_t group, Status status, T value) noexcept {
    values_[is_after][group] = value;
    statuses_[is_after][group] = status;
  }
  std::span<const Status> statuses(bool is_after) const noexcept { return statuses_[is_after]; }

  void compare(std::span<std::uint8_t> is_changed) const noexcept {
    for (std::size_t group = 0; group < is_changed.size(); ++group) {
      const bool has_before = statuses_[false][group] == Status::value;
      const bool has_after = statuses_[true][group] == Status::value;
      const bool is_same = has_before == has_after &&
                           (!has_after || is_equal(values_[false][group], values_[true][group]));
      is_changed[group] |= is_same ? 0 : 1;
    }
  }
  void emit(std::span<const OutputRow> rows, data::Column& out) const {
    T* to = out.resize<T>(rows.size()).data();
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto [group, is_after] = rows[row];
      to[row] = values_[is_after][group];
      if (statuses_[is_after][group] != Status::value) out.nulls().add(row);
    }
  }

 private:
  static bool is_equal(const T& a, const T& b) noexcept {
    if constexpr (std::is_same_v<T, double>) {
      return data::equal_floats(a, b);
    } else {
      return a == b;
    }
  }

  // By whether it is after.
  std::array<std::vector<T>, 2> values_;
  std::array<std::vector<Status>, 2> statuses_;
};

}  // namespace weir::flow::operators::internal
