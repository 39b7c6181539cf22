#include <weir/flow/operator/window.hpp>

#include <utility>

#include <weir/flow/operator/internal/window_operators.hpp>
#include <weir/flow/operator/internal/window_order.hpp>

namespace weir::flow::operators {
namespace {

using std::chrono::microseconds;

constexpr microseconds longest = data::timestamp_max - data::timestamp_min;
constexpr std::int64_t windows_max = 10'000;

Error refused(const std::string& what) { return Error(Errc::invalid_argument, what); }

Result<> check_hopping(const Window& window) {
  if (auto checked = internal::check_length("the size of a window", window.size); !checked)
    return checked;
  if (auto checked = internal::check_length("the hop of windows", window.hop); !checked)
    return checked;
  if (window.offset > longest || window.offset < -longest)
    return refused("the offset of windows is too large: " + data::to_string(window.offset));
  if ((window.size.count() - 1) / window.hop.count() >= windows_max)
    return refused("a row would be in more than 10'000 windows");
  if (window.lateness && (window.lateness->count() < 0 || *window.lateness > longest))
    return refused("a lateness cannot be " + data::to_string(*window.lateness));
  if (!window.tick_period) return {};
  return internal::check_length("the period of ticks", *window.tick_period);
}

Result<> check_options(const Window& window) {
  switch (window.form) {
    case WindowForm::hopping: return check_hopping(window);
    case WindowForm::session: return internal::check_length("the gap of sessions", window.size);
    case WindowForm::rolling: return internal::check_length("the size of a window", window.size);
    case WindowForm::tumbling_rows:
      if (window.rows == 0) return refused("a window must have a row at least");
      return {};
    case WindowForm::rolling_rows:
      if (window.rows <= static_cast<std::uint64_t>(windows_max)) return {};
      return refused("a row would be in more than 10'000 windows");
  }
  return refused("there is no such form of windows");
}

}  // namespace

namespace internal {

Result<data::SchemaRef> window_schema(const data::Schema& input, data::DataType bounds,
                                      WindowKey key) {
  std::vector<data::Field> fields = input.fields();
  fields.push_back({.name = "window_start", .type = bounds, .is_nullable = false});
  fields.push_back({.name = "window_end", .type = bounds, .is_nullable = false});
  std::vector<std::string> columns;
  if (key != WindowKey::none)
    for (const std::size_t index : input.primary_key()) columns.push_back(input[index].name);
  const bool has_key = !columns.empty();
  if (has_key && key == WindowKey::with_start) columns.emplace_back("window_start");
  if (has_key && key == WindowKey::with_end) columns.emplace_back("window_end");
  auto schema = data::Schema::make(std::move(fields), columns);
  if (!schema) return std::move(schema).error();
  return std::make_shared<const data::Schema>(*std::move(schema));
}

}  // namespace internal

Result<std::unique_ptr<Operator>> Window::make(std::span<const data::SchemaRef> inputs,
                                               const Library& library) const {
  if (auto checked = check_options(*this); !checked) return std::move(checked).error();
  switch (form) {
    case WindowForm::hopping: return internal::make_hopping(*this, *inputs[0], library);
    case WindowForm::session:
    case WindowForm::tumbling_rows: return internal::make_cut(*this, inputs[0], library);
    case WindowForm::rolling:
    case WindowForm::rolling_rows: break;
  }
  return internal::make_rolling(*this, inputs[0], library);
}

Window tumbling(data::Expression time, microseconds size, const TumblingOptions& options) {
  return hopping(std::move(time), {.size = size,
                                   .hop = size,
                                   .offset = options.offset,
                                   .lateness = options.lateness,
                                   .emit = options.emit,
                                   .tick_period = options.tick_period});
}

Window hopping(data::Expression time, const HoppingOptions& options) {
  Window window(WindowForm::hopping, std::move(time));
  window.size = options.size;
  window.hop = options.hop;
  window.offset = options.offset;
  window.lateness = options.lateness;
  window.emit = options.emit;
  window.tick_period = options.tick_period;
  return window;
}

Window session(data::Expression time, microseconds gap, WindowGroups groups) {
  Window window(WindowForm::session, std::move(time));
  window.size = gap;
  window.per = std::move(groups.per);
  return window;
}

Window tumbling_rows(data::Expression order, std::uint64_t rows, WindowGroups groups) {
  Window window(WindowForm::tumbling_rows, std::move(order));
  window.rows = rows;
  window.per = std::move(groups.per);
  return window;
}

Window rolling(data::Expression time, microseconds size, WindowGroups groups) {
  Window window(WindowForm::rolling, std::move(time));
  window.size = size;
  window.per = std::move(groups.per);
  return window;
}

Window rolling_rows(data::Expression order, std::uint64_t preceding, WindowGroups groups) {
  Window window(WindowForm::rolling_rows, std::move(order));
  window.rows = preceding;
  window.per = std::move(groups.per);
  return window;
}

}  // namespace weir::flow::operators
