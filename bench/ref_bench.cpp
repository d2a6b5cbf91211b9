// Times the reference executor: ref_bench MODEL ROUNDS THREADS [--nodes]. Weights are drawn and
// kept in memory; prints the milliseconds of every round as a JSON list, and with --nodes those of
// every operator type in the last round.

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string_view>

#include "sim/run/run.h"

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

/// 0 of what isn't a number.
int number(const char* text) { return static_cast<int>(std::strtol(text, nullptr, 10)); }

}  // namespace

int main(int argc, char** argv) {
  using namespace accsim::sim;
  if (argc < 4) return fmt::print(stderr, "ref_bench MODEL ROUNDS THREADS [--nodes]\n"), 2;
  RunRequest request;
  request.model = argv[1];
  const auto prepared = prepare_run(request);
  if (!prepared) return fmt::print(stderr, "{}\n", prepared.errors().front().text()), 2;
  const auto loaded = ref::load_weights(prepared->graph, 1);
  if (!loaded) return fmt::print(stderr, "{}\n", loaded.errors().front().text()), 2;
  ref::RunOptions options;
  options.threads = number(argv[3]);
  options.weight_seed = 1;
  options.loaded = &*loaded;
  std::map<std::string, double> by_type;
  Clock::time_point last;
  const bool nodes = argc > 4 && std::string_view(argv[4]) == "--nodes";
  if (nodes)
    options.observe = [&](const ref::NodeRun& run) {
      by_type[run.graph.nodes[static_cast<size_t>(run.node)].op_type] += milliseconds(last);
      last = Clock::now();
      return accsim::ok();
    };
  std::string times;
  const int rounds = number(argv[2]);
  for (int i = 0; i < rounds; ++i) {
    by_type.clear();
    const auto start = last = Clock::now();
    const auto result = ref::run_graph(prepared->graph, prepared->inputs, options);
    if (!result) return fmt::print(stderr, "{}\n", result.errors().front().text()), 2;
    times += fmt::format("{}{:.3f}", i > 0 ? ", " : "", milliseconds(start));
  }
  fmt::print("[{}]\n", times);
  for (const auto& [type, ms] : by_type) fmt::print("{:24} {:8.2f} ms\n", type, ms);
  return 0;
}
