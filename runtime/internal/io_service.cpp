#include <weir/runtime/internal/io_service.hpp>

#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>

#include <weir/runtime/asio.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/internal/lifecycle.hpp>
#include <weir/runtime/internal/services.hpp>

namespace weir {
namespace internal {
namespace {

class AsioService final : public IoService {
 public:
  explicit AsioService(Core& core) : core_(core), work_(context_.get_executor()) {
    if (!core.simulation) thread_ = std::thread([this] { run(); });
  }
  ~AsioService() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  boost::asio::io_context& context() noexcept { return context_; }

 private:
  // Operations of actors throw nothing here; what users post themselves may.
  void run() noexcept {
    for (;;) {
      try {
        context_.run();
        return;
      } catch (...) {
        std::fprintf(stderr, "weir: %s: a function posted to the I/O context threw: %s\n",
                     core_.options.name.c_str(), describe(std::current_exception()).c_str());
      }
    }
  }

  Core& core_;
  boost::asio::io_context context_{1};  // one thread runs it, any thread may use it
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
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
