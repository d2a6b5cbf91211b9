#include "sim/html/page.h"

#include "sim/base/json_text.h"
#include "sim/html/assets.h"

namespace accsim::sim {
namespace {

void append_parts(std::string& out, const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) out += part;
}

/// In JSON '<' stands in strings only. Without it nothing in them ends the element or begins a
/// comment.
std::string script_safe_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

void append_policy(std::string& out, bool live) {
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src '";
  append_parts(out, page_script_hash());
  out += "'; style-src 'unsafe-inline'; img-src data: blob:; connect-src ";
  out += live ? "'self'" : "'none'";
  out += "; base-uri 'none'; form-action 'none'\">\n";
}

}  // namespace

std::string html_escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : utf8_text(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string html_page(const HtmlPage& page) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  append_policy(out, page.live);
  out +=
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"generator\" content=\"accsim\">\n<title>";
  out += html_escape(page.title) + "</title>\n<style>\n";
  append_parts(out, page_style());
  out += "</style>\n</head>\n<body>\n<noscript>\n<h1>" + html_escape(page.title) + "</h1>\n";
  out += page.fallback;
  out += "\n</noscript>\n<div id=\"app\"></div>\n";
  out += "<script type=\"application/json\" id=\"data\" data-kind=\"";
  out += html_escape(page.kind) + "\">" + script_safe_json(page.data) + "</script>\n<script>";
  append_parts(out, page_script());
  out += "</script>\n</body>\n</html>\n";
  return out;
}

std::string plain_page(std::string_view title, const std::string& body) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<meta name=\"generator\" content=\"accsim\">\n<title>";
  out += html_escape(title) + "</title>\n<style>\n";
  append_parts(out, page_style());
  return out + "</style>\n</head>\n<body>\n" + body + "</body>\n</html>\n";
}

}  // namespace accsim::sim
