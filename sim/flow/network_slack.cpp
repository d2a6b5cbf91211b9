#include "sim/flow/network_slack.h"

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
  double cycles = 0, picojoules = 0, burden = 0;
};

/// What of an op's energy another mapping's burden saves, in picojoules: as much of it as it saves
/// of the burden.
double saved(const Take& before, const Take& now) {
  return before.burden > 0 ? before.picojoules * (1 - now.burden / before.burden) : 0;
}

class SlackScheduler {
 public:
  explicit SlackScheduler(const ScheduleInput& in)
      : in_(in),
        sketches_(in.hw, without_programs(in.mapper.options())),
        mappings_(in.mappings.begin(), in.mappings.end()) {
    for (const auto& m : mappings_) fewest_.push_back(m->fewest ? m->fewest : m);
  }

  SlackSchedule run() {
    if (fewest_ == mappings_) return {schedule_of(mappings_), mappings_};
    Schedule least = schedule_of(fewest_);
    const std::vector<Take> before = takes(least);
    const double most = (1 + in_.mapper.options().slack) * static_cast<double>(least.total);
    const double energy = picojoules(before);
    for (int i = 0; i < kMostTries && mappings_ != fewest_; ++i) {
      Schedule found = schedule_of(mappings_);
      const std::vector<Take> now = takes(found);
      const double beyond = static_cast<double>(found.total) - most;
      if (beyond <= 0 && (picojoules(now) < energy || found.total < least.total))
        return with_programs(std::move(found), mappings_);
      go_back(before, now, beyond);
    }
    return with_programs(std::move(least), fewest_);
  }

 private:
  static MapOptions without_programs(MapOptions options) {
    options.programs = false;
    return options;
  }
  /// Programs of products that have gone back are written only now.
  SlackSchedule with_programs(Schedule schedule, Mappings mappings) {
    const auto wanted = [&](size_t op, const std::shared_ptr<const Mapping>& m) {
      if (m != in_.mappings[op]->fewest) return m;
      return in_.mapper.fewest(in_.mappings[op], in_.lowered.layers[in_.ops[op].layer].name);
    };
    for (Stretch& s : schedule.stretches) s.mapping = wanted(s.op, s.mapping);
    for (size_t i = 0; i < mappings.size(); ++i) mappings[i] = wanted(i, mappings[i]);
    return {std::move(schedule), std::move(mappings)};
  }

  Schedule schedule_of(const Mappings& mappings) {
    ScheduleInput in = in_;
    in.mappings = mappings;
    in.sketches = &sketches_;
    if (in.memory == nullptr) in.memory = &memory_;
    return schedule(in);
  }

  static double picojoules(const std::vector<Take>& of) {
    double out = 0;
    for (const Take& t : of) out += t.picojoules;
    return out;
  }
  /// By op.
  std::vector<Take> takes(const Schedule& s) const {
    std::vector<Take> out(mappings_.size());
    std::vector<double> bytes(out.size());
    constexpr auto kDram = static_cast<size_t>(hw::Memory::dram);
    for (size_t i = 0; i < s.stretches.size(); ++i) {
      const size_t op = s.stretches[i].op;
      const hw::Counts& counts = s.stretches[i].mapping->counts;
      const OpRequest& request = *in_.ops[op].request;
      out[op].cycles += static_cast<double>(s.shares[i].total.count());
      out[op].picojoules +=
          total(energy(counts, s.shares[i].total, in_.mapper.machine_of(request))).value();
      bytes[op] += static_cast<double>((counts.read[kDram] + counts.written[kDram]).count());
    }
    for (size_t op = 0; op < out.size(); ++op)
      out[op].burden =
          burden({.tensor_bytes = mappings_[op]->tensor_bytes}, out[op].picojoules, bytes[op]);
    return out;
  }

  /// Equal products go back together, as many as make up for `beyond` cycles; at least those that
  /// cost the most.
  void go_back(const std::vector<Take>& before, const std::vector<Take>& now, double beyond) {
    struct Group {
      const Mapping* mapping = nullptr;
      double cycles = 0, saved = 0;
      double price() const {
        return saved > 0 ? cycles / saved : std::numeric_limits<double>::infinity();
      }
    };
    std::vector<Group> groups;
    std::unordered_map<const Mapping*, size_t> known;
    for (size_t i = 0; i < mappings_.size(); ++i) {
      if (mappings_[i] == fewest_[i]) continue;
      const auto [at, fresh] = known.emplace(mappings_[i].get(), groups.size());
      if (fresh) groups.push_back({mappings_[i].get()});
      groups[at->second].cycles += now[i].cycles - before[i].cycles;
      groups[at->second].saved += saved(before[i], now[i]);
    }
    std::ranges::stable_sort(groups, std::greater{}, &Group::price);
    std::unordered_set<const Mapping*> back;
    for (const Group& g : groups) {
      if (!back.empty() && beyond <= 0) break;
      back.insert(g.mapping);
      beyond -= std::max(0.0, g.cycles);
    }
    for (size_t i = 0; i < mappings_.size(); ++i)
      if (back.contains(mappings_[i].get())) mappings_[i] = fewest_[i];
  }

  const ScheduleInput& in_;
  Mapper sketches_;
  hw::ChainMemory memory_;
  Mappings mappings_, fewest_;  ///< by op
};

}  // namespace

SlackSchedule schedule_within_slack(const ScheduleInput& input) {
  return SlackScheduler(input).run();
}

}  // namespace accsim::sim
