#include "sim/serve/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/json_text.h"
#include "sim/base/parse_number.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;

std::string small_letters(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::string_view trim_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Printable ASCII without blanks.
bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

bool parse_line(std::string_view line, HttpRequest& out, int& status) {
  const size_t first = line.find(' '), last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return false;
  const std::string_view method = line.substr(0, first);
  const std::string_view target = line.substr(first + 1, last - first - 1);
  if (!is_word(method) || !is_word(target) || !target.starts_with('/')) return false;
  if (const std::string_view version = line.substr(last + 1); version != "HTTP/1.1") {
    if (version.starts_with("HTTP/")) status = 505;
    return false;
  }
  const size_t question = target.find('?');
  out.method = method;
  out.path = target.substr(0, question);
  if (question != std::string_view::npos) out.query = target.substr(question + 1);
  return true;
}

bool parse_header(std::string_view line, HttpRequest& out) {
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_word(line.substr(0, colon))) return false;
  const std::string_view value = trim_blanks(line.substr(colon + 1));
  const bool plain = std::ranges::all_of(
      value, [](char c) { return c == '\t' || static_cast<unsigned char>(c) >= ' '; });
  const auto [at, fresh] = out.headers.try_emplace(small_letters(line.substr(0, colon)), value);
  // Those that are looked at must not be there twice.
  constexpr std::string_view kOnce[] = {"host", "origin", "content-length", "transfer-encoding"};
  return plain && (fresh || std::ranges::find(kOnce, at->first) == std::end(kOnce));
}

std::string_view reason_of(int status) {
  constexpr std::pair<int, std::string_view> kReasons[] = {{200, "OK"},
                                                           {400, "Bad Request"},
                                                           {403, "Forbidden"},
                                                           {404, "Not Found"},
                                                           {405, "Method Not Allowed"},
                                                           {411, "Length Required"},
                                                           {413, "Payload Too Large"},
                                                           {422, "Unprocessable Content"},
                                                           {431, "Request Header Fields Too Large"},
                                                           {505, "HTTP Version Not Supported"}};
  for (const auto& [code, reason] : kReasons)
    if (code == status) return reason;
  return "Error";
}

}  // namespace

std::string_view HttpRequest::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string_view() : std::string_view(found->second);
}

std::optional<HttpHead> parse_head(std::string_view text, int& status) {
  HttpHead out;
  status = 400;
  for (bool first = true; first || !text.empty(); first = false) {
    const size_t end = text.find("\r\n");
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 2);
    const bool good =
        first ? parse_line(line, out.request, status) : parse_header(line, out.request);
    if (!good) return std::nullopt;
  }
  const HttpRequest& r = out.request;
  if (r.header("host").empty()) return std::nullopt;
  if (!r.header("transfer-encoding").empty()) return status = 411, std::nullopt;
  if (const std::string_view length = r.header("content-length"); !length.empty()) {
    const auto bytes = parse_number<size_t>(length);
    if (!bytes) return std::nullopt;
    out.body_bytes = *bytes;
  } else if (r.method == "POST") {
    return status = 411, std::nullopt;
  }
  out.keep_alive = small_letters(r.header("connection")) != "close";
  return out;
}

std::string reply_text(const HttpReply& reply, bool keep_alive, bool head_only) {
  std::string out = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: {}\r\n"
      "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: "
      "no-referrer\r\nX-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\n",
      reply.status, reason_of(reply.status), reply.type, reply.body.size(),
      keep_alive ? "keep-alive" : "close");
  for (const auto& [name, value] : reply.headers) out += fmt::format("{}: {}\r\n", name, value);
  out += "\r\n";
  return head_only ? out : out + reply.body;
}

HttpReply refusal_reply(int status, std::string_view message) {
  Json error;
  error["message"] = message;
  Json body;
  body["errors"].push_back(std::move(error));
  return {.status = status, .body = json_text(body) + "\n"};
}

}  // namespace accsim::sim
