#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <weir/storage/postgres/internal/pool_core.hpp>

namespace weir::storage::postgres::internal {

/// What a transaction and its calls share. Confined to the actor that uses it.
struct TransactionState {
  explicit TransactionState(PoolPointer pool_core)
      : core(std::move(pool_core)), number(core->next_transaction.fetch_add(1)) {}
  TransactionState(const TransactionState&) = delete;
  TransactionState& operator=(const TransactionState&) = delete;
  ~TransactionState() {
    if (!has_ended) static_cast<void>(core->actor.send<Abandon>(number));
  }

  const PoolPointer core;
  const std::uint64_t number;
  bool has_ended = false;
  std::optional<Error> failure;  // of the first statement that failed
};

}  // namespace weir::storage::postgres::internal
