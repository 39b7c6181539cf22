#include <weir/flow/operator/spec_codec.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/data/expression_codec.hpp>
#include <weir/flow/operator/aggregate.hpp>
#include <weir/flow/operator/append.hpp>
#include <weir/flow/operator/apply.hpp>
#include <weir/flow/operator/distinct.hpp>
#include <weir/flow/operator/errc.hpp>
#include <weir/flow/operator/extend.hpp>
#include <weir/flow/operator/filter.hpp>
#include <weir/flow/operator/gate.hpp>
#include <weir/flow/operator/join.hpp>
#include <weir/flow/operator/keep.hpp>
#include <weir/flow/operator/map.hpp>
#include <weir/flow/operator/ring_buffer.hpp>
#include <weir/flow/operator/row_number.hpp>
#include <weir/flow/operator/series.hpp>
#include <weir/flow/operator/source.hpp>
#include <weir/flow/operator/top.hpp>
#include <weir/flow/operator/window.hpp>
#include <weir/storage/value.hpp>

namespace weir::flow::operators {

namespace {

using Number = storage::ValueCodec<std::uint64_t>;
using Text = storage::ValueCodec<std::string>;

}  // namespace

void SpecWriter::number(std::uint64_t number) { Number::encode(number, out_); }
void SpecWriter::text(std::string_view text) { Text::encode(text, out_); }
void SpecWriter::value(const data::Value& value) { data::append_value(value, out_); }
void SpecWriter::expression(const data::Expression& expression) {
  data::append_expression(expression, out_);
}

void SpecWriter::column(const NamedExpression& column) {
  text(column.name);
  expression(column.value);
}

void SpecWriter::schema(const data::Schema& schema) {
  list(schema.fields(), [this](const data::Field& field) {
    text(field.name);
    number(static_cast<std::uint64_t>(field.type.kind));
    number(field.type.scale);
    number(field.is_nullable ? 1 : 0);
  });
  list(schema.primary_key(), [this](std::size_t index) { number(index); });
}

std::uint64_t SpecReader::number() {
  std::uint64_t number = 0;
  if (!has_failed_ && !Number::decode(in_, number)) fail();
  return has_failed_ ? 0 : number;
}

std::uint64_t SpecReader::count() {
  const std::uint64_t count = number();
  if (count > in_.size()) fail();
  return has_failed_ ? 0 : count;
}

std::string SpecReader::text() {
  std::string text;
  if (!has_failed_ && !Text::decode(in_, text)) fail();
  return has_failed_ ? "" : text;
}

data::Value SpecReader::value() {
  data::Value value;
  if (!has_failed_ && !data::take_value(in_, value)) fail();
  return value;
}

data::Expression SpecReader::expression() {
  if (has_failed_) return data::Value();
  auto expression = data::take_expression(in_);
  if (expression) return *std::move(expression);
  fail();
  return data::Value();
}

NamedExpression SpecReader::column() {
  std::string name = text();
  return {std::move(name), expression()};
}

data::SchemaRef SpecReader::schema() {
  auto fields = list([this] {
    data::Field field{text(), data::Kind::boolean};
    const std::uint64_t kind = number();
    if (kind < 1 || kind > static_cast<std::uint64_t>(data::Kind::uuid)) fail();
    field.type = static_cast<data::Kind>(kind);
    field.type.scale = static_cast<std::uint8_t>(number());
    field.is_nullable = number() != 0;
    return field;
  });
  std::vector<std::string> key;
  for (const std::uint64_t index : list([this] { return number(); })) {
    if (index >= fields.size()) {
      fail();
    } else {
      key.push_back(fields[index].name);
    }
  }
  auto schema = data::Schema::make(std::move(fields), key);
  if (!schema) fail();
  return schema ? std::make_shared<const data::Schema>(*std::move(schema)) : nullptr;
}

Result<> SpecReader::finish() const {
  if (has_failed_ || !in_.empty()) return Error(Errc::corruption, "the description of an operator");
  return {};
}

void Filter::write(SpecWriter& out) const { out.expression(condition); }
void Map::write(SpecWriter& out) const { out.columns(columns); }
void Extend::write(SpecWriter& out) const { out.columns(columns); }
void Gate::write(SpecWriter& out) const { out.expression(condition); }
void Distinct::write(SpecWriter& /*out*/) const {}
void Append::write(SpecWriter& /*out*/) const {}

void Keep::write(SpecWriter& out) const {
  out.expression(time);
  out.value(age);
  out.value(options.tick_period);
  out.number(options.rows_max);
}

void RingBuffer::write(SpecWriter& out) const {
  out.number(capacity);
  out.text(options.position);
}

void Series::write(SpecWriter& out) const {
  out.text(key);
  out.text(options.sequence);
}

void Window::write(SpecWriter& out) const {
  const auto optional = [&out](const std::optional<std::chrono::microseconds>& length) {
    out.value(length ? data::Value(*length) : data::Value());
  };
  out.number(static_cast<std::uint64_t>(form));
  out.expression(order);
  for (const std::chrono::microseconds length : {size, hop, offset}) out.value(length);
  out.number(rows);
  out.list(per, [&out](const std::string& column) { out.text(column); });
  optional(lateness);
  out.number(static_cast<std::uint64_t>(emit));
  optional(tick_period);
  if (form == WindowForm::hopping_rows) out.number(hop_rows);
}

void Source::write(SpecWriter& out) const {
  out.text(source);
  out.schema(*schema);
}

void Apply::write(SpecWriter& out) const {
  out.text(operator_name);
  out.list(parameters, [&out](const data::Value& value) { out.value(value); });
}

namespace {

void write_optional(const std::optional<data::Expression>& expression, SpecWriter& out) {
  out.number(expression ? 1 : 0);
  if (expression) out.expression(*expression);
}

}  // namespace

void Aggregate::write(SpecWriter& out) const {
  out.columns(groups);
  out.list(columns, [&out](const AggregateColumn& column) {
    out.number(static_cast<std::uint64_t>(column.function));
    write_optional(column.value, out);
    write_optional(column.order, out);
    write_optional(column.condition, out);
    out.text(column.name);
  });
}

void Join::write(SpecWriter& out) const {
  out.list(options.on, [&out](const JoinKey& key) {
    out.expression(key.left.value);
    out.expression(key.right.value);
  });
  out.number(static_cast<std::uint64_t>(options.kind));
  write_optional(options.condition, out);
  out.text(options.left_prefix);
  out.text(options.right_prefix);
}

namespace {

void write_order(const OrderOptions& options, SpecWriter& out) {
  out.list(options.per, [&out](const std::string& column) { out.text(column); });
  out.list(options.order, [&out](const Order& order) {
    out.expression(order.value);
    out.number(order.is_descending ? 1 : 0);
  });
}

}  // namespace

void Top::write(SpecWriter& out) const {
  out.number(count);
  write_order(options, out);
}

void RowNumber::write(SpecWriter& out) const {
  out.text(column);
  write_order(options, out);
}

namespace {

std::optional<data::Expression> read_optional(SpecReader& in) {
  return in.number() != 0 ? std::optional(in.expression()) : std::nullopt;
}

AggregateColumn read_aggregate(SpecReader& in) {
  const std::uint64_t function = in.number();
  if (function > static_cast<std::uint64_t>(AggregateFunction::last)) in.fail();
  AggregateColumn column{.function = static_cast<AggregateFunction>(function)};
  column.value = read_optional(in);
  column.order = read_optional(in);
  column.condition = read_optional(in);
  column.name = in.text();
  return column;
}

JoinOptions read_join(SpecReader& in) {
  JoinOptions options;
  options.on = in.list([&in] {
    data::Expression left = in.expression();
    return JoinKey(std::move(left), in.expression());
  });
  const std::uint64_t kind = in.number();
  if (kind > static_cast<std::uint64_t>(JoinKind::anti)) in.fail();
  options.kind = static_cast<JoinKind>(kind);
  options.condition = read_optional(in);
  options.left_prefix = in.text();
  options.right_prefix = in.text();
  return options;
}

OrderOptions read_order(SpecReader& in) {
  OrderOptions options;
  options.per = in.list([&in] { return in.text(); });
  options.order = in.list([&in] {
    data::Expression value = in.expression();
    return Order{std::move(value), in.number() != 0};
  });
  return options;
}

template <class Spec>
std::shared_ptr<const OperatorSpec> share(Spec spec) {
  return std::make_shared<const Spec>(std::move(spec));
}

std::optional<std::chrono::microseconds> read_duration(SpecReader& in) {
  const data::Value value = in.value();
  if (value.is_null()) return std::nullopt;
  if (const auto* length = std::get_if<std::chrono::microseconds>(&value.content())) return *length;
  in.fail();
  return std::nullopt;
}

Window read_window(SpecReader& in) {
  const std::uint64_t form = in.number();
  const bool is_form = form >= static_cast<std::uint64_t>(WindowForm::hopping) &&
                       form <= static_cast<std::uint64_t>(WindowForm::sliding);
  if (!is_form) in.fail();
  Window window(static_cast<WindowForm>(form), in.expression());
  for (std::chrono::microseconds* length : {&window.size, &window.hop, &window.offset})
    *length = read_duration(in).value_or(std::chrono::microseconds(0));
  window.rows = in.number();
  window.per = in.list([&in] { return in.text(); });
  window.lateness = read_duration(in);
  const std::uint64_t emit = in.number();
  if (emit > static_cast<std::uint64_t>(WindowEmit::on_close)) in.fail();
  window.emit = static_cast<WindowEmit>(emit);
  window.tick_period = read_duration(in);
  if (window.form == WindowForm::hopping_rows) window.hop_rows = in.number();
  return window;
}

Keep read_keep(SpecReader& in) {
  data::Expression time = in.expression();
  const auto age = read_duration(in);
  const auto period = read_duration(in);
  if (!age || !period) in.fail();
  return Keep(
      std::move(time), age.value_or(std::chrono::microseconds(0)),
      {.tick_period = period.value_or(std::chrono::microseconds(0)), .rows_max = in.number()});
}

using Read = std::shared_ptr<const OperatorSpec> (*)(SpecReader& in);

constexpr std::pair<std::string_view, Read> readers[] = {
    {"aggregate",
     [](SpecReader& in) {
       auto groups = in.columns();
       return share(Aggregate(std::move(groups), in.list([&in] { return read_aggregate(in); })));
     }},
    {"append", [](SpecReader&) { return share(Append()); }},
    {"apply",
     [](SpecReader& in) {
       std::string name = in.text();
       return share(Apply(std::move(name), in.list([&in] { return in.value(); })));
     }},
    {"distinct", [](SpecReader&) { return share(Distinct()); }},
    {"extend", [](SpecReader& in) { return share(Extend(in.columns())); }},
    {"filter", [](SpecReader& in) { return share(Filter(in.expression())); }},
    {"gate", [](SpecReader& in) { return share(Gate(in.expression())); }},
    {"join", [](SpecReader& in) { return share(Join(read_join(in))); }},
    {"keep", [](SpecReader& in) { return share(read_keep(in)); }},
    {"map", [](SpecReader& in) { return share(Map(in.columns())); }},
    {"ring_buffer",
     [](SpecReader& in) {
       const std::uint64_t capacity = in.number();
       return share(RingBuffer(capacity, {.position = in.text()}));
     }},
    {"row_number",
     [](SpecReader& in) {
       std::string column = in.text();
       return share(RowNumber(std::move(column), read_order(in)));
     }},
    {"series",
     [](SpecReader& in) {
       std::string key = in.text();
       return share(Series(std::move(key), {.sequence = in.text()}));
     }},
    {"source",
     [](SpecReader& in) {
       std::string name = in.text();
       return share(Source(std::move(name), in.schema()));
     }},
    {"top",
     [](SpecReader& in) {
       const std::uint64_t count = in.number();
       return share(Top(count, read_order(in)));
     }},
    {"window", [](SpecReader& in) { return share(read_window(in)); }},
};

}  // namespace

Result<std::shared_ptr<const OperatorSpec>> read_spec(std::string_view name,
                                                      std::string_view bytes) {
  const auto* reader = std::ranges::find(readers, name, &std::pair<std::string_view, Read>::first);
  if (reader == std::end(readers))
    return Error(Errc::corruption, "there is no operator '" + std::string(name) + "'");
  SpecReader in(bytes);
  auto spec = reader->second(in);
  if (auto finished = in.finish(); !finished) return std::move(finished).error();
  return spec;
}

}  // namespace weir::flow::operators
