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

/// What the ops of one mapping take in a network.
struct Take {
  double cycles = 0, picojoules = 0;
};

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
    for (size_t i = 0; i < s.stretches.size(); ++i) {
      Take& take = out[s.stretches[i].op];
      take.cycles += static_cast<double>(s.shares[i].total.count());
      const hw::Counts& counts = s.stretches[i].mapping->counts;
      take.picojoules += total(energy(counts, s.shares[i].total, in_.hw)).value();
    }
    return out;
  }

  /// Equal products go back together, as many as make up for `beyond` cycles; at least those that
  /// cost the most.
  void go_back(const std::vector<Take>& before, const std::vector<Take>& now, double beyond) {
    struct Group {
      Take more;
      const Mapping* mapping = nullptr;
      double price() const {
        if (more.picojoules < 0) return more.cycles / -more.picojoules;
        return std::numeric_limits<double>::infinity();
      }
    };
    std::vector<Group> groups;
    std::unordered_map<const Mapping*, size_t> known;
    for (size_t i = 0; i < mappings_.size(); ++i) {
      if (mappings_[i] == fewest_[i]) continue;
      const auto [at, fresh] = known.emplace(mappings_[i].get(), groups.size());
      if (fresh) groups.push_back({{}, mappings_[i].get()});
      groups[at->second].more.cycles += now[i].cycles - before[i].cycles;
      groups[at->second].more.picojoules += now[i].picojoules - before[i].picojoules;
    }
    std::ranges::stable_sort(groups, std::greater{}, &Group::price);
    std::unordered_set<const Mapping*> back;
    for (const Group& g : groups) {
      if (!back.empty() && beyond <= 0) break;
      back.insert(g.mapping);
      beyond -= std::max(0.0, g.more.cycles);
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
