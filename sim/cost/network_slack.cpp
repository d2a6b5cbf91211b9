#include "sim/cost/network_slack.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "hw/energy/energy.h"

namespace accsim::sim {
namespace {

using Mappings = std::vector<std::shared_ptr<const Mapping>>;

constexpr int kMostTries = 8;  ///< to go back with some products, before all of them do

/// What an op takes in a network.
struct Take {
  double cycles = 0, picojoules = 0, energy_traffic = 0;
};

/// What of an op's energy another mapping saves, in picojoules: as much of it as it saves of energy
/// times traffic.
double energy_saved(const Take& before, const Take& now) {
  return before.energy_traffic > 0
             ? before.picojoules * (1 - now.energy_traffic / before.energy_traffic)
             : 0;
}

class SlackScheduler {
 public:
  explicit SlackScheduler(const ScheduleInput& in)
      : in_(in), sketches_(in.hw, without_programs(in.mapper.options())) {}

  SlackSchedule schedule_network() {
    const Mappings within(in_.mappings.begin(), in_.mappings.end());
    Mappings fewest = within;
    for (auto& m : fewest)
      if (m->fewest) m = m->fewest;
    SlackSchedule found{schedule_of(fewest), fewest};
    found.fewest = found.schedule.total;
    const double slack = in_.mapper.options().slack;
    const double most = (1 + slack) * static_cast<double>(found.schedule.total);
    found = with_others(std::move(found), within, most);
    for (const double of_runs : {kWideSlack * slack, slack})
      if (take_runs(of_runs, most, found)) break;
    // The room that is left is for those that were given up, too: they go beyond what they have.
    Mappings wide = found.mappings;
    for (size_t i = 0; i < wide.size(); ++i)
      if (within[i]->in_wide_slack) wide[i] = within[i]->in_wide_slack;
    return with_programs(with_others(std::move(found), wide, most));
  }

 private:
  /// The same mappings with so much slack of runs of rows, if that is within `most` cycles and has
  /// less energy x traffic; then what follows has it, too.
  bool take_runs(double slack, double most, SlackSchedule& found) {
    if (in_.runs.empty() || slack == 0) return true;
    if (cuts_stay(slack, found.schedule)) return false;
    run_slack_ = slack;
    SlackSchedule saving{schedule_of(found.mappings), found.mappings, found.fewest};
    const bool good = static_cast<double>(saving.schedule.total) <= most &&
                      energy_x_traffic(saving) < energy_x_traffic(found);
    if (good)
      found = std::move(saving);
    else
      run_slack_ = 0;
    return good;
  }

  /// Is a network put together in the same way with so much slack of its runs? The first run is
  /// cut as it was, so what comes behind it stands where it stood, and is cut as it was, too.
  bool cuts_stay(double slack, const Schedule& found) const {
    return std::ranges::all_of(found.row_choices, [&](const RowShapeChoice& c) {
      return c.best(slack) == c.best(run_slack_);
    });
  }

  /// The network with other mappings, as many of them as make it take at most so many cycles and
  /// save energy; as it was where none do.
  SlackSchedule with_others(SlackSchedule before, const Mappings& others, double most) {
    if (others == before.mappings) return before;
    const std::vector<Take> takes_before = takes_of_ops(before);
    const double energy = total_picojoules(takes_before);
    Mappings mappings = others;
    for (int i = 0; i < kMostTries && mappings != before.mappings; ++i) {
      SlackSchedule found{schedule_of(mappings), mappings, before.fewest};
      const std::vector<Take> now = takes_of_ops(found);
      const double excess = static_cast<double>(found.schedule.total) - most;
      const bool fewer = found.schedule.total < before.schedule.total;
      if (excess <= 0 && (total_picojoules(now) < energy || fewer)) return found;
      go_back({before.mappings, takes_before}, now, excess, mappings);
    }
    return before;
  }

  static MapOptions without_programs(MapOptions options) {
    options.programs = false;
    return options;
  }
  /// Programs of pieces, and of mappings that stand behind the chosen ones, are written only now.
  SlackSchedule with_programs(SlackSchedule of) {
    const auto wanted = [&](size_t op, const std::shared_ptr<const Mapping>& m) {
      if (m == in_.mappings[op]) return m;
      return in_.mapper.with_program(m, in_.lowered.layers[in_.ops[op].layer].name);
    };
    for (ScheduledOp& s : of.schedule.order) s.mapping = wanted(s.op, s.mapping);
    for (size_t i = 0; i < of.mappings.size(); ++i) of.mappings[i] = wanted(i, of.mappings[i]);
    return of;
  }

  Schedule schedule_of(const Mappings& mappings) {
    ScheduleInput in = in_;
    in.mappings = mappings;
    in.sketches = &sketches_;
    in.choices = &choices_;
    in.run_slack = run_slack_;
    in.most_run_slack = kWideSlack * in_.mapper.options().slack;
    if (in.memory == nullptr) in.memory = &memory_;
    return schedule(in);
  }

  double energy_x_traffic(const SlackSchedule& of) const {
    double bytes = 0;
    for (const ScheduledOp& s : of.schedule.order)
      bytes += static_cast<double>(s.mapping->counts.moved(hw::MemoryId::dram).count());
    return total_picojoules(takes_of_ops(of)) * bytes;
  }
  static double total_picojoules(const std::vector<Take>& of) {
    double out = 0;
    for (const Take& t : of) out += t.picojoules;
    return out;
  }
  /// By op.
  std::vector<Take> takes_of_ops(const SlackSchedule& of) const {
    const Schedule& s = of.schedule;
    std::vector<Take> out(of.mappings.size());
    std::vector<double> bytes(out.size());
    for (size_t i = 0; i < s.order.size(); ++i) {
      const size_t op = s.order[i].op;
      const hw::Counts& counts = s.order[i].mapping->counts;
      const OpRequest& request = *in_.ops[op].request;
      out[op].cycles += static_cast<double>(s.cycles[i].count());
      out[op].picojoules +=
          total_energy(energy(counts, s.cycles[i], in_.mapper.machine_of(request))).value();
      bytes[op] += static_cast<double>(counts.moved(hw::MemoryId::dram).count());
    }
    for (size_t op = 0; op < out.size(); ++op)
      out[op].energy_traffic = energy_traffic({.tensor_bytes = of.mappings[op]->tensor_bytes},
                                              out[op].picojoules, bytes[op]);
    return out;
  }

  /// What a network was before, by op.
  struct Before {
    const Mappings& mappings;
    const std::vector<Take>& takes;
  };
  /// Equal products go back together to what they were, as many as make up for `excess` cycles; at
  /// least those that cost the most.
  static void go_back(const Before& before, const std::vector<Take>& now, double excess,
                      Mappings& mappings) {
    struct Group {
      const Mapping* mapping = nullptr;
      double cycles = 0, saved = 0;
      double price() const {
        return saved > 0 ? cycles / saved : std::numeric_limits<double>::infinity();
      }
    };
    std::vector<Group> groups;
    std::unordered_map<const Mapping*, size_t> known;
    for (size_t i = 0; i < mappings.size(); ++i) {
      if (mappings[i] == before.mappings[i]) continue;
      const auto [at, fresh] = known.emplace(mappings[i].get(), groups.size());
      if (fresh) groups.push_back({mappings[i].get()});
      groups[at->second].cycles += now[i].cycles - before.takes[i].cycles;
      groups[at->second].saved += energy_saved(before.takes[i], now[i]);
    }
    std::ranges::stable_sort(groups, std::greater{}, &Group::price);
    std::unordered_set<const Mapping*> back;
    for (const Group& g : groups) {
      if (!back.empty() && excess <= 0) break;
      back.insert(g.mapping);
      excess -= std::max(0.0, g.cycles);
    }
    for (size_t i = 0; i < mappings.size(); ++i)
      if (back.contains(mappings[i].get())) mappings[i] = before.mappings[i];
  }

  const ScheduleInput& in_;
  Mapper sketches_;
  LineChoices choices_;
  double run_slack_ = 0;
  hw::ChainMemory memory_;
};

}  // namespace

SlackSchedule schedule_within_slack(const ScheduleInput& input) {
  return SlackScheduler(input).schedule_network();
}

}  // namespace accsim::sim
