#include "sim/app/serve_command.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <filesystem>

#include "sim/app/cli.h"
#include "sim/app/interrupt.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/report/format.h"
#include "sim/serve/page_answerer.h"
#include "sim/sweep/store.h"

namespace accsim::sim {
namespace {

void add_errors(const Errors& more, Errors& to) { to.insert(to.end(), more.begin(), more.end()); }

/// 128 random bits as 32 digits.
Result<std::string> random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != std::ssize(bytes))
    return Error{Errc::io, "the system gives no random bytes for the page's token", "serve"};
  std::string out;
  for (const unsigned char b : bytes) out += fmt::format("{:02x}", b);
  return out;
}

}  // namespace

void ServeCommand::add_to(Command& program) {
  sub_ = &program.add_command(
      "serve", "Show the report as a live page with a control for every field of the machine");
  sub_->footer =
      "The page is for this computer alone. docs/serve.md has its requests and answers.\n"
      "Exit codes: 0 ended by Ctrl-C, 2 input that can't be used.";
  sub_->add({{.name = "model",
              .to = &models_,
              .about = "ONNX model files. More can be dropped on the page",
              .kind = ValueKind::read_file},
             {.name = "--hw",
              .to = &hw_,
              .about = "Machine: a description (YAML) or a name, e.g. tpu-v4; default: 64x64",
              .kind = ValueKind::machine}});
  graph_.add_graph_options_to(*sub_);
  graph_.add_attention_to(*sub_);
  graph_.add_programs_to(*sub_);
  mapping_.add_to(*sub_);
  sub_->add(
      {{.name = "--store",
        .to = &store_,
        .about =
            "Store of a sweep. The page shows its points as they come. The store may be made later",
        .kind = ValueKind::awaited_store},
       {.name = "--port",
        .to = &port_,
        .about = "Port on 127.0.0.1; 0: a free one",
        .range = OptionRange{0, 65535},
        .shows_default = true},
       {.name = "--max-upload",
        .to = &most_upload_,
        .about = "Largest model that the page can send",
        .unit = "MiB",
        .range = OptionRange{1, 4096},
        .shows_default = true},
       {.name = "--max-seconds",
        .to = &most_seconds_,
        .about = "Longest time for an answer. Then the page says that it was given up",
        .range = OptionRange{1, 86400},
        .shows_default = true},
       {.name = "--max-memory-mib",
        .to = &most_memory_,
        .about = "Most memory for an answer, MiB of address space",
        .range = OptionRange{64, 1 << 24},
        .shows_default = true}});
}

/// An empty file is a store that a sweep has just begun to make.
bool ServeCommand::store_exists() const {
  std::error_code ec;
  if (store_.empty() || !std::filesystem::exists(store_, ec)) return false;
  return !std::filesystem::is_regular_file(store_, ec) ||
         std::filesystem::file_size(store_, ec) > 0;
}

int ServeCommand::run(const std::string& version) const {
  Errors errors;
  ServeSetup setup;
  setup.version = version;
  setup.store = store_;
  setup.most_upload = static_cast<size_t>(most_upload_) << 20;
  if (const auto hw = load_machine(hw_.empty() ? find_machine("64x64") : hw_))
    setup.hw = *hw;
  else
    add_errors(hw.errors(), errors);
  if (const auto options = mapping_.to_map_options())
    setup.options = *options;
  else
    add_errors(options.errors(), errors);
  if (const auto elaborate = graph_.to_elaborate_options())
    setup.elaborate = *elaborate;
  else
    add_errors(elaborate.errors(), errors);
  if (!errors.empty()) return report_errors(errors);
  auto graphs = load_graphs(models_, setup.elaborate);
  if (!graphs) return report_errors(graphs.errors());
  for (Graph& graph : *graphs) {
    if (const auto lowered = lower(graph); !lowered) add_errors(lowered.errors(), errors);
    const std::string name = std::filesystem::path(graph.file).stem().string();
    setup.models.push_back({std::move(graph), name});
  }
  setup.elaborate.skip_unknown = true;  // they were meant for the models of the command line
  const bool store_is_there = store_exists();
  if (store_is_there)
    if (const auto store = SweepStore::open_for_reading(store_); !store)
      add_errors(store.errors(), errors);
  if (!errors.empty()) return report_errors(errors);

  const auto token = random_token();
  if (!token) return report_errors(token.errors());
  Result<HttpServer> server = HttpServer::listen(static_cast<uint16_t>(port_));
  if (!server) return report_errors(server.errors());
  const size_t most_upload = setup.most_upload;
  const ServeSession session(ServeSetup{}, *token, server->port());  // of admission and address
  PageAnswerer answerer(std::move(setup), *token, server->port(),
                        {std::chrono::seconds(most_seconds_), most_memory_ << 20});
  const InterruptGuard guard;
  std::string text = session.page_address() + "\nCtrl-C ends it\n";
  if (!store_.empty() && !store_is_there)
    text += printable(fmt::format("waits for {}: no such store yet", store_)) + "\n";
  if (const int code = print_out(text); code != kExitOk) return code;
  server->serve_requests([&](const HttpRequest& r) { return session.admit(r); }, answerer,
                         most_upload, InterruptGuard::requested());
  return kExitOk;
}

}  // namespace accsim::sim
