#pragma once
#include "sim/serve/session.h"
#include "sim/serve/worker.h"

namespace accsim::sim {

/// Answers the page's requests in processes of their own. Models that the page has sent are known
/// to every process, and a page whose first report ends its process comes without a report.
class PageAnswerer final : public Answerer {
 public:
  PageAnswerer(ServeSetup setup, std::string token, uint16_t port, WorkerLimits limits);

  bool is_busy() const override { return worker_.is_busy(); }
  void submit_request(const HttpRequest& request) override;
  pollfd poll_target() const override { return worker_.poll_target(); }
  std::optional<HttpReply> poll_reply() override;
  void cancel_request() override { worker_.cancel_request(); }

 private:
  Worker::Answer begin_session() const;

  ServeSetup setup_;
  std::string token_;
  uint16_t port_;
  HttpRequest asked_;
  std::vector<HttpRequest> uploads_;  ///< that were taken
  Worker worker_;
};

}  // namespace accsim::sim
