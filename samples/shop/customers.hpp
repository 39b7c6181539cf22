#pragma once

#include <cstdint>
#include <vector>

#include <weir/runtime/actor_system.hpp>
#include <weir/samples/shop/tables.hpp>
#include <weir/storage/store.hpp>

namespace shop {

struct Buy {};
/// Answered when everything before it is done.
struct Leave {
  using Reply = void;
};

/// Orders, and pays nine times out of ten. What a customer has ordered is in the tables, so that
/// one who was restarted goes on with the next number.
class Customer final : public weir::Actor<Buy, Leave> {
 public:
  Customer(const weir::storage::Store* store, const Database* database, Tables tables,
           std::int64_t number)
      : store_(store), database_(database), tables_(std::move(tables)), number_(number) {}

  /// Throws what goes wrong: that is a matter of supervision.
  weir::Task<> on(Buy);
  void on(Leave) {}

 private:
  weir::Task<weir::Result<std::int64_t>> place(Product product, std::int64_t units);
  weir::Task<weir::Result<>> pay(std::int64_t order);

  const weir::storage::Store* store_;
  const Database* database_;
  Tables tables_;
  std::int64_t number_;
};

using Customers = std::vector<weir::RefOf<Customer>>;

Customers let_in(const weir::storage::Store* store, const Database* database, const Tables& tables);

/// Sends them to buy, so many a second, until it is cancelled. Fewer come while there is a crowd:
/// while customers are busy, or too many checkouts are open.
weir::Task<weir::Result<>> keep_coming(Customers customers, const Database* database, Tables tables,
                                       double orders_per_second);

/// Follows the stock, and has delivered what runs short, until it is cancelled.
weir::Task<weir::Result<>> keep_stocked(const Database* database, Tables tables);

}  // namespace shop
