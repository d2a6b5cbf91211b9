#include "hw/timing/compile.h"

#include <algorithm>

#include "hw/program/contract.h"

namespace accsim {
namespace {

class Compiler {
 public:
  Compiler(const Program& program, const HwConfig& hw) : program_(program), hw_(hw) {}

  std::vector<Step> run() {
    body(program_.body);
    return std::move(steps_);
  }

 private:
  void body(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (const auto* loop = std::get_if<Loop>(&item.node)) {
        const size_t at = steps_.size();
        const int64_t before = work_;
        steps_.push_back({.kind = Step::Kind::loop, .count = loop->count});
        body(loop->body);
        steps_[at].end = static_cast<int32_t>(steps_.size());
        const int64_t once = std::min(kMuchWork, work_ - before);
        steps_[at].work = std::min(kMuchWork, once * std::min(kMuchWork, loop->count));
        work_ = before + steps_[at].work;
      } else if (const auto* sync = std::get_if<Sync>(&item.node)) {
        steps_.push_back(token(*sync));
        ++work_;
      } else {
        ++work_;
        steps_.push_back(
            std::visit([this](const auto& c) { return step(c); }, std::get<Command>(item.node)));
      }
    }
  }

  Step token(const Sync& s) const {
    const bool wait = s.kind == SyncKind::wait_free || s.kind == SyncKind::wait_full;
    const bool full = s.kind == SyncKind::signal_full || s.kind == SyncKind::wait_full;
    const Buffer held = program_.dataflow == Dataflow::input_stationary ? Buffer::activation
                                                                        : Buffer::weight;
    return {.kind = wait ? Step::Kind::wait : Step::Kind::signal,
            .queue = s.queue,
            .buffer = s.buffer,
            .full = full,
            .stationary = s.queue == Queue::execute && s.buffer == held &&
                          program_.dataflow != Dataflow::output_stationary};
  }

  Memory memory(int tensor) const { return program_.tensors[static_cast<size_t>(tensor)].memory; }
  const ChannelConfig& channel(int tensor) const {
    return memory(tensor) == Memory::dram ? hw_.dram : hw_.shared.channel;
  }

  Step step(const LoadCommand& c) const {
    const ChannelConfig& from = channel(c.tensor);
    const int64_t beats =
        contract::port_beats(c.walk.runs(), c.walk.run, hw_.buffer(c.buffer).width);
    return {.kind = Step::Kind::load,
            .occupancy = std::max({int64_t{1}, from.read.cycles(c.walk.bytes()), beats}),
            .latency = from.latency,
            .memory = memory(c.tensor) == Memory::dram ? Wait::dram_read : Wait::shared,
            .queue = Queue::load};
  }

  Step step(const GemmCommand& c) const {
    const bool held = program_.dataflow != Dataflow::output_stationary;
    return {.kind = Step::Kind::gemm,
            .occupancy = contract::stream(program_.dataflow, c.m, c.k, c.n),
            .fill = held ? contract::preload(hw_.array, program_.dataflow) : 0,
            .latency = contract::skew(hw_.array) + contract::kArrayLatency,
            .queue = Queue::execute};
  }

  Step step(const DrainCommand&) const {
    // One row a cycle leaves the array, the last row behind the skew of the last operand. The
    // transposer of the activations is a selector behind the input skew and adds nothing to it.
    return {.kind = Step::Kind::drain,
            .fill = hw_.array.rows,
            .latency = contract::skew(hw_.array) + contract::kArrayLatency,
            .queue = Queue::execute};
  }

  Step step(const PostCommand& c) const {
    const int64_t row_bytes = c.cols * hw_.activation_bytes();
    return {.kind = Step::Kind::post,
            .occupancy = c.rows * ceil_div(row_bytes, hw_.buffer(Buffer::output).width),
            .latency = contract::kPostLatency,
            .queue = Queue::post};
  }

  Step step(const VectorCommand& c) const {
    int64_t cycles = 0;
    for (size_t i = 0; i < kLaneClasses; ++i)
      cycles += ceil_div(c.ops[i], hw_.vector.lanes[i]);
    return {.kind = Step::Kind::post,
            .occupancy = std::max({int64_t{1}, cycles,
                                   ceil_div(c.in_bytes, hw_.buffer(Buffer::activation).width),
                                   ceil_div(c.out_bytes, hw_.buffer(Buffer::output).width)}),
            .latency = contract::kVectorLatency,
            .queue = Queue::post};
  }

  Step step(const StoreCommand& c) const {
    const ChannelConfig& to = channel(c.tensor);
    const int64_t beats =
        contract::port_beats(c.walk.runs(), c.walk.run, hw_.buffer(Buffer::output).width);
    return {.kind = Step::Kind::store,
            .occupancy = std::max({int64_t{1}, to.write.cycles(c.walk.bytes()), beats}),
            .latency = to.latency,
            .memory = memory(c.tensor) == Memory::dram ? Wait::dram_write : Wait::shared,
            .queue = Queue::store};
  }

  const Program& program_;
  const HwConfig& hw_;
  std::vector<Step> steps_;
  int64_t work_ = 0;  ///< steps run so far in one iteration of everything around
};

}  // namespace

std::vector<Step> compile(const Program& program, const HwConfig& hw) {
  return Compiler(program, hw).run();
}

}  // namespace accsim
