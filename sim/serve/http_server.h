#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/result.h"

namespace accsim::sim {

/// What a browser asks. Names of headers are in small letters.
struct HttpRequest {
  std::string method, path, query;  ///< "/t/api/cost", "after=3"; path as sent, never decoded
  std::map<std::string, std::string> headers;
  std::string body;

  /// A header's value; "" when it isn't there.
  std::string_view header(const std::string& name) const;
};

/// What it gets.
struct HttpReply {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};  ///< beside the usual ones
};

/// HTTP/1.1 for the user's own browser: on 127.0.0.1 only, one thread, requests answered one after
/// the other. What it doesn't need it refuses: chunked bodies, folded headers, anything ambiguous.
class HttpServer {
 public:
  /// Says of a request, as soon as its headers are there, what is wrong with it; its body isn't
  /// read then. Nothing: it is welcome.
  using Admit = std::function<std::optional<HttpReply>(const HttpRequest&)>;
  using Answer = std::function<HttpReply(const HttpRequest&)>;

  /// Listens; port 0 takes a free one. Errc::io with the system's reason.
  static Result<HttpServer> listen(uint16_t port);
  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) noexcept;
  ~HttpServer();

  uint16_t port() const { return port_; }
  /// Answers requests whose body has at most `most_body` bytes until `stop` is set; looks at it
  /// four times a second and whenever a signal arrives.
  void serve(const Admit& admit, const Answer& answer, size_t most_body,
             const std::atomic<bool>& stop);

 private:
  struct Connection;
  explicit HttpServer(int socket, uint16_t port);
  bool accept_new();
  void make_room();

  int socket_ = -1;
  uint16_t port_ = 0;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace accsim::sim
