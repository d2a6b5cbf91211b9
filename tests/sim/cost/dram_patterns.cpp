// What the DRAM transfers of networks take on a machine with a banked DRAM, layer by layer: what
// hw::DramCosts charges, beside the stepped controller that is given the very bursts of each walk.
//
//   dram_patterns MACHINE MODEL...      MACHINE is one of configs/
//
// A line a layer with transfers: their bursts, then charged / stepped time of the reads alone, of
// the writes alone, and of both on one bus: charged, their bus time and the turns between the
// controller's batches, or what one of them takes alone if that is more; the stepped cycles of
// both, and the layer. The controllers get a
// direction's bursts in the order of the program, each behind a full queue waiting for it, and a
// layer again until kLeast bursts a channel have gone: refreshes come on average then as often as
// they do in a network. Layers of fewer bursts than 512 a channel, mostly latency, are left out of
// the sums. Padded loads aren't walked. Tensors lie as hw/dram/cost.h takes them to: from the first
// bank on, those that are written from the one in the middle.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <vector>

#include "hw/config/load.h"
#include "hw/dram/controller.h"
#include "hw/dram/cost.h"
#include "hw/program/contract.h"
#include "sim/cost/cost.h"
#include "tests/hw/dram/two_lanes.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using test::Burst;

/// The bursts that a program moves, in the order of its text, and what they are charged.
class Traffic {
 public:
  Traffic(const hw::HwConfig& hw, hw::DramCosts& costs, const hw::Program& program)
      : hw_(hw),
        costs_(costs),
        program_(program),
        indices_(static_cast<size_t>(program.loops)),
        burst_(hw::dram_system(hw).device.burst_bytes()) {
    const hw::DramSystem system = hw::dram_system(hw);
    const int64_t banks = system.device.row_bytes * system.channels * system.device.all_banks();
    std::vector<bool> written(program.tensors.size());
    find_written(program.body, written);
    int64_t next = 0;
    for (size_t i = 0; i < program.tensors.size(); ++i) {
      base_.push_back(next + (written[i] ? banks / 2 : 0));
      next += (ceil_div(program.tensors[i].bytes, banks) + 1) * banks;
    }
    body(program.body);
  }

  std::vector<Burst> bursts;
  double bus[2] = {0, 0};    ///< cycles of the bus, reads and writes
  double alone[2] = {0, 0};  ///< cycles that they take without the others

 private:
  static void find_written(const std::vector<hw::Item>& items, std::vector<bool>& written) {
    for (const hw::Item& item : items) {
      if (const auto* loop = std::get_if<hw::Loop>(&item.node)) find_written(loop->body, written);
      const auto* command = std::get_if<hw::Command>(&item.node);
      if (!command) continue;
      if (const auto* c = std::get_if<hw::StoreCommand>(command))
        written[static_cast<size_t>(c->tensor)] = true;
      if (const auto* c = std::get_if<hw::StageCommand>(command))
        written[static_cast<size_t>(c->to)] = true;
    }
  }
  void body(const std::vector<hw::Item>& items) {
    for (const hw::Item& item : items) {
      if (const auto* loop = std::get_if<hw::Loop>(&item.node)) {
        int64_t& index = indices_[static_cast<size_t>(loop->id)];
        loops_.push_back(loop);
        for (index = 0; index < loop->count; ++index) body(loop->body);
        loops_.pop_back();
        index = 0;
      }
      const auto* command = std::get_if<hw::Command>(&item.node);
      if (!command) continue;
      if (const auto* c = std::get_if<hw::LoadCommand>(command)) load(*c);
      if (const auto* c = std::get_if<hw::StoreCommand>(command))
        if (in_dram(c->tensor)) walk(c->tensor, c->target, c->walk, true, c->walk.run);
      if (const auto* c = std::get_if<hw::StageCommand>(command)) {
        const bool in = in_dram(c->from);
        walk(in ? c->from : c->to, in ? c->source : c->target, c->walk, !in, c->walk.run);
      }
    }
  }
  bool in_dram(int tensor) const {
    return program_.tensors[static_cast<size_t>(tensor)].memory == hw::MemoryId::dram;
  }
  int64_t value(const hw::Affine& a) const {
    int64_t out = a.base;
    for (const auto& t : a.terms) out += t.coeff * indices_[static_cast<size_t>(t.loop)];
    return out;
  }

  void load(const hw::LoadCommand& c) {
    if (!in_dram(c.tensor) || c.padded) return;
    if (c.gather) {
      const int64_t from = value(c.source);
      hw::Walk item = c.walk;
      const int64_t items = item.levels[0].count;
      item.levels[0].count = 1;
      for (int64_t i = 0; i < items; ++i)
        pieces(c.tensor,
               from + static_cast<int64_t>(random_() % static_cast<uint64_t>(c.gather->limit)) *
                          c.gather->pitch,
               item, 0, false, item.run);
      charge({}, c.walk, false, true);
    } else if (c.transposed > 0) {
      const int64_t side =
          hw::contract::transposer_side(hw_.array, hw_.buffer(c.buffer).width, c.transposed);
      walk(c.tensor, c.source, c.walk, false, std::min(c.walk.run, side * c.transposed), side);
    } else {
      walk(c.tensor, c.source, c.walk, false, c.walk.run);
    }
  }

  void walk(int tensor, const hw::Affine& place, const hw::Walk& w, bool write, int64_t piece,
            int64_t side = 0) {
    charge(place, w, write, false);
    const int64_t from = value(place);
    if (side == 0) return pieces(tensor, from, w, 0, write, w.run);
    hw::Walk blocks = w;  // the matrices of a transposed load, and their columns block by block
    const hw::Walk::Level rows = blocks.levels.back();
    blocks.levels.back() = {ceil_div(w.run, piece), piece};
    blocks.levels.push_back(rows);
    blocks.run = piece;
    pieces(tensor, from, blocks, 0, write, piece);
  }
  void pieces(int tensor, int64_t from, const hw::Walk& w, size_t level, bool write,
              int64_t bytes) {
    if (level == w.levels.size()) return run(tensor, from, bytes, write);
    for (int64_t i = 0; i < w.levels[level].count; ++i)
      pieces(tensor, from + i * w.levels[level].stride, w, level + 1, write, bytes);
  }
  void run(int tensor, int64_t from, int64_t bytes, bool write) {
    const int64_t first = base_[static_cast<size_t>(tensor)] + from;
    for (int64_t b = first / burst_; b <= (first + bytes - 1) / burst_; ++b)
      bursts.push_back({b, write});
  }
  void charge(const hw::Affine& place, const hw::Walk& w, bool write, bool scattered) {
    std::vector<hw::DramTransfer::Level> levels, around;
    for (const hw::Walk::Level& l : w.levels) levels.push_back({l.count, l.stride});
    for (const hw::Loop* loop : loops_) {
      around.push_back({loop->count, 0});
      for (const hw::Affine::Term& t : place.terms)
        if (t.loop == loop->id) around.back().stride += t.coeff;
    }
    const hw::DramCost cost = costs_.transfer_cost({levels, w.run, write, scattered, around});
    const double cycles = static_cast<double>(cost.bus) / static_cast<double>(hw::kDramTicks);
    bus[write] += cycles;
    alone[write] += std::max(cycles, static_cast<double>(cost.alone));
  }

  const hw::HwConfig& hw_;
  hw::DramCosts& costs_;
  const hw::Program& program_;
  std::vector<int64_t> indices_, base_;
  std::vector<const hw::Loop*> loops_;  ///< around the command, outermost first
  const int64_t burst_;
  std::mt19937 random_{1};
};

constexpr int64_t kLeast = 16384;  ///< bursts a channel

/// Cycles of the machine that the controllers take for bursts of one direction, or both.
double stepped(const hw::HwConfig& hw, const std::vector<Burst>& bursts, bool reads, bool writes) {
  const hw::DramSystem system = hw::dram_system(hw);
  return test::stepped_clocks(system, bursts, reads, writes, kLeast) * hw.clock_mhz /
         system.device.clock_mhz;
}

/// Cycles for which the bus idles between `reads` and `writes` bursts, taking turns in the
/// controller's batches.
double turns(const hw::HwConfig& hw, const hw::DramCosts& costs, double reads, double writes) {
  const hw::DramBatch batch = hw::dram_batch(writes / (reads + writes));
  const double pairs =
      (reads + writes) / static_cast<double>(hw.banked.channels) / (batch.reads + batch.writes);
  return pairs * static_cast<double>(costs.turn_ticks(true) + costs.turn_ticks(false)) /
         static_cast<double>(hw::kDramTicks);
}

std::string ratio(double charged, double steps) {
  return steps > 0 ? fmt::format("{:8.3f}", charged / steps) : "       -";
}

/// Reads, writes, both: charged and stepped cycles.
struct Line {
  std::array<double, 3> charged{}, steps{};
  void add(const Line& o) {
    for (size_t k = 0; k < charged.size(); ++k) {
      charged[k] += o.charged[k];
      steps[k] += o.steps[k];
    }
  }
};
std::string text(const Line& l) {
  std::string out;
  for (size_t k = 0; k < l.charged.size(); ++k) out += ratio(l.charged[k], l.steps[k]) + " ";
  return out + fmt::format("{:10.0f}", l.steps[2]);
}

Line compare(const hw::HwConfig& hw, const hw::DramCosts& costs, const Traffic& t) {
  const double reads = t.alone[0], writes = t.alone[1];
  const auto written =
      static_cast<double>(std::ranges::count_if(t.bursts, [](const Burst& b) { return b.write; }));
  const double read = stepped(hw, t.bursts, true, false);
  if (written == 0) return {{reads, 0, reads}, {read, 0, read}};
  const double turned = turns(hw, costs, static_cast<double>(t.bursts.size()) - written, written);
  return {{reads, writes, std::max({reads, writes, t.bus[0] + t.bus[1] + turned})},
          {read, stepped(hw, t.bursts, false, true), stepped(hw, t.bursts, true, true)}};
}

int compare(const std::string& machine, const std::string& model) {
  const auto hw = hw::load_hw(kSource + "/configs/" + machine + ".yaml");
  const auto graph = load_graph(model, {});
  if (!hw || !graph) return fmt::print(stderr, "dram_patterns: can't read\n"), 2;
  const auto network = cost_network(*graph, *hw, {});
  if (!network) return fmt::print(stderr, "dram_patterns: can't cost {}\n", model), 2;
  hw::DramCosts costs(*hw);
  Line sums;
  fmt::print("{}\n", model);
  for (size_t i = 0; i < network->mappings.size(); ++i)
    for (const auto& m : network->mappings[i]) {
      const Traffic t(*hw, costs, m->program);
      if (t.bursts.empty()) continue;
      const Line line = compare(*hw, costs, t);
      if (std::ssize(t.bursts) >= 512 * hw->banked.channels) sums.add(line);
      fmt::print("{:9} {}  {} {}\n", t.bursts.size(), text(line),
                 network->lowered.layers[i].op_type, network->lowered.layers[i].name);
    }
  fmt::print("all       {}\n", text(sums));
  return 0;
}

}  // namespace
}  // namespace accsim::sim

int main(int argc, char** argv) {
  int code = argc < 3 ? 2 : 0;
  for (int i = 2; i < argc; ++i) code = std::max(code, accsim::sim::compare(argv[1], argv[i]));
  return code;
}
