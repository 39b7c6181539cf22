#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <weir/flow/data/schema.hpp>
#include <weir/flow/data/value.hpp>
#include <weir/flow/view/view_options.hpp>
#include <weir/runtime/result.hpp>

// Persisted, in the catalog: never change. docs/storage_format.md has the bytes.
namespace weir::flow::view::internal {

enum class RelationKind : std::uint8_t { table = 1, view = 2, ring_buffer = 3, series = 4 };

/// Whether rows are appended to it: it says itself what numbers they have.
constexpr bool is_appended(RelationKind kind) noexcept {
  return kind == RelationKind::ring_buffer || kind == RelationKind::series;
}
/// As in an error message: `a ring buffer`.
const char* to_string(RelationKind kind) noexcept;

/// One column, which keeps its id whatever becomes of its name.
struct ColumnEntry {
  std::uint32_t id = 0;
  std::string name = {};
  std::uint8_t kind = 0;   // of `data::Kind`
  std::uint8_t scale = 0;  // of a decimal
  bool is_nullable = true;
  /// What rows have that were written before the column was added: its ordered bytes.
  std::optional<std::string> fill = {};

  static auto weir_fields(auto& self) {
    return std::tie(self.id, self.name, self.kind, self.scale, self.is_nullable, self.fill);
  }
  friend bool operator==(const ColumnEntry&, const ColumnEntry&) = default;
};

/// What a view reads: one source of its plan.
struct SourceEntry {
  std::string name = {};  // in the plan
  std::uint64_t relation = 0;
  std::vector<std::uint32_t> columns = {};  // ids, in the order of the source's schema

  static auto weir_fields(auto& self) { return std::tie(self.name, self.relation, self.columns); }
  friend bool operator==(const SourceEntry&, const SourceEntry&) = default;
};

/// A table, view, ring buffer or series, as the catalog knows it.
struct RelationEntry {
  RelationKind kind = RelationKind::table;
  std::string name = {};
  /// The columns that rows were written with; a row says with which. The last are those of now.
  std::vector<std::vector<ColumnEntry>> layouts = {};
  std::vector<std::uint32_t> key = {};  // ids of columns
  std::uint32_t next_column = 1;
  /// The query of a view: the bytes of an `operators::Plan`, and where its sources are.
  std::string plan = {};
  std::vector<SourceEntry> sources = {};
  std::optional<operators::RowErrorPolicy> row_errors = {};
  ViewUpdate update = ViewUpdate::deferred;
  /// The transactional views that read a table. They come and go without making it another one.
  std::vector<std::uint64_t> followers = {};
  std::uint64_t capacity = 0;  // of a ring buffer

  static auto what_it_is(auto& self) {
    return std::tie(self.kind, self.name, self.layouts, self.key, self.next_column, self.plan,
                    self.sources, self.row_errors, self.update, self.capacity);
  }
  static auto weir_fields(auto& self) {
    return std::tuple_cat(what_it_is(self), std::tie(self.followers));
  }
  /// Whether they are the same table or view, whoever follows it.
  friend bool operator==(const RelationEntry& a, const RelationEntry& b) {
    return what_it_is(a) == what_it_is(b);
  }
  bool is_transactional() const noexcept { return update == ViewUpdate::transactional; }
};

/// The first layout of a relation with this schema.
RelationEntry make_entry(RelationKind kind, std::string name, const data::Schema& schema);
data::DataType type_of(const ColumnEntry& column);
/// Of one of its layouts. `corruption` if it cannot be a schema.
Result<data::SchemaRef> schema_of(const RelationEntry& entry, std::size_t layout);

}  // namespace weir::flow::view::internal
