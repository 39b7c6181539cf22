#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <weir/flow/workflow/internal/callable.hpp>
#include <weir/flow/workflow/workflow_context.hpp>

namespace weir::flow::workflow {

namespace internal {

/// What a worker knows to do, by kind.
struct Handlers {
  /// Of an execution as a whole.
  using Plain = std::function<Task<Result<std::string>>(Claimed)>;

  std::map<std::string, Plain> plain;
  std::map<std::string, WorkflowRun::Function> durable;
};

struct WorkerCore;

template <class Function>
Task<Result<std::string>> handle(const Function* function, Claimed claimed) {
  using Types = Parameters<Function>;
  static_assert(std::tuple_size_v<Types> == 1,
                "weir: a handler takes one thing: a Claimed, or what its payload is");
  using Arg = std::tuple_element_t<0, Types>;
  if constexpr (std::same_as<Arg, Claimed>) {
    auto outcome = co_await settle<const Function, Claimed>(function, std::move(claimed));
    if (!outcome) co_return outcome.error();
    co_return payload_of(outcome);
  } else {
    auto argument = from_payload<Arg>(claimed.spec.payload);
    if (!argument) co_return Error(Errc::invalid_argument, argument.error().message());
    auto outcome = co_await settle<const Function, Arg>(function, *std::move(argument));
    if (!outcome) co_return outcome.error();
    co_return payload_of(outcome);
  }
}

template <class Function>
Task<std::string> handle_durably(const Function* function, WorkflowRun* run, std::string input) {
  using Types = Parameters<Function>;
  static_assert(std::tuple_size_v<Types> <= 2,
                "weir: a durable coroutine takes a WorkflowContext and what its payload is");
  WorkflowContext context(run);
  if constexpr (std::tuple_size_v<Types> == 1) {
    auto outcome = co_await settle<const Function, WorkflowContext&>(function, context);
    if (!outcome) throw ErrorException(outcome.error());
    co_return payload_of(outcome);
  } else {
    using Arg = std::tuple_element_t<1, Types>;
    auto argument = from_payload<Arg>(input);
    if (!argument) throw ErrorException(argument.error());
    auto outcome = co_await settle<const Function, WorkflowContext&, Arg>(function, context,
                                                                          *std::move(argument));
    if (!outcome) throw ErrorException(outcome.error());
    co_return payload_of(outcome);
  }
}

}  // namespace internal

/// How a worker works.
struct WorkerOptions {
  std::string name = "worker";
  std::string lane = "default";
  std::vector<std::string> capabilities = {};
  /// Executions at a time. Durable coroutines that wait do not count.
  std::size_t executions_max = 64;
  /// Renewed when a third of it has passed, as long as the execution runs here.
  Duration lease = std::chrono::seconds(30);
  /// A durable coroutine that waits for longer is given back, and run again when it is time.
  Duration memory_wait_max = std::chrono::seconds(1);
  /// How long `stop` waits for handlers; then they are destroyed, and what they did is given back.
  Duration drain_max = std::chrono::seconds(30);
  /// How long an execution of a kind that is not known here is left to others.
  Duration unknown_kind_delay = std::chrono::seconds(5);
};

/// What a worker has done since it was started.
struct WorkerReport {
  std::uint64_t claimed = 0;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;   // attempts
  std::uint64_t put_off = 0;  // given back, to go on later
  std::uint64_t lost = 0;     // whose lease somebody else has, or that have ended meanwhile
  std::uint64_t unknown = 0;  // of a kind that is not known here
  std::uint64_t running = 0;  // now
};

/// Claims executions and runs what belongs to their kind.
///
///     Worker worker(&engine, {.name = "shop"});
///     worker.on("resize", [](std::string file) { return resize(file); });
///     worker.on("checkout", checkout);  // takes a WorkflowContext: a durable coroutine
///     worker.start();
///     ...
///     co_await worker.stop();
///
/// A handler is given what the payload is, and gives a value, a `Result` or a `Task` of either,
/// which becomes the result of the execution. An error or an exception fails the attempt, which is
/// then tried again as its `RetryPolicy` says. Handlers run side by side on one actor: what blocks
/// belongs on the blocking pool.
///
/// It is stopped before the engine is closed.
class Worker {
 public:
  explicit Worker(const Engine* engine, WorkerOptions options = {});
  Worker(Worker&&) noexcept;
  Worker& operator=(Worker&&) = delete;
  /// Stops it, without waiting for what runs.
  ~Worker();

  /// Before it is started. A function whose first parameter is a `WorkflowContext`, by value or by
  /// reference, is a durable coroutine.
  template <class Function>
  Worker& on(std::string kind, Function function) {
    using Types = internal::Parameters<Function>;
    auto shared = std::make_shared<const std::decay_t<Function>>(std::move(function));
    if constexpr (std::same_as<std::tuple_element_t<0, Types>, WorkflowContext>) {
      add_durable(std::move(kind), [shared](internal::WorkflowRun* run, std::string input) {
        return internal::handle_durably(shared.get(), run, std::move(input));
      });
    } else {
      add(std::move(kind),
          [shared](Claimed claimed) { return internal::handle(shared.get(), std::move(claimed)); });
    }
    return *this;
  }

  void start();
  /// Claims nothing more, waits for what runs and gives back what waits. Durable coroutines end
  /// with the step that they are at, and go on elsewhere.
  Task<Result<>> stop();

  Task<Result<WorkerReport>> report() const;

  /// Asks a durable coroutine something that it answers by `on_query`, as far as it has come. It
  /// may run elsewhere, or not at all at the moment.
  template <class T, class Arg = std::string>
  Task<Result<T>> query(ExecutionId id, std::string name, const Arg& argument = {}) const {
    return query_as<T>(core_, id, std::move(name), to_payload(argument));
  }

 private:
  using CoreRef = std::shared_ptr<internal::WorkerCore>;

  void add(std::string kind, internal::Handlers::Plain handler);
  void add_durable(std::string kind, internal::WorkflowRun::Function function);
  static Task<Result<std::string>> query_bytes(CoreRef core, ExecutionId id, std::string name,
                                               std::string argument);
  template <class T>
  static Task<Result<T>> query_as(CoreRef core, ExecutionId id, std::string name,
                                  std::string argument) {
    auto bytes = co_await query_bytes(core, id, std::move(name), std::move(argument));
    if (!bytes) co_return bytes.error();
    co_return from_payload<T>(*bytes);
  }

  CoreRef core_;  // null when moved from
};

}  // namespace weir::flow::workflow
