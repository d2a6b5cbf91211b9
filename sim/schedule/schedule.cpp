#include "sim/schedule/schedule.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "sim/base/sums.h"
#include "sim/schedule/row_plan.h"

namespace accsim::sim {
namespace {

constexpr int32_t kMostParts = 1'000;   ///< of a tensor between ops that are cut into lines
constexpr int kTriedInVain = 3;         ///< numbers of pieces, before no more are tried
constexpr ptrdiff_t kTriedInParts = 3;  ///< the fewest of them

/// A run cut into pieces: what stands in the text.
struct CutRun {
  std::vector<Stretch> stretches;
  int64_t shared = 0;            ///< bytes in the shared buffer
  std::vector<OpRequest> moved;  ///< by op, where something doesn't lie where it did
};

class Scheduler {
 public:
  explicit Scheduler(const ScheduleInput& in)
      : in_(in),
        chain_(in.hw, all_load_first(), in.memory),
        own_sketches_(in.hw, without_programs(in.mapper.options())),
        sketches_(in.sketches != nullptr ? *in.sketches : own_sketches_),
        done_(in.ops.size(), false),
        staged_(staged_bytes()) {
    for (const LayerTensors& t : in.tensors) own_ = std::max(own_, t.end);
  }

  Schedule run() {
    const hw::Chain::Place begin = chain_.place();
    for (size_t i = 0; i < in_.ops.size(); ++i) add(whole(i));
    if (in_.runs.empty() && in_.line_runs.empty()) return take();
    Schedule plain = take();
    for (;;) {
      chain_.go_back(begin);
      done_.assign(done_.size(), false);
      add_in_turns();
      Schedule cut = take();
      if (cut.total >= plain.total) {
        plain.row_choices = std::move(row_choices_);
        return plain;
      }
      SharedPlaces places = place_shared(cut.stretches, capacity());
      if (places.left_out.empty()) {
        cut.row_choices = std::move(row_choices_);
        cut.addresses = std::move(places.addresses);
        return cut;
      }
      if (!leave_whole(cut, places)) return plain;
    }
  }

 private:
  static MapOptions without_programs(MapOptions options) {
    options.programs = false;
    return options;
  }
  bool all_load_first() const {
    return std::ranges::all_of(in_.mappings, [](const auto& m) { return loads_first(m->link); });
  }

  /// All ops, those of runs in pieces where that is better.
  void add_in_turns() {
    size_t run = 0, lines = 0;
    const auto begins = [](const auto& runs, size_t& at, size_t i) {
      while (at < runs.size() && runs[at].first() < i) ++at;
      return at < runs.size() && runs[at].first() == i;
    };
    for (size_t i = 0; i < in_.ops.size(); ++i) {
      if (done_[i]) continue;
      if (begins(in_.runs, run, i) && take_turns(in_.runs[run])) continue;
      if (begins(in_.line_runs, lines, i) && take_lines(in_.line_runs[lines])) continue;
      add(whole(i));
    }
  }

  /// From now on runs stay whole that are cut while something without a place is in use; all of
  /// them where none is: residency has places for a network of whole ops. Is that any more?
  bool leave_whole(const Schedule& cut, const SharedPlaces& places) {
    const size_t before = whole_.size();
    std::set<size_t> all;
    for (size_t i = 0; i < cut.stretches.size(); ++i) {
      const Stretch& s = cut.stretches[i];
      if (s.piece < 0) continue;
      all.insert(s.op);
      if (std::ranges::any_of(places.left_out, [i](const auto& life) {
            return life.first <= i && i <= life.second;
          }))
        whole_.insert(s.op);
    }
    if (whole_.size() == before) whole_.merge(all);
    return whole_.size() > before;
  }
  bool is_left_whole(const std::vector<size_t>& ops) const {
    return std::ranges::any_of(ops, [this](size_t op) { return whole_.contains(op); });
  }

  Stretch whole(size_t op) const {
    const auto& mapping = in_.mappings[op];
    const size_t layer = in_.ops[op].layer;
    const LayerPorts& ports = in_.ops[op].request->ports;
    Stretch out{layer, op, mapping, -1, numbers(mapping->link, ports, in_.tensors[layer])};
    for (const OperandPort& port : mapping->link.ports)
      out.offsets.push_back(offset_in_chain(in_.tensors[layer], ports, port));
    return out;
  }
  /// offset_in_chain() of an op's operand.
  int64_t offset_in_whole(size_t op, const OperandPort& port, int64_t offset) const {
    const ChainOp& of = in_.ops[op];
    return offset_in_chain(in_.tensors[of.layer], of.request->ports, port, offset);
  }
  void add(Stretch s) {
    out_.shares.push_back(chain_.add(s.mapping->link.steps, s.tensors));
    out_.stretches.push_back(std::move(s));
  }
  Schedule take() {
    out_.total = chain_.total();
    return std::exchange(out_, {});
  }

  // ---- runs ------------------------------------------------------------------------------------

  /// What has been added so far.
  struct State {
    hw::Chain::Place place;
    size_t stretches, shared;
    std::vector<bool> done;
  };
  State state() const { return {chain_.place(), out_.stretches.size(), out_.shared.size(), done_}; }
  void go_back(const State& to) {
    chain_.go_back(to.place);
    out_.stretches.resize(to.stretches);
    out_.shares.resize(to.stretches);
    out_.shared.resize(to.shared);
    done_ = to.done;
  }
  /// Those from one op to another that aren't there yet, but for those of `except`.
  void add_whole(size_t first, size_t last, const std::vector<size_t>& except = {}) {
    for (size_t i = first; i <= last; ++i) {
      if (done_[i] || std::ranges::find(except, i) != except.end()) continue;
      add(whole(i));
      done_[i] = true;
    }
  }

  /// Adds a run's stretches as `find` finds them, if it does. What stands between the ops depends
  /// on none of them: it goes before.
  template <class Find>
  auto take_cut(const std::vector<size_t>& ops, const Find& find) {
    const State before = state();
    add_whole(ops.front(), ops.back(), ops);
    auto cut = find();
    if (!cut) {
      go_back(before);
      return cut;
    }
    for (Stretch& s : cut->stretches) add(std::move(s));
    for (const size_t op : ops) done_[op] = true;
    out_.shared.push_back({in_.ops[ops.front()].layer, in_.ops[ops.back()].layer, cut->shared});
    return cut;
  }

  /// Adds a run cut into pieces, if that is better than its ops as a whole.
  bool take_turns(const RowRun& run) {
    if (is_pinned(run.ops) || is_left_whole(run.ops)) return false;
    RowCut as;
    const auto cut = take_cut(run.ops, [&]() -> std::optional<CutRun> {
      KnownCut& best = best_cut(run);
      as = best.as;
      if (as.pieces == 1) return std::nullopt;
      const RowRun& part = *cut_part(&run, as);
      if (!best.plan || part.flows != best.plan->run->flows) best.plan = planner().plan(part, as);
      if (!best.plan) return std::nullopt;
      best.plan->run = &part;
      return text_of(run, *best.plan);
    });
    if (!cut) return false;
    own_ += static_cast<int32_t>(std::ssize(cut->stretches));
    const RowRun& part = *cut_part(&run, as);
    for (size_t k = 0; k < part.ops.size(); ++k) out_.cut.emplace(part.ops[k], cut->moved[k]);
    return true;
  }

  /// How runs of equal ops are cut, and the plan that they have in common where their rows go the
  /// same ways: that of one of them.
  struct KnownCut {
    RowCut as;
    std::optional<RowPlan> plan;
  };
  /// Equal runs are cut alike: as was best for the first of them.
  KnownCut& best_cut(const RowRun& run) {
    std::string key = std::to_string(run.shared_beside);
    for (const auto& pair : run.pairs) key += " " + std::to_string(pair.second.shared_beside);
    for (const size_t op : run.ops) key += key_of(*in_.ops[op].request);
    const auto known = cuts_.find(key);
    if (known != cuts_.end()) return known->second;
    return cuts_[key] = {find_cut(run), std::nullopt};
  }

  /// Until the end of stretches from here on, which aren't added; once it is more than `most`, only
  /// that it is.
  int64_t cycles(const std::vector<Stretch>& stretches, int64_t most = kBeyond) {
    const hw::Chain::Place begin = chain_.place();
    for (const Stretch& s : stretches) {
      chain_.add(s.mapping->link.steps, s.tensors);
      if (chain_.total() > most) break;
    }
    const int64_t total = chain_.total();
    chain_.go_back(begin);
    return total;
  }
  int64_t cycles_whole(const std::vector<size_t>& ops) {
    std::vector<Stretch> stretches;
    for (const size_t op : ops) stretches.push_back(whole(op));
    return cycles(stretches);
  }

  RowCut find_cut(const RowRun& run) {
    std::vector<Stretch> uncut;
    for (const size_t op : run.ops) uncut.push_back(whole(op));
    RowCutChoice choice(chain_.total(), in_.most_run_slack, {{}, cycles(uncut), dram_bytes(uncut)});
    try_counts(run, -1, choice);
    if (!stays_whole(run))
      for (size_t i = 0; i < run.pairs.size(); ++i) try_counts(run, static_cast<int>(i), choice);
    return row_choices_.emplace_back(std::move(choice)).best(in_.run_slack);
  }

  /// The numbers of pieces of a run, or of one of its pairs, until no more promise anything.
  void try_counts(const RowRun& run, int pair, RowCutChoice& choice) {
    enum class Result : uint8_t { none, worse, better };
    int64_t best = kBeyond;
    RowCut fastest{.pair = pair};
    const auto try_cut = [&](const RowCut& cut) {
      const auto plan = planner().plan(*cut_part(&run, cut), cut);
      if (!plan) return Result::none;
      const auto [before, behind] = beside(run, *plan);
      const int64_t total = cycles(*plan, before, behind, choice.limit());
      choice.offer({cut, total, plan->dram_bytes() + dram_bytes(before) + dram_bytes(behind)});
      if (total >= std::min(best, choice.whole())) return Result::worse;
      best = total;
      fastest = cut;
      return Result::better;
    };
    int worse = 0;
    std::vector<int64_t> possible;
    for (const int64_t pieces : planner().counts(*cut_part(&run, fastest))) {
      const Result found = try_cut({pieces, kFewChunks, pair});
      if (found != Result::none) possible.push_back(pieces);
      if (found == Result::better) worse = 0;
      if (found == Result::worse && ++worse == kTriedInVain) break;
    }
    if (fastest.pieces > 1) try_cut({fastest.pieces, kManyChunks, pair});
    // Large pieces move the least, and most need to be in parts.
    if (std::ssize(possible) > kTriedInParts)
      possible.erase(possible.begin() + kTriedInParts, possible.end());
    if (fastest.pieces > 1 && std::ranges::find(possible, fastest.pieces) == possible.end())
      possible.push_back(fastest.pieces);
    for (const int64_t pieces : possible)
      for (const int64_t parts : {2, 4}) try_cut({pieces, 1, pair, parts});
  }

  static int64_t dram_bytes(const std::vector<Stretch>& stretches) {
    constexpr auto kDram = static_cast<size_t>(hw::Memory::dram);
    int64_t out = 0;
    for (const Stretch& s : stretches)
      out += (s.mapping->counts.read[kDram] + s.mapping->counts.written[kDram]).count();
    return out;
  }

  /// Does all that is between the ops fit into the shared buffer at once?
  bool stays_whole(const RowRun& run) const {
    int64_t bytes = run.shared_beside;
    for (size_t k = 0; k + 1 < run.ops.size(); ++k) bytes += run.piece_bytes(k, 1);
    return bytes <= capacity();
  }

  bool is_pinned(const std::vector<size_t>& ops) const {
    return std::ranges::any_of(ops, [&](size_t op) {
      return in_.mapper.is_pinned(in_.lowered.layers[in_.ops[op].layer].name);
    });
  }

  bool is_product(size_t op) const {
    return std::holds_alternative<GemmOp>(in_.ops[op].request->item);
  }

  RowPlanner planner() const { return {in_.hw, in_.ops, in_.lowered, in_.mapper, capacity()}; }
  /// Ops of the run before and behind what is cut of it.
  struct Beside {
    std::vector<Stretch> before, behind;
  };
  Beside beside(const RowRun& run, const RowPlan& plan) const {
    Beside out;
    for (const size_t op : run.ops) {
      if (op < plan.run->ops.front()) out.before.push_back(whole(op));
      if (op > plan.run->ops.back()) out.behind.push_back(whole(op));
    }
    return out;
  }
  /// Until the end of a run that is cut so, as cycles() of stretches has it.
  int64_t cycles(const RowPlan& plan, const std::vector<Stretch>& before,
                 const std::vector<Stretch>& behind, int64_t most) {
    const hw::Chain::Place begin = chain_.place();
    TurnTensors tensors(plan, in_.ops, in_.tensors, own_);
    for (const Stretch& s : before) chain_.add(s.mapping->link.steps, s.tensors);
    for (const PartTurn& t : plan.order) {
      chain_.add(plan.mappings[t.k]->link.steps, tensors.of(t));
      if (chain_.total() > most) break;
    }
    if (chain_.total() <= most)
      for (const Stretch& s : behind) chain_.add(s.mapping->link.steps, s.tensors);
    const int64_t total = chain_.total();
    chain_.go_back(begin);
    return total;
  }

  /// What stands in the text of a run that is cut so.
  CutRun text_of(const RowRun& run, const RowPlan& plan) const {
    auto [before, behind] = beside(run, plan);
    CutRun out{std::move(before), plan.shared, {}};
    TurnTensors tensors(plan, in_.ops, in_.tensors, own_);
    for (const PartTurn& t : plan.order) out.stretches.push_back(stretch(plan, t, tensors.of(t)));
    out.stretches.insert(out.stretches.end(), behind.begin(), behind.end());
    for (size_t k = 0; k < plan.run->ops.size(); ++k) {
      OpRequest request = *in_.ops[plan.run->ops[k]].request;
      if (k > 0) move_rows(request, false, plan.between[k - 1], in_.hw);
      if (k < plan.between.size()) move_rows(request, true, plan.between[k], in_.hw);
      out.moved.push_back(std::move(request));
    }
    return out;
  }

  /// Beside what programs stage in.
  int64_t capacity() const { return in_.hw.shared.free_bytes() - staged_; }
  int64_t staged_bytes() const {
    if (in_.mapper.options().all_room) return 0;
    std::vector<int64_t> regions(hw::kMostRegions, 0);
    for (const auto& m : in_.mappings)
      for (size_t r = 0; r < m->link.regions.size(); ++r)
        regions[r] = std::max(regions[r], m->link.regions[r]);
    return std::accumulate(regions.begin(), regions.end(), int64_t{0});
  }

  Stretch stretch(const RowPlan& plan, const PartTurn& t, std::span<const int32_t> tensors) const {
    const size_t op = plan.run->ops[t.k];
    const RowFlow& flow = plan.run->flows[t.k];
    const size_t layer = in_.ops[op].layer;
    Stretch out{layer, op, plan.mappings[t.k], t.piece, {tensors.begin(), tensors.end()}};
    out.offsets.reserve(out.tensors.size());
    const int64_t parts = is_product(op) ? 1 : plan.cut.parts;
    const int64_t row = t.part * (flow.rows / plan.cut.pieces / parts);  // the part's first
    for (const OperandPort& port : plan.mappings[t.k]->link.ports) {
      if (t.k > 0 && port == flow.in)
        out.offsets.push_back(row * flow.in_row);
      else if (t.k + 1 < plan.run->ops.size() && port == flow.out)
        out.offsets.push_back(row * flow.out_row);
      else
        out.offsets.push_back(
            offset_in_whole(op, port, plan.pieces[t.k].offset(port, t.piece * parts + t.part)));
    }
    return out;
  }

  // ---- lines -----------------------------------------------------------------------------------

  /// Adds a run cut into lines, or its first two ops, whichever is better, if that is better than
  /// its ops as a whole.
  bool take_lines(const LineRun& run) {
    if (is_pinned(run.ops) || is_left_whole(run.ops)) return false;
    LineChoices own;
    LineChoices& choices = in_.choices != nullptr ? *in_.choices : own;
    auto known = choices.find(run.first());
    if (known == choices.end()) known = choices.emplace(run.first(), choose_lines(run)).first;
    if (!known->second) return false;
    const LineRun& best = known->second->run;
    const LineCut& as = known->second->cut;
    const Placed requests = placed(best);
    if (requests.shared > capacity()) return false;  // other mappings may stage in more of it
    const auto cut = take_cut(best.ops, [&] { return lines_as(best, requests, as, in_.mapper); });
    if (!cut) return false;
    for (size_t k = 0; k < cut->moved.size(); ++k) out_.cut.emplace(best.ops[k], cut->moved[k]);
    own_ += kMostParts * static_cast<int32_t>(best.ops.size());
    return true;
  }

  std::optional<LineChoice> choose_lines(const LineRun& run) {
    std::vector<LineRun> choices = {run};
    if (run.ops.size() > 2) choices.push_back(first_two(run));
    const State before = state();
    std::optional<LineChoice> best;
    int64_t least = kBeyond;
    for (const LineRun& choice : choices) {
      const Placed as = placed(choice);
      std::optional<LineCut> found;
      take_cut(choice.ops, [&] {
        found = best_lines(choice, as);
        return found ? lines_as(choice, as, *found, sketches_) : std::nullopt;
      });
      if (!found) continue;
      add_whole(run.first(), run.ops.back());
      if (const int64_t total = chain_.total(); total < least) {
        least = total;
        best = {choice, *found};
      }
      go_back(before);
    }
    return best;
  }

  /// What a run is cut from, when it has been moved to DRAM what ops make for the next one as far
  /// as the shared buffer hasn't room for all that is alive at once.
  struct Placed {
    std::vector<OpRequest> requests;
    int64_t shared = 0;
    bool moved = false;
  };
  Placed placed(const LineRun& run) const {
    Placed out{{}, run.shared};
    for (const size_t op : run.ops) out.requests.push_back(*in_.ops[op].request);
    for (size_t k = 0; k + 1 < run.ops.size() && out.shared > capacity(); ++k) {
      const LineFlow &from = run.flows[k], &to = run.flows[k + 1];
      hw::Memory& written =
          out.requests[k].outputs[static_cast<size_t>(from.out.index)].place.memory;
      if (written != hw::Memory::shared) continue;
      written = hw::Memory::dram;
      out.requests[k + 1].inputs[static_cast<size_t>(to.in.index)].place.memory = hw::Memory::dram;
      out.shared -= from.lines * from.out_line;
      out.moved = true;
    }
    return out;
  }

  /// Nothing where a run can't be cut so.
  std::optional<CutRun> lines_as(const LineRun& run, const Placed& as, const LineCut& cut,
                                 Mapper& mapper) const {
    std::vector<const std::string*> names;
    for (const size_t op : run.ops) names.push_back(&in_.lowered.layers[in_.ops[op].layer].name);
    const auto turns = sim::cut_into({run, as.requests, names, in_.hw, mapper}, cut);
    if (!turns) return std::nullopt;
    CutRun out;
    out.shared = as.shared;
    if (as.moved) out.moved = as.requests;
    for (const LineTurn& t : *turns) out.stretches.push_back(stretch(run, t));
    return out;
  }

  /// The fastest way to cut a run; nothing where none is faster than its ops as a whole.
  std::optional<LineCut> best_lines(const LineRun& run, const Placed& as) {
    if (as.shared > capacity()) return std::nullopt;
    const int64_t whole = cycles_whole(run.ops);
    int64_t least = whole;
    const auto found = best_line_cut(most_lines(run, as.requests, in_.hw), [&](const LineCut& cut) {
      const auto tried = lines_as(run, as, cut, sketches_);
      const int64_t total = tried ? cycles(tried->stretches, least) : kBeyond;
      least = std::min(least, total);
      return total;
    });
    return found && found->cycles < whole ? std::optional(found->cut) : std::nullopt;
  }

  Stretch stretch(const LineRun& run, const LineTurn& t) const {
    const size_t op = run.ops[t.k];
    const LineFlow& flow = run.flows[t.k];
    const size_t layer = in_.ops[op].layer;
    const LayerPorts& ports = in_.ops[op].request->ports;
    Stretch out{layer, op, t.mapping, t.piece, numbers(t.mapping->link, ports, in_.tensors[layer])};
    out.whole = out.tensors;
    const auto part = [&](size_t k, int64_t piece) {
      return own_ + static_cast<int32_t>(k) * kMostParts + static_cast<int32_t>(piece);
    };
    for (size_t i = 0; i < out.tensors.size(); ++i) {
      const OperandPort& port = t.mapping->link.ports[i];
      out.offsets.push_back(offset_in_whole(op, port, t.op.offset(port)));
      if (t.k > 0 && port == flow.in) out.tensors[i] = part(t.k - 1, t.awaits);
      if (t.k + 1 < run.ops.size() && port == flow.out) out.tensors[i] = part(t.k, t.piece);
    }
    return out;
  }

  const ScheduleInput& in_;
  hw::Chain chain_;
  Mapper own_sketches_;
  Mapper& sketches_;        ///< of what is only tried: no programs
  std::vector<bool> done_;  ///< by op: stands in the text
  std::set<size_t> whole_;  ///< ops that nothing is cut of
  int64_t staged_;          ///< bytes that programs stage in
  int32_t own_ = 0;         ///< number of the next tensor between pieces
  Schedule out_;
  std::map<std::string, KnownCut> cuts_;  ///< of runs
  std::vector<RowCutChoice> row_choices_;
};

}  // namespace

Schedule schedule(const ScheduleInput& input) { return Scheduler(input).run(); }

}  // namespace accsim::sim
