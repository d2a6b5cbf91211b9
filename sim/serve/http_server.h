#pragma once
#include <poll.h>

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

/// What answers requests, one at a time, while its caller does other things.
class Answerer {
 public:
  virtual ~Answerer() = default;
  virtual bool is_busy() const = 0;
  /// Precondition: not is_busy().
  virtual void submit_request(const HttpRequest& request) = 0;
  /// What to wait for until poll_reply() has something to do; a descriptor below 0 when it has
  /// nothing.
  virtual pollfd poll_target() const = 0;
  /// Goes on with the request, without waiting; its answer when it is there.
  virtual std::optional<HttpReply> poll_reply() = 0;
  /// Nobody waits for the answer any more.
  virtual void cancel_request() = 0;
};

/// HTTP/1.1 for the user's own browser: on 127.0.0.1 only, one thread, requests answered one after
/// the other. What it doesn't need it refuses: chunked bodies, folded headers, anything ambiguous.
class HttpServer {
 public:
  /// Says of a request, as soon as its headers are there, what is wrong with it; its body isn't
  /// read then. Nothing: it is welcome.
  using Admit = std::function<std::optional<HttpReply>(const HttpRequest&)>;

  /// Listens; port 0 takes a free one. Errc::io with the system's reason.
  static Result<HttpServer> listen(uint16_t port);
  HttpServer(HttpServer&&) noexcept;
  HttpServer& operator=(HttpServer&&) noexcept;
  ~HttpServer();

  uint16_t port() const { return port_; }
  /// Answers requests whose body has at most `most_body` bytes until `stop` is set; looks at it
  /// four times a second and whenever a signal arrives. What is asked for is cancelled when who
  /// asked closes the connection.
  void serve_requests(const Admit& admit, Answerer& answerer, size_t most_body,
                      const std::atomic<bool>& stop);

 private:
  struct Connection;
  using Connections = std::vector<std::unique_ptr<Connection>>;
  explicit HttpServer(int socket, uint16_t port);
  bool has_room();
  Connections::iterator dispensable_connection();
  bool accept_new();
  void advance_answerer(Answerer& answerer);

  int socket_ = -1;
  uint16_t port_ = 0;
  Connections connections_;
};

}  // namespace accsim::sim
