#include <weir/flow/data/internal/builtin.hpp>
#include <weir/flow/data/internal/kernels.hpp>

#include <charconv>
#include <cmath>

#include <weir/flow/data/text_form.hpp>
#include <weir/flow/data/utf8.hpp>

namespace weir::flow::data::internal {
namespace {

Errc overflow_unless(bool is_ok) noexcept { return is_ok ? Errc{} : Errc::overflow; }

/// Scales of decimals on either side.
struct Scales {
  std::uint8_t from;
  std::uint8_t to;
};

template <class To>
Errc round_to(double number, To& out) noexcept {
  if (std::isnan(number)) return Errc::invalid_value;
  const double rounded = std::round(number);
  // The limits are powers of two, so they are exact; the greatest integers are not.
  constexpr double above = std::is_signed_v<To> ? 0x1p63 : 0x1p64;
  constexpr double lowest = std::is_signed_v<To> ? -0x1p63 : 0.0;
  if (rounded < lowest || rounded >= above) return Errc::overflow;
  out = static_cast<To>(rounded);
  return Errc{};
}

template <class From, class To>
Errc convert(const From& from, Scales scales, To& out) noexcept {
  if constexpr (std::is_same_v<From, To> && std::is_same_v<From, Int128>) {
    return overflow_unless(rescale(from, scales.from, scales.to, out));
  } else if constexpr (std::is_same_v<From, To>) {
    out = from;
    return Errc{};
  } else if constexpr (std::is_same_v<To, double>) {
    if constexpr (std::is_same_v<From, Int128>)
      out = to_double(from, scales.from);
    else
      out = static_cast<double>(from);
    return Errc{};
  } else if constexpr (std::is_same_v<From, double> && std::is_same_v<To, Int128>) {
    return overflow_unless(from_double(from, scales.to, out));
  } else if constexpr (std::is_same_v<From, double>) {
    return round_to(from, out);
  } else if constexpr (std::is_same_v<To, Int128> && std::is_signed_v<From>) {
    return overflow_unless(from_int64(from, scales.to, out));
  } else if constexpr (std::is_same_v<To, Int128>) {
    return overflow_unless(from_uint64(from, scales.to, out));
  } else if constexpr (std::is_same_v<From, Int128> && std::is_signed_v<To>) {
    return overflow_unless(to_int64(from, scales.from, out));
  } else if constexpr (std::is_same_v<From, Int128>) {
    return overflow_unless(to_uint64(from, scales.from, out));
  } else {
    if (!std::in_range<To>(from)) return Errc::overflow;
    out = static_cast<To>(from);
    return Errc{};
  }
}

template <class Visit>
Kernel visit_number(Kind kind, Visit visit) {
  switch (kind) {
    case Kind::int64: return visit(std::int64_t{});
    case Kind::uint64: return visit(std::uint64_t{});
    case Kind::float64: return visit(double{});
    case Kind::decimal: return visit(Int128{});
    default: return nullptr;
  }
}

Kernel between_numbers(DataType from, DataType to) {
  return visit_number(from.kind, [&]<class A>(A) {
    return visit_number(to.kind, [&]<class B>(B) -> Kernel {
      const Scales scales{from.scale, to.scale};
      return [to, scales](std::span<const Evaluated> operands, std::size_t rows) {
        return map_one<A, B>(operands[0], to, rows, [scales](const A& value, B& out) {
          return convert(value, scales, out);
        });
      };
    });
  });
}

Kernel from_text(DataType to) {
  return [to](std::span<const Evaluated> operands, std::size_t rows) {
    auto column = std::make_shared<Column>(to);
    column->reserve(rows);
    RowErrors errors;
    for (std::size_t row = 0; row < rows; ++row) {
      const std::size_t place = operands[0].at(row);
      if (operands[0].column->is_null(place)) {
        column->append_null();
        continue;
      }
      const auto value = parse_value(operands[0].column->strings()[place], to);
      column->append(value ? *value : Value());
      if (value) continue;
      const bool is_overflow = value.error() == Errc::overflow;
      errors.push_back(
          {static_cast<std::uint32_t>(row), is_overflow ? Errc::overflow : Errc::invalid_value});
    }
    return Evaluated{std::move(column), operands[0].is_constant, std::move(errors)};
  };
}

Kernel to_text() {
  return [](std::span<const Evaluated> operands, std::size_t rows) {
    auto column = std::make_shared<Column>(Kind::text);
    column->reserve(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const Value value = operands[0].column->value(operands[0].at(row));
      if (value.is_null()) {
        column->append_null();
      } else {
        column->push<std::string_view>(text_form(value));
      }
    }
    return Evaluated{std::move(column), operands[0].is_constant};
  };
}

constexpr std::int64_t microseconds_per_day = 86'400'000'000;

Kernel between_times(Kind from, Kind to) {
  if (from == Kind::date && to == Kind::timestamp) {
    return kernel_of<std::int32_t, std::int64_t>(
        to, [](std::int32_t days) { return days * microseconds_per_day; });
  }
  if (from == Kind::timestamp && to == Kind::date) {
    return kernel_of<std::int64_t, std::int32_t>(to, [](std::int64_t moment) {
      const std::int64_t back = moment % microseconds_per_day < 0 ? 1 : 0;
      return static_cast<std::int32_t>(moment / microseconds_per_day - back);
    });
  }
  return nullptr;
}

Kernel with_boolean(Kind from, Kind to) {
  if (from == Kind::boolean && to == Kind::int64) {
    return kernel_of<std::uint8_t, std::int64_t>(to,
                                                 [](std::uint8_t a) { return std::int64_t{a}; });
  }
  if (from == Kind::int64 && to == Kind::boolean) {
    return kernel_of<std::int64_t, std::uint8_t>(
        to, [](std::int64_t a) { return static_cast<std::uint8_t>(a != 0); });
  }
  return nullptr;
}

Kernel bytes_to_text() {
  return [](std::span<const Evaluated> operands, std::size_t rows) {
    return map_one<std::string_view, std::string>(operands[0], Kind::text, rows,
                                                  [](std::string_view bytes, std::string& out) {
                                                    if (!is_utf8(bytes)) return Errc::invalid_value;
                                                    out = bytes;
                                                    return Errc{};
                                                  });
  };
}

Kernel text_to_bytes() {
  return kernel_of<std::string_view, std::string>(
      Kind::bytes, [](std::string_view text) { return std::string(text); });
}

}  // namespace

Kernel make_cast(DataType from, DataType to) {
  if (from.kind == Kind::text && to.kind == Kind::bytes) return text_to_bytes();
  if (from.kind == Kind::bytes && to.kind == Kind::text) return bytes_to_text();
  if (from.kind == Kind::bytes || to.kind == Kind::bytes) return nullptr;
  if (from.kind == Kind::text) return from_text(to);
  if (to.kind == Kind::text) return to_text();
  if (is_numeric(from.kind) && is_numeric(to.kind)) return between_numbers(from, to);
  if (Kernel times = between_times(from.kind, to.kind)) return times;
  return with_boolean(from.kind, to.kind);
}

Result<Value> convert_literal(const Value& value, DataType to) {
  if (value.is_null() || value.type() == to) return value;
  // As it is written, not the double next to it.
  const bool is_written = value.type()->kind == Kind::float64 && to.kind == Kind::decimal;
  if (is_written) {
    auto decimal = parse_value(to_string(value), to);
    if (decimal) return decimal;
  }
  const Kernel cast = make_cast(*value.type(), to);
  Error impossible(Errc::type_mismatch, to_string(value) + " is not a value of " + to_string(to));
  if (!cast) return impossible;
  auto column = std::make_shared<Column>(*value.type());
  column->append(value);
  const Evaluated from[] = {{.column = std::move(column), .is_constant = true}};
  const Evaluated converted = cast(from, 1);
  if (!converted.errors.empty()) return impossible;
  Value result = converted.column->value(0);
  // A literal means what it says: 2.5 is no integer, and -1 is not unsigned.
  const bool is_number = is_numeric(value.type()->kind) && is_numeric(to.kind);
  if (is_number) {
    const Evaluated there[] = {{.column = converted.column, .is_constant = true}};
    const Evaluated back = make_cast(to, *value.type())(there, 1);
    if (back.column->value(0) != value) return impossible;
  }
  return result;
}

}  // namespace weir::flow::data::internal
