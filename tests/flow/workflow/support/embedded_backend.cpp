#include <weir/tests/flow/workflow/support/embedded_backend.hpp>

namespace weir::flow::workflow::testing {
namespace {

template <class Scan>
Task<bool> has_next(Scan* scan) {
  auto row = co_await scan->next();
  co_return row.value().has_value();
}

}  // namespace

EmbeddedBackend::EmbeddedBackend(telemetry::Telemetry* telemetry)
    : simulation_({.system = {.telemetry = telemetry}}) {
  store_options_.disk = std::make_shared<storage::engine::SimulatedDisk>();
  store_options_.opened_at = std::chrono::sys_time<Duration>(std::chrono::hours(24 * 20'000));
}

void EmbeddedBackend::open(EngineOptions options) {
  if (!simulation_.node().is_up()) simulation_.node().restart();
  // Time goes on while nothing is open.
  auto opened = storage::Store::open(simulation_.system(), store_options_);
  ASSERT_TRUE(opened) << opened.error().message();
  store_.emplace(*std::move(opened));
  auto core = simulation_.run(internal::EmbeddedStore::open(&*store_, options));
  ASSERT_TRUE(core) << core.error().message();
  core_ = *std::move(core);
  engine_.emplace(core_, options.audit);
}

void EmbeddedBackend::reopen(EngineOptions options) {
  store_options_.opened_at = store_->time();
  ASSERT_TRUE(simulation_.run(engine_->close()));
  engine_.reset();
  core_.reset();
  store_.reset();
  open(options);
}

void EmbeddedBackend::crash(std::size_t survivors) {
  store_options_.opened_at = store_->time();
  disk().crash(survivors);
  disk().repair();
  simulation_.node().crash();
  engine_.reset();
  core_.reset();
  store_.reset();
  open({});
}

void EmbeddedBackend::fail_commit(std::uint64_t nth) {
  disk().fail_write(nth, Error(std::make_error_code(std::errc::io_error)));
}

/// After a write has failed an engine does nothing more.
bool EmbeddedBackend::has_failed() {
  return !simulation_.run(engine_->lane("default")).has_value();
}

template <class K, class V>
void EmbeddedBackend::count(const std::string& name, std::map<std::string, std::size_t>& found) {
  const auto space = simulation_.run(store_->open_state<K, V>(name)).value();
  auto scan = store_->current_state().scan(space);
  while (simulation_.run(has_next(&scan))) ++found[name];
}

std::map<std::string, std::size_t> EmbeddedBackend::rows() {
  std::map<std::string, std::size_t> found;
  internal::PerRecord<internal::KeyList> kinds;
  kinds.each([&](const auto& kind) {
    using Record = typename std::remove_cvref_t<decltype(kind)>::Record;
    count<internal::KeyOf<Record>, Record>(internal::RecordTraits<Record>::space, found);
  });
  count<ExecutionId, Execution>("workflow.live", found);
  count<std::pair<WorkflowId, ExecutionId>, bool>("workflow.members", found);
  count<std::pair<Partition, WorkflowId>, bool>("workflow.by_partition", found);
  count<WorkflowId, bool>("workflow.cancelling_workflows", found);
  count<ExecutionId, bool>("workflow.cancelling_groups", found);
  for (const char* shared : {"lanes", "limits", "keyring", "notice_cursors"}) {
    found.erase(std::string("workflow.") + shared);
  }
  return found;
}

}  // namespace weir::flow::workflow::testing
