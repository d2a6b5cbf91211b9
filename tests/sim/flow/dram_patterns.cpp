// What the DRAM transfers of networks take on a machine with a banked DRAM, layer by layer: what
// hw::DramCosts charges, beside the stepped controller that is given the very bursts of each walk.
//
//   dram_patterns MACHINE MODEL...      MACHINE is one of configs/
//
// A line a layer with transfers: their bursts, then charged / stepped time of the reads alone, of
// the writes alone, and of both on one bus: charged, their bus time and the turns of an even mix of
// two streams by estimate_dram(), or what one of them takes alone if that is more; the stepped
// cycles of both, and the layer. The controllers get a
// direction's bursts in the order of the program, each behind a full queue waiting for it, and a
// layer again until kLeast bursts a channel have gone: refreshes come on average then as often as
// they do in a network. Layers of fewer bursts than 512 a channel, mostly latency, are left out of
// the sums. Padded loads aren't walked. Tensors lie one behind the other, from whole rows on.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
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
  Traffic(const hw::HwConfig& hw, hw::DramCosts& costs, const hw::Program& program)
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
  double bus[2] = {0, 0};    ///< cycles of the bus, reads and writes
  double alone[2] = {0, 0};  ///< cycles that they take without the others

 private:
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
    return program_.tensors[static_cast<size_t>(tensor)].memory == hw::Memory::dram;
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
    const hw::DramCost cost = costs_.transfer({levels, w.run, write, scattered, around});
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

/// Hands out the bursts of one direction in order; the next one waits where its queue is full.
class Lane {
 public:
  Lane(const std::vector<Burst>& bursts, bool write, int64_t times, const hw::AddressMap& map)
      : write_(write), left_(times) {
    for (const Burst& b : bursts)
      if (b.write == write) places_.push_back(map.place(b.number));
    if (places_.empty()) left_ = 0;
  }
  bool done() const { return left_ == 0; }
  /// Calls `told` of every channel that it has given something.
  template <class Told>
  void fill(std::vector<hw::DramController>& to, int64_t clock, Told told) {
    while (left_ > 0) {
      const hw::DramPlace& place = places_[next_];
      hw::DramController& c = to[static_cast<size_t>(place.channel)];
      if (!c.accepts(write_)) break;
      c.add(place, write_, clock);
      told(static_cast<size_t>(place.channel));
      if (++next_ < places_.size()) continue;
      next_ = 0;
      --left_;
    }
  }

 private:
  std::vector<hw::DramPlace> places_;
  bool write_;
  size_t next_ = 0;
  int64_t left_;
};

/// Cycles of the machine that the controllers take for bursts of one direction, or both.
double stepped(const hw::HwConfig& hw, const std::vector<Burst>& bursts, bool reads, bool writes) {
  const hw::DramSystem system = hw::dram_system(hw);
  const hw::AddressMap map(system.device, system.channels, hw::address_order(system.map));
  const auto written = std::ranges::count_if(bursts, [](const Burst& b) { return b.write; });
  const int64_t all = (reads ? std::ssize(bursts) - written : 0) + (writes ? written : 0);
  if (all == 0) return 0;
  const int64_t times = ceil_div(kLeast * system.channels, all);
  const double share = writes ? static_cast<double>(written) / static_cast<double>(all) : 0;
  std::vector<hw::DramController> controllers;
  for (int64_t c = 0; c < system.channels; ++c)
    controllers.emplace_back(system.device, static_cast<int>(c), share);
  std::array<Lane, 2> lanes = {Lane(bursts, false, reads ? times : 0, map),
                               Lane(bursts, true, writes ? times : 0, map)};
  bool finishing = false;
  using At = std::pair<int64_t, size_t>;
  std::priority_queue<At, std::vector<At>, std::greater<>> due;
  const auto wake = [&](size_t c) {
    if (const auto clock = controllers[c].next()) due.push({*clock, c});
  };
  for (Lane& lane : lanes) lane.fill(controllers, 0, [](size_t) {});
  for (size_t c = 0; c < controllers.size(); ++c) wake(c);
  while (!due.empty()) {
    const auto [clock, c] = due.top();
    due.pop();
    if (controllers[c].next() != clock) continue;  // another command has come in between
    std::vector<size_t> given = {c};
    if (controllers[c].step({}))
      for (Lane& lane : lanes)
        lane.fill(controllers, clock, [&](size_t to) { given.push_back(to); });
    if (!finishing && lanes[0].done() && lanes[1].done()) {
      finishing = true;
      for (hw::DramController& each : controllers) each.finish();
      for (size_t each = 0; each < controllers.size(); ++each) given.push_back(each);
    }
    for (const size_t each : given) wake(each);
  }
  int64_t end = 0;
  for (const hw::DramController& c : controllers) end = std::max(end, c.end());
  return static_cast<double>(end) * hw.clock_mhz / system.device.clock_mhz /
         static_cast<double>(times);
}

/// Clocks by which turns lengthen a burst where a share is written, of those that it takes without:
/// two streams in long runs, each at a place of its own.
double turns(const hw::DramSystem& system, double writes) {
  const auto clocks = [&](double share) {
    return hw::estimate_dram(system, {hw::DramWalk::random, int64_t{1} << 20, 0, share})
        .clocks_per_burst;
  };
  return clocks(writes) / (writes * clocks(1) + (1 - writes) * clocks(0));
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

Line compare(const hw::HwConfig& hw, const Traffic& t) {
  const double reads = t.alone[0], writes = t.alone[1];
  const auto written =
      static_cast<double>(std::ranges::count_if(t.bursts, [](const Burst& b) { return b.write; }));
  const double turned = turns(hw::dram_system(hw), written / static_cast<double>(t.bursts.size()));
  const double read = stepped(hw, t.bursts, true, false);
  if (written == 0) return {{reads, 0, reads}, {read, 0, read}};
  return {{reads, writes, std::max({reads, writes, (t.bus[0] + t.bus[1]) * turned})},
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
      const Line line = compare(*hw, t);
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
