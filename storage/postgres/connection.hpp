#pragma once

#include <utility>

#include <weir/storage/postgres/pool.hpp>

namespace weir::storage::postgres {

/// One connection, which is not made again when it is lost: from then on all calls get
/// `unavailable`. For what belongs to a session: advisory locks, temporary tables, settings.
///
/// Otherwise as a `Pool` with one connection: a transaction has it for itself, and other calls wait
/// until it ends.
class Connection {
 public:
  /// Connects. `unavailable` with the reason, also if it takes longer than
  /// `Options::connect_timeout`.
  static Task<Result<Connection>> connect(ActorSystem* system, Options options);

  Task<Result<Rows>> execute(Statement statement, CallOptions options = {}) const {
    return pool_.execute(std::move(statement), options);
  }
  Task<Result<std::vector<Rows>>> execute(Batch statements, CallOptions options = {}) const {
    return pool_.execute(std::move(statements), options);
  }
  Task<Result<Transaction>> begin(Isolation isolation) const { return pool_.begin(isolation); }
  template <class Body, class... Args>
  auto transaction(Isolation isolation, Body body, Args... args) const {
    return pool_.transaction(isolation, std::move(body), std::move(args)...);
  }

  bool is_connected() const { return pool_.health().connected == 1; }
  void close() const { pool_.close(); }

 private:
  explicit Connection(Pool pool) noexcept : pool_(std::move(pool)) {}

  Pool pool_;
};

}  // namespace weir::storage::postgres
