#include <weir/storage/rocksdb/internal/listener.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include <weir/storage/rocksdb/internal/status.hpp>

namespace weir::storage::rocksdb::internal {
namespace {

using engine::Event;
using engine::Family;
using ::rocksdb::BackgroundErrorReason;
using ::rocksdb::WriteStallCondition;

Family family_named(std::string_view name) {
  const auto found = std::ranges::find(engine::family_names, name);
  if (found == engine::family_names.end()) return Family::meta;
  return static_cast<Family>(found - engine::family_names.begin());
}

std::string_view describe(BackgroundErrorReason reason) {
  switch (reason) {
    case BackgroundErrorReason::kFlush:
    case BackgroundErrorReason::kFlushNoWAL: return "writing a sorted file";
    case BackgroundErrorReason::kCompaction: return "merging sorted files";
    case BackgroundErrorReason::kWriteCallback: return "writing the log";
    case BackgroundErrorReason::kMemTable: return "changing the memtable";
    case BackgroundErrorReason::kManifestWrite:
    case BackgroundErrorReason::kManifestWriteNoWAL: return "writing the manifest";
  }
  return "background work";
}

/// Threads that merge files compete with those who use them: who answers within a millisecond must
/// not stand behind one that computes for a second. A tenth is theirs in any case, as writes wait
/// for them in the end. Not those that write files: what they have not written is in memory. Where
/// the system does not let it, all is as it was.
void let_others_go_first() noexcept {
  constexpr int less = 10;
  thread_local const int outcome =
      ::setpriority(PRIO_PROCESS, 0, ::getpriority(PRIO_PROCESS, 0) + less);
  static_cast<void>(outcome);
}

}  // namespace

Listener::Listener(std::string directory, engine::EventSink* sink, Failure& failure)
    : directory_(std::move(directory)), sink_(sink), failure_(failure) {}

void Listener::tell(const Event& event) const {
  if (sink_) sink_->on_event(event);
}

void Listener::OnFlushBegin(::rocksdb::DB* /*database*/, const ::rocksdb::FlushJobInfo& job) {
  const std::lock_guard lock(mutex_);
  flushes_.try_emplace(job.job_id, std::chrono::steady_clock::now());
}

void Listener::OnFlushCompleted(::rocksdb::DB* /*database*/, const ::rocksdb::FlushJobInfo& job) {
  std::chrono::nanoseconds elapsed{0};
  {
    const std::lock_guard lock(mutex_);
    if (const auto begun = flushes_.find(job.job_id); begun != flushes_.end()) {
      elapsed = std::chrono::steady_clock::now() - begun->second;
      flushes_.erase(begun);
    }
  }
  const auto& table = job.table_properties;
  tell({.kind = Event::Kind::flush,
        .family = family_named(job.cf_name),
        .detail = job.file_path,
        .bytes_written = table.data_size + table.index_size + table.filter_size,
        .nanoseconds = static_cast<std::uint64_t>(elapsed.count())});
}

void Listener::OnCompactionBegin(::rocksdb::DB* /*database*/,
                                 const ::rocksdb::CompactionJobInfo& /*job*/) {
  let_others_go_first();
}

void Listener::OnCompactionCompleted(::rocksdb::DB* /*database*/,
                                     const ::rocksdb::CompactionJobInfo& job) {
  compactions_.fetch_add(1, std::memory_order_relaxed);
  std::string detail = std::to_string(job.input_files.size()) + " files of level " +
                       std::to_string(job.base_input_level) + " and below to " +
                       std::to_string(job.output_files.size()) + " of level " +
                       std::to_string(job.output_level);
  if (!job.status.ok()) detail += ": " + job.status.ToString();
  tell({.kind = Event::Kind::compaction,
        .family = family_named(job.cf_name),
        .detail = std::move(detail),
        .bytes_read = job.stats.total_input_bytes,
        .bytes_written = job.stats.total_output_bytes,
        .nanoseconds = job.stats.elapsed_micros * 1000});
}

void Listener::OnStallConditionsChanged(const ::rocksdb::WriteStallInfo& stall) {
  const auto [now, before] = stall.condition;
  if ((now == WriteStallCondition::kNormal) == (before == WriteStallCondition::kNormal)) return;
  const bool is_over = now == WriteStallCondition::kNormal;
  const char* how = now == WriteStallCondition::kStopped ? "writes are stopped"
                    : is_over                            ? "writes go on"
                                                         : "writes are slowed down";
  tell({.kind = is_over ? Event::Kind::stall_end : Event::Kind::stall_begin,
        .family = family_named(stall.cf_name),
        .detail = how});
}

void Listener::OnBackgroundError(BackgroundErrorReason reason, ::rocksdb::Status* status) {
  const Error error = to_error(*status, directory_, describe(reason));
  // Merging can be tried again: its input is still there.
  if (reason != BackgroundErrorReason::kCompaction) failure_.latch(error);
  tell({.kind = Event::Kind::failure,
        .family = Family::meta,
        .detail = std::string(describe(reason)) + ": " + error.message()});
}

void Listener::OnErrorRecoveryBegin(BackgroundErrorReason reason, ::rocksdb::Status /*status*/,
                                    bool* is_automatic) {
  // A store that could not write is opened again, which proves what the files hold.
  if (reason != BackgroundErrorReason::kCompaction) *is_automatic = false;
}

}  // namespace weir::storage::rocksdb::internal
