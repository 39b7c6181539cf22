#include <weir/storage/postgres/connection.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include <weir/storage/postgres/internal/connect.hpp>
#include <weir/tests/storage/postgres/support/postgres_fixture.hpp>

namespace weir::storage::postgres::test {
namespace {

using namespace std::chrono_literals;

class ConnectionTest : public PostgresTest {};

TEST_F(ConnectionTest, KeepsItsSession) {
  const auto connection = run(Connection::connect(&system, options()));
  ASSERT_TRUE(connection) << connection.error().message();
  ASSERT_TRUE(run(connection->execute(Statement("create temporary table mine (id int8)"))));
  EXPECT_TRUE(run(connection->execute(Statement("insert into mine values (1)"))));
  EXPECT_TRUE(connection->is_connected());
}

TEST_F(ConnectionTest, IsNotMadeAgain) {
  const auto connection = run(Connection::connect(&system, options()));
  ASSERT_TRUE(connection);
  const auto ended =
      run(connection->execute(Statement("select pg_terminate_backend(pg_backend_pid())")));
  EXPECT_EQ(ended.error(), Errc::unavailable) << ended.error().message();
  EXPECT_EQ(run(connection->execute(Statement("select 1"))).error(), Errc::unavailable);
  EXPECT_FALSE(connection->is_connected());
}

TEST_F(ConnectionTest, ARefusalIsToldAtOnce) {
  Options wrong = options();
  wrong.connection = server().connection() + " dbname=nowhere";
  const auto connection = run(Connection::connect(&system, wrong));
  EXPECT_EQ(connection.error(), Errc::unavailable);
  EXPECT_NE(connection.error().detail().find("database \"nowhere\" does not exist"),
            std::string::npos)
      << connection.error().message();
}

TEST_F(ConnectionTest, AServerThatHangsIsATypedError) {
  const SilentServer silent;
  Options mute = options();
  mute.connection = silent.connection();
  mute.connect_timeout = 20ms;
  EXPECT_EQ(run(Connection::connect(&system, mute)).error(), Errc::unavailable);
}

TEST_F(ConnectionTest, OnlyNamesOfHostsAreLookedUp) {
  using internal::Host;
  using internal::needs_lookup;
  EXPECT_TRUE(needs_lookup(Host{"db.example", "", ""}));
  EXPECT_FALSE(needs_lookup(Host{"db.example", "10.0.0.1", ""}));
  EXPECT_FALSE(needs_lookup(Host{"10.0.0.1", "", ""}));
  EXPECT_FALSE(needs_lookup(Host{"fe80::1%eth0", "", ""}));
  EXPECT_FALSE(needs_lookup(Host{"/run/postgresql", "", ""}));
  EXPECT_FALSE(needs_lookup(Host{"@abstract", "", ""}));
}

TEST_F(ConnectionTest, AListOfHostsKeepsItsOrderAndPorts) {
  Options several;
  several.connection = "host=one,/tmp,10.0.0.1 port=1,2,3";
  auto parameters = internal::parse_connection(several);
  ASSERT_TRUE(parameters) << parameters.error().message();
  auto hosts = internal::hosts_of(*parameters);
  ASSERT_EQ(hosts.size(), 3U);
  EXPECT_EQ(hosts[1].name, "/tmp");
  EXPECT_EQ(hosts[1].port, "2");
  hosts[0].address = "127.0.0.9";
  internal::set_hosts(*parameters, hosts);
  EXPECT_EQ(parameters->get("host"), "one,/tmp,10.0.0.1");
  EXPECT_EQ(parameters->get("hostaddr"), "127.0.0.9,,");
  EXPECT_EQ(parameters->get("port"), "1,2,3");
}

}  // namespace
}  // namespace weir::storage::postgres::test
