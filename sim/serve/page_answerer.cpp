#include "sim/serve/page_answerer.h"

namespace accsim::sim {

PageAnswerer::PageAnswerer(ServeSetup setup, std::string token, uint16_t port, WorkerLimits limits)
    : setup_(std::move(setup)),
      token_(std::move(token)),
      port_(port),
      worker_([this] { return begin_session(); }, limits) {}

/// In a new process, whose memory is a copy of this one's.
Worker::Answer PageAnswerer::begin_session() const {
  const auto session = std::make_shared<ServeSession>(setup_, token_, port_);
  for (const HttpRequest& upload : uploads_) static_cast<void>(session->answer(upload));
  return [session](const HttpRequest& request) { return session->answer(request); };
}

void PageAnswerer::submit_request(const HttpRequest& request) {
  asked_ = request;
  worker_.submit_request(request);
}

std::optional<HttpReply> PageAnswerer::poll_reply() {
  std::optional<HttpReply> reply = worker_.poll_reply();
  if (!reply) return reply;
  const bool upload = asked_.method == "POST" && asked_.path == "/" + token_ + "/api/models";
  if (upload && reply->status == 200) uploads_.push_back(std::move(asked_));
  if (reply->status >= 500 && asked_.path == "/" + token_ + "/" && asked_.query != kWithoutReport) {
    asked_.query = kWithoutReport;
    worker_.submit_request(asked_);
    return std::nullopt;
  }
  return reply;
}

}  // namespace accsim::sim
