// Frames of RFC 6455 against the RFC, and against every way to cut them.

#include <weir/server/internal/websocket.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <weir/tests/server/support/websocket_client.hpp>

namespace weir::server::internal {
namespace {

using test::client_frame;

constexpr std::size_t bytes_max = 100'000;

struct Parsed {
  std::vector<Incoming> messages = {};
  int violation = 0;

  friend bool operator==(const Parsed&, const Parsed&) = default;
};

Parsed parse(const std::vector<std::string_view>& pieces, std::size_t most = bytes_max) {
  FrameParser parser(most);
  Parsed parsed;
  for (std::string_view piece : pieces) {
    while (auto message = parser.next(piece)) parsed.messages.push_back(*std::move(message));
    EXPECT_TRUE(piece.empty());
  }
  if (parser.violation()) parsed.violation = parser.violation()->code;
  return parsed;
}
Parsed parse(std::string_view bytes, std::size_t most = bytes_max) {
  return parse(std::vector<std::string_view>{bytes}, most);
}
int violation_of(std::string_view bytes, std::size_t most = bytes_max) {
  return parse(bytes, most).violation;
}

TEST(WebSocket, TheHandshakeIsThatOfTheRfc) {
  EXPECT_EQ(accept_websocket_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_TRUE(is_websocket_key("dGhlIHNhbXBsZSBub25jZQ=="));
  EXPECT_FALSE(is_websocket_key("dGhlIHNhbXBsZSBub25jZQ="));
  EXPECT_FALSE(is_websocket_key("c2hvcnQ="));
  EXPECT_FALSE(is_websocket_key(""));
}

// RFC 6455, 5.7: what a client sends.
TEST(WebSocket, ReadsTheExamplesOfTheRfc) {
  const std::string text("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11);
  EXPECT_EQ(parse(text), (Parsed{.messages = {{Opcode::text, "Hello"}}}));
  const std::string pong("\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11);
  EXPECT_EQ(parse(pong), (Parsed{.messages = {{Opcode::pong, "Hello"}}}));
}

// The same section: what a server sends.
TEST(WebSocket, WritesTheExamplesOfTheRfc) {
  std::string out;
  append_frame(out, Opcode::text, "Hello");
  EXPECT_EQ(out, "\x81\x05Hello");
  out.clear();
  append_frame(out, Opcode::ping, "Hello");
  EXPECT_EQ(out, "\x89\x05Hello");
  out.clear();
  append_frame(out, Opcode::binary, std::string(256, 'x'));
  EXPECT_EQ(out.substr(0, 4), std::string("\x82\x7e\x01\x00", 4));
  out.clear();
  append_frame(out, Opcode::binary, std::string(65'536, 'x'));
  EXPECT_EQ(out.substr(0, 10), std::string("\x82\x7f\0\0\0\0\0\1\0\0", 10));
}

TEST(WebSocket, EveryLengthComesAsItWasSent) {
  for (const std::size_t size : {0, 1, 2, 3, 4, 5, 124, 125, 126, 127, 65'535, 65'536, 65'537}) {
    const std::string payload(size, 'a');
    EXPECT_EQ(parse(client_frame(0x81, payload)), (Parsed{.messages = {{Opcode::text, payload}}}))
        << size;
    std::string out;
    append_frame(out, Opcode::text, payload);
    EXPECT_EQ(out, client_frame(0x81, payload, false)) << size;
  }
}

TEST(WebSocket, HoweverBytesAreCutTheMessagesAreTheSame) {
  const std::string bytes = client_frame(0x01, "one ") + client_frame(0x89, "ping") +
                            client_frame(0x00, "") + client_frame(0x80, "two") +
                            client_frame(0x81, std::string(200, 'b')) + client_frame(0x8a, "") +
                            client_frame(0x88,
                                         "\x03\xe8"
                                         "bye");
  const Parsed whole = parse(bytes);
  const std::vector<Incoming> expected = {{Opcode::ping, "ping"},
                                          {Opcode::text, "one two"},
                                          {Opcode::text, std::string(200, 'b')},
                                          {Opcode::pong, ""},
                                          {Opcode::close, "bye", 1000}};
  ASSERT_EQ(whole, (Parsed{.messages = expected}));
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    for (std::size_t second = first; second <= bytes.size(); second += 3) {
      const std::string_view view(bytes);
      ASSERT_EQ(
          parse({view.substr(0, first), view.substr(first, second - first), view.substr(second)}),
          whole)
          << first << ", " << second;
    }
  }
}

TEST(WebSocket, WhatIsCutOffGivesNothing) {
  const std::string bytes = client_frame(0x81, std::string(300, 'c'));
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(parse(std::string_view(bytes).substr(0, size)), Parsed{}) << size;
}

// All first bytes with a mask and no payload: the table of section 5.2.
TEST(WebSocket, OnlyFirstBytesThatMeanSomethingAreTaken) {
  for (int first = 0; first < 256; ++first) {
    const bool is_known = first == 0x01 || first == 0x02 || first == 0x81 || first == 0x82 ||
                          first == 0x88 || first == 0x89 || first == 0x8a;
    EXPECT_EQ(violation_of(client_frame(first, "")), is_known ? 0 : 1002) << first;
  }
}

TEST(WebSocket, WithoutAMaskIsAViolationAtTheSecondByte) {
  for (const int first : {0x81, 0x82, 0x88, 0x89, 0x8a}) {
    const std::string frame = client_frame(first, "x", false);
    EXPECT_EQ(violation_of(frame.substr(0, 1)), 0);
    EXPECT_EQ(violation_of(frame.substr(0, 2)), 1002);
  }
}

TEST(WebSocket, LengthsAreWrittenInTheirShortestForm) {
  const std::string mask(4, '\0');
  EXPECT_EQ(violation_of(std::string("\x81\xfe\x00\x7d", 4) + mask), 1002);
  EXPECT_EQ(violation_of(std::string("\x81\xff\0\0\0\0\0\0\xff\xff", 10) + mask), 1002);
  EXPECT_EQ(violation_of(std::string("\x81\xff\x80\0\0\0\0\0\0\0", 10) + mask), 1002);
  EXPECT_EQ(violation_of(std::string("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10) + mask), 1002);
}

TEST(WebSocket, ControlFramesAreShortAndWhole) {
  EXPECT_EQ(violation_of(client_frame(0x89, std::string(125, 'x'))), 0);
  EXPECT_EQ(violation_of(client_frame(0x89, std::string(126, 'x'))), 1002);
  EXPECT_EQ(violation_of(client_frame(0x09, "x")), 1002);
}

TEST(WebSocket, FragmentsFollowEachOther) {
  EXPECT_EQ(violation_of(client_frame(0x80, "goes on")), 1002);
  EXPECT_EQ(violation_of(client_frame(0x01, "one") + client_frame(0x81, "another")), 1002);
  EXPECT_EQ(parse(client_frame(0x01, "a") + client_frame(0x80, "b") + client_frame(0x81, "c")),
            (Parsed{.messages = {{Opcode::text, "ab"}, {Opcode::text, "c"}}}));
}

TEST(WebSocket, TooLongIsToldByTheHeaderAndOfAllFragmentsTogether) {
  const std::string frame = client_frame(0x81, std::string(101, 'x'));
  EXPECT_EQ(violation_of(frame.substr(0, 6), 100), 1009);
  EXPECT_EQ(violation_of(client_frame(0x81, std::string(100, 'x')), 100), 0);
  const std::string half = std::string(51, 'x');
  EXPECT_EQ(violation_of(client_frame(0x01, half) + client_frame(0x80, half), 100), 1009);
  EXPECT_EQ(violation_of(std::string("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff", 10) +
                         std::string(4, '\0')),
            1009);
}

TEST(WebSocket, TextIsUtf8AlsoAcrossFragments) {
  EXPECT_EQ(parse(client_frame(0x01, "\xce") + client_frame(0x80, "\xba")),
            (Parsed{.messages = {{Opcode::text, "\xce\xba"}}}));
  for (const char* wrong : {"\xff", "\xce", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    EXPECT_EQ(violation_of(client_frame(0x81, wrong)), 1007);
  EXPECT_EQ(violation_of(client_frame(0x82, "\xff")), 0);
}

TEST(WebSocket, ClosesHaveACodeThatThereIs) {
  EXPECT_EQ(parse(client_frame(0x88, "")), (Parsed{.messages = {{Opcode::close, "", 1005}}}));
  EXPECT_EQ(violation_of(client_frame(0x88, "x")), 1002);
  for (int code = 0; code < 6000; ++code) {
    const std::string bytes = {static_cast<char>(code >> 8), static_cast<char>(code)};
    const bool is_known = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
                          (code >= 3000 && code < 5000);
    ASSERT_EQ(violation_of(client_frame(0x88, bytes)), is_known ? 0 : 1002) << code;
  }
  EXPECT_EQ(violation_of(client_frame(0x88, "\x03\xe8\xff")), 1007);
}

TEST(WebSocket, NothingIsReadBehindAViolation) {
  EXPECT_EQ(parse(client_frame(0x83, "") + client_frame(0x81, "x")), (Parsed{.violation = 1002}));
}

TEST(WebSocket, AReasonThatIsTooLongIsCut) {
  std::string out;
  append_close(out, 4500, std::string(200, 'r'));
  EXPECT_EQ(out.size(), 2u + 125u);
  out.clear();
  append_close(out, close_code::none, "");
  EXPECT_EQ(out, std::string("\x88\x00", 2));
}

}  // namespace
}  // namespace weir::server::internal
