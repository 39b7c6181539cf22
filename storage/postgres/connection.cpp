#include <weir/storage/postgres/connection.hpp>

#include <weir/runtime/try.hpp>
#include <weir/storage/postgres/internal/pool_core.hpp>

namespace weir::storage::postgres {

Task<Result<Connection>> Connection::connect(ActorSystem* system, Options options) {
  options.connections = 1;
  WEIR_CO_TRY(core, internal::open_pool(*system, std::move(options), false));
  Connection connection{Pool(std::move(core))};
  WEIR_CO_TRY_VOID(co_await connection.execute(Statement("select 1")));
  co_return connection;
}

}  // namespace weir::storage::postgres
