#pragma once
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/serve/http_server.h"

namespace accsim::sim {

/// What a process may take for one answer.
struct WorkerLimits {
  std::chrono::milliseconds time = std::chrono::minutes(5);
  int64_t memory = 0;  ///< bytes of address space; 0: as the system has it
};

/// Answers requests in a process of its own, one at a time. What ends that process, or takes it too
/// long, is an answer that says so; the next request gets a new process.
class Worker final : public Answerer {
 public:
  /// Answers requests, in the process.
  using Answer = std::function<HttpReply(const HttpRequest&)>;
  /// Makes what answers, in a new process, which knows all that this one knew then.
  using Begin = std::function<Answer()>;

  Worker(Begin begin, WorkerLimits limits) : begin_(std::move(begin)), limits_(limits) {}
  /// Ends the process.
  ~Worker() override { end_process(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  bool is_busy() const override { return busy_; }
  void submit_request(const HttpRequest& request) override;
  pollfd poll_target() const override;
  std::optional<HttpReply> poll_reply() override;
  void cancel_request() override { end_process(); }

 private:
  bool start_process();
  bool receive_bytes();
  void end_process();
  int reap_process();
  HttpReply ended_reply();
  HttpReply failure_reply(int status, const std::string& message);

  Begin begin_;
  WorkerLimits limits_;
  pid_t process_ = -1;
  int socket_ = -1;
  bool busy_ = false;
  std::string out_, in_;  ///< messages on their ways
  size_t sent_ = 0;
  std::chrono::steady_clock::time_point since_;
};

}  // namespace accsim::sim
