#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <weir/flow/workflow/internal/record_key.hpp>
#include <weir/storage/postgres/statement.hpp>

namespace weir::flow::workflow::postgres::internal {

using workflow::internal::KeyOf;
using workflow::internal::RecordTraits;

/// A record to be written.
template <class R>
struct Change {
  const KeyOf<R>* key;
  const R* record;
};

/// Something of a record that is a column of its own, beside the encoded whole: what is looked for
/// by the database, or by people.
template <class R>
struct Column {
  std::string name;
  std::string definition;  // `text not null`
  std::string sent_as;     // the type of one element of the array that has them
  bool is_fixed = false;   // never changes
  bool is_added = false;   // by a later migration than that which makes the table
  std::function<storage::postgres::Parameter(const std::vector<Change<R>>&)> pack;
};

/// The name of the type in which a value is sent.
template <class T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, std::string>) return "text";
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, std::int64_t>) return "int8";
  if constexpr (std::is_same_v<T, storage::postgres::Bytes>) return "bytea";
  if constexpr (std::is_same_v<T, Time>) return "timestamptz";
}
template <class T>
struct Bare {
  using Type = T;
};
template <class T>
struct Bare<std::optional<T>> {
  using Type = T;
};

/// `get(key, record)` gives what is in the column: text, a number of 64 bits, a time, bytes, or
/// none of these.
template <class R, class Get>
Column<R> column(std::string name, std::string definition, Get get) {
  using T = std::invoke_result_t<Get&, const KeyOf<R>&, const R&>;
  return {std::move(name),
          std::move(definition),
          type_name<typename Bare<T>::Type>(),
          false,
          false,
          [get](const std::vector<Change<R>>& changes) {
            std::vector<T> values;
            values.reserve(changes.size());
            for (const Change<R>& change : changes) {
              values.push_back(get(*change.key, *change.record));
            }
            return storage::postgres::Parameter(values);
          }};
}
template <class R, class Get>
Column<R> fixed_column(std::string name, std::string definition, Get get) {
  Column<R> made = column<R>(std::move(name), std::move(definition), std::move(get));
  made.is_fixed = true;
  return made;
}
/// One that a later migration adds to a table, with a default.
template <class R, class Get>
Column<R> added_column(std::string name, std::string definition, Get get) {
  Column<R> made = fixed_column<R>(std::move(name), std::move(definition), std::move(get));
  made.is_added = true;
  return made;
}

/// Whether such a record is made once, under a key that is new: it need not be looked for.
template <class R>
inline constexpr bool is_made_once = false;
template <>
inline constexpr bool is_made_once<ExecutionSpec> = true;
template <>
inline constexpr bool is_made_once<Execution> = true;
template <>
inline constexpr bool is_made_once<Attempt> = true;

/// Whether who needs such a record has locked the execution that it belongs to, or it never
/// changes: it need not be locked as well.
template <class R>
inline constexpr bool is_locked_by_execution = false;
template <>
inline constexpr bool is_locked_by_execution<ExecutionSpec> = true;
template <>
inline constexpr bool is_locked_by_execution<Attempt> = true;

/// The columns of a kind of record beside key and record: none, unless it is said here.
template <class R>
struct Columns {
  static std::vector<Column<R>> list() { return {}; }
};
template <>
struct Columns<Execution> {
  static std::vector<Column<Execution>> list();
};
template <>
struct Columns<Workflow> {
  static std::vector<Column<Workflow>> list();
};
template <>
struct Columns<EdgeGroup> {
  static std::vector<Column<EdgeGroup>> list();
};
template <>
struct Columns<Lane> {
  static std::vector<Column<Lane>> list();
};
template <>
struct Columns<Ended> {
  static std::vector<Column<Ended>> list();
};

}  // namespace weir::flow::workflow::postgres::internal
