#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/data/schema.hpp>
#include <weir/flow/data/value.hpp>
#include <weir/flow/operator/operator_spec.hpp>
#include <weir/runtime/result.hpp>

// Persisted, as part of the queries of views: never change. docs/storage_format.md has the bytes.
namespace weir::flow::operators {

/// Writes what an operator is to do, part by part.
class SpecWriter {
 public:
  explicit SpecWriter(std::string& out) noexcept : out_(out) {}

  void number(std::uint64_t number);
  void text(std::string_view text);
  void value(const data::Value& value);
  void expression(const data::Expression& expression);
  void column(const NamedExpression& column);
  void schema(const data::Schema& schema);
  /// How many there are, then `write(part)` for each.
  template <class Parts, class Write>
  void list(const Parts& parts, Write write) {
    number(parts.size());
    for (const auto& part : parts) write(part);
  }
  void columns(const std::vector<NamedExpression>& columns) {
    list(columns, [this](const NamedExpression& part) { column(part); });
  }

 private:
  std::string& out_;
};

/// Reads the same parts in the same order. After a part that is not there all others are empty, and
/// `finish` gives `corruption`.
class SpecReader {
 public:
  explicit SpecReader(std::string_view in) noexcept : in_(in) {}

  std::uint64_t number();
  std::string text();
  data::Value value();
  data::Expression expression();
  NamedExpression column();
  data::SchemaRef schema();
  template <class Read>
  auto list(Read read) {
    std::vector<decltype(read())> parts;
    // Each part takes a byte at least.
    for (std::uint64_t left = count(); left > 0 && !has_failed_; --left) parts.push_back(read());
    return parts;
  }
  std::vector<NamedExpression> columns() {
    return list([this] { return column(); });
  }
  void fail() noexcept { has_failed_ = true; }

  /// Whether all of it was there, and nothing else.
  Result<> finish() const;

 private:
  std::uint64_t count();

  std::string_view in_;
  bool has_failed_ = false;
};

/// The operator of this name that `OperatorSpec::write` wrote.
Result<std::shared_ptr<const OperatorSpec>> read_spec(std::string_view name,
                                                      std::string_view bytes);

}  // namespace weir::flow::operators
