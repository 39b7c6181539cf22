#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weir/flow/workflow/workflow_context.hpp>
#include <weir/tests/flow/workflow/support/worker_fixture.hpp>

namespace weir::flow::workflow::testing {

using Lines = std::vector<std::string>;

struct Order {
  std::string item;
  std::int64_t cents = 0;
};
struct Receipt {
  std::string text;
  std::int64_t cents = 0;
};

/// What was done outside, which no crash undoes.
class DurableTest : public WorkerTest {
 protected:
  Lines effects;
};

inline Task<Receipt> buy(WorkflowContext ctx, Lines* effects, Order order) {
  auto charge = [effects](Order paid) -> Result<std::int64_t> {
    effects->push_back("charge " + paid.item);
    return paid.cents;
  };
  auto ship = [effects](std::string item) -> Task<Result<std::string>> {
    effects->push_back("ship " + item);
    return []() -> Task<Result<std::string>> { co_return "shipped"; }();
  };
  const std::int64_t cents = co_await ctx.step("charge", charge, order);
  co_await ctx.sleep(std::chrono::seconds(10));
  std::string text = co_await ctx.step("ship", ship, order.item);
  co_return Receipt{text, cents};
}

}  // namespace weir::flow::workflow::testing
