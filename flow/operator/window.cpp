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
  return {};
}

Result<> check_hopping_rows(const Window& window) {
  if (window.rows == 0) return refused("a window must have a row at least");
  if (window.hop_rows == 0) return refused("the hop of windows must be a row at least");
  if ((window.rows - 1) / window.hop_rows >= static_cast<std::uint64_t>(windows_max))
    return refused("a row would be in more than 10'000 windows");
  return {};
}

Result<> check_form(const Window& window) {
  switch (window.form) {
    case WindowForm::hopping: return check_hopping(window);
    case WindowForm::session: return internal::check_length("the gap of sessions", window.size);
    case WindowForm::rolling:
    case WindowForm::sliding: return internal::check_length("the size of a window", window.size);
    case WindowForm::tumbling_rows:
      if (window.rows == 0) return refused("a window must have a row at least");
      return {};
    case WindowForm::hopping_rows: return check_hopping_rows(window);
    case WindowForm::rolling_rows:
      if (window.rows <= static_cast<std::uint64_t>(windows_max)) return {};
      return refused("a row would be in more than 10'000 windows");
  }
  return refused("there is no such form of windows");
}

Result<> check_options(const Window& window) {
  if (auto checked = check_form(window); !checked) return checked;
  if (window.lateness && (window.lateness->count() < 0 || *window.lateness > longest))
    return refused("a lateness cannot be " + data::to_string(*window.lateness));
  if (!window.tick_period) return {};
  return internal::check_length("the period of ticks", *window.tick_period);
}

/// Those whose windows are made of the rows of a group.
Result<std::unique_ptr<internal::GroupedWindows>> make_grouped(const Window& window,
                                                               const data::Schema& input,
                                                               const Library& library) {
  switch (window.form) {
    case WindowForm::session:
    case WindowForm::tumbling_rows: return internal::make_cut(window, input, library);
    case WindowForm::hopping_rows: return internal::make_hopping_rows(window, input, library);
    default: return internal::make_rolling(window, input, library);
  }
}

Window grouped(WindowForm form, data::Expression order, WindowGroups groups) {
  Window window(form, std::move(order));
  window.per = std::move(groups.per);
  window.lateness = groups.lateness;
  window.emit = groups.emit;
  window.tick_period = groups.tick_period;
  return window;
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
  if (form == WindowForm::hopping) return internal::make_hopping(*this, *inputs[0], library);
  auto windows = make_grouped(*this, *inputs[0], library);
  if (!windows) return std::move(windows).error();
  if (closes()) return internal::make_closing(*this, *inputs[0], library, *std::move(windows));
  return *std::move(windows);
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
  Window window = grouped(WindowForm::session, std::move(time), std::move(groups));
  window.size = gap;
  return window;
}

Window tumbling_rows(data::Expression order, std::uint64_t rows, WindowGroups groups) {
  Window window = grouped(WindowForm::tumbling_rows, std::move(order), std::move(groups));
  window.rows = rows;
  return window;
}

Window hopping_rows(data::Expression order, const HoppingRowsOptions& options,
                    WindowGroups groups) {
  Window window = grouped(WindowForm::hopping_rows, std::move(order), std::move(groups));
  window.rows = options.rows;
  window.hop_rows = options.hop;
  return window;
}

Window rolling(data::Expression time, microseconds size, WindowGroups groups) {
  Window window = grouped(WindowForm::rolling, std::move(time), std::move(groups));
  window.size = size;
  return window;
}

Window sliding(data::Expression time, microseconds size, WindowGroups groups) {
  Window window = grouped(WindowForm::sliding, std::move(time), std::move(groups));
  window.size = size;
  return window;
}

Window rolling_rows(data::Expression order, std::uint64_t preceding, WindowGroups groups) {
  Window window = grouped(WindowForm::rolling_rows, std::move(order), std::move(groups));
  window.rows = preceding;
  return window;
}

}  // namespace weir::flow::operators
