#include <weir/storage/postgres/listener.hpp>

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <string>
#include <vector>

#include <weir/tests/storage/postgres/support/postgres_fixture.hpp>

namespace weir::storage::postgres::test {
namespace {

using namespace std::chrono_literals;

class ListenerTest : public PostgresTest {
 protected:
  static Options quick() {
    Options made = options();
    made.reconnect_backoff = 1ms;
    made.reconnect_backoff_max = 10ms;
    return made;
  }
  void notify(const std::string& channel, const std::string& payload) {
    server().execute("notify \"" + channel + "\", '" + payload + "'");
  }
};

std::string text(const Notification& notification) {
  return notification.channel + (notification.may_have_missed ? "!" : " " + notification.payload);
}

struct Texts {
  weir::testing::Collector<std::string> told;

  Listener::Callback callback() {
    return [this](const Notification& notification) { told.add(text(notification)); };
  }
};

TEST_F(ListenerTest, HearsWhatIsSaidOnItsChannels) {
  Texts texts;
  const auto listener = Listener::open(system, quick(), {"jobs", "Odd \"name\""}, texts.callback());
  ASSERT_TRUE(listener) << listener.error().message();
  EXPECT_EQ(texts.told.wait_for(2), (std::vector<std::string>{"jobs!", "Odd \"name\"!"}));
  EXPECT_TRUE(listener->is_listening());
  notify("jobs", "one");
  notify("other", "not for us");
  server().execute("select pg_notify('Odd \"name\"', 'two')");
  EXPECT_EQ(texts.told.wait_for(4),
            (std::vector<std::string>{"jobs!", "Odd \"name\"!", "jobs one", "Odd \"name\" two"}));
  EXPECT_EQ(listener->reconnects(), 0U);
  system.stop();
}

struct Receiver final : public Actor<Notification> {
  explicit Receiver(weir::testing::Collector<std::string>* told) : told(told) {}
  void on(Notification notification) { told->add(text(notification)); }

  weir::testing::Collector<std::string>* told;
};

TEST_F(ListenerTest, WakesAnActor) {
  weir::testing::Collector<std::string> told;
  const auto receiver = system.spawn<Receiver>(&told);
  const auto listener = Listener::open(system, quick(), {"jobs"}, receiver);
  told.wait_for(1);
  notify("jobs", "wake up");
  EXPECT_EQ(told.wait_for(2), (std::vector<std::string>{"jobs!", "jobs wake up"}));
  system.stop();
}

TEST_F(ListenerTest, SaysThatItMayHaveMissedSomethingWhenTheServerWasAway) {
  Texts texts;
  const auto listener = Listener::open(system, quick(), {"jobs"}, texts.callback());
  texts.told.wait_for(1);
  server().restart();
  EXPECT_EQ(texts.told.wait_for(2), (std::vector<std::string>{"jobs!", "jobs!"}));
  notify("jobs", "after");
  EXPECT_EQ(texts.told.wait_for(3).back(), "jobs after");
  server().kill();
  server().revive();
  EXPECT_EQ(texts.told.wait_for(4).back(), "jobs!");
  EXPECT_EQ(listener->reconnects(), 2U);
  system.stop();
}

TEST_F(ListenerTest, NoticesAConnectionThatIsDeadButDoesNotEnd) {
  Texts texts;
  Options watchful = quick();
  watchful.heartbeat = 10ms;
  watchful.call_timeout = 500ms;
  watchful.name = "watchful";
  const auto listener = Listener::open(system, watchful, {"jobs"}, texts.callback());
  texts.told.wait_for(1);
  const auto pid = static_cast<pid_t>(std::stoi(
      server().query("select pid from pg_stat_activity where application_name = 'watchful'")));
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  EXPECT_EQ(texts.told.wait_for(2).back(), "jobs!");
  EXPECT_EQ(::kill(pid, SIGCONT), 0);
  EXPECT_EQ(listener->reconnects(), 1U);
  system.stop();
}

TEST_F(ListenerTest, ChannelsThatCannotBeAreRefused) {
  const auto refuse = [&](std::vector<std::string> channels) {
    return Listener::open(system, quick(), std::move(channels), [](const Notification&) {}).error();
  };
  EXPECT_EQ(refuse({}), Errc::invalid_argument);
  EXPECT_EQ(refuse({""}), Errc::invalid_argument);
  EXPECT_EQ(refuse({std::string(64, 'x')}), Errc::invalid_argument);
  EXPECT_EQ(refuse({std::string("a\0b", 3)}), Errc::invalid_argument);
}

}  // namespace
}  // namespace weir::storage::postgres::test
