#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <weir/flow/workflow/internal/working_set.hpp>
#include <weir/flow/workflow/postgres/internal/column.hpp>
#include <weir/flow/workflow/postgres/internal/encoding.hpp>

namespace weir::flow::workflow::postgres::internal {

/// `workflow.edge_groups` is the table `workflow_edge_groups`.
template <class R>
std::string table_of() {
  std::string name = RecordTraits<R>::space;
  std::ranges::replace(name, '.', '_');
  return name;
}

/// The texts of all statements about one kind of record, which follow from its columns.
struct TableTexts {
  std::string name;
  std::string create;
  std::string read;    // $1: keys
  std::string insert;  // of those that are not there; $1: keys, $2: records, then the columns
  std::string upsert;  // of those that may be there
  std::string update;  // of those that are there, without what never changes
  std::string remove;  // $1: keys
};

/// A column as its texts need it.
struct ColumnText {
  std::string name;
  std::string definition;
  std::string sent_as;
  bool is_fixed;
  bool is_added;
};
TableTexts make_texts(std::string table, const std::vector<ColumnText>& columns, bool locks);

/// How a kind of record is read and written: all of a batch in one statement.
///
///     create table workflow_lanes (key bytea primary key, record bytea, state text, ...)
template <class R>
class Table {
 public:
  static const Table& get() {
    static const Table table;
    return table;
  }

  const TableTexts& texts() const noexcept { return texts_; }

  storage::postgres::Statement read(const std::vector<KeyOf<R>>& keys) const {
    return storage::postgres::Statement(texts_.read, encoded(keys)).about(texts_.name);
  }
  /// Adds statements that write what has changed. Those that were found absent must not be there:
  /// if somebody else has made one meanwhile, it is a conflict.
  void write(const workflow::internal::SlotTable<R>& slots,
             storage::postgres::Batch& statements) const {
    std::vector<Change<R>> made;
    std::vector<Change<R>> put;
    std::vector<Change<R>> changed;
    std::vector<KeyOf<R>> removed;
    for (const KeyOf<R>& key : slots.changed) {
      const auto& slot = slots.slots.find(key)->second;
      const bool was_there = slot.stored != workflow::internal::Standing::absent;
      if (slot.current) {
        auto& list = was_there ? changed : slot.is_read || is_made_once<R> ? made : put;
        list.push_back({&key, &*slot.current});
      } else if (was_there || !slot.is_read) {
        removed.push_back(key);
      }
    }
    add(texts_.insert, made, true, statements);
    add(texts_.upsert, put, true, statements);
    add(texts_.update, changed, false, statements);
    if (!removed.empty()) {
      statements.push_back(
          storage::postgres::Statement(texts_.remove, encoded(removed)).about(texts_.name));
    }
  }

 private:
  Table()
      : columns_(Columns<R>::list()),
        texts_(make_texts(table_of<R>(), named(columns_), !is_locked_by_execution<R>)) {}

  static std::vector<ColumnText> named(const std::vector<Column<R>>& columns) {
    std::vector<ColumnText> names;
    for (const Column<R>& column : columns) {
      names.push_back(
          {column.name, column.definition, column.sent_as, column.is_fixed, column.is_added});
    }
    return names;
  }
  static std::vector<storage::postgres::Bytes> encoded(const std::vector<KeyOf<R>>& keys) {
    std::vector<storage::postgres::Bytes> bytes;
    bytes.reserve(keys.size());
    for (const KeyOf<R>& key : keys) bytes.push_back(encode_key(key));
    return bytes;
  }
  void add(const std::string& text, const std::vector<Change<R>>& changes, bool has_fixed,
           storage::postgres::Batch& statements) const {
    if (changes.empty()) return;
    std::vector<storage::postgres::Bytes> keys;
    std::vector<storage::postgres::Bytes> records;
    for (const Change<R>& change : changes) {
      keys.push_back(encode_key(*change.key));
      records.push_back(encode_value(*change.record));
    }
    storage::postgres::Statement statement(text, keys, records);
    for (const Column<R>& column : columns_) {
      if (has_fixed || !column.is_fixed) statement.add(column.pack(changes));
    }
    statements.push_back(std::move(statement).about(texts_.name));
  }

  const std::vector<Column<R>> columns_;
  const TableTexts texts_;
};

}  // namespace weir::flow::workflow::postgres::internal
