#include <algorithm>

#include "hw/program/visit.h"
#include "hw/timing/steps.h"

namespace accsim::hw {
namespace {

/// Gives the writer what it needs of each line of the program's text.
class StepCompiler {
 public:
  StepCompiler(const Program& program, StepWriter& to)
      : program_(program), regions_(region_numbers(program)), to_(to) {}

  void run() {
    const auto loop = [this](const Loop& l, const auto& inner) {
      to_.open_loop(l.count);
      open_.push_back(l.id);
      inner();
      open_.pop_back();
      to_.close_loop();
    };
    const auto sync = [this](const Sync& s) { write_sync(s); };
    const auto mark = [this](const Mark& m) { to_.mark(m); };
    const auto head = [this](const LayerHead& h) { to_.begin_layer(h.dataflow); };
    const auto any_command = [this](const Command& c) {
      std::visit([this](const auto& kind) { this->write_command(kind); }, c);
    };
    visit_nest(program_.body, Overloaded{loop, sync, mark, head, any_command});
  }

 private:
  MemoryId memory_of(int tensor) const {
    return program_.tensors[static_cast<size_t>(tensor)].memory;
  }

  void write_sync(const Sync& s) {
    if (s.region < 0) return to_.sync(s.kind, s.queue, s.buffer);
    to_.region_sync(s.kind, s.queue, static_cast<size_t>(regions_[static_cast<size_t>(s.region)]));
  }

  LoopStrides loop_strides(const Affine& address) const {
    LoopStrides out;
    for (const Affine::Term& t : address.terms)
      out.push_back(
          {static_cast<size_t>(std::ranges::find(open_, t.loop) - open_.begin()), t.coeff});
    return out;
  }

  void write_command(const LoadCommand& c) {
    if (c.gather) return to_.load_gathered(c.buffer, memory_of(c.tensor), c.walk);
    const LoopStrides s = loop_strides(c.source);
    if (c.transposed > 0)
      to_.load_transposed(c.buffer, memory_of(c.tensor), c.walk, s, c.transposed);
    else
      to_.load(c.buffer, memory_of(c.tensor), c.walk, s);
  }
  void write_command(const GemmCommand& c) { to_.gemm(c.m, c.k, c.n); }
  void write_command(const DrainCommand&) { to_.drain(); }
  void write_command(const PostCommand& c) { to_.post(c.rows, c.cols, c.groups); }
  void write_command(const VectorCommand& c) { to_.vector(c); }
  void write_command(const SetTableCommand& c) { to_.set_table(c.unit); }
  void write_command(const LaneCommand& c) { to_.lane(c); }
  void write_command(const RowCommand& c) { to_.row(c); }
  void write_command(const StoreCommand& c) {
    to_.store(memory_of(c.tensor), c.walk, loop_strides(c.target));
  }
  void write_command(const StageCommand& c) {
    const bool in = memory_of(c.from) == MemoryId::dram;
    to_.stage(memory_of(c.from), c.walk, loop_strides(in ? c.source : c.target));
  }

  const Program& program_;
  const std::vector<int> regions_;
  StepWriter& to_;
  std::vector<int> open_;  ///< ids of the loops around, the outermost first
};

}  // namespace

void write_steps(const Program& program, const HwConfig& hw, StepWriter& to) {
  to.start_program(hw, program.dataflow);
  if (has_command<StageCommand>(program.body)) to.share_channels();
  for (const ProgramTensor& t : program.tensors)
    if (t.slots > 0) to.add_region(t.slots);
  StepCompiler(program, to).run();
}

}  // namespace accsim::hw
