// What the DRAM transfers of networks take on a machine with a banked DRAM, layer by layer: what
// hw::DramCosts charges, beside the stepped controller that is given the very bursts of each walk.
//
//   dram_patterns MACHINE MODEL...      MACHINE is one of configs/
//
// A line a layer with transfers: the bursts of both, then charged / stepped time of the reads
// alone, of the writes alone (both without read_share: each direction has the whole bus), of both
// together as they are charged (with it: the longer of the two channels), of both on a bus that
// serves whichever is there (their sum, and what turning it round takes by estimate_dram()); the
// stepped cycles of both, and the layer. Layers of fewer bursts than 512 a channel, mostly latency,
// are left out of the sums. Padded loads aren't walked. Tensors lie one behind the other, from
// whole rows on.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <random>
#include <vector>

#include "hw/config/load.h"
#include "hw/dram/closed_form.h"
#include "hw/dram/controller.h"
#include "hw/dram/cost.h"
#include "hw/program/contract.h"
#include "sim/flow/cost.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

struct Burst {
  int64_t number;
  bool write;
};

/// The bursts that a program moves, in the order of its text, and what they are charged.
class Traffic {
 public:
  Traffic(const hw::HwConfig& hw, const hw::DramCosts& costs, const hw::Program& program)
      : hw_(hw),
        costs_(costs),
        program_(program),
        indices_(static_cast<size_t>(program.loops)),
        burst_(hw::dram_system(hw).device.burst_bytes()) {
    const int64_t row = hw::dram_system(hw).device.row_bytes * hw::dram_system(hw).channels;
    int64_t next = 0;
    for (const hw::ProgramTensor& t : program.tensors) {
      base_.push_back(next);
      next += ceil_div(t.bytes, row) * row;
    }
    body(program.body);
  }

  std::vector<Burst> bursts;
  double charged[2] = {0, 0};  ///< cycles, reads and writes, without their shares
  int64_t charged_bursts[2] = {0, 0};

 private:
  void body(const std::vector<hw::Item>& items) {
    for (const hw::Item& item : items) {
      if (const auto* loop = std::get_if<hw::Loop>(&item.node)) {
        int64_t& index = indices_[static_cast<size_t>(loop->id)];
        for (index = 0; index < loop->count; ++index) body(loop->body);
        index = 0;
      }
      const auto* command = std::get_if<hw::Command>(&item.node);
      if (!command) continue;
      if (const auto* c = std::get_if<hw::LoadCommand>(command)) load(*c);
      if (const auto* c = std::get_if<hw::StoreCommand>(command))
        if (in_dram(c->tensor)) walk(c->tensor, value(c->target), c->walk, true, c->walk.run);
      if (const auto* c = std::get_if<hw::StageCommand>(command)) {
        const bool in = in_dram(c->from);
        walk(in ? c->from : c->to, value(in ? c->source : c->target), c->walk, !in, c->walk.run);
      }
    }
  }
  bool in_dram(int tensor) const {
    return program_.tensors[static_cast<size_t>(tensor)].memory == hw::Memory::dram;
  }
  int64_t value(const hw::Affine& a) const {
    int64_t out = a.base;
    for (const auto& t : a.terms) out += t.coeff * indices_[static_cast<size_t>(t.loop)];
    return out;
  }

  void load(const hw::LoadCommand& c) {
    if (!in_dram(c.tensor) || c.padded) return;
    const int64_t from = value(c.source);
    if (c.gather) {
      hw::Walk item = c.walk;
      const int64_t items = item.levels[0].count;
      item.levels[0].count = 1;
      for (int64_t i = 0; i < items; ++i)
        pieces(c.tensor,
               from + static_cast<int64_t>(random_() % static_cast<uint64_t>(c.gather->limit)) *
                          c.gather->pitch,
               item, 0, false, item.run);
      charge(c.walk.bytes(), c.walk.run, false);
    } else if (c.transposed > 0) {
      const int64_t side =
          hw::contract::transposer_side(hw_.array, hw_.buffer(c.buffer).width, c.transposed);
      walk(c.tensor, from, c.walk, false, std::min(c.walk.run, side * c.transposed), side);
    } else {
      walk(c.tensor, from, c.walk, false, c.walk.run);
    }
  }

  void walk(int tensor, int64_t from, const hw::Walk& w, bool write, int64_t piece,
            int64_t side = 0) {
    charge(w.bytes(), piece, write);
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
  void charge(int64_t bytes, int64_t piece, bool write) {
    const double share = write ? 1 - hw_.banked.read_share : hw_.banked.read_share;
    charged[write] += share * static_cast<double>(costs_.transfer(bytes, piece, write).occupancy);
    charged_bursts[write] +=
        bytes / piece * ceil_div(piece, burst_) + ceil_div(bytes % piece, burst_);
  }

  const hw::HwConfig& hw_;
  const hw::DramCosts& costs_;
  const hw::Program& program_;
  std::vector<int64_t> indices_, base_;
  const int64_t burst_;
  std::mt19937 random_{1};
};

/// Cycles of the machine that the controllers take for bursts of one direction, or both.
double stepped(const hw::HwConfig& hw, const std::vector<Burst>& bursts, bool reads, bool writes) {
  const hw::DramSystem system = hw::dram_system(hw);
  const hw::AddressMap map(system.device, system.channels, hw::address_order(system.map));
  std::vector<std::array<std::deque<hw::DramPlace>, 2>> waiting(
      static_cast<size_t>(system.channels));
  double count[2] = {0, 0};
  for (const Burst& b : bursts) {
    if (!(b.write ? writes : reads)) continue;
    const hw::DramPlace place = map.place(b.number);
    waiting[static_cast<size_t>(place.channel)][b.write].push_back(place);
    ++count[b.write];
  }
  if (count[0] + count[1] == 0) return 0;
  int64_t end = 0;
  for (size_t channel = 0; channel < waiting.size(); ++channel) {
    hw::DramController c(system.device, static_cast<int>(channel),
                         count[1] / (count[0] + count[1]));
    const auto fill = [&](int64_t clock) {
      bool left = false;
      for (const bool write : {false, true}) {
        auto& queue = waiting[channel][write];
        for (; c.accepts(write) && !queue.empty(); queue.pop_front())
          c.add(queue.front(), write, clock);
        left = left || !queue.empty();
      }
      if (!left) c.finish();
    };
    fill(0);
    while (const auto clock = c.next())
      if (c.step({})) fill(*clock);
    end = std::max(end, c.end());
  }
  return static_cast<double>(end) * hw.clock_mhz / system.device.clock_mhz;
}

/// Clocks by which turns lengthen a burst of a stream of which a share is written, of those that it
/// takes without.
double turns(const hw::DramSystem& system, double writes) {
  const auto clocks = [&](double share) {
    return hw::estimate_dram(system, {hw::DramWalk::sequential, 0, 0, share}).clocks_per_burst;
  };
  return clocks(writes) / (writes * clocks(1) + (1 - writes) * clocks(0));
}

std::string ratio(double charged, double steps) {
  return steps > 0 ? fmt::format("{:8.3f}", charged / steps) : "       -";
}

/// Reads, writes, both as charged, both on one bus: charged and stepped cycles.
struct Line {
  std::array<double, 4> charged{}, steps{};
};
struct Sums {
  Line line;
  void add(const Line& o) {
    for (size_t k = 0; k < 4; ++k) {
      line.charged[k] += o.charged[k];
      line.steps[k] += o.steps[k];
    }
  }
};
std::string text(const Line& l) {
  std::string out;
  for (size_t k = 0; k < 4; ++k) out += ratio(l.charged[k], l.steps[k]) + " ";
  return out + fmt::format("{:10.0f}", l.steps[3]);
}

Line compare(const hw::HwConfig& hw, const Traffic& t) {
  const double share = hw.banked.read_share, reads = t.charged[0], writes = t.charged[1];
  const auto written =
      static_cast<double>(std::ranges::count_if(t.bursts, [](const Burst& b) { return b.write; }));
  const double both = stepped(hw, t.bursts, true, true);
  const double turned = turns(hw::dram_system(hw), written / static_cast<double>(t.bursts.size()));
  return {{reads, writes, std::max(reads / share, writes / (1 - share)), (reads + writes) * turned},
          {stepped(hw, t.bursts, true, false), stepped(hw, t.bursts, false, true), both, both}};
}

int compare(const std::string& machine, const std::string& model) {
  const auto hw = hw::load_hw(kSource + "/configs/" + machine + ".yaml");
  const auto graph = load_graph(model, {});
  if (!hw || !graph) return fmt::print(stderr, "dram_patterns: can't read\n"), 2;
  const auto network = cost_network(*graph, *hw, {});
  if (!network) return fmt::print(stderr, "dram_patterns: can't cost {}\n", model), 2;
  const hw::DramCosts costs(*hw);
  Sums sums;
  fmt::print("{}\n", model);
  for (size_t i = 0; i < network->mappings.size(); ++i)
    for (const auto& m : network->mappings[i]) {
      const Traffic t(*hw, costs, m->program);
      if (t.bursts.empty()) continue;
      const Line line = compare(*hw, t);
      if (std::ssize(t.bursts) >= 512 * hw->banked.channels) sums.add(line);
      fmt::print("{:9} {:9} {}  {} {}\n", t.charged_bursts[0] + t.charged_bursts[1],
                 t.bursts.size(), text(line), network->lowered.layers[i].op_type,
                 network->lowered.layers[i].name);
    }
  fmt::print("all                 {}\n", text(sums.line));
  return 0;
}

}  // namespace
}  // namespace accsim::sim

int main(int argc, char** argv) {
  int code = argc < 3 ? 2 : 0;
  for (int i = 2; i < argc; ++i) code = std::max(code, accsim::sim::compare(argv[1], argv[i]));
  return code;
}
