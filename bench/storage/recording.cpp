#include <weir/bench/storage/recording.hpp>

#include <memory>
#include <utility>

#include <weir/storage/internal/open.hpp>
#include <weir/storage/rocksdb/engine.hpp>

namespace weir::bench::storage {
namespace {

using namespace weir::storage::engine;

/// A batch of the engine below, and a list of what is in it.
class RecordedBatch final : public Batch {
 public:
  explicit RecordedBatch(std::unique_ptr<Batch> batch) : batch_(std::move(batch)) {}

  void put(Family family, std::string_view key, std::string_view value) override {
    batch_->put(family, key, value);
    own_.add({Recording::Kind::put, family, key, value});
  }
  void erase(Family family, std::string_view key) override {
    batch_->erase(family, key);
    own_.add({Recording::Kind::erase, family, key, {}});
  }
  void erase_range(Family family, std::string_view begin, std::string_view end) override {
    batch_->erase_range(family, begin, end);
    own_.add({Recording::Kind::erase_range, family, begin, end});
  }
  void clear() override {
    batch_->clear();
    own_ = {};
  }
  std::size_t bytes() const override { return batch_->bytes(); }
  bool is_empty() const override { return batch_->is_empty(); }

  Batch& below() noexcept { return *batch_; }
  void tell(Recording& recording) {
    own_.end_batch();
    own_.visit(0, [&](const Recording::Operation& operation) { recording.add(operation); });
    recording.end_batch();
  }

 private:
  std::unique_ptr<Batch> batch_;
  Recording own_;  // one batch
};

class RecordingEngine final : public Engine {
 public:
  RecordingEngine(std::unique_ptr<Engine> engine, Recording* recording)
      : engine_(std::move(engine)), recording_(recording) {}

  std::unique_ptr<Batch> make_batch() override {
    return std::make_unique<RecordedBatch>(engine_->make_batch());
  }
  Result<> write(Batch& batch, Wait wait) override {
    auto& recorded = static_cast<RecordedBatch&>(batch);
    auto written = engine_->write(recorded.below(), wait);
    if (written) recorded.tell(*recording_);
    return written;
  }
  Result<> sync() override { return engine_->sync(); }
  Result<bool> get(Family family, std::string_view key, std::string& value,
                   Wait wait) const override {
    return engine_->get(family, key, value, wait);
  }
  Result<bool> get_many(Family family, std::span<Lookup> lookups, Wait wait) const override {
    return engine_->get_many(family, lookups, wait);
  }
  std::unique_ptr<Cursor> make_cursor(Family family, CursorOptions options) const override {
    return engine_->make_cursor(family, std::move(options));
  }
  void set_horizon(std::uint64_t horizon) noexcept override { engine_->set_horizon(horizon); }
  Result<> collect() override { return engine_->collect(); }
  Result<std::vector<std::string>> copy_to(const std::filesystem::path& directory) override {
    return engine_->copy_to(directory);
  }
  Result<> check_files() override { return engine_->check_files(); }
  Statistics statistics() const override { return engine_->statistics(); }
  Result<> close() override { return engine_->close(); }

 private:
  std::unique_ptr<Engine> engine_;
  Recording* recording_;
};

}  // namespace

void Recording::add(const Operation& operation) {
  operations_.push_back({operation.kind, operation.family,
                         static_cast<std::uint32_t>(operation.key.size()),
                         static_cast<std::uint32_t>(operation.value.size()), bytes_.size()});
  bytes_.append(operation.key).append(operation.value);
}

Recording::Operation Recording::at(std::size_t index) const {
  const Place& place = operations_[index];
  const std::string_view bytes =
      std::string_view(bytes_).substr(place.begin, place.key_size + place.value_size);
  return {place.kind, place.family, bytes.substr(0, place.key_size), bytes.substr(place.key_size)};
}

Result<weir::storage::Store> open_recorded(ActorSystem& system, const std::filesystem::path& path,
                                           weir::storage::Durability durability,
                                           Recording* recording) {
  const bool has_log = durability.mode != weir::storage::Durability::Mode::memory;
  auto engine = weir::storage::rocksdb::open_engine({.directory = path, .write_ahead = has_log});
  if (!engine) return std::move(engine).error();
  auto core = weir::storage::internal::open_core_on(
      system, {.durability = durability},
      std::make_unique<RecordingEngine>(*std::move(engine), recording));
  if (!core) return std::move(core).error();
  return weir::storage::internal::StoreAccess::make(system, *std::move(core));
}

}  // namespace weir::bench::storage
