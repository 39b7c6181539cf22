#include <weir/flow/operator/spec_codec.hpp>

#include <algorithm>
#include <utility>

#include <weir/flow/data/expression_codec.hpp>
#include <weir/flow/operator/append.hpp>
#include <weir/flow/operator/apply.hpp>
#include <weir/flow/operator/distinct.hpp>
#include <weir/flow/operator/errc.hpp>
#include <weir/flow/operator/extend.hpp>
#include <weir/flow/operator/filter.hpp>
#include <weir/flow/operator/gate.hpp>
#include <weir/flow/operator/map.hpp>
#include <weir/flow/operator/source.hpp>
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
                       form <= static_cast<std::uint64_t>(WindowForm::rolling_rows);
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
  return window;
}

using Read = std::shared_ptr<const OperatorSpec> (*)(SpecReader& in);

constexpr std::pair<std::string_view, Read> readers[] = {
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
    {"map", [](SpecReader& in) { return share(Map(in.columns())); }},
    {"source",
     [](SpecReader& in) {
       std::string name = in.text();
       return share(Source(std::move(name), in.schema()));
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
