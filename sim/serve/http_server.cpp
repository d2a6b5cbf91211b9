#include "sim/serve/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "sim/serve/http_message.h"

namespace accsim::sim {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kIdle = std::chrono::seconds(30);  // then a connection is closed
constexpr auto kLinger = std::chrono::seconds(2);
constexpr int kLook = 250;  // milliseconds between looks at `stop`
constexpr size_t kMostConnections = 64;

Error system_error(std::string_view what) {
  return {Errc::io, fmt::format("{}: {}", what, std::strerror(errno)), "serve"};
}

}  // namespace

/// One browser connection: bytes in, bytes out, and what is awaited.
struct HttpServer::Connection {
  enum class State : uint8_t {
    head,
    body,
    waits,  ///< for its turn
    asked,  ///< for its answer
    reply,
    drain,
    over
  };

  explicit Connection(int fd) : socket(fd) {}
  ~Connection() { ::close(socket); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  bool awaits_answer() const { return state == State::waits || state == State::asked; }
  short awaited_events() const {
    return awaits_answer() ? POLLRDHUP : state == State::reply ? POLLOUT : POLLIN;
  }
  void handle_poll(const pollfd& polled, const Admit& admit, size_t most_body);
  void receive_bytes(const Admit& admit, size_t most_body);
  void take_request(const Admit& admit, size_t most_body);
  bool take_head(const Admit& admit, size_t most_body);
  void send_reply(const HttpReply& reply, bool keep);
  void write_reply();

  int socket;
  State state = State::head;
  std::string in, out;
  size_t sent = 0;
  HttpHead head;
  bool keep = true;
  Clock::time_point since = Clock::now();
};

/// What has happened on it; an answer that it awaits isn't wanted any more when it has ended.
void HttpServer::Connection::handle_poll(const pollfd& polled, const Admit& admit,
                                         size_t most_body) {
  if (polled.revents == 0) return;
  if (awaits_answer())
    state = State::over;
  else if (state == State::reply)
    write_reply();
  else
    receive_bytes(admit, most_body);
}

void HttpServer::Connection::receive_bytes(const Admit& admit, size_t most_body) {
  std::array<char, 65536> block;
  const ssize_t got = ::recv(socket, block.data(), block.size(), 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    state = State::over;
    return;
  }
  if (state == State::drain) return;  // what comes behind a refusal is thrown away
  since = Clock::now();
  in.append(block.data(), static_cast<size_t>(got));
  take_request(admit, most_body);
}

/// The request waits for its turn when all of it is there.
void HttpServer::Connection::take_request(const Admit& admit, size_t most_body) {
  if (state == State::head && !take_head(admit, most_body)) return;
  if (state != State::body || in.size() < head.body_bytes) return;
  head.request.body = in.substr(0, head.body_bytes);
  in.erase(0, head.body_bytes);
  since = Clock::now();
  state = State::waits;
}

/// False while the head isn't there, and when the request was refused by it.
bool HttpServer::Connection::take_head(const Admit& admit, size_t most_body) {
  const size_t end = in.find("\r\n\r\n");
  if (std::min(end, in.size()) > kMostHead)
    return send_reply(refusal_reply(431, "the request's headers are too long"), false), false;
  if (end == std::string::npos) return false;
  int status = 400;
  auto read = parse_head(std::string_view(in).substr(0, end), status);
  if (!read)
    return send_reply(refusal_reply(status, "not a request that is understood"), false), false;
  head = std::move(*read);
  in.erase(0, end + 4);
  if (const auto refused = admit(head.request)) return send_reply(*refused, false), false;
  if (head.body_bytes > most_body)
    return send_reply(refusal_reply(
                          413, fmt::format("{} bytes are more than the {} that --max-upload allows",
                                           head.body_bytes, most_body)),
                      false),
           false;
  if (head.request.header("expect") == "100-continue" && in.size() < head.body_bytes) {
    constexpr std::string_view kGoOn = "HTTP/1.1 100 Continue\r\n\r\n";
    static_cast<void>(::send(socket, kGoOn.data(), kGoOn.size(), MSG_NOSIGNAL));
  }
  state = State::body;
  return true;
}

void HttpServer::Connection::send_reply(const HttpReply& reply, bool keep_alive) {
  out = reply_text(reply, keep_alive, head.request.method == "HEAD");
  sent = 0;
  keep = keep_alive;
  state = State::reply;
  since = Clock::now();
  write_reply();
}

void HttpServer::Connection::write_reply() {
  while (sent < out.size()) {
    const ssize_t n = ::send(socket, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      state = State::over;
      return;
    }
    sent += static_cast<size_t>(n);
    since = Clock::now();
  }
  out.clear();
  state = keep ? State::head : State::drain;
  // A socket closed with bytes unread is reset, and the reply with it.
  if (!keep) ::shutdown(socket, SHUT_WR);
}

HttpServer::HttpServer(int socket, uint16_t port) : socket_(socket), port_(port) {}

HttpServer::HttpServer(HttpServer&& o) noexcept
    : socket_(std::exchange(o.socket_, -1)),
      port_(o.port_),
      connections_(std::move(o.connections_)) {}

HttpServer& HttpServer::operator=(HttpServer&& o) noexcept {
  std::swap(socket_, o.socket_);
  std::swap(port_, o.port_);
  std::swap(connections_, o.connections_);
  return *this;
}

HttpServer::~HttpServer() {
  if (socket_ >= 0) ::close(socket_);
}

Result<HttpServer> HttpServer::listen(uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return system_error("no socket");
  HttpServer out(fd, port);
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd, any, size) != 0 || ::listen(fd, SOMAXCONN) != 0 ||
      ::getsockname(fd, any, &size) != 0)
    return system_error(fmt::format("can't listen on 127.0.0.1:{}", port));
  out.port_ = ntohs(address.sin_port);
  return out;
}

/// Precondition: has_room().
bool HttpServer::accept_new() {
  if (connections_.size() >= kMostConnections) connections_.erase(dispensable_connection());
  const int fd = ::accept4(socket_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) connections_.push_back(std::make_unique<Connection>(fd));
  return fd >= 0 || errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
}

/// The connection that goes when there are too many: of those that were refused, else of those
/// without a request, the one that came or spoke longest ago.
HttpServer::Connections::iterator HttpServer::dispensable_connection() {
  using State = Connection::State;
  const auto rank = [](const std::unique_ptr<Connection>& c) {
    const int kind = c->state == State::drain ? 0 : c->state == State::head ? 1 : 2;
    return std::pair(kind, c->since);
  };
  const auto first = std::ranges::min_element(connections_, {}, rank);
  return first != connections_.end() && rank(*first).first < 2 ? first : connections_.end();
}

bool HttpServer::has_room() {
  return connections_.size() < kMostConnections || dispensable_connection() != connections_.end();
}

/// Sends the answer that has come, and asks for the one that has been waited for the longest.
void HttpServer::advance_answerer(Answerer& answerer) {
  using State = Connection::State;
  const auto in_state = [this](State state) {
    return std::ranges::find_if(connections_, [state](const auto& c) { return c->state == state; });
  };
  if (answerer.is_busy()) {
    const auto asked = in_state(State::asked);
    if (asked == connections_.end()) return answerer.cancel_request();
    if (const auto reply = answerer.poll_reply())
      (*asked)->send_reply(*reply, (*asked)->head.keep_alive);
    else
      return;
  }
  if (in_state(State::waits) == connections_.end()) return;
  Connection& next = **std::ranges::min_element(connections_, {}, [](const auto& c) {
    return c->state == State::waits ? c->since : Clock::time_point::max();
  });
  next.state = State::asked;
  answerer.submit_request(next.head.request);
}

void HttpServer::serve_requests(const Admit& admit, Answerer& answerer, size_t most_body,
                                const std::atomic<bool>& stop) {
  using State = Connection::State;
  bool room = true;  // false for a round after the system had no descriptor for a connection
  while (!stop) {
    std::vector<pollfd> polled;
    for (const auto& c : connections_) polled.push_back({c->socket, c->awaited_events(), 0});
    polled.push_back(answerer.poll_target());
    // Those that wait outside when there are many are let in when others go.
    const bool takes_new = room && has_room();
    if (takes_new) polled.push_back({socket_, POLLIN, 0});
    room = true;
    if (::poll(polled.data(), polled.size(), kLook) < 0) continue;  // a signal: look at `stop`
    const auto now = Clock::now();
    for (size_t i = 0; i < connections_.size() && !stop; ++i) {
      Connection& c = *connections_[i];
      c.handle_poll(polled[i], admit, most_body);
      // The next request may have come behind the last one.
      while (c.state == State::head && !c.in.empty() && c.in.find("\r\n\r\n") != std::string::npos)
        c.take_request(admit, most_body);
      const auto most = c.state == State::drain ? kLinger : kIdle;
      if (!c.awaits_answer() && now - c.since > most) c.state = State::over;
    }
    std::erase_if(connections_, [](const auto& c) { return c->state == State::over; });
    advance_answerer(answerer);
    if (takes_new && polled.back().revents != 0 && has_room()) room = accept_new();
  }
  connections_.clear();
  answerer.cancel_request();
}

}  // namespace accsim::sim
