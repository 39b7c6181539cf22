#include <weir/flow/operator/top.hpp>

#include <algorithm>
#include <limits>

#include <weir/flow/operator/internal/ordered_operator.hpp>

namespace weir::flow::operators {

Result<std::unique_ptr<Operator>> Top::make(std::span<const data::SchemaRef> inputs,
                                            const Library& library) const {
  if (count == 0) return Error(Errc::invalid_argument, "there must be a row to keep");
  auto order = internal::check_order(options, *inputs[0], library);
  if (!order) return std::move(order).error();
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<data::Weight>::max());
  return std::make_unique<internal::OrderedOperator>(
      *std::move(order),
      internal::OrderedOperator::What{.input = inputs[0],
                                      .schema = inputs[0],
                                      .rows_max = static_cast<data::Weight>(std::min(count, most)),
                                      .is_numbered = false});
}

}  // namespace weir::flow::operators
