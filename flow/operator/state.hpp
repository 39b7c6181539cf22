#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <weir/flow/operator/group_table.hpp>
#include <weir/flow/operator/internal/table.hpp>
#include <weir/flow/operator/state_reader.hpp>
#include <weir/flow/operator/state_table.hpp>

namespace weir::flow::operators {

template <class K, class V>
class TypedTable;

struct StateOptions {
  /// More than this is let go after a cycle, and read again when it is needed.
  std::size_t memory_max = 64 << 20;
  /// Null: everything is kept in memory.
  StateReader* reader = nullptr;
  /// Nothing has been written yet, so that nothing need be looked for.
  bool is_new = true;
};

/// All tables of one flow, and what its current cycle wants to change.
///
/// A cycle changes only what it sees itself. Whoever runs it writes `writes` to the store, together
/// with what else the cycle made; when that is true, `commit` makes it so in memory. `roll_back`
/// forgets the cycle. Confined to one thread at a time.
class State {
 public:
  struct Write {
    std::string key;
    std::optional<std::string> value;  // none: it goes
    friend bool operator==(const Write&, const Write&) = default;
  };

  explicit State(StateOptions options = {}) : options_(options), shared_{options.reader} {}
  State(State&&) = delete;

  /// Tables are told apart by the order in which they are added: always add them in the same one.
  StateTable& add_table();
  /// The same with types, for who includes `typed_table.hpp`.
  template <class K, class V>
  TypedTable<K, V> add_table();
  GroupTable& add_groups();

  /// In order of keys.
  std::vector<Write> writes() const;
  void commit();
  void roll_back();

  /// Whether reading may wait depends on the reader.
  void set_reader(StateReader* reader) noexcept { shared_.reader = reader; }
  std::size_t memory() const noexcept;

 private:
  template <class Kind>
  Kind& add();

  StateOptions options_;
  internal::StateShared shared_;
  std::vector<std::unique_ptr<internal::Table>> tables_;
};

}  // namespace weir::flow::operators
