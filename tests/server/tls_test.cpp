#include <gtest/gtest.h>

#include <openssl/ssl.h>

#include <fstream>
#include <string>

#include <weir/server/errc.hpp>
#include <weir/tests/server/support/gateway_fixture.hpp>
#include <weir/tests/server/support/tls_client.hpp>
#include <weir/tests/storage/support/temporary_directory.hpp>

namespace weir::server {
namespace {

class Tls : public test::GatewayTest {
 protected:
  Tls() { test::write_certificate(certificate_, key_); }

  const storage::test::TemporaryDirectory directory_;
  const std::string certificate_ = directory_ / "certificate.pem";
  const std::string key_ = directory_ / "key.pem";
};

constexpr std::string_view last_request =
    "GET /api/v1/tables/shop.orders/rows?limit=1000 HTTP/1.1\r\nHost: localhost\r\n"
    "Connection: close\r\n\r\n";

TEST_F(Tls, AnswersOverTls) {
  std::vector<Row> rows;
  for (int id = 0; id < 1000; ++id) rows.push_back({id, std::string(200, 'x'), id});
  insert(rows);
  start({.tls = TlsOptions{certificate_, key_}});
  EXPECT_TRUE(gateway().url().starts_with("https://"));
  const std::string health = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string answer =
      test::exchange_over_tls(gateway().port(), certificate_, health + std::string(last_request));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK")) << answer.substr(0, 100);
  EXPECT_NE(answer.find(R"({"status":"ok"})"), std::string::npos);
  EXPECT_NE(answer.find(R"("id":999)"), std::string::npos);
  EXPECT_TRUE(answer.ends_with(R"("next":null})")) << answer.substr(answer.size() - 100);
}

TEST_F(Tls, OldVersionsAreRefused) {
  start({.tls = TlsOptions{certificate_, key_}});
  EXPECT_EQ(test::exchange_over_tls(gateway().port(), certificate_, last_request, TLS1_1_VERSION),
            "");
  EXPECT_NE(test::exchange_over_tls(gateway().port(), certificate_, last_request, TLS1_2_VERSION),
            "");
}

TEST_F(Tls, WhoSpeaksPlainHttpIsHungUpOnAndOthersAreServed) {
  start({.tls = TlsOptions{certificate_, key_}});
  auto plain = connect();
  plain->send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(plain->receive_all().find("HTTP"), std::string::npos);
  EXPECT_NE(test::exchange_over_tls(gateway().port(), certificate_, last_request), "");
}

TEST_F(Tls, WhoDoesNotShakeHandsInTimeIsHungUpOn) {
  start({.tls = TlsOptions{certificate_, key_},
         .limits = {.header_time = std::chrono::milliseconds(20)}});
  EXPECT_EQ(connect()->receive_all(), "");
}

TEST_F(Tls, ACertificateThatCannotBeUsedIsRefusedAtTheStart) {
  const std::string other = directory_ / "other.pem";
  const std::string other_key = directory_ / "other_key.pem";
  test::write_certificate(other, other_key);
  std::ofstream(directory_ / "nonsense.pem") << "nonsense";
  const std::vector<TlsOptions> bad = {{directory_ / "none.pem", key_},
                                       {certificate_, directory_ / "none.pem"},
                                       {directory_ / "nonsense.pem", key_},
                                       {certificate_, other_key}};
  for (const TlsOptions& tls : bad) {
    const auto refused = Gateway::start({&store(), &database()}, {.port = 0, .tls = tls});
    ASSERT_FALSE(refused) << tls.certificate_file;
    EXPECT_TRUE(refused.error() == Errc::bad_certificate) << refused.error().message();
  }
}

}  // namespace
}  // namespace weir::server
