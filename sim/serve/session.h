#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/compare/run_side.h"
#include "sim/cost/cost.h"
#include "sim/serve/http_server.h"
#include "sim/sweep/store.h"

namespace accsim::sim {

/// A network that the page can cost.
struct ServedModel {
  Graph graph;
  std::string name;  ///< for the list of models
};

/// The query of a page that is to come without the report of its first model.
inline constexpr const char* kWithoutReport = "without=report";

/// What `accsim serve` was started with.
struct ServeSetup {
  hw::HwConfig hw;
  std::vector<ServedModel> models;
  std::string store;  ///< a sweep's; "" for none
  std::string version;
  MapOptions options;
  ElaborateOptions elaborate;  ///< of uploaded models; the others were read by them, too
  size_t most_upload = 0;      ///< bytes
};

/// Answers the page's requests: docs/serve.md. Not thread-safe.
class ServeSession {
 public:
  /// `token` and `port` are what every request must show.
  ServeSession(ServeSetup setup, std::string token, uint16_t port);

  /// 403 unless Host is this server, Origin (if any) too, and the path begins with the token; 404
  /// and 405 for paths and methods that aren't answered.
  std::optional<HttpReply> admit(const HttpRequest& request) const;
  /// Precondition: admitted.
  HttpReply answer(const HttpRequest& request);

  /// "http://127.0.0.1:PORT/TOKEN/"
  std::string page_address() const;

 private:
  struct Wanted;  ///< a request to cost, read
  std::string_view route_of(const HttpRequest& request) const;
  HttpReply page_reply(bool with_report);
  HttpReply cost_reply(const HttpRequest& request);
  HttpReply timeline_reply(const HttpRequest& request);
  HttpReply compare_reply(const HttpRequest& request);
  HttpReply upload_reply(const HttpRequest& request);
  HttpReply points_reply(const HttpRequest& request);
  Result<std::shared_ptr<const CostedNetwork>> costed_network(const Wanted& wanted);
  std::string report_data(const Report& report, const MapOptions& options) const;
  std::string command_of(const Report& report, const MapOptions& options) const;
  std::shared_ptr<const RunSide> find_side(const std::string& key);
  std::shared_ptr<const RunSide> remember_side(const std::string& key, const Report& report);

  ServeSetup setup_;
  std::string token_;
  uint16_t port_;
  std::unique_ptr<SweepStore> store_;  ///< open since points were first asked for
  /// What was costed last, by what was asked for.
  std::pair<std::string, std::shared_ptr<const CostedNetwork>> latest_;
  /// Sides asked for lately by what was asked for, the one not asked for the longest first.
  std::deque<std::pair<std::string, std::shared_ptr<const RunSide>>> recent_;
};

}  // namespace accsim::sim
