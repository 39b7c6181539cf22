#include <weir/runtime/internal/io_service.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>

#include <weir/runtime/asio.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/reports.hpp>
#include <weir/runtime/internal/services.hpp>

namespace weir {
namespace internal {
namespace {

using namespace std::chrono_literals;

// So many handlers in so short a time are much: the thread stands back.
constexpr int handlers_looked_at = 16;
constexpr std::int64_t much_ns = 1'000'000;
// How long workers may be too busy to look before the thread waits again, and for how many handlers
// it then stays.
constexpr auto stand_back_time = 1ms;
constexpr int handlers_after_neglect = 4096;
// What a worker deals with before it runs the actors that it is for.
constexpr int polled_max = 64;

class AsioService final : public IoService {
 public:
  explicit AsioService(Core& core) : core_(core), work_(context_.get_executor()) {
    if (!core.simulation) thread_ = std::thread([this] { run(); });
  }
  ~AsioService() override {
    context_.stop();
    hand_over();
    if (thread_.joinable()) thread_.join();
  }

  boost::asio::io_context& context() noexcept { return context_; }

  bool poll() noexcept override {
    if (is_polled_.exchange(true, std::memory_order_seq_cst)) return false;
    bool has_found = false;
    if (core_.io_to_poll.load(std::memory_order_seq_cst) != nullptr) {
      polls_.fetch_add(1, std::memory_order_relaxed);
      for (int count = 0; count < polled_max && poll_one(); ++count) has_found = true;
    }
    is_polled_.store(false, std::memory_order_seq_cst);
    return has_found;
  }

  void hand_over() noexcept override {
    {
      const std::scoped_lock hold(mutex_);
      is_called_ = true;
    }
    called_.notify_one();
  }

 private:
  void run() noexcept {
    int until_look = handlers_looked_at;
    std::int64_t looked = core_.now_ns();
    while (!context_.stopped()) {
      run_one();
      if (--until_look > 0) continue;
      until_look = handlers_looked_at;
      const std::int64_t now = core_.now_ns();
      if (now - std::exchange(looked, now) > much_ns) continue;
      if (!stand_back()) until_look = handlers_after_neglect;
      looked = core_.now_ns();
    }
  }

  /// Until nobody looks any more. False if that is for neglect.
  bool stand_back() noexcept {
    {
      const std::scoped_lock hold(mutex_);
      is_called_ = false;
    }
    core_.io_to_poll.store(this, std::memory_order_seq_cst);
    // A worker says after it has fallen asleep that it has; one that did before has said nothing.
    const bool is_called = !is_any_worker_awake() || wait_for_call();
    core_.io_to_poll.store(nullptr, std::memory_order_seq_cst);
    while (is_polled_.load(std::memory_order_seq_cst)) std::this_thread::yield();
    return is_called;
  }

  bool wait_for_call() noexcept {
    std::unique_lock lock(mutex_);
    for (std::uint64_t seen = polls_.load(std::memory_order_relaxed);;) {
      if (called_.wait_for(lock, stand_back_time, [this] { return is_called_; })) return true;
      const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
      if (std::exchange(seen, polls) == polls) return false;
    }
  }

  bool is_any_worker_awake() const noexcept {
    return std::ranges::any_of(core_.workers, [](const auto& worker) {
      return worker->is_active.load(std::memory_order_seq_cst);
    });
  }

  // Operations of actors throw nothing here; what users post themselves may.
  template <class Call>
  bool guarded(Call call) noexcept {
    try {
      return call() > 0;
    } catch (...) {
      tell_that_posted_function_threw(core_, describe(std::current_exception()));
      return true;
    }
  }
  void run_one() noexcept {
    guarded([this] { return context_.run_one(); });
  }
  bool poll_one() noexcept {
    return guarded([this] { return context_.poll_one(); });
  }

  Core& core_;
  boost::asio::io_context context_{1};  // one thread at a time runs it, any thread may use it
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;

  // Between the thread and the workers.
  std::atomic<bool> is_polled_{false};  // a worker is looking
  std::atomic<std::uint64_t> polls_{0};
  std::mutex mutex_;
  std::condition_variable called_;
  bool is_called_ = false;  // guarded by it

  std::thread thread_;
};

}  // namespace

boost::asio::io_context& io_context_of(Core& core) {
  std::call_once(core.io_started, [&] { core.io = std::make_unique<AsioService>(core); });
  return static_cast<AsioService&>(*core.io).context();
}

}  // namespace internal

boost::asio::io_context& io_context(ActorSystem& system) {
  return internal::io_context_of(system.core());
}

boost::asio::io_context::executor_type io_executor(ActorSystem& system) {
  return io_context(system).get_executor();
}

}  // namespace weir
