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

  Counts run() {
    const auto loop = [this](const Loop& l, const auto& inner) {
      loops_.push_back(&l);
      times_ *= l.count;
      inner();
      times_ /= l.count;
      loops_.pop_back();
    };
    const auto command = [this](const Command& c) {
      std::visit([this](const auto& kind) { this->add(kind); }, c);
    };
    const auto head = [this](const LayerHead& h) { tally_.begin(h.dataflow); };
    visit_nest(program_.body, Overloaded{loop, command, head});
    return tally_.counts();
  }

 private:
  /// Executions in which the command accumulates onto what is there.
  int64_t accumulating(const std::vector<int>& first_of, bool accumulate) const {
    if (accumulate) return times_;
    int64_t overwriting = times_;
    for (const Loop* loop : loops_)
      if (std::find(first_of.begin(), first_of.end(), loop->id) != first_of.end())
        overwriting /= loop->count;
    return times_ - overwriting;
  }

  Memory memory(int tensor) const { return program_.tensors[static_cast<size_t>(tensor)].memory; }

  void add(const LoadCommand& c) {
    tally_.load(times_, c.buffer, memory(c.tensor), c.walk.bytes());
    if (c.gather) tally_.indices(times_, c.walk.levels[0].count);
  }
  void add(const GemmCommand& c) {
    tally_.gemm(times_, {c.m, c.k, c.n, c.useful_macs, c.weights.bits},
                accumulating(c.first_of, c.accumulate));
  }
  void add(const DrainCommand& c) {
    tally_.drain(times_, c.m, c.n, accumulating(c.first_of, c.accumulate));
  }
  void add(const PostCommand& c) {
    tally_.post(times_, c.rows, c.cols, c.transposed, c.has_parameters, c.groups);
    if (c.residual) tally_.residual(times_, c.rows * c.cols);
    if (c.table) tally_.look_ups(times_, c.rows * c.cols);
  }
  void add(const VectorCommand& c) { tally_.vector(times_, c); }
  void add(const SetTableCommand&) { tally_.set_table(times_); }
  void add(const LaneCommand& c) { tally_.lane(times_, c); }
  void add(const RowCommand& c) { tally_.row(times_, c); }
  void add(const StoreCommand& c) { tally_.store(times_, memory(c.tensor), c.walk.bytes()); }

  void add(const StageCommand& c) { tally_.stage(times_, memory(c.from), c.walk.bytes()); }

  const Program& program_;
  CommandCounter tally_;
  int64_t times_ = 1;
  std::vector<const Loop*> loops_;
};

template <size_t N>
void add(std::array<Bytes, N>& to, const std::array<Bytes, N>& from) {
  for (size_t i = 0; i < N; ++i) to[i] += from[i];
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  macs += other.macs;
  array_macs += other.array_macs;
  add(read, other.read);
  add(written, other.written);
  staged += other.staged;
  add(buffer_read, other.buffer_read);
  add(buffer_written, other.buffer_written);
  for (size_t i = 0; i < kLaneClasses; ++i) vector_ops[i] += other.vector_ops[i];
  joined += other.joined;
  divisions += other.divisions;
  commands += other.commands;
  gemms += other.gemms;
  preload_cycles += other.preload_cycles;
  return *this;
}

Counts count(const Program& program, const HwConfig& hw) { return Counter(program, hw).run(); }

}  // namespace accsim::hw
