#include "sim/serve/http_message.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace accsim::sim {
namespace {

int status_of(const std::string& text) {
  int status = 0;
  return parse_head(text, status) ? 200 : status;
}

TEST(HttpHead, IsReadIntoItsParts) {
  int status = 0;
  const auto head = parse_head(
      "POST /t/api/cost?x=1 HTTP/1.1\r\nHOST: a:1\r\nContent-Length:  12 \r\nConnection: Close",
      status);
  ASSERT_TRUE(head);
  EXPECT_EQ(head->request.method, "POST");
  EXPECT_EQ(head->request.path, "/t/api/cost");
  EXPECT_EQ(head->request.query, "x=1");
  EXPECT_EQ(head->request.header("host"), "a:1");
  EXPECT_EQ(head->body_bytes, 12u);
  EXPECT_FALSE(head->keep_alive);
}

TEST(HttpHead, IsRefusedWhenItCouldBeReadInTwoWays) {
  const std::string get = "GET / HTTP/1.1\r\nHost: a", post = "POST / HTTP/1.1\r\nHost: a\r\n";
  EXPECT_EQ(status_of(get), 200);
  EXPECT_EQ(status_of(get + "\r\nHost: b"), 400);
  EXPECT_EQ(status_of(get + "\r\n folded"), 400);
  EXPECT_EQ(status_of(get + "\r\nName : x"), 400);
  EXPECT_EQ(status_of(get + "\r\nX: \x01"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.1"), 400);  // no Host
  EXPECT_EQ(status_of("GET http://a/ HTTP/1.1\r\nHost: a"), 400);
  EXPECT_EQ(status_of("GET / HTTP/1.0\r\nHost: a"), 505);
  EXPECT_EQ(status_of("GET /"), 400);
  EXPECT_EQ(status_of(""), 400);
  EXPECT_EQ(status_of(post + "X: y"), 411);
  EXPECT_EQ(status_of(post + "Transfer-Encoding: chunked"), 411);
  EXPECT_EQ(status_of(post + "Content-Length: 99999999999999999999"), 400);
  EXPECT_EQ(status_of(post + "Content-Length: +1"), 400);
}

/// Whatever a message holds: quotes, line ends, bytes that aren't UTF-8.
TEST(HttpReply, IsJsonWhenItRefuses) {
  for (const std::string message : {"no such path", "'a' isn't \"b\"", "a\\b\n\x01\t", ""}) {
    const HttpReply reply = refusal_reply(404, message);
    EXPECT_EQ(reply.status, 404);
    EXPECT_EQ(reply.type, "application/json");
    EXPECT_TRUE(reply.body.ends_with("}\n"));
    const nlohmann::json body = nlohmann::json::parse(reply.body, nullptr, false);
    ASSERT_FALSE(body.is_discarded()) << reply.body;
    EXPECT_EQ(body.size(), 1u);
    EXPECT_EQ(body["errors"].size(), 1u);
    EXPECT_EQ(body["errors"][0]["message"], message);
  }
  EXPECT_FALSE(
      nlohmann::json::parse(refusal_reply(400, "\xff").body, nullptr, false).is_discarded());
}

TEST(HttpReply, SaysItsLengthAndKeepsToThePage) {
  const std::string text = reply_text({.body = "{}"}, true, false);
  EXPECT_TRUE(text.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(text.ends_with("\r\n\r\n{}"));
  EXPECT_NE(text.find("Content-Length: 2\r\n"), std::string::npos);
  EXPECT_NE(text.find("Cache-Control: no-store\r\n"), std::string::npos);
  EXPECT_TRUE(reply_text({.body = "{}"}, true, true).ends_with("\r\n\r\n"));
}

}  // namespace
}  // namespace accsim::sim
