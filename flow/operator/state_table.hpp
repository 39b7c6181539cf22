#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weir/flow/operator/internal/hash_index.hpp>
#include <weir/flow/operator/internal/record_pool.hpp>
#include <weir/flow/operator/internal/table.hpp>

namespace weir::flow::operators {

/// Values by key, both bytes: state of an operator that it looks up.
///
/// What a cycle writes is seen by that cycle, and becomes true when the cycle is committed.
class StateTable final : public internal::Table {
 public:
  /// One key of the table, whether there is a value or not. Good until the end of the cycle.
  class Slot {
   public:
    bool exists() const noexcept;
    /// Empty if there is none. Good until the slot is written.
    std::string_view value() const noexcept;
    void put(std::string_view value) { edit().assign(value); }
    /// The value, to be changed in place; empty if there was none. Good until the end of the
    /// cycle.
    std::string& edit();
    void remove();
    /// A number for the operator to find its own notes about a slot that was written. Zero at
    /// first, and after each cycle.
    std::uint32_t& mark();

   private:
    friend class StateTable;
    Slot(StateTable& table, std::string_view key, std::uint64_t hash,
         internal::Record* record) noexcept
        : table_(&table), key_(key), hash_(hash), record_(record) {}
    const internal::Record* known() const noexcept;
    internal::Record& record();
    std::uint32_t pending();

    StateTable* table_;
    std::string_view key_;  // until there is a record
    std::uint64_t hash_;
    internal::Record* record_;  // null: there is none yet
  };

  StateTable(const internal::StateShared& shared, std::uint16_t number, bool is_new)
      : shared_(&shared), prefix_(number), is_complete_(is_new) {}
  StateTable(StateTable&&) = delete;
  ~StateTable() override;

  /// Brings what is in memory of many keys near: looking for each of them then waits less for it.
  void prefetch(std::span<const std::string_view> keys);
  /// `key` must outlive the slot, or the slot's first write.
  Result<Slot> find(std::string_view key);
  /// The same for many, faster: what they need is fetched from memory at the same time.
  Result<> find_all(std::span<const std::string_view> keys, std::vector<Slot>& found);

  void visit_writes(const internal::VisitWrite& visit) const override;
  void commit() override;
  void roll_back() override;
  std::size_t memory() const noexcept override { return memory_ + index_.memory(); }
  void evict(std::size_t bytes) override;

 private:
  Result<Slot> find(std::string_view key, std::uint64_t hash);
  Result<internal::Record*> load(std::string_view key, std::uint64_t hash);
  internal::Record* make(std::string_view key, std::size_t value_capacity);
  void free(internal::Record* record) noexcept;
  static std::size_t memory_of(const internal::Record& record) noexcept;
  internal::Record* insert(internal::Record* record, std::uint64_t hash);
  void erase(internal::Record* record) noexcept;

  const internal::StateShared* shared_;
  internal::TablePrefix prefix_;
  /// Whether what is not in memory is nowhere.
  bool is_complete_;
  internal::RecordPool pool_;
  internal::HashIndex<internal::Record> index_;  // of the records, which are in `pool_`
  internal::PendingWrites<internal::Record*> pending_;
  std::vector<std::uint64_t> hashes_;  // of keys to be found, to use its memory again
  std::size_t memory_ = 0;
  std::size_t hand_ = 0;  // where the sweep goes on
};

}  // namespace weir::flow::operators
