#include "sim/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <random>

#include "hw/program/coverage.h"
#include "hw/random/scatter_loads.h"
#include "hw/timing/timing.h"
#include "sim/base/sums.h"
#include "sim/base/threads.h"
#include "sim/pack/operand_layout.h"
#include "sim/program/random_operands.h"
#include "sim/work/op_space.h"

namespace accsim::sim {
namespace {

int64_t model_cycles(const VerifyCase& c) {
  if (c.mixed) return hw::simulate(c.mixed->program, c.hw).total.count();
  return hw::simulate(emit(c.problem, c.hw, c.tiling), c.hw).total.count();
}

// ---- cutting ------------------------------------------------------------------------------------

/// Halves the first dim that can be halved without changing the kind of work; false when nothing is
/// left.
bool halve_op(GemmOp& op) {
  const OpSpace space = *space_of(op);
  SpaceBox box = space.whole_box();
  for (size_t d = 0; d < static_cast<size_t>(GemmDim::taps); ++d) {
    if (box[d].count == 1) continue;
    box[d].count = ceil_div(box[d].count, 2);
    return op = product_on(op, space, box), true;
  }
  return false;
}

/// As much of a tile as is left of the op.
void cut_tiling(Tiling& t, const GemmOp& op) {
  t.images = std::min(t.images, op.images);
  t.lines = std::min(t.lines, op.out[1]);
  t.pixels = std::min(t.pixels, op.out[2]);
  t.groups = std::min(t.groups, op.batch);
  t.outputs = std::min(t.outputs, t.groups * op.outputs);
  t.channels = std::min(t.channels, t.groups * op.channels);
}
void cut_tiling(TapTiling& t, const GemmOp& op) {
  t.lines = std::min(t.lines, op.out[1]);
  t.pixels = std::min(t.pixels, op.out[2]);
  t.channels = std::min(t.channels, op.batch);
}

/// The problem with another op; all that doesn't follow from the op stays.
GemmProblem resize_problem(const GemmProblem& from, const GemmOp& op, const hw::HwConfig& hw) {
  const GemmProblem sizes = make_problem(op, hw);
  GemmProblem p = from;
  p.op = sizes.op;
  p.most_groups = sizes.most_groups;
  p.z = sizes.z;
  p.y = sizes.y;
  p.x = sizes.x;
  return p;
}

// ---- running ------------------------------------------------------------------------------------

class Runner {
 public:
  Runner(std::vector<VerifyCase> cases, const VerifyOptions& options)
      : cases_(std::move(cases)), options_(options), rows_(cases_.size()) {
    for (size_t i = 0; i < cases_.size(); ++i) {
      cut_case(cases_[i], options.max_cycles);
      cycles_.push_back(model_cycles(cases_[i]));
      cycles_all_ = add_counts(cycles_all_, cycles_.back());
      rows_[i].name = cases_[i].name;
      rows_[i].shape = cases_[i].shape;
      rows_[i].same = cases_[i].same;
      rows_[i].cut = cases_[i].cut;
      rows_[i].mapping = cases_[i].mixed ? std::string(short_name(cases_[i].dataflow()))
                                         : to_string(cases_[i].problem, cases_[i].tiling);
    }
  }

  std::vector<VerifyRow> run_cases() {
    load_cores();
    const auto work = [this](int) {
      for (size_t i = next_++; i < cases_.size(); i = next_++) {
        if (is_stopped()) return;
        run_case(i);
      }
    };
    Threads others(options_.jobs - 1, work, start_thread, [this] { return begin_thread(); });
    work(0);
    others.join();
    return std::move(rows_);
  }

 private:
  bool is_stopped() const { return options_.stop && *options_.stop; }
  void load_cores() {
    for (const VerifyCase& c : cases_) {
      if (is_stopped()) return;  // no case is run then
      if (!cores_.contains(c.dataflow()))
        cores_.emplace(c.dataflow(), hw::VerilatedCore::load(c.hw, c.dataflow(), options_.variant));
    }
  }
  bool begin_thread() const {
    return std::ranges::all_of(
        cores_, [](const auto& core) { return !core.second || (*core.second)->begin_thread(); });
  }

  void run_case(size_t i) {
    VerifyRow& row = rows_[i];
    if (const Status s = cosimulate_case(cases_[i], i, row); !s)
      row.error = s.errors().front().text();
    row.done = true;
    const std::lock_guard lock(progress_mutex_);
    ++done_;
    cycles_done_ += cycles_[i];
    if (options_.progress) options_.progress(done_, cycles_done_, cycles_all_);
  }

  Status cosimulate_case(const VerifyCase& c, size_t i, VerifyRow& row) {
    const auto& core = cores_.at(c.dataflow());
    row.no_core = !core;
    if (!core) return core.errors();
    auto [program, image] = case_program(c, options_.seed, options_.first + i);
    if (const Status good = verify(program, c.hw); !good) return good.errors();
    const auto start = std::chrono::steady_clock::now();
    const auto result =
        hw::cosim(program, c.hw, **core, image,
                  {.waveform = {.file = options_.trace,
                                .most_bytes = options_.trace_bytes,
                                .signals = options_.signals ? &row.signals : nullptr}});
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!result) return result.errors();
    add_coverage(program, row.coverage);
    note_result(*result, options_, row);
    return ok();
  }

  std::vector<VerifyCase> cases_;
  const VerifyOptions& options_;
  std::vector<VerifyRow> rows_;
  std::vector<int64_t> cycles_;
  std::atomic<size_t> next_{0};
  std::mutex progress_mutex_;
  /// Loaded, or why not.
  std::map<hw::Dataflow, Result<std::shared_ptr<const hw::VerilatedCore>>> cores_;
  int64_t done_ = 0, cycles_done_ = 0, cycles_all_ = 0;
};

}  // namespace

hw::ProgramWithImage case_program(const VerifyCase& c, uint64_t seed, uint64_t number) {
  hw::ProgramWithImage out;
  if (c.mixed) {
    out = *c.mixed;
  } else {
    std::seed_seq sequence{seed, number};
    std::mt19937 random(sequence);
    out = {emit(c.problem, c.hw, c.tiling),
           pack_operands(c.problem, c.hw, c.tiling, random_operands(c.problem, c.weights, random))};
    if (c.scattered) scatter_loads(out.program, out.image, random);
  }
  out.program.name = c.name;
  return out;
}

void cut_case(VerifyCase& c, int64_t most) {
  if (c.mixed || most <= 0 || model_cycles(c) <= most) return;
  const std::string whole = shape_text(c.problem.op);
  GemmOp op = c.problem.op;
  while (model_cycles(c) > most && halve_op(op)) {
    c.problem = resize_problem(c.problem, op, c.hw);
    std::visit([&](auto& t) { cut_tiling(t, op); }, c.tiling);
  }
  c.shape = shape_text(op);
  c.cut = whole + " to " + c.shape;
}

void note_result(const hw::CosimResult& result, const VerifyOptions& options, VerifyRow& row) {
  row.commands = result.commands;
  row.values_equal = result.values_equal;
  row.cycles_equal = result.cycles_equal;
  row.any_cycles = options.any_cycles;
  for (const hw::Queue q : hw::Queue::all())
    if (const int64_t late = result.cycles.commands[q])
      row.late.queues[std::string(hw::name(q))] = late;
  row.late.first = result.cycles.first;
  row.rtl_cycles = result.rtl_cycles;
  row.model_cycles = result.model_cycles;
  row.broken = result.broken;
  if (!options.any_cycles || !result.values_equal || !result.broken.empty()) {
    row.difference = result.first_difference;
    row.wrong_layer = result.wrong_layer;
  }
  if (options.trace.empty()) return;
  const hw::Waveform& w = result.waveform;
  row.waveform = WrittenWaveform{w.first, w.last, w.time, w.complete};
}

std::vector<VerifyRow> verify_cases(std::vector<VerifyCase> cases, const VerifyOptions& options) {
  return Runner(std::move(cases), options).run_cases();
}

}  // namespace accsim::sim
