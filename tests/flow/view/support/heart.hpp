#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weir/flow/operator/operator.hpp>
#include <weir/tests/flow/operator/support/rows.hpp>

namespace weir::flow::view::test {

inline const data::SchemaRef beats_schema =
    operators::test::make_schema({{"beats", data::Kind::int64, false}});

/// One row with the number of ticks. Its input does not matter.
class Heart final : public operators::Operator {
 public:
  explicit Heart(std::shared_ptr<int> failures)
      : Operator(beats_schema), failures_(std::move(failures)) {}

  void open(operators::State& state) override { beats_ = &state.add_table(); }
  Result<> apply(const operators::Input&, operators::Output&) override { return {}; }
  std::optional<std::chrono::microseconds> tick_period() const override {
    return std::chrono::milliseconds(10);
  }
  Result<> tick(data::Timestamp now, operators::Output& out) override {
    if (now < data::Timestamp(std::chrono::hours(24 * 20'000)))
      return Error(operators::Errc::row_error, "the time is not that of the store");
    if (*failures_ > 0) {
      --*failures_;
      return Error(operators::Errc::row_error, "missed a beat");
    }
    auto slot = beats_->find("beats");
    if (!slot) return std::move(slot).error();
    const std::int64_t before = slot->exists() ? std::stoll(std::string(slot->value())) : 0;
    slot->put(std::to_string(before + 1));
    data::BatchBuilder changes(beats_schema);
    if (before > 0 && !changes.add({before}, -1)) return operators::Errc::corruption;
    if (!changes.add({before + 1})) return operators::Errc::corruption;
    out.emit(changes.finish());
    return {};
  }

 private:
  std::shared_ptr<int> failures_;
  operators::StateTable* beats_ = nullptr;
};

}  // namespace weir::flow::view::test
