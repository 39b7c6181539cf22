#pragma once

#include <memory>

#include <weir/flow/operator/window.hpp>

// One operator for each way in which windows are found. The options of the window are known to be
// good.
namespace weir::flow::operators::internal {

/// Windows that are where they are whatever rows there are: `hopping`.
Result<std::unique_ptr<Operator>> make_hopping(const Window& window, const data::Schema& input,
                                               const Library& library);
/// Windows that the rows of a group in order are cut into: `session` and `tumbling_rows`.
Result<std::unique_ptr<Operator>> make_cut(const Window& window, const data::SchemaRef& input,
                                           const Library& library);
/// Windows of which each ends with a row: `rolling` and `rolling_rows`.
Result<std::unique_ptr<Operator>> make_rolling(const Window& window, const data::SchemaRef& input,
                                               const Library& library);

/// What the primary key becomes, if there is one.
enum class WindowKey : std::uint8_t { as_it_is, with_start, with_end, none };

/// The columns of `input`, and the start and end of a window.
Result<data::SchemaRef> window_schema(const data::Schema& input, data::DataType bounds,
                                      WindowKey key);

}  // namespace weir::flow::operators::internal
