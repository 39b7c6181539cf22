#include <weir/storage/store.hpp>

#include <algorithm>
#include <exception>

#include <weir/runtime/blocking_pool.hpp>
#include <weir/runtime/cancellation.hpp>
#include <weir/runtime/try.hpp>
#include <weir/storage/errc.hpp>
#include <weir/storage/internal/open.hpp>
#include <weir/storage/internal/row_format.hpp>
#include <weir/storage/internal/store_core.hpp>

namespace weir::storage {
namespace {

using internal::StoreCore;
using Catalog = RowSpace<std::string, SpaceInfo>;

constexpr std::uint32_t first_free_id = 16;
constexpr int attempts_max = 100;

Catalog catalog_of(const StoreCore& core) {
  static const auto info = std::make_shared<const SpaceInfo>(
      SpaceInfo{.id = internal::catalog_space, .name = "catalog"});
  return internal::SpaceAccess::make<Catalog>(info, core.life);
}

Error wrong_type(const SpaceInfo& found, const SpaceInfo& wanted) {
  const auto describe = [](const SpaceInfo& info) {
    return std::string(info.kind == SpaceKind::rows ? "rows" : "state") + " of " +
           info.key_signature + " to " + info.value_signature;
  };
  return Error(Errc::wrong_type, "key space \"" + wanted.name + "\" holds " + describe(found) +
                                     ", not " + describe(wanted));
}

bool has_same_types(const SpaceInfo& a, const SpaceInfo& b) {
  return a.kind == b.kind && a.key_signature == b.key_signature &&
         a.value_signature == b.value_signature;
}

Task<Result<std::vector<SpaceInfo>>> list_spaces(std::shared_ptr<StoreCore> core,
                                                 Scan<std::string, SpaceInfo> scan) {
  std::vector<SpaceInfo> spaces;
  for (;;) {
    WEIR_CO_TRY(row, co_await scan.next());
    if (!row) co_return spaces;
    spaces.push_back(std::move(row->value));
    spaces.back().name = std::move(row->key);
  }
}

}  // namespace

Result<Store> Store::open(ActorSystem& system, StoreOptions options) {
  auto core = internal::open_core(system, std::move(options));
  if (!core) return core.error();
  return Store(system, *std::move(core));
}

Store::Store(ActorSystem& system, std::shared_ptr<internal::StoreCore> core, bool closes) noexcept
    : system_(&system), core_(std::move(core)), closes_(closes) {}

Store::Store(Store&&) noexcept = default;

Store::~Store() {
  if (!core_ || !closes_ || core_->end()) return;
  try {
    (void)system_->run(close());
  } catch (const std::exception&) {
    // Inside an actor, which must not wait, or the system has stopped and with it the store.
    core_->committer.send<internal::Close>();
  }
}

std::shared_ptr<Store> Store::share() const {
  return std::shared_ptr<Store>(new Store(*system_, core_, false));
}

/// Nobody writes to the space before it is open, which is after this.
Task<Result<>> Store::learn_high_key(std::shared_ptr<StoreCore> core, SpaceInfo info) {
  if (info.kind != SpaceKind::rows || core->high_keys.is_known(info.id)) co_return {};
  co_return co_await on_blocking_pool([core, space = info.id]() -> Result<> {
    const std::string begin = internal::row_key(space, {});
    const auto cursor = core->engine->make_cursor(engine::Family::rows,
                                                  {.bounds = {begin, internal::space_end(space)}});
    cursor->seek_back(internal::space_end(space));
    if (auto status = cursor->status(); !status) return status;
    core->high_keys.learn(cursor->is_valid() ? cursor->key() : std::string_view(begin));
    return {};
  });
}

Task<Result<std::shared_ptr<const SpaceInfo>>> Store::find_or_make_space(
    std::shared_ptr<StoreCore> core, SpaceInfo wanted) {
  const Catalog catalog = catalog_of(*core);
  for (int attempt = 0;; ++attempt) {
    Transaction transaction(internal::pin_newest(core));
    WEIR_CO_TRY(found, co_await transaction.get(catalog, wanted.name));
    if (found) {
      found->name = wanted.name;
      if (!has_same_types(*found, wanted)) co_return wrong_type(*found, wanted);
      WEIR_CO_TRY_VOID(co_await learn_high_key(core, *found));
      co_return std::make_shared<const SpaceInfo>(*std::move(found));
    }
    // Reading them all, so that no two get the same number.
    WEIR_CO_TRY(others, co_await list_spaces(core, transaction.scan(catalog)));
    wanted.id = std::max(first_free_id, core->dropped.last() + 1);
    for (const SpaceInfo& other : others) wanted.id = std::max(wanted.id, other.id + 1);
    transaction.put(catalog, wanted.name, wanted);
    auto version = co_await transaction.commit();
    if (version) {
      WEIR_CO_TRY_VOID(co_await learn_high_key(core, wanted));
      co_return std::make_shared<const SpaceInfo>(std::move(wanted));
    }
    if (!(version.error() == Errc::conflict) || attempt == attempts_max) {
      co_return version.error();
    }
    // What it conflicts with may not be visible yet.
    WEIR_CO_TRY_VOID(co_await core->published.wait_until(transaction.version().number + 1));
  }
}

Task<Result<>> Store::drop_space(std::string name) {
  return [](std::shared_ptr<StoreCore> core, std::string dropped) -> Task<Result<>> {
    for (int attempt = 0;; ++attempt) {
      Transaction transaction(internal::pin_newest(core));
      WEIR_CO_TRY(found, co_await transaction.get(catalog_of(*core), dropped));
      if (!found) co_return Error(Errc::not_found, "no key space \"" + dropped + "\"");
      found->name = dropped;
      auto info = std::make_shared<const SpaceInfo>(*std::move(found));
      transaction.drop(internal::SpaceAccess::make<Catalog>(std::move(info), core->life));
      const auto version = co_await transaction.commit();
      if (version) co_return {};
      if (!(version.error() == Errc::conflict) || attempt == attempts_max) {
        co_return version.error();
      }
      WEIR_CO_TRY_VOID(co_await core->published.wait_until(transaction.version().number + 1));
    }
  }(core_, std::move(name));
}

std::uint64_t Store::microseconds() const noexcept {
  return core_->microseconds_at(system_->now());
}

std::uint64_t Store::life_of(const StoreCore& core) noexcept { return core.life; }

Task<Result<std::vector<SpaceInfo>>> Store::spaces() const {
  return [](std::shared_ptr<StoreCore> core) -> Task<Result<std::vector<SpaceInfo>>> {
    const ReadTransaction transaction(internal::pin_newest(core));
    co_return co_await list_spaces(core, transaction.scan(catalog_of(*core)));
  }(core_);
}

std::uint64_t Store::identity() const noexcept { return core_->identity; }

Version Store::version() const noexcept { return core_->newest(); }

Result<> Store::check_open() const {
  if (auto end = core_->end()) return *std::move(end);
  return {};
}

Transaction Store::begin() const { return Transaction(internal::pin_newest(core_)); }

ReadTransaction Store::read() const { return ReadTransaction(internal::pin_newest(core_)); }

Result<ReadTransaction> Store::read_at(Version version) const {
  const Version newest = core_->newest();
  if (version > newest) {
    return Error(Errc::future_version,
                 "version " + to_string(version) + ", the newest is " + to_string(newest));
  }
  if (!core_->pins.pin(version)) {
    return Error(Errc::version_collected, "version " + to_string(version) + ", the oldest is " +
                                              to_string(core_->pins.horizon()));
  }
  return ReadTransaction(internal::Pin(core_, version));
}

ChangeLog Store::log() const { return ChangeLog(core_); }

CurrentState Store::current_state() const { return CurrentState(core_); }

Task<Result<>> Store::collect() {
  return [](std::shared_ptr<StoreCore> core) -> Task<Result<>> {
    WEIR_CO_TRY_VOID(co_await core->committer.ask<internal::Collect>().within(forever));
    co_return co_await on_blocking_pool([core] { return core->engine->collect(); });
  }(core_);
}

std::optional<std::uint64_t> Store::approximate_bytes(internal::RowCursor::Range range) const {
  return core_->engine->approximate_bytes(engine::Family::rows,
                                          {std::move(range.begin), std::move(range.end)});
}

engine::Statistics Store::statistics() const { return core_->engine->statistics(); }

Task<Result<>> Store::close() {
  return [](std::shared_ptr<StoreCore> core) -> Task<Result<>> {
    const CancellationShield shield;
    auto closed = core->committer.is_alive()
                      ? co_await core->committer.ask<internal::Close>().within(forever)
                      : Result<bool>(true);
    core->committer.stop();
    const auto gone = core->committer_gone;
    WEIR_CO_TRY_VOID(co_await gone->wait_until(1));
    // So that the files can be opened again at once, if nobody else uses them.
    WEIR_CO_TRY_VOID(co_await core->reads_ahead->ended());
    if (closed || closed.error() == weir::Errc::stopped) co_return {};
    co_return closed.error();
  }(core_);
}

}  // namespace weir::storage
