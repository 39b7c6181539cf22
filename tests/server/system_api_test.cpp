// The process over HTTP: its savepoints, whether it is ready, its actors.

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include <weir/runtime/phase.hpp>
#include <weir/runtime/sleep.hpp>
#include <weir/storage/engine/simulated_disk.hpp>
#include <weir/storage/errc.hpp>
#include <weir/telemetry/telemetry.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::server {
namespace {

using namespace std::chrono_literals;
using test::Client;
using test::Reply;
using test::text_at;
using test::text_of;

/// A base, so that it is there before the store and goes after it.
struct StoreFolder {
  storage::test::TemporaryDirectory folder;
};

class Savepoints : protected StoreFolder, public test::GatewayTest {
 protected:
  Savepoints()
      : GatewayTest(ActorSystemOptions{}, storage::StoreOptions{.directory = folder / "store"}) {
    start();
  }

  /// The answer, which must not tell where the store is.
  Reply ask(std::string_view method, const std::string& name) {
    const Reply reply = connect()->request(method, "/api/v1/savepoints" + name);
    const std::string path = folder.path().filename().string();
    EXPECT_EQ(reply.body.find(path), std::string::npos) << reply.body;
    return reply;
  }
};

TEST_F(Savepoints, AreMadeListedAndRemoved) {
  EXPECT_EQ(ask("PUT", "/now").status, 200);
  EXPECT_EQ(text_at(ask("GET", ""), "/savepoints/0/name"), "now");
  EXPECT_EQ(ask("DELETE", "/now").status, 204);
  EXPECT_EQ(ask("GET", "").body, R"({"savepoints":[]})");
}

TEST_F(Savepoints, AreRefusedWithoutTellingWhereTheStoreIs) {
  ASSERT_EQ(ask("PUT", "/now").status, 200);
  const Reply again = ask("PUT", "/now");
  EXPECT_EQ(again.status, 409) << again.body;
  EXPECT_EQ(text_of(again, "code"), "already_exists");
  EXPECT_EQ(text_of(again, "detail"), "there is a savepoint 'now' already");
  const Reply unknown = ask("DELETE", "/nothing");
  EXPECT_EQ(unknown.status, 404) << unknown.body;
  EXPECT_EQ(text_of(unknown, "detail"), "there is no savepoint 'nothing'");
  for (const char* method : {"PUT", "DELETE"}) {
    const Reply outside = ask(method, "/..%2fx");
    EXPECT_EQ(outside.status, 400) << outside.body;
    EXPECT_EQ(text_of(outside, "code"), "invalid_argument") << method;
  }
}

/// The texts of the lines that a system logs.
struct LoggedTexts {
  void add(const telemetry::LogRecord& record) {
    const std::scoped_lock hold(mutex);
    for (const auto& attribute : record.attributes)
      if (const auto* text = std::get_if<std::string>(&attribute.value)) all += *text + "\n";
  }
  std::string read() {
    const std::scoped_lock hold(mutex);
    return all;
  }

  std::mutex mutex;
  std::string all;
};

TEST(Readiness, IsLostWhenTheDiskFailsAndTheProcessIsStillWell) {
  LoggedTexts logged;
  telemetry::Telemetry telemetry(
      {}, {}, {[&logged](const telemetry::LogRecord& record) { logged.add(record); }});
  ActorSystem system({.telemetry = &telemetry});
  const auto disk = std::make_shared<storage::engine::SimulatedDisk>();
  auto store = storage::Store::open(system, {.disk = disk}).value();
  auto database = system.run(flow::view::Database::open(&store)).value();
  const Gateway gateway = Gateway::start({&store, &database}, {.port = 0}).value();
  const auto get = [&](const char* target) { return Client(gateway.port()).get(target); };
  EXPECT_EQ(get("/readyz").status, 200);

  disk->fail_sync(1, Error(storage::Errc::io_error, "/var/lib/shop: the cable is loose"));
  const auto schema = std::make_shared<const flow::data::Schema>(
      flow::data::Schema::make({{"line", flow::data::Kind::text, false}}).value());
  EXPECT_FALSE(system.run(database.create_ring_buffer("lines", schema, 2)));
  const Reply reply = get("/readyz");
  EXPECT_EQ(reply.status, 503) << reply.body;
  EXPECT_EQ(text_of(reply, "code"), "storage_failed");
  EXPECT_EQ(reply.body.find("/var"), std::string::npos) << reply.body;
  EXPECT_NE(logged.read().find("the cable is loose"), std::string::npos) << logged.read();
  EXPECT_EQ(get("/healthz").status, 200);
}

enum class DeskPhase { closed, open };
struct OpenDesk {};
struct BreakDesk {};
struct Rest {};

class Desk final : public Actor<OpenDesk, BreakDesk, Rest>, public Phased<Desk, DeskPhase> {
 public:
  static constexpr PhaseRule<DeskPhase> phases[] = {
      {.phase = DeskPhase::closed, .to = {DeskPhase::open}},
      {.phase = DeskPhase::open},
  };

  explicit Desk(const std::atomic<bool>* is_over) : is_over_(is_over) {}

  void on(OpenDesk) { enter<DeskPhase::open>(); }
  void on(BreakDesk) { throw std::runtime_error("out of ink"); }
  Task<> on(Rest) {
    while (!is_over_->load()) co_await yield();
  }

 private:
  const std::atomic<bool>* is_over_;
};

/// Until when desks rest: longer than those live.
struct Closing {
  std::atomic<bool> is_over = false;
};

class ActorsApi : protected Closing, public test::GatewayTest {
 protected:
  ActorsApi() : GatewayTest(ActorSystemOptions{.on_failure = [](const ActorFailure&) {}}) {
    start();
  }

  ActorInfo desk() {
    for (const ActorInfo& actor : system().actors())
      if (actor.name == "desk") return actor;
    return {};
  }
  /// Where it stands in the answer.
  static std::string place_of_desk(const Reply& reply) {
    for (std::size_t index = 0; index < test::size_at(reply, "/actors"); ++index) {
      const std::string place = "/actors/" + std::to_string(index);
      if (text_at(reply, place + "/name") == "desk") return place;
    }
    ADD_FAILURE() << reply.body;
    return "/none";
  }
};

TEST_F(ActorsApi, TellsThePhaseTheMailboxAndTheLastFailureOfAnActor) {
  const auto ref = system().spawn<Desk>(
      {.name = "desk",
       .mailbox_capacity = 8,
       .supervision = {.directive = Supervision::Directive::restart, .backoff = 1ms}},
      &is_over);
  ref.send<BreakDesk>();
  while (desk().restarts == 0) std::this_thread::yield();
  ref.send<OpenDesk>();
  for (int sent = 0; sent < 4; ++sent) ref.send<Rest>();
  while (desk().mailbox_depth != 3) std::this_thread::yield();

  const Reply reply = get("/api/v1/actors");
  const std::string place = place_of_desk(reply);
  const auto field = [&](const char* name) { return text_at(reply, place + "/" + name); };
  EXPECT_EQ(field("phase"), "open");
  EXPECT_GT(std::stod(field("phase_seconds")), 0.0);
  EXPECT_EQ(field("mailbox_depth"), "3");
  EXPECT_EQ(field("mailbox_capacity"), "8");
  EXPECT_EQ(field("restarts"), "1");
  EXPECT_NE(field("last_failure").find("out of ink"), std::string::npos) << field("last_failure");
  EXPECT_EQ(field("stopping"), "false");
  is_over = true;
  while (desk().mailbox_depth != 0) std::this_thread::yield();
}

TEST_F(ActorsApi, OfManyThoseThatMatterAreListed) {
  std::vector<ActorRef<OpenDesk, BreakDesk, Rest>> desks;
  for (int index = 0; index < 600; ++index)
    desks.push_back(system().spawn<Desk>({.name = "drawer", .mailbox_capacity = 8}, &is_over));
  const auto busy = system().spawn<Desk>({.name = "desk", .mailbox_capacity = 8}, &is_over);
  for (int sent = 0; sent < 6; ++sent) busy.send<Rest>();
  while (desk().mailbox_depth != 5) std::this_thread::yield();

  const Reply all = get("/api/v1/actors");
  EXPECT_GT(test::size_at(all, "/actors"), 601u);
  EXPECT_EQ(text_at(all, "/total"), std::to_string(test::size_at(all, "/actors")));
  EXPECT_EQ(test::size_at(get("/api/v1/actors?limit=500"), "/actors"), 500u);
  const Reply deepest = get("/api/v1/actors?limit=500&sort=mailbox");
  EXPECT_EQ(text_at(deepest, "/actors/0/name"), "desk");
  EXPECT_EQ(test::size_at(deepest, "/actors"), 500u);
  const Reply named = get("/api/v1/actors?contains=desk&limit=1");
  EXPECT_EQ(text_at(named, "/found"), "601") << "by their type";
  EXPECT_EQ(test::size_at(named, "/actors"), 1u);
  EXPECT_EQ(text_at(get("/api/v1/actors?contains=DRAWER"), "/found"), "600");
  EXPECT_GT(std::stoi(text_at(get("/api/v1/actors?contains="), "/found")), 601) << "all have that";
  EXPECT_EQ(text_of(get("/api/v1/actors?sort=best"), "code"), "invalid_parameter");
  EXPECT_EQ(text_of(get("/api/v1/actors?limit=10001"), "code"), "invalid_parameter");
  is_over = true;
  while (desk().mailbox_depth != 0) std::this_thread::yield();
}

}  // namespace
}  // namespace weir::server
