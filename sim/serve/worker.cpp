#include "sim/serve/worker.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>

#include "sim/serve/http_message.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
constexpr int kSocket = 3;               // of the process, behind the standard streams
constexpr int kNoMemory = 3, kBug = 70;  // its exit codes, as the program's
constexpr size_t kHead = sizeof(uint64_t);

// A message is its length and that many bytes of CBOR. Both ends are one program.

std::string encode_message(const Json& json) {
  std::string body;
  Json::to_cbor(json, body);
  const uint64_t bytes = body.size();
  std::string out(kHead, '\0');
  std::memcpy(out.data(), &bytes, kHead);
  return out + body;
}

/// The whole message at the front of `bytes`; nothing until all of it is there.
std::optional<Json> read_message(std::string& bytes) {
  uint64_t length = 0;
  if (bytes.size() < kHead) return std::nullopt;
  std::memcpy(&length, bytes.data(), kHead);
  if (bytes.size() - kHead < length) return std::nullopt;
  Json out = Json::from_cbor(std::string_view(bytes).substr(kHead, length));
  bytes.erase(0, kHead + length);
  return out;
}

std::string message_of(const HttpRequest& r) {
  return encode_message({r.method, r.path, r.query, r.headers, r.body});
}

HttpRequest request_of(const Json& json) { return {json[0], json[1], json[2], json[3], json[4]}; }

std::string message_of(const HttpReply& r) {
  return encode_message({r.status, r.type, r.body, r.headers});
}

HttpReply reply_of(const Json& json) { return {json[0], json[1], json[2], json[3]}; }

void send_all(const std::string& text) {
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t n = ::send(kSocket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (n > 0) sent += static_cast<size_t>(n);
    if (n < 0 && errno != EINTR) ::_exit(0);  // who asked has gone
  }
}

HttpRequest next_request(std::string& in) {
  for (;;) {
    if (const auto found = read_message(in)) return request_of(*found);
    std::array<char, 65536> block;
    const ssize_t got = ::recv(kSocket, block.data(), block.size(), 0);
    if (got == 0 || (got < 0 && errno != EINTR)) ::_exit(0);
    if (got > 0) in.append(block.data(), static_cast<size_t>(got));
  }
}

std::string answer_to(const HttpRequest& request, const Worker::Answer& answer) {
  try {
    return message_of(answer(request));
  } catch (const std::bad_alloc&) {
    return message_of(refusal_reply(503, "not enough memory for this request"));
  }
}

/// All that the process does.
[[noreturn]] void run_worker(const Worker::Begin& begin, int socket, const WorkerLimits& limits) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C is for who started it, which ends it
  std::signal(SIGTERM, SIG_DFL);
  // Connections of the server, and what else is open, aren't its own.
  ::dup2(socket, kSocket);
  ::close_range(kSocket + 1, ~0U, 0);
  if (limits.memory > 0) {
    const auto most = static_cast<rlim_t>(limits.memory);
    const rlimit limit{most, most};
    ::setrlimit(RLIMIT_AS, &limit);
  }
  const Worker::Answer answer = begin();
  std::string in;
  for (;;) send_all(answer_to(next_request(in), answer));
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("by signal {}", WTERMSIG(status));
  return fmt::format("with exit code {}", WEXITSTATUS(status));
}

}  // namespace

bool Worker::start_process() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  const pid_t process = ::fork();
  if (process == 0) {
    try {
      run_worker(begin_, ends[1], limits_);
    } catch (const std::bad_alloc&) {
      ::_exit(kNoMemory);
    } catch (const std::exception& e) {
      fmt::print(stderr, "accsim: internal error: {}; this is a bug in accsim\n", e.what());
      ::_exit(kBug);
    }
  }
  ::close(ends[1]);
  if (process < 0) {
    ::close(ends[0]);
    return false;
  }
  process_ = process;
  socket_ = ends[0];
  return true;
}

void Worker::end_process() {
  busy_ = false;
  in_.clear();
  out_.clear();
  if (process_ < 0) return;
  ::kill(process_, SIGKILL);
  reap_process();
}

/// The status of a process that is over, or will be at once. It is forgotten.
int Worker::reap_process() {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(socket_);
  process_ = socket_ = -1;
  return status;
}

HttpReply Worker::ended_reply() {
  const int status = reap_process();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMemory)
    return failure_reply(503, "not enough memory for this request");
  return failure_reply(500,
                       fmt::format("the process that answers ended {}; its last words are where "
                                   "accsim serve was started. Please report it",
                                   how_it_ended(status)));
}

HttpReply Worker::failure_reply(int status, const std::string& message) {
  busy_ = false;
  in_.clear();
  out_.clear();
  return refusal_reply(status, message);
}

void Worker::submit_request(const HttpRequest& request) {
  busy_ = true;
  since_ = Clock::now();
  sent_ = 0;
  out_ = message_of(request);
  if (process_ < 0) start_process();
}

pollfd Worker::poll_target() const {
  if (!busy_) return {-1, 0, 0};
  const auto events = static_cast<short>(sent_ < out_.size() ? POLLIN | POLLOUT : POLLIN);
  return {socket_, events, 0};
}

/// Takes what has come. Is there an end to it?
bool Worker::receive_bytes() {
  for (;;) {
    std::array<char, 65536> block;
    const ssize_t got = ::recv(socket_, block.data(), block.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 || errno != EAGAIN;
    in_.append(block.data(), static_cast<size_t>(got));
  }
}

std::optional<HttpReply> Worker::poll_reply() {
  if (!busy_) return std::nullopt;
  if (process_ < 0) return failure_reply(503, "the system gives no process to answer in");
  while (sent_ < out_.size()) {
    const ssize_t n =
        ::send(socket_, out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n <= 0) break;  // what is wrong is said by what comes
    sent_ += static_cast<size_t>(n);
  }
  const bool over = receive_bytes();
  if (const auto found = read_message(in_)) {
    busy_ = false;
    return reply_of(*found);
  }
  if (over) return ended_reply();
  if (Clock::now() - since_ < limits_.time) return std::nullopt;
  end_process();
  return failure_reply(
      503, fmt::format("took more than {} s, the limit of accsim serve --max-seconds",
                       std::chrono::duration_cast<std::chrono::seconds>(limits_.time).count()));
}

}  // namespace accsim::sim
