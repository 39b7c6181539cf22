#pragma once

#include <optional>
#include <utility>

#include <weir/flow/workflow/internal/draft.hpp>

namespace weir::flow::workflow::internal {

/// Something to be done to the records, by whoever has them.
class Command {
 public:
  virtual ~Command() = default;
  /// May be called several times: the last one counts. True if what it did is to be kept.
  virtual bool run(Draft& draft) = 0;
};

/// A function of a draft, with what it gave.
template <class Function>
class CommandOf final : public Command {
 public:
  using Outcome = std::invoke_result_t<Function&, Draft&>;

  explicit CommandOf(const Function& function) : function_(function) {}
  explicit CommandOf(Function&& function) : function_(std::move(function)) {}

  bool run(Draft& draft) override {
    outcome_.emplace(function_(draft));
    return outcome_->has_value();
  }
  Function& function() noexcept { return function_; }
  Outcome take() { return *std::move(outcome_); }

 private:
  Function function_;
  std::optional<Outcome> outcome_;
};

}  // namespace weir::flow::workflow::internal
