#include <weir/runtime/asio.hpp>

#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <weir/runtime/actor_system.hpp>
#include <weir/runtime/internal/core.hpp>
#include <weir/runtime/simulation.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/runtime/task_scope.hpp>
#include <weir/runtime/try.hpp>
#include <weir/tests/runtime/support.hpp>

namespace weir {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using testing::await_end;
using testing::Counted;
using testing::Event;
using testing::quiet;

tcp::endpoint loopback() { return {asio::ip::address_v4::loopback(), 0}; }

// Two sockets that are connected to each other.
struct Pair {
  tcp::socket near;
  tcp::socket far;
};

Task<Result<Pair>> connect(asio::io_context* context) {
  tcp::acceptor acceptor(*context, loopback());
  tcp::socket near(*context);
  WEIR_CO_TRY_VOID(co_await near.async_connect(acceptor.local_endpoint(), use_task));
  WEIR_CO_TRY(far, co_await acceptor.async_accept(use_task));
  co_return Pair{std::move(near), std::move(far)};
}

Task<Result<std::string>> greet(asio::io_context* context) {
  WEIR_CO_TRY(pair, co_await connect(context));
  // [socket]
  const std::string greeting = "hello";
  WEIR_CO_TRY(sent, co_await asio::async_write(pair.near, asio::buffer(greeting), use_task));
  std::array<char, 64> buffer;
  WEIR_CO_TRY(count, co_await pair.far.async_read_some(asio::buffer(buffer), use_task));
  // [/socket]
  EXPECT_EQ(sent, greeting.size());
  co_return std::string(buffer.data(), count);
}

TEST(Asio, AwaitsSocketsInsideATask) {
  ActorSystem system(quiet());
  EXPECT_EQ(*system.run(greet(&io_context(system))), "hello");
}

TEST(Asio, AnErrorCodeBecomesTheErrorOfTheResult) {
  struct Closing {
    static Task<Result<std::size_t>> run(asio::io_context* context) {
      WEIR_CO_TRY(pair, co_await connect(context));
      pair.near.close();
      std::array<char, 8> buffer;
      co_return co_await pair.far.async_read_some(asio::buffer(buffer), use_task);
    }
  };
  ActorSystem system(quiet());
  const auto result = system.run(Closing::run(&io_context(system)));
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error() == asio::error::eof);
  EXPECT_FALSE(result.error() == asio::error::connection_refused);
}

TEST(Asio, ResumesOnTheActor) {
  struct Waiting {
    static Task<> run(asio::io_context* context) {
      const auto* actor = internal::current_cell();
      asio::steady_timer timer(*context, std::chrono::microseconds(1));
      EXPECT_TRUE(co_await timer.async_wait(use_task));
      EXPECT_EQ(internal::current_cell(), actor);
    }
  };
  ActorSystem system(quiet());
  system.run(Waiting::run(&io_context(system)));
}

// Calls a handler with values, as an operation with that signature would.
template <class Handler, class... Values>
struct Give {
  Handler handler;
  std::tuple<Values...> values;

  void operator()() { std::apply(std::move(handler), std::move(values)); }
};

struct InitiateGive {
  asio::io_context* context;

  template <class Handler, class... Values>
  void operator()(Handler handler, Values... values) const {
    const auto executor = asio::get_associated_executor(handler);
    asio::post(*context, asio::bind_executor(executor, Give<Handler, Values...>{
                                                           std::move(handler),
                                                           {std::move(values)...},
                                                       }));
  }
};

template <class Signature, class... Values>
auto async_give(asio::io_context* context, Values... values) {
  return asio::async_initiate<const UseTask, Signature>(InitiateGive{context}, use_task,
                                                        std::move(values)...);
}

TEST(Asio, TakesEveryKindOfSignature) {
  struct Signatures {
    static Task<> run(asio::io_context* context) {
      const Result<> nothing = co_await async_give<void()>(context);
      EXPECT_TRUE(nothing);
      const Result<int> value = co_await async_give<void(int)>(context, 7);
      EXPECT_EQ(*value, 7);
      const Result<std::tuple<int, std::string>> two =
          co_await async_give<void(int, std::string)>(context, 7, std::string("seven"));
      EXPECT_EQ(std::get<1>(*two), "seven");
      Result<std::unique_ptr<int>> owned =
          co_await async_give<void(boost::system::error_code, std::unique_ptr<int>)>(
              context, boost::system::error_code(), std::make_unique<int>(3));
      EXPECT_EQ(**owned, 3);
      try {
        static_cast<void>(co_await async_give<void(std::exception_ptr, int)>(
            context, std::make_exception_ptr(std::runtime_error("thrown there")), 0));
        ADD_FAILURE() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "thrown there");
      }
    }
  };
  ActorSystem system(quiet());
  system.run(Signatures::run(&io_context(system)));
}

TEST(Asio, AHandlerThatAsioDropsEndsTheWait) {
  struct Dropping {
    static Task<Error> run() {
      const auto result = co_await asio::async_initiate<const UseTask, void(int)>(
          [](auto handler) { static_cast<void>(handler); }, use_task);
      co_return result.error();
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Dropping::run()), Errc::failed);
}

TEST(Asio, AnInitiationThatThrowsDoesNotWait) {
  struct Throwing {
    static Task<std::string> run() {
      try {
        static_cast<void>(co_await asio::async_initiate<const UseTask, void(int)>(
            [](auto) { throw std::runtime_error("no memory"); }, use_task));
      } catch (const std::runtime_error& error) {
        co_return error.what();
      }
      co_return "nothing was thrown";
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(system.run(Throwing::run()), "no memory");
}

struct Descriptors {
  asio::posix::stream_descriptor reader;
  asio::posix::stream_descriptor writer;

  explicit Descriptors(asio::io_context& context) : reader(context), writer(context) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::runtime_error("pipe");
    reader.assign(ends[0]);
    writer.assign(ends[1]);
  }
};

TEST(Asio, AwaitsPipes) {
  struct Piping {
    static Task<Result<std::string>> run(asio::io_context* context) {
      Descriptors pipe(*context);
      std::string text(3, ' ');
      TaskScope scope;
      scope.spawn(write(&pipe));
      WEIR_CO_TRY_VOID(co_await asio::async_read(pipe.reader, asio::buffer(text), use_task));
      co_await scope.join();
      co_return text;
    }
    static Task<> write(Descriptors* pipe) {
      for (const char* letter : {"a", "b", "c"}) {
        co_await yield();
        EXPECT_TRUE(co_await asio::async_write(pipe->writer, asio::buffer(letter, 1), use_task));
      }
    }
  };
  ActorSystem system(quiet());
  EXPECT_EQ(*system.run(Piping::run(&io_context(system))), "abc");
}

// Echo: many connections, each with its own actor, and as many clients.
struct Serve {
  std::shared_ptr<tcp::socket> socket;
};

class EchoServer final : public Actor<Serve> {
 public:
  Task<> on(Serve serve) {
    std::array<char, 512> buffer;
    for (;;) {
      const auto count = co_await serve.socket->async_read_some(asio::buffer(buffer), use_task);
      if (!count) break;
      if (!co_await asio::async_write(*serve.socket, asio::buffer(buffer, *count), use_task)) break;
    }
    stop();
  }
};

Task<> talk(asio::io_context* context, tcp::endpoint server, int rounds, int* echoed) {
  tcp::socket socket(*context);
  EXPECT_TRUE(co_await socket.async_connect(server, use_task));
  for (int i = 0; i < rounds; ++i) {
    const std::string text = "round " + std::to_string(i);
    EXPECT_TRUE(co_await asio::async_write(socket, asio::buffer(text), use_task));
    std::string reply(text.size(), ' ');
    EXPECT_TRUE(co_await asio::async_read(socket, asio::buffer(reply), use_task));
    if (reply == text) ++*echoed;
  }
}

Task<> accept(ActorSystem* system, tcp::acceptor* acceptor, int count) {
  for (int i = 0; i < count; ++i) {
    auto socket = co_await acceptor->async_accept(use_task);
    EXPECT_TRUE(socket);
    system->spawn<EchoServer>().send<Serve>(std::make_shared<tcp::socket>(*std::move(socket)));
  }
}

TEST(Asio, ServesManyConnectionsAtOnce) {
  struct Everybody {
    static Task<int> run(ActorSystem* system, int clients, int rounds) {
      int echoed = 0;
      auto& context = io_context(*system);
      tcp::acceptor acceptor(context, loopback());
      TaskScope scope;
      scope.spawn(accept(system, &acceptor, clients));
      for (int i = 0; i < clients; ++i) {
        scope.spawn(talk(&context, acceptor.local_endpoint(), rounds, &echoed));
      }
      co_await scope.join();
      co_return echoed;
    }
  };
  ActorSystem system(quiet());
  const int clients = testing::scaled(64);
  EXPECT_EQ(system.run(Everybody::run(&system, clients, 20)), clients * 20);
}

TEST(Asio, CancellingTheTaskCancelsTheOperation) {
  struct Cancelling {
    static Task<> wait(tcp::socket* socket, std::vector<Error>* errors) {
      std::array<char, 8> buffer;
      const auto whole = co_await asio::async_read(*socket, asio::buffer(buffer), use_task);
      errors->push_back(whole.error());
      const auto again = co_await socket->async_read_some(asio::buffer(buffer), use_task);
      errors->push_back(again.error());
    }
    static Task<Result<>> run(asio::io_context* context) {
      WEIR_CO_TRY(pair, co_await connect(context));
      std::vector<Error> errors;
      asio::steady_timer timer(*context, std::chrono::hours(1));
      TaskScope scope;
      scope.spawn(wait(&pair.far, &errors));
      scope.spawn(wait_for(&timer, &errors));
      co_await yield();
      scope.cancel_all();
      co_await scope.join();
      EXPECT_EQ(errors.size(), 3u);
      for (const Error& error : errors) EXPECT_EQ(error, Errc::cancelled) << error.message();
      co_return Result<>();
    }
    static Task<> wait_for(asio::steady_timer* timer, std::vector<Error>* errors) {
      const auto waited = co_await timer->async_wait(use_task);
      errors->push_back(waited.error());
    }
  };
  ActorSystem system(quiet());
  EXPECT_TRUE(system.run(Cancelling::run(&io_context(system))));
}

TEST(Asio, ClosingASocketEndsTheReadOfAnotherTask) {
  struct Closing {
    static Task<> wait(tcp::socket* socket, bool* aborted) {
      std::array<char, 8> buffer;
      const auto read = co_await socket->async_read_some(asio::buffer(buffer), use_task);
      *aborted = read.error() == asio::error::operation_aborted;
    }
    static Task<Result<bool>> run(asio::io_context* context) {
      WEIR_CO_TRY(pair, co_await connect(context));
      bool aborted = false;
      TaskScope scope;
      scope.spawn(wait(&pair.far, &aborted));
      pair.far.close();
      co_await scope.join();
      co_return aborted;
    }
  };
  ActorSystem system(quiet());
  EXPECT_TRUE(*system.run(Closing::run(&io_context(system))));
}

struct Read {};

// The buffer lives in the frame that waits, and the peer keeps writing while the frame goes.
class Reader final : public Actor<Read> {
 public:
  Reader(tcp::socket* socket, Event* reads) : socket_(std::move(*socket)), reads_(reads) {}
  Task<> on(Read) {
    const Counted<Reader> local;
    std::vector<char> buffer(1 << 20);
    reads_->set();
    static_cast<void>(co_await asio::async_read(socket_, asio::buffer(buffer), use_task));
  }

 private:
  tcp::socket socket_;
  Event* reads_;
};

TEST(Asio, KillingTheActorInTheMiddleOfAReadIsSafe) {
  struct Writing {
    static Task<> write_until_closed(tcp::socket* socket) {
      const std::vector<char> data(4096, 'x');
      while (co_await asio::async_write(*socket, asio::buffer(data), use_task)) {
      }
    }
    static Task<> run(ActorSystem* system) {
      for (int i = 0; i < testing::scaled(100); ++i) {
        auto pair = co_await connect(&io_context(*system));
        EXPECT_TRUE(pair);
        Event reads;
        auto reader = system->spawn<Reader>(&pair->far, &reads);
        reader.send<Read>();
        TaskScope scope;
        scope.spawn(write_until_closed(&pair->near));
        while (!reads.is_set()) co_await yield();
        for (int j = 0; j < i % 5; ++j) co_await yield();
        reader.stop(Stop::kill);
        co_await scope.join();
      }
    }
  };
  {
    ActorSystem system(quiet());
    system.run(Writing::run(&system));
  }
  EXPECT_EQ(Counted<Reader>::live(), 0);
}

TEST(Asio, ASystemThatStopsTakesOperationsWithIt) {
  Event reads;
  ActorSystem system(quiet());
  auto pair = system.run(connect(&io_context(system)));
  ASSERT_TRUE(pair);
  auto reader = system.spawn<Reader>(&pair->far, &reads);
  reader.send<Read>();
  reads.wait();
  const auto report = system.stop({.drain = Duration::zero(), .timeout = Duration::zero()});
  // The task that connected may not have ended yet either.
  const auto readers = std::ranges::count_if(report.did_not_stop, [](const ActorInfo& info) {
    return info.type.find("Reader") != std::string_view::npos;
  });
  EXPECT_EQ(readers, 1);
  EXPECT_EQ(Counted<Reader>::live(), 0);
}

TEST(Asio, AFunctionThatThrowsInTheContextDoesNotEndTheProcess) {
  ActorSystem system(quiet());
  ::testing::internal::CaptureStderr();
  asio::post(io_context(system), [] { throw std::runtime_error("posted"); });
  EXPECT_EQ(*system.run(greet(&io_context(system))), "hello");
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("posted"), std::string::npos);
}

// Back and forth, so often that workers look for I/O themselves.
struct Bounce {
  using Reply = int;
  int rounds;
};
class Bouncer final : public Actor<Bounce> {
 public:
  Task<Result<int>> on(Bounce bounce) {
    WEIR_CO_TRY(pair, co_await connect(&io_context(system())));
    char sent = 0;
    char received = 0;
    int right = 0;
    for (int round = 0; round < bounce.rounds; ++round) {
      sent = static_cast<char>(round);
      auto& from = round % 2 == 0 ? pair.near : pair.far;
      auto& to = round % 2 == 0 ? pair.far : pair.near;
      WEIR_CO_TRY_VOID(co_await asio::async_write(from, asio::buffer(&sent, 1), use_task));
      WEIR_CO_TRY_VOID(co_await asio::async_read(to, asio::buffer(&received, 1), use_task));
      right += received == sent ? 1 : 0;
    }
    co_return right;
  }
};

Task<int> bounce_all(ActorSystem* system, int bouncers, int rounds) {
  struct One {
    static Task<> run(ActorSystem* system, int rounds, int* right) {
      auto bouncer = system->spawn<Bouncer>();
      *right += (co_await bouncer.ask<Bounce>(rounds).within(forever)).value();
    }
  };
  int right = 0;
  TaskScope scope;
  for (int i = 0; i < bouncers; ++i) scope.spawn(One::run(system, rounds, &right));
  co_await scope.join();
  co_return right;
}

TEST(Asio, NothingIsLostWhoeverLooksForIt) {
  ActorSystem system(quiet());
  const int rounds = testing::scaled(2000);
  for (int pause = 0; pause < 20; ++pause) {
    EXPECT_EQ(system.run(bounce_all(&system, 8, rounds / 20)), 8 * (rounds / 20));
    // With nobody at work, the thread of I/O waits again.
    EXPECT_EQ(*system.run(greet(&io_context(system))), "hello");
  }
}

struct Hold {};
class Holder final : public Actor<Hold> {
 public:
  Holder(Event* begun, Event* end) : begun_(begun), end_(end) {}
  void on(Hold) {
    begun_->set();
    end_->wait();
  }

 private:
  Event* begun_;
  Event* end_;
};

TEST(Asio, GoesOnWhileAHandlerHoldsItsWorker) {
  auto options = quiet();
  options.threads = 2;
  ActorSystem system(std::move(options));
  for (int round = 0; round < testing::scaled(20); ++round) {
    EXPECT_EQ(system.run(bounce_all(&system, 4, 100)), 400);
    Event begun;
    Event end;
    auto holder = system.spawn<Holder>(&begun, &end);
    holder.send<Hold>();
    begun.wait();
    EXPECT_EQ(system.run(bounce_all(&system, 4, 100)), 400);
    end.set();
    holder.stop();
    await_end(system, holder);
  }
}

struct Occupy {
  using Reply = int;
};
// Posts until the thread of I/O leaves what comes to this worker, and then does not look for it.
class Occupier final : public Actor<Occupy> {
 public:
  int on(Occupy) {
    testing::Counter ran;
    int posted = 0;
    for (bool is_left_to_workers = false; !is_left_to_workers; std::this_thread::yield()) {
      is_left_to_workers = system().core().io_to_poll.load() != nullptr;
      asio::post(io_context(system()), [&ran] { ran.add(); });
      ++posted;
    }
    ran.wait_for(posted);
    return posted;
  }
};

Task<int> occupy(ActorRef<Occupy> occupier) {
  co_return (co_await occupier.ask<Occupy>().within(forever)).value();
}

TEST(Asio, ItsThreadTakesOverIfTheOnlyWorkerIsHeld) {
  auto options = quiet();
  options.threads = 1;
  ActorSystem system(std::move(options));
  auto occupier = system.spawn<Occupier>();
  for (int round = 0; round < testing::scaled(20); ++round)
    EXPECT_GT(system.run(occupy(occupier)), 0);
}

struct Count {};
class Counter final : public Actor<Count> {
 public:
  explicit Counter(std::atomic<int>* count) : count_(count) {}
  void on(Count) { count_->fetch_add(1); }

 private:
  std::atomic<int>* count_;
};

TEST(Asio, WhatIsPostedMayThrowAndSendWhereverItRuns) {
  std::atomic<int> count = 0;
  ActorSystem system(quiet());
  ::testing::internal::CaptureStderr();
  auto counter = system.spawn<Counter>(SpawnOptions{.mailbox_capacity = unbounded}, &count);
  const int posted = testing::scaled(1000);
  for (int i = 0; i < posted; ++i) {
    asio::post(io_context(system), [counter, i] {
      EXPECT_TRUE(counter.send<Count>());
      if (i % 100 == 0) throw std::runtime_error("posted");
    });
    if (i % 10 == 0) EXPECT_EQ(system.run(bounce_all(&system, 2, 2)), 4);
  }
  while (count.load() < posted) std::this_thread::yield();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("posted"), std::string::npos);
}

TEST(Asio, IsUnsupportedUnderSimulation) {
  struct Waiting {
    static Task<Error> run(asio::io_context* context) {
      asio::steady_timer timer(*context, std::chrono::hours(1));
      const auto waited = co_await timer.async_wait(use_task);
      co_return waited.error();
    }
  };
  Simulation simulation;
  EXPECT_EQ(simulation.run(Waiting::run(&io_context(simulation.system()))), Errc::unsupported);
}

}  // namespace
}  // namespace weir
