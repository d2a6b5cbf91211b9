#include "sim/html/page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/source.h"

namespace accsim::sim {
namespace {

std::string file(const std::string& name) {
  std::ifstream in(kSource + "/web/dist/" + name, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

size_t times(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

HtmlPage page(const std::string& data) {
  return {.kind = "report", .title = "t", .data = data, .fallback = "<p>none</p>"};
}

TEST(HtmlPageText, AreScriptAndStyleThoseOfTheBundle) {
  const std::string html = html_page(page("{}"));
  EXPECT_EQ(between(html, "<style>\n", "</style>"), file("accsim.css"));
  EXPECT_EQ(between(html, "</script>\n<script>", "</script>"), file("accsim.js"));
  EXPECT_NE(html.find("script-src '" + file("accsim.js.sha256") + "';"), std::string::npos);
}

TEST(HtmlPageText, DoesNothingInTheDataEndItsElement) {
  const std::string name = "</script><script>alert(1)</script><!-- ]]> \" \\ ";
  const std::string data = nlohmann::json{{"name", name}}.dump();
  const std::string html = html_page(page(data));
  const std::string held = between(html, "data-kind=\"report\">", "</script>");
  EXPECT_EQ(nlohmann::json::parse(held).at("name"), name) << "the page reads what was written";
  EXPECT_EQ(held.find('<'), std::string::npos);
  EXPECT_EQ(times(html, "<script"), times(html_page(page("{}")), "<script"));
}

TEST(HtmlPageText, AreTitlesEscaped) {
  HtmlPage p = page("{}");
  p.title = "<b>\"a\" & b";
  const std::string html = html_page(p);
  EXPECT_EQ(html.find("<b>\"a\""), std::string::npos);
  EXPECT_NE(html.find("<title>&lt;b&gt;&quot;a&quot; &amp; b</title>"), std::string::npos);
}

/// Bytes of a file's names that are no UTF-8 are the character for that.
TEST(HtmlPageText, IsUtf8WhateverNamesAre) {
  EXPECT_EQ(html_escape("a\xff<b>\xc3"), "a\xef\xbf\xbd&lt;b&gt;\xef\xbf\xbd");
  EXPECT_EQ(html_escape("gr\xc3\xbc\xc3\x9f\n\t\x01"), "gr\xc3\xbc\xc3\x9f\n\t\x01");
}

TEST(HtmlPageText, DoOnlyLivePagesAskTheirServer) {
  HtmlPage p = page("{}");
  EXPECT_NE(html_page(p).find("default-src 'none'"), std::string::npos);
  EXPECT_NE(html_page(p).find("connect-src 'none'"), std::string::npos);
  p.live = true;
  EXPECT_NE(html_page(p).find("connect-src 'self'"), std::string::npos);
}

}  // namespace
}  // namespace accsim::sim
