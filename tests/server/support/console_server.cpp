// A server for the test of the console: things happen in it when a line on its standard input says
// so, and it answers each with a line. It ends with its input.
//
//   break     the view `converted` fails from now on, and stands still
//   repair    what it failed with is gone; it goes on when it is told to
//   fill      a new view takes the rows that are there, and stops in the middle of them
//   release   it takes the others too
//   letter    a message that nobody handles
//   work      a part of the workflow is done
//
// With `--tokens` nobody is let in without one; each is printed.

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <weir/flow/data/expression.hpp>
#include <weir/flow/data/function.hpp>
#include <weir/flow/view/database.hpp>
#include <weir/flow/workflow/engine.hpp>
#include <weir/runtime/actor_system.hpp>
#include <weir/server/gateway.hpp>
#include <weir/storage/store.hpp>

namespace weir::server::test {
namespace {

using flow::data::col;
using flow::data::Kind;
using flow::data::Value;
using flow::view::Relation;

constexpr std::int64_t rows_before = 2'000;
constexpr std::int64_t rows_until_stop = 500;

struct Note {};
class Sink final : public Actor<Note> {
 public:
  void on(Note) {}
};

/// Holds up who passes a row of the second half, until it is opened.
class Barrier {
 public:
  void pass(std::int64_t row) {
    std::unique_lock lock(mutex_);
    if (row > rows_until_stop) opened_.wait(lock, [this] { return is_open_; });
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    is_open_ = true;
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

class ConsoleServer {
 public:
  explicit ConsoleServer(GatewayOptions options) {
    add_functions();
    store_.emplace(storage::Store::open(system_, {}).value());
    database_.emplace(
        run(flow::view::Database::open(&*store_, {.library = {.functions = &functions_},
                                                  .backfill_rows = 100,
                                                  .retry_backoff = std::chrono::milliseconds(1)})));
    engine_.emplace(run(flow::workflow::Engine::open(&*store_)));
    make_tables();
    make_workflow();
    gateway_.emplace(
        Gateway::start({&*store_, &*database_, &*engine_}, std::move(options)).value());
  }
  ~ConsoleServer() {
    barrier_.open();
    gateway_.reset();
    run(engine_->close());
    run(database_->close());
    run(store_->close());
  }

  std::string url() const { return gateway_->url(); }

  void obey(const std::string& line) {
    const std::map<std::string, void (ConsoleServer::*)()> orders = {
        {"break", &ConsoleServer::let_fail}, {"repair", &ConsoleServer::repair},
        {"fill", &ConsoleServer::fill},      {"release", &ConsoleServer::release},
        {"letter", &ConsoleServer::lose},    {"work", &ConsoleServer::work}};
    const auto found = orders.find(line);
    if (found != orders.end()) (this->*found->second)();
    std::printf("%s\n", found == orders.end() ? "unknown" : line.c_str());
    std::fflush(stdout);
  }

 private:
  template <class T>
  T run(Task<Result<T>> task) {
    return system_.run(std::move(task)).value();
  }

  void add_functions() {
    functions_
        .add({.name = "converted",
              .parameters = {Kind::int64},
              .result = Kind::int64,
              .call = [this](std::span<const Value> values) -> Result<Value> {
                if (is_broken_) return Error(flow::data::Errc::invalid_value, "no rate of today");
                return Value(values[0].as<std::int64_t>() * 2);
              }})
        .value();
    functions_
        .add({.name = "slowly",
              .parameters = {Kind::int64},
              .result = Kind::int64,
              .call = [this](std::span<const Value> values) -> Result<Value> {
                barrier_.pass(values[0].as<std::int64_t>());
                return values[0];
              }})
        .value();
  }

  void make_tables() {
    auto schema = std::make_shared<const flow::data::Schema>(
        flow::data::Schema::make(
            {{"id", Kind::int64, false}, {"item", Kind::text, false}, {"cents", Kind::int64}},
            {"id"})
            .value());
    orders_.emplace(run(database_->create_table("orders", schema)));
    // A name is text, whatever is in it.
    run(database_->create_table("<img src=x onerror=alert(1)>", schema));
    auto rows = database_->begin();
    for (std::int64_t id = 1; id <= rows_before; ++id) insert(rows, id);
    run(rows.commit());
    const auto converted = flow::data::call("converted", {col("cents")});
    converted_.emplace(run(database_->create_view(
        "converted",
        from(*orders_).map({{"id", col("id")}, {"item", col("item")}, {"cents", converted}}))));
    const auto items = run(database_->create_view(
        "dearest", from(*converted_).take(5, {flow::operators::descending("cents")})));
    run(database_->fresh(items, store_->version()));
  }
  void insert(flow::view::Transaction& rows, std::int64_t id) {
    run(rows.insert(*orders_, {id, id % 2 == 0 ? "<b>tea</b>" : "cup & saucer", id * 10}));
  }

  void make_workflow() {
    flow::workflow::NewGraph graph;
    graph.workflow.kind = "nightly report";
    for (const char* kind : {"collect", "clean", "price", "join", "publish"})
      graph.executions.push_back({.kind = kind});
    graph.edges = {{0, 1, "rows"}, {0, 2, "rows"}, {1, 3, "left"}, {2, 3, "right"}, {3, 4, ""}};
    run(engine_->create_graph(std::move(graph)));
    work();
  }

  void let_fail() {
    is_broken_ = true;
    auto rows = database_->begin();
    insert(rows, rows_before + ++added_);
    run(rows.commit());
    static_cast<void>(system_.run(database_->fresh(*converted_, store_->version())));
  }
  void repair() { is_broken_ = false; }
  void fill() {
    run(database_->create_view(
        "slow", from(*orders_).map({{"id", flow::data::call("slowly", {col("id")})}})));
  }
  void release() { barrier_.open(); }
  void lose() {
    const auto sink = system_.spawn<Sink>(SpawnOptions{.name = "drain"});
    sink.stop();
    while (sink.is_alive()) std::this_thread::yield();
    sink.send<Note>();
  }
  void work() {
    const auto claimed = run(engine_->claim({.worker = "somebody"}));
    for (const auto& claim : claimed) run(engine_->complete(claim.handle, "done"));
  }

  ActorSystem system_{{.name = "console test", .on_dead_letter = [](const DeadLetter&) {}}};
  flow::data::FunctionRegistry functions_;
  std::atomic<bool> is_broken_{false};
  Barrier barrier_;
  std::int64_t added_ = 0;
  std::optional<storage::Store> store_;
  std::optional<flow::view::Database> database_;
  std::optional<flow::workflow::Engine> engine_;
  std::optional<Relation> orders_;
  std::optional<Relation> converted_;
  std::optional<Gateway> gateway_;
};

int serve(bool has_tokens) {
  GatewayOptions options{.port = 0};
  if (has_tokens) {
    const std::vector<std::pair<const char*, Roles>> callers = {
        {"reader", {Role::read}}, {"operator", {Role::read, Role::operate}}};
    for (const auto& [name, roles] : callers) {
      const NewToken made = make_token(name, roles).value();
      options.tokens.push_back(made.token);
      std::printf("token %s\n", made.bearer.c_str());
    }
  }
  ConsoleServer server(std::move(options));
  std::printf("url %s\n", server.url().c_str());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) server.obey(line);
  return 0;
}

}  // namespace
}  // namespace weir::server::test

int main(int argc, char** argv) {
  return weir::server::test::serve(argc > 1 && std::string(argv[1]) == "--tokens");
}
