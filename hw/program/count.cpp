#include <algorithm>

#include "hw/program/command_counter.h"
#include "hw/program/program.h"
#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

/// Sums over the loop nest; `times_` is how often the current body runs.
class Counter {
 public:
  Counter(const Program& program, const HwConfig& hw)
      : program_(program), tally_(hw, program.dataflow) {}

  Counts count_nest() {
    const auto loop = [this](const Loop& l, const auto& inner) {
      loops_.push_back(&l);
      times_ *= l.count;
      inner();
      times_ /= l.count;
      loops_.pop_back();
    };
    const auto command = [this](const Command& c) {
      std::visit([this](const auto& kind) { this->count_command(kind); }, c);
    };
    const auto head = [this](const LayerHead& h) { tally_.begin_layer(h.dataflow); };
    visit_nest(program_.body, Overloaded{loop, command, head});
    return tally_.counts();
  }

 private:
  /// Executions in which the command accumulates onto what is there.
  int64_t accumulating_runs(const std::vector<int>& first_of, bool accumulate) const {
    if (accumulate) return times_;
    int64_t overwriting = times_;
    for (const Loop* loop : loops_)
      if (std::find(first_of.begin(), first_of.end(), loop->id) != first_of.end())
        overwriting /= loop->count;
    return times_ - overwriting;
  }

  MemoryId memory_of(int tensor) const {
    return program_.tensors[static_cast<size_t>(tensor)].memory;
  }

  void count_command(const LoadCommand& c) {
    tally_.count_load(times_, c.buffer, memory_of(c.tensor), c.walk.bytes());
    if (c.gather) tally_.count_indices(times_, c.walk.levels[0].count);
  }
  void count_command(const GemmCommand& c) {
    tally_.count_gemm(times_, {c.m, c.k, c.n, c.useful_macs, c.weights.encoding},
                      accumulating_runs(c.first_of, c.accumulate));
  }
  void count_command(const DrainCommand& c) {
    tally_.count_drain(times_, c.m, c.n, accumulating_runs(c.first_of, c.accumulate));
  }
  void count_command(const PostCommand& c) {
    tally_.count_post(times_, c.rows, c.cols, c.transposed, c.has_parameters, c.groups);
    if (c.epilogue.residual) tally_.count_residual(times_, c.rows * c.cols);
    if (c.epilogue.table) tally_.look_ups(times_, c.rows * c.cols);
  }
  void count_command(const VectorCommand& c) { tally_.count_vector(times_, c); }
  void count_command(const SetTableCommand&) { tally_.set_table(times_); }
  void count_command(const LaneCommand& c) { tally_.count_lane(times_, c); }
  void count_command(const RowCommand& c) { tally_.count_row(times_, c); }
  void count_command(const StoreCommand& c) {
    tally_.count_store(times_, memory_of(c.tensor), c.walk.bytes());
  }

  void count_command(const StageCommand& c) {
    tally_.count_stage(times_, memory_of(c.from), memory_of(c.to), c.walk.bytes());
  }

  const Program& program_;
  CommandCounter tally_;
  int64_t times_ = 1;
  std::vector<const Loop*> loops_;
};

template <size_t N>
void add_bytes(std::array<Bytes, N>& to, const std::array<Bytes, N>& from) {
  for (size_t i = 0; i < N; ++i) to[i] += from[i];
}

}  // namespace

EngineWaits& EngineWaits::operator+=(const EngineWaits& other) {
  reads += other.reads;
  loads += other.loads;
  outputs += other.outputs;
  writes += other.writes;
  return *this;
}

Counts& Counts::operator+=(const Counts& other) {
  macs += other.macs;
  array_macs += other.array_macs;
  read += other.read;
  written += other.written;
  staged += other.staged;
  add_bytes(buffer_read, other.buffer_read);
  add_bytes(buffer_written, other.buffer_written);
  for (size_t i = 0; i < kLaneClasses; ++i) vector_ops[i] += other.vector_ops[i];
  lane_macs += other.lane_macs;
  weighed += other.weighed;
  joined += other.joined;
  divisions += other.divisions;
  commands += other.commands;
  gemms += other.gemms;
  preload_cycles += other.preload_cycles;
  engine += other.engine;
  return *this;
}

Counts count_program(const Program& program, const HwConfig& hw) {
  return Counter(program, hw).count_nest();
}

}  // namespace accsim::hw
