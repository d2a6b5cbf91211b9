#pragma once
#include "sim/serve/session.h"
#include "sim/serve/worker.h"

namespace accsim::sim {

/// Answers the page's requests in processes of their own. Models that the page has sent are known
/// to every process, and a page whose first report ends its process comes without a report.
class PageAnswerer final : public Answerer {
 public:
  PageAnswerer(ServeSetup setup, std::string token, uint16_t port, WorkerLimits limits);

  bool busy() const override { return worker_.busy(); }
  void ask(const HttpRequest& request) override;
  pollfd awaited() const override { return worker_.awaited(); }
  std::optional<HttpReply> look() override;
  void cancel() override { worker_.cancel(); }

 private:
  Worker::Answer begin() const;

  ServeSetup setup_;
  std::string token_;
  uint16_t port_;
  HttpRequest asked_;
  std::vector<HttpRequest> uploads_;  ///< that were taken
  Worker worker_;
};

}  // namespace accsim::sim
