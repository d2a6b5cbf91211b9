// Costs of a few networks on a few machines, as a file that is checked in with the version of the
// cost model that gave them. They are nobody's truth: other tests say whether costs are right, this
// one only sees them change, so that the version is raised.
//
//   cost_fingerprint --check FILE    compares
//   cost_fingerprint --write FILE    writes; refuses other costs under the version that FILE has
//
// Exit code 1 and what to do when FILE isn't what this version costs.

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "hw/area/area.h"
#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/cost/cost_model_version.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

struct Case {
  const char *model, *machine;
  MapEffort effort = MapEffort::rule;
  Objective objective = Objective::cycles;
  std::vector<hw::Dataflow> dataflows = {};  ///< of them the best; none: the machine's
};

constexpr auto kWeights = hw::Dataflow::weight_stationary;
constexpr auto kInputs = hw::Dataflow::input_stationary;
constexpr auto kOutputs = hw::Dataflow::output_stationary;

/// Small networks; both efforts, every dataflow, ideal and banked DRAM, integers and floats, with
/// and without shared memory, every objective.
const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"squeezenet1_1_op13", "64x64"},
      {"squeezenet1_1_op13", "64x64", MapEffort::search},
      {"squeezenet1_1_op13", "16x16", MapEffort::search, Objective::energy},
      {"squeezenet1_1_op13", "64x64-ddr4"},
      {"squeezenet1_1_op13", "64x64-hbm-banked"},
      {"squeezenet1_1_op13", "128x128"},
      {"squeezenet1_1_op13", "8x8", MapEffort::rule, Objective::cycles, {kWeights}},
      {"squeezenet1_1_op13", "8x8", MapEffort::rule, Objective::cycles, {kInputs}},
      {"squeezenet1_1_op13", "8x8", MapEffort::rule, Objective::cycles, {kOutputs}},
      {"mobilenet_v2_op13", "64x64-starved", MapEffort::rule, Objective::edp},
      {"mobilenet_v2_op13", "64x64-hbm"},
      {"llama_tiny2_prefill64_op17", "64x64", MapEffort::search, Objective::traffic},
      {"llama_tiny2_prefill64_op17", "64x64-ddr4", MapEffort::search},
      {"llama_tiny2_prefill64_op17", "128x128"},
  };
  return kCases;
}

/// FNV-1a over the layers' costs: names a set of costs, no more.
class Hash {
 public:
  void add(const std::string& text) {
    for (const char c : text) value_ = (value_ ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 14695981039346656037ull;
};

std::string text(const Costs& c) {
  std::string out =
      fmt::format("{} {} {} {} {} {} {} {} {}", c.cycles, c.compute_cycles, c.tail_cycles, c.macs,
                  c.array_macs, c.dram_read, c.dram_write, c.shared_read, c.shared_write);
  for (const int64_t n : c.stalls) out += fmt::format(" {}", n);
  for (const int64_t n : c.buffer_read) out += fmt::format(" {}", n);
  for (const int64_t n : c.buffer_write) out += fmt::format(" {}", n);
  return out + fmt::format(" {:.9g}\n", c.energy.total_pj());
}

struct Fingerprints {
  std::vector<std::string> lines;
  std::set<Fate> fates;
};

Result<Fingerprints> fingerprints() {
  Fingerprints out;
  for (const Case& c : cases()) {
    const auto machine = hw::load_hw(kSource + "/configs/" + c.machine + ".yaml");
    if (!machine) return machine.errors();
    const auto graph = load_graph(kSource + "/models/" + c.model + ".onnx", {});
    if (!graph) return graph.errors();
    MapOptions options;
    options.effort = c.effort;
    options.objective = c.objective;
    options.dataflows = c.dataflows;
    const auto network = cost_network(*graph, *machine, options);
    if (!network) return network.errors();
    Hash layers;
    for (const LayerReport& l : network->report.layers) {
      layers.add(text(l.costs));
      out.fates.insert(l.fate);
    }
    const Costs& all = network->report.totals;
    out.lines.push_back(fmt::format(
        "{} on {}, {}: {} cycles, {:.9g} pJ, layers {:016x}; {:.9g} mm2, {} bytes of SRAM", c.model,
        c.machine, network->report.objective, all.cycles, all.energy.total_pj(), layers.value(),
        hw::area_mm2(*machine), hw::sram_bytes(*machine)));
  }
  return out;
}

/// What FILE says: the version in its first line, -1 without one, and the lines behind it.
struct Known {
  int version = -1;
  std::vector<std::string> lines;
};

Known read(const std::string& path) {
  Known out;
  std::ifstream in(path);
  std::string line;
  constexpr std::string_view kHead = "cost model ";
  if (std::getline(in, line) && line.starts_with(kHead))
    std::from_chars(line.data() + kHead.size(), line.data() + line.size(), out.version);
  while (std::getline(in, line)) out.lines.push_back(line);
  return out;
}

int fail(const std::string& text) {
  fmt::print(stderr, "cost_fingerprint: {}\n", text);
  return 1;
}

std::string differences(const Known& known, const Fingerprints& now) {
  std::string out;
  for (size_t i = 0; i < std::max(known.lines.size(), now.lines.size()); ++i) {
    const std::string was = i < known.lines.size() ? known.lines[i] : "(nothing)";
    const std::string is = i < now.lines.size() ? now.lines[i] : "(nothing)";
    if (was != is) out += fmt::format("\n  was {}\n  is  {}", was, is);
  }
  return out;
}

int main_with(const std::string& what, const std::string& path) {
  const auto now = fingerprints();
  if (!now) return fail(now.errors().front().text());
  for (const Fate fate : {Fate::gemm, Fate::vector, Fate::memory, Fate::view, Fate::folded})
    if (!now->fates.contains(fate))
      return fail(fmt::format("no layer of the networks has the fate {}", name(fate)));
  const Known known = read(path);
  const bool same = known.lines == now->lines;
  if (known.version > kCostModelVersion)
    return fail(fmt::format("{} is of cost model {}, newer than {}", path, known.version,
                            kCostModelVersion));
  if (!same && known.version == kCostModelVersion)
    return fail(
        fmt::format("the costs aren't those of cost model {} any more. When they shouldn't "
                    "have changed, find out why they did. When they should: raise "
                    "kCostModelVersion in sim/cost/cost_model_version.h, build, and run "
                    "cost_fingerprint --write {}{}",
                    kCostModelVersion, path, differences(known, *now)));
  if (what == "--write") {
    std::ofstream file(path);
    file << "cost model " << kCostModelVersion << "\n";
    for (const std::string& line : now->lines) file << line << "\n";
    return file.flush() ? 0 : fail("can't write " + path);
  }
  if (known.version == kCostModelVersion) return 0;
  return fail(fmt::format("{} is of cost model {}, this is {}: run cost_fingerprint --write {}",
                          path, known.version, kCostModelVersion, path));
}

}  // namespace
}  // namespace accsim::sim

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  if (what == "--check" || what == "--write") return accsim::sim::main_with(what, argv[2]);
  std::fputs("usage: cost_fingerprint --check|--write FILE\n", stderr);
  return 2;
}
