#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <weir/runtime/actor_system.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/storage/internal/open.hpp>
#include <weir/storage/store.hpp>
#include <weir/tests/storage/support/hesitant_engine.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::storage::test {

using RowsOf = RowSpace<std::uint64_t, std::string>;
using Rows = std::map<std::uint64_t, std::string>;
/// Nothing: removed.
using Edits = std::map<std::uint64_t, std::optional<std::string>>;

inline Task<Result<Version>> commit_edits(Transaction transaction, RowsOf rows, Edits edits) {
  for (const auto& [key, value] : edits) {
    if (value) {
      transaction.put(rows, key, *value);
    } else {
      transaction.remove(rows, key);
    }
  }
  co_return co_await transaction.commit();
}

inline Task<Result<Version>> commit_rows(Store& store, RowsOf rows, Edits edits) {
  return commit_edits(store.begin(), std::move(rows), std::move(edits));
}

/// All rows of a space at a version, read on this thread.
inline Rows rows_at(Store& store, const RowsOf& rows, Version version) {
  Rows found;
  auto transaction = store.read_at(version);
  if (!transaction) {
    ADD_FAILURE() << transaction.error().message();
    return found;
  }
  auto scan = transaction->scan(rows);
  for (;;) {
    auto row = scan.next_blocking();
    if (!row) {
      ADD_FAILURE() << row.error().message();
      return found;
    }
    if (!*row) return found;
    EXPECT_TRUE(found.emplace((*row)->key, (*row)->value).second) << "a row twice";
  }
}

/// Does to `state` what one commit did, and checks that the record fits.
inline void apply(Rows& state, const ChangeRecord& record, const RowsOf& rows) {
  for (const Change& raw : record.of(rows.id())) {
    const auto change = RowsOf::decode(raw);
    ASSERT_TRUE(change) << change.error().message();
    const auto before = state.find(change->key);
    ASSERT_EQ(before != state.end(), change->kind != ChangeKind::insert) << change->key;
    if (before != state.end()) {
      ASSERT_EQ(before->second, change->before) << change->key;
      state.erase(before);
    }
    if (change->after) state[change->key] = *change->after;
  }
}

/// Of `hesitant` much seems to be on disk only.
enum class EngineKind : std::uint8_t { memory, hesitant, directory };
inline constexpr EngineKind engine_kinds[] = {EngineKind::memory, EngineKind::hesitant,
                                              EngineKind::directory};

inline std::string name_of_engine(const ::testing::TestParamInfo<EngineKind>& kind) {
  switch (kind.param) {
    case EngineKind::memory: return "Memory";
    case EngineKind::hesitant: return "Hesitant";
    case EngineKind::directory: return "Directory";
  }
  return "Unknown";
}

/// A store of either kind, which can be closed and opened again.
class StoreTest : public ::testing::TestWithParam<EngineKind> {
 public:
  ActorSystem& system() { return *system_; }
  Store& store() { return *store_; }

  template <class T>
  T run(Task<T> task) {
    return system_->run(std::move(task));
  }
  RowsOf open_rows(std::string name) {
    return run(store_->open_rows<std::uint64_t, std::string>(std::move(name))).value();
  }

  /// An empty store with these options.
  void reset(StoreOptions options) {
    store_.reset();
    directory_.emplace();
    disk_ = std::make_shared<engine::SimulatedDisk>();
    options_ = std::move(options);
    reopen();
  }
  void reopen() {
    store_.reset();
    StoreOptions options = options_;
    if (GetParam() == EngineKind::directory) {
      options.directory = directory_->path() / "store";
    } else {
      options.disk = disk_;
    }
    if (GetParam() == EngineKind::hesitant) {
      auto engine = std::make_unique<HesitantEngine>(disk_);
      store_.emplace(internal::StoreAccess::make(
          *system_,
          internal::open_core_on(*system_, std::move(options), std::move(engine)).value()));
      return;
    }
    store_.emplace(Store::open(*system_, std::move(options)).value());
  }

 protected:
  void SetUp() override {
    system_.emplace(ActorSystemOptions{.threads = 2});
    reset({});
  }
  void TearDown() override { store_.reset(); }

 private:
  std::optional<TemporaryDirectory> directory_;
  std::shared_ptr<engine::SimulatedDisk> disk_;
  StoreOptions options_;
  std::optional<ActorSystem> system_;
  std::optional<Store> store_;
};

}  // namespace weir::storage::test
