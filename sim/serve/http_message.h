#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "sim/serve/http_server.h"

namespace accsim::sim {

/// Most bytes of a request's line and headers.
inline constexpr size_t kMostHead = 16384;

/// A request's line and headers, read.
struct HttpHead {
  HttpRequest request;    ///< without the body
  size_t body_bytes = 0;  ///< as Content-Length says
  bool keep_alive = true;
};

/// Reads the text before the empty line. On failure returns the status to answer with: 400 for text
/// that isn't HTTP/1.1 or can be read in two ways (doubled Host or Content-Length, folded headers),
/// 411 for bodies of unknown length, 505 for other versions.
std::optional<HttpHead> parse_head(std::string_view text, int& status);

/// A reply as it goes over the line, without its body for HEAD.
std::string reply_text(const HttpReply& reply, bool keep_alive, bool head_only);

/// A reply of one line of JSON: {"errors": [{"message": ...}]}.
HttpReply refusal_reply(int status, std::string_view message);

}  // namespace accsim::sim
