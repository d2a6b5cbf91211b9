#include "sim/serve/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "hw/config/fields.h"
#include "hw/config/load.h"
#include "hw/config/machine_edits.h"
#include "sim/base/json_text.h"
#include "sim/base/shell_word.h"
#include "sim/compare/compare_text.h"
#include "sim/cost/costing_options.h"
#include "sim/cost/load_graph.h"
#include "sim/cost/timeline.h"
#include "sim/html/page.h"
#include "sim/report/format.h"
#include "sim/report/html.h"
#include "sim/report/read_json.h"
#include "sim/serve/field_list.h"
#include "sim/serve/http_message.h"
#include "sim/serve/upload.h"
#include "sim/sweep/field_setting.h"
#include "sim/sweep/show_data.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kRecent = 16;                 // sides remembered
constexpr size_t kMostModels = 64;             // uploads and all
constexpr size_t kMostBody = size_t{1} << 20;  // of what isn't a model

using Clock = std::chrono::steady_clock;
// A change of a field that comes meanwhile waits so long, and for one layer.
constexpr auto kTimelineTime = std::chrono::milliseconds(8);

/// The body as JSON; null where it is none.
Json body_of(const HttpRequest& request) {
  Result<Json> json = read_json(request.body, "the body");
  return json ? std::move(*json) : Json();
}

HttpReply reply_json(const Json& json) { return {.body = json_text(json) + "\n"}; }

/// Says how long the answer took since `begin`.
void add_timing(HttpReply& reply, const char* what, Clock::time_point begin) {
  const std::chrono::duration<double, std::milli> took = Clock::now() - begin;
  reply.headers.emplace_back("Server-Timing", fmt::format("{};dur={:.3f}", what, took.count()));
}

HttpReply error_reply(int status, const Json& errors) {
  return {.status = status, .body = json_text({{"errors", errors}}) + "\n"};
}

Json errors_json(const Errors& errors) {
  Json out = Json::array();
  for (const Error& e : errors) out.push_back({{"message", e.text()}});
  return out;
}

Json models_json(const std::vector<ServedModel>& models) {
  Json out = Json::array();
  for (size_t i = 0; i < models.size(); ++i)
    out.push_back({{"index", i},
                   {"name", models[i].name},
                   {"file", models[i].graph.file},
                   {"nodes", models[i].graph.nodes.size()}});
  return out;
}

hw::FieldText field_text(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) return {};
  std::vector<std::string> words;
  for (const Json& word : value) words.push_back(word.is_string() ? word.get<std::string>() : "");
  return words;
}

/// Without a difference in time that tells how much was right.
bool same_secret(std::string_view given, std::string_view secret) {
  unsigned differs = given.size() != secret.size();
  for (size_t i = 0; i < secret.size(); ++i)
    differs |= static_cast<unsigned>(secret[i] ^ (i < given.size() ? given[i] : 0));
  return differs == 0;
}

struct Route {
  std::string_view method, path;
};

/// Refuses what is too long for anything but a model.
std::optional<HttpReply> admit_body(const Route& route, const HttpRequest& request) {
  const std::string_view length = request.header("content-length");
  size_t bytes = 0;
  std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (bytes <= kMostBody || route.path == "api/models") return std::nullopt;
  return refusal_reply(413, fmt::format("{} bytes are more than the {} that are read of a request",
                                        bytes, kMostBody));
}

constexpr Route kRoutes[] = {{"GET", ""},
                             {"GET", "api/fields"},
                             {"GET", "api/models"},
                             {"GET", "api/points"},
                             {"POST", "api/models"},
                             {"POST", "api/cost"},
                             {"POST", "api/timeline"},
                             {"POST", "api/compare"}};

}  // namespace

/// What a request wants costed, or what is wrong with it.
struct ServeSession::Wanted {
  size_t model = 0;
  hw::HwConfig hw;
  MapOptions options;
  Json errors = Json::array();
  int status = 200;

  /// Equal for requests of equal reports.
  std::string cache_key() const {
    return fmt::format("{} {} {} {}", model, name(options.objective),
                       options.effort == MapEffort::rule, hw::print_hw(hw));
  }
  void add_error(int code, const std::string& message) {
    status = code;
    errors.push_back({{"message", message}});
  }

  static Wanted parse_body(const Json& body, const ServeSetup& setup) {
    Wanted out{.hw = setup.hw, .options = setup.options};
    if (!body.is_object()) return out.add_error(400, "the body is no JSON object"), out;
    for (const auto& [key, value] : body.items()) {
      if (key == "model") {
        if (value.is_number_unsigned() && value < setup.models.size())
          out.model = value.get<size_t>();
        else
          out.add_error(422, "model: no model has this index");
      } else if (const CostingOption* option = find_option(key, kPageKeys)) {
        out.set_option(*option, value);
      } else if (key == "machine" && value.is_object()) {
        out.set_machine(value, setup.hw);
      } else {
        out.add_error(
            400, key == "machine" ? "machine: is no JSON object" : "unknown key '" + key + "'");
      }
    }
    if (out.model >= setup.models.size() && out.errors.empty())
      out.add_error(422, "there is no model yet: drop an ONNX file on the page");
    return out;
  }

  void set_option(const CostingOption& option, const Json& value) {
    CostingOptions costing{{}, options};
    const std::string word = value.is_string() ? value.get<std::string>() : value.dump();
    for (const Error& e : take_option(option, {word}, costing))
      add_error(422, fmt::format("{}: {}", option.key(), e.message));
    options = std::move(costing.map);
  }

  void set_machine(const Json& value, const hw::HwConfig& base) {
    if (value.size() > hw::fields().size())
      return add_error(422, "machine: has more members than a machine has fields");
    hw::MachineEdits edits;
    for (const auto& [path, edit] : value.items()) edits.emplace_back(path, field_text(edit));
    hw::EditedMachine edited = edit_machine(base, edits);
    hw = std::move(edited.hw);
    for (const hw::FieldError& e : edited.errors) {
      status = 422;
      Json error = {{"message", e.message}};
      if (!e.path.empty()) error["field"] = e.path;
      errors.push_back(std::move(error));
    }
  }
};

ServeSession::ServeSession(ServeSetup setup, std::string token, uint16_t port)
    : setup_(std::move(setup)), token_(std::move(token)), port_(port) {}

std::string ServeSession::page_address() const {
  return fmt::format("http://127.0.0.1:{}/{}/", port_, token_);
}

/// The path behind the token.
std::string_view ServeSession::route_of(const HttpRequest& request) const {
  return std::string_view(request.path).substr(token_.size() + 2);
}

std::optional<HttpReply> ServeSession::admit(const HttpRequest& request) const {
  const std::string here[] = {fmt::format("127.0.0.1:{}", port_),
                              fmt::format("localhost:{}", port_)};
  // Browsers leave out the port that they take for granted.
  const auto is_here = [&](std::string_view host) {
    return host == here[0] || host == here[1] ||
           (port_ == 80 && (host == "127.0.0.1" || host == "localhost"));
  };
  if (!is_here(request.header("host"))) return refusal_reply(403, "Host is not this server");
  if (std::string_view origin = request.header("origin"); request.headers.contains("origin")) {
    if (!origin.starts_with("http://") || !is_here(origin.substr(7)))
      return refusal_reply(403, "Origin is not this server");
  }
  const std::string_view path = request.path;
  const size_t end = path.find('/', 1);
  if (end == std::string_view::npos || !same_secret(path.substr(1, end - 1), token_))
    return refusal_reply(403, "the address lacks the token that accsim serve printed");
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  bool known = false;
  for (const Route& r : kRoutes) {
    if (r.path != path.substr(end + 1)) continue;
    if (r.method == method) return admit_body(r, request);
    known = true;
  }
  return known ? refusal_reply(405, "this path has no such method")
               : refusal_reply(404, "no such path");
}

HttpReply ServeSession::answer(const HttpRequest& request) {
  const std::string_view path = route_of(request);
  if (path.empty()) return page_reply(request.query != kWithoutReport);
  if (path == "api/fields") return reply_json(field_list(setup_.hw));
  if (path == "api/points") return points_reply(request);
  if (path == "api/cost") return cost_reply(request);
  if (path == "api/timeline") return timeline_reply(request);
  if (path == "api/compare") return compare_reply(request);
  if (request.method == "POST") return upload_reply(request);
  return reply_json({{"models", models_json(setup_.models)}});
}

/// What was asked for last is kept: the page asks for its timeline next.
Result<std::shared_ptr<const CostedNetwork>> ServeSession::costed_network(const Wanted& wanted) {
  std::string key = wanted.cache_key();
  if (latest_.second && latest_.first == key) return latest_.second;
  latest_ = {};  // never two at a time
  auto costed = cost_network(setup_.models[wanted.model].graph, wanted.hw, wanted.options,
                             setup_.elaborate.limits.programs);
  if (!costed) return costed.errors();
  latest_ = {std::move(key), std::make_shared<const CostedNetwork>(std::move(*costed))};
  return latest_.second;
}

/// What makes the same report, of the machine saved as machine.yaml.
std::string ServeSession::command_of(const Report& report, const MapOptions& options) const {
  std::string out = "accsim --hw machine.yaml " + shell_word(report.model_file);
  CostingOptions of{setup_.elaborate, options};
  if (!check_together(of).empty()) of.map.slack = kDefaultSlack;  // nothing is left to it
  for (const CostingOption& option : costing_options())
    for (const std::string& word : option_words(option, of))
      out += " " + option.option + (option.is_flag() ? "" : " " + shell_word(word));
  return out;
}

std::string ServeSession::report_data(const Report& report, const MapOptions& options) const {
  HtmlContext context;
  context.command = command_of(report, options);
  context.version = setup_.version;
  context.machine = hw::print_hw(report.hw);
  return page_data(report, context);
}

HttpReply ServeSession::page_reply(bool with_report) {
  const Json fields = field_list(setup_.hw);
  const Json data = {{"kind", "serve"},
                     {"version", setup_.version},
                     {"fields", fields["fields"]},
                     {"sections", fields["sections"]},
                     {"models", models_json(setup_.models)},
                     {"objectives", find_option("objective", kPageKeys)->choices},
                     {"objective", name(setup_.options.objective)},
                     {"efforts", find_option("effort", kPageKeys)->choices},
                     {"effort", setup_.options.effort == MapEffort::rule ? "rule" : "search"},
                     {"store", !setup_.store.empty()},
                     {"max_upload", setup_.most_upload}};
  std::string first = "null";
  if (!setup_.models.empty() && with_report)
    if (const auto costed = costed_network({.hw = setup_.hw, .options = setup_.options}))
      first = report_data((*costed)->report, setup_.options);
  std::string text = json_text(data);
  text.pop_back();  // the closing brace
  return {.type = "text/html; charset=utf-8",
          .body = html_page({.kind = "serve",
                             .title = "accsim serve",
                             .data = text + ",\"report\":" + first + "}",
                             .fallback = "<p>This page needs a browser that runs scripts.</p>",
                             .live = true})};
}

HttpReply ServeSession::cost_reply(const HttpRequest& request) {
  const auto begin = Clock::now();
  const Wanted wanted = Wanted::parse_body(body_of(request), setup_);
  if (!wanted.errors.empty()) return error_reply(wanted.status, wanted.errors);
  const auto costed = costed_network(wanted);
  if (!costed) return error_reply(422, errors_json(costed.errors()));
  const Report& report = (*costed)->report;
  if (const std::string key = wanted.cache_key(); !find_side(key)) remember_side(key, report);
  HttpReply out{.body = report_data(report, wanted.options)};
  add_timing(out, "cost", begin);
  return out;
}

/// As many layers as fit in a short time, so that changes of fields come in between and the rest is
/// never made when the page no longer asks for it.
HttpReply ServeSession::timeline_reply(const HttpRequest& request) {
  const auto begin = Clock::now();
  const Json body = body_of(request);
  if (!body.is_object() || !body.contains("of") || body.size() != 1 + body.count("from"))
    return refusal_reply(400, "the body is no JSON object with of and, perhaps, from");
  const Json from = body.value("from", Json(0U));
  if (!from.is_number_unsigned()) return refusal_reply(400, "from: is no whole number");
  const Wanted wanted = Wanted::parse_body(body.at("of"), setup_);
  if (!wanted.errors.empty()) return error_reply(wanted.status, wanted.errors);
  const auto costed = costed_network(wanted);
  if (!costed) return error_reply(422, errors_json(costed.errors()));
  const auto first = from.get<size_t>();
  if (first > 0 && first >= (*costed)->mappings.size())
    return refusal_reply(422, "from: the network has fewer layers");
  const TimelinePart part = timeline_part(**costed, kPageSlices, first,
                                          [&] { return Clock::now() - begin >= kTimelineTime; });
  HttpReply out{.body =
                    fmt::format("{{\"timeline\":{},\"next\":{}}}", to_timeline_json(part.layers),
                                part.next ? std::to_string(*part.next) : "null")};
  add_timing(out, "timeline", begin);
  return out;
}

/// The side that this key was remembered with, which is now the latest asked for.
std::shared_ptr<const RunSide> ServeSession::find_side(const std::string& key) {
  const auto found = std::ranges::find_if(recent_, [&](const auto& r) { return r.first == key; });
  if (found == recent_.end()) return nullptr;
  std::rotate(found, found + 1, recent_.end());
  return recent_.back().second;
}

std::shared_ptr<const RunSide> ServeSession::remember_side(const std::string& key,
                                                           const Report& report) {
  recent_.emplace_back(key, std::make_shared<const RunSide>(run_side(report)));
  if (recent_.size() > kRecent) recent_.pop_front();
  return recent_.back().second;
}

HttpReply ServeSession::compare_reply(const HttpRequest& request) {
  const Json body = body_of(request);
  if (!body.is_object() || !body.contains("a") || !body.contains("b"))
    return refusal_reply(400, "the body is no JSON object with a and b");
  std::vector<std::shared_ptr<const RunSide>> sides;
  for (const char* side : {"a", "b"}) {
    const auto with_side = [&](Json errors) {
      for (Json& e : errors) e["side"] = side;
      return errors;
    };
    const Wanted wanted = Wanted::parse_body(body.at(side), setup_);
    if (!wanted.errors.empty()) return error_reply(wanted.status, with_side(wanted.errors));
    const std::string key = wanted.cache_key();
    sides.push_back(find_side(key));
    if (sides.back()) continue;
    const auto costed = costed_network(wanted);
    if (!costed) return error_reply(422, with_side(errors_json(costed.errors())));
    sides.back() = remember_side(key, (*costed)->report);
  }
  return {.body = to_json(std::vector<Comparison>{compare_runs(*sides[0], *sides[1])})};
}

HttpReply ServeSession::upload_reply(const HttpRequest& request) {
  if (setup_.models.size() >= kMostModels)
    return refusal_reply(422, "there are 64 models already; start accsim serve anew");
  const std::string name = upload_name(request.header("x-accsim-name"));
  auto bytes = std::make_shared<const std::string>(request.body);
  Result<Graph> graph = load_graph(std::move(bytes), name, setup_.elaborate);
  if (!graph) return error_reply(422, errors_json(graph.errors()));
  if (const auto lowered = lower(*graph); !lowered)
    return error_reply(422, errors_json(lowered.errors()));
  setup_.models.push_back({std::move(*graph), name});
  return reply_json(models_json(setup_.models).back());
}

HttpReply ServeSession::points_reply(const HttpRequest& request) {
  if (setup_.store.empty())
    return refusal_reply(404, "no store was named: accsim serve --store FILE");
  if (!store_) {  // it is checked when it is opened, which takes a while
    auto opened = SweepStore::open_for_reading(setup_.store);
    if (!opened)  // its sweep may not have begun, or may be making it
      return reply_json({{"stored", 0}, {"waiting", opened.errors().front().text()}});
    store_ = std::move(*opened);
  }
  const auto stored = store_->stored_count();
  if (!stored) return error_reply(422, errors_json(stored.errors()));
  if (request.query == fmt::format("stored={}", *stored)) return reply_json({{"stored", *stored}});
  const auto view = TableView::read_store(*store_, "");
  if (!view) return error_reply(422, errors_json(view.errors()));
  const auto columns = parse_columns("", *view);
  if (!columns) return error_reply(422, errors_json(columns.errors()));
  return {.body = show_json(*view, store_->meta(), {}, *columns)};
}

}  // namespace accsim::sim
