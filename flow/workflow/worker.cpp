#include <weir/flow/workflow/worker.hpp>

#include <stdexcept>

#include <weir/flow/workflow/errc.hpp>
#include <weir/flow/workflow/internal/worker_actor.hpp>
#include <weir/flow/workflow/schedules.hpp>
#include <weir/runtime/actor_system.hpp>

namespace weir::flow::workflow {

/// What a worker and those who ask it share.
struct internal::WorkerCore {
  std::shared_ptr<const Engine> engine;  // null when it is stopped
  ActorSystem* system;
  WorkerOptions options;
  std::shared_ptr<Handlers> handlers = std::make_shared<Handlers>();
  RefOf<WorkerActor> actor = {};
  std::shared_ptr<SequenceBarrier> gone = std::make_shared<SequenceBarrier>();
  bool is_stopped = false;
};

Worker::Worker(const Engine* engine, WorkerOptions options)
    : core_(std::make_shared<internal::WorkerCore>(engine->share(), &engine->system(),
                                                   std::move(options))) {
  on(internal::schedule_kind, internal::run_schedule);
}
Worker::Worker(Worker&&) noexcept = default;

Worker::~Worker() {
  if (!core_ || !core_->actor || core_->is_stopped) return;
  try {
    static_cast<void>(core_->system->run(stop()));
  } catch (const std::exception&) {
    // Inside an actor, which must not wait, or the system has stopped and with it the worker.
    core_->actor.stop();
  }
}

void Worker::add(std::string kind, internal::Handlers::Plain handler) {
  if (core_->actor) throw std::logic_error("weir: Worker::on after start");
  core_->handlers->plain.insert_or_assign(std::move(kind), std::move(handler));
}

void Worker::add_durable(std::string kind, internal::WorkflowRun::Function function) {
  if (core_->actor) throw std::logic_error("weir: Worker::on after start");
  core_->handlers->durable.insert_or_assign(std::move(kind), std::move(function));
}

void Worker::start() {
  if (core_->actor) return;
  SpawnOptions spawning{.name = core_->options.name, .mailbox_capacity = unbounded};
  core_->actor = core_->system->spawn<internal::WorkerActor>(
      std::move(spawning), core_->engine,
      std::shared_ptr<const internal::Handlers>(core_->handlers), core_->options, core_->gone);
  core_->actor.send<internal::StartWork>();
}

Task<Result<>> Worker::stop() {
  const CoreRef core = core_;
  if (!core->actor || core->is_stopped) co_return {};
  auto stopped = co_await core->actor.ask<internal::StopWork>().within(forever);
  static_cast<void>(co_await core->gone->wait_until(1));
  core->is_stopped = true;
  core->engine.reset();
  if (!stopped) co_return stopped.error();
  co_return {};
}

Task<Result<WorkerReport>> Worker::report() const {
  const CoreRef core = core_;
  if (!core->actor) co_return Error(Errc::closed, "the worker was not started");
  co_return co_await core->actor.ask<internal::ReportWork>().within(forever);
}

Task<Result<std::string>> Worker::query_bytes(CoreRef core, ExecutionId id, std::string name,
                                              std::string argument) {
  if (!core->actor) co_return Error(Errc::closed, "the worker was not started");
  co_return co_await core->actor.ask<internal::AskRun>(id, std::move(name), std::move(argument))
      .within(forever);
}

}  // namespace weir::flow::workflow
