#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include <weir/flow/operator/window.hpp>

// One operator for each way in which windows are found. The options of the window are known to be
// good.
namespace weir::flow::operators::internal {

/// Windows that are where they are whatever rows there are: `hopping`.
Result<std::unique_ptr<Operator>> make_hopping(const Window& window, const data::Schema& input,
                                               const Library& library);

/// Windows that are made of the rows of a group, in order.
class GroupedWindows : public Operator {
 public:
  using Operator::Operator;

  /// Forgets the rows of a group that no window needs which ends behind `closed_until`, without
  /// giving anything. No row before it comes or goes any more: of sessions, none that would be over
  /// alone. Gives until when it need not be asked again; none: until other rows come.
  virtual Result<std::optional<std::int64_t>> forget(std::string_view group,
                                                     std::int64_t closed_until) = 0;
};

/// Windows that the rows of a group in order are cut into: `session` and `tumbling_rows`.
Result<std::unique_ptr<GroupedWindows>> make_cut(const Window& window, const data::Schema& input,
                                                 const Library& library);
/// Windows that begin every so many rows: `hopping_rows`.
Result<std::unique_ptr<GroupedWindows>> make_hopping_rows(const Window& window,
                                                          const data::Schema& input,
                                                          const Library& library);
/// Windows that end where rows are: `rolling`, `sliding` and `rolling_rows`.
Result<std::unique_ptr<GroupedWindows>> make_rolling(const Window& window,
                                                     const data::Schema& input,
                                                     const Library& library);
/// The same windows, with a watermark that they close at.
Result<std::unique_ptr<Operator>> make_closing(const Window& window, const data::Schema& input,
                                               const Library& library,
                                               std::unique_ptr<GroupedWindows> windows);

/// What the primary key becomes, if there is one.
enum class WindowKey : std::uint8_t { as_it_is, with_start, with_end, none };
/// Of windows of groups: those that close may have what a late change would have taken away, beside
/// what it became.
inline WindowKey grouped_key(const Window& window, WindowKey key) noexcept {
  return window.closes() ? WindowKey::none : key;
}

/// The columns of `input`, and the start and end of a window.
Result<data::SchemaRef> window_schema(const data::Schema& input, data::DataType bounds,
                                      WindowKey key);

}  // namespace weir::flow::operators::internal
