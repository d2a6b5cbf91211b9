#include "hw/timing/steps.h"

#include <algorithm>

#include "hw/program/engines.h"

namespace accsim::hw {
namespace {

/// What a load into a buffer writes.
constexpr TouchSet load_touches(Buffer to) {
  return touch(Moment::load_free) | touch(loaded_moment(to)) | touch(Moment::pending_load) |
         touch(Moment::pending_load_full);
}

constexpr int64_t stamped_cycles(int64_t cycles) { return cycles << kWhyBits; }

/// What a queue waits for when it waits for a memory.
Wait wait_for(MemoryId m, bool write) {
  if (m == MemoryId::shared) return Wait::shared;
  return write ? Wait::dram_write : Wait::dram_read;
}

constexpr int64_t kMuchWork = 1'000'000;
constexpr size_t kMostLoops = 64;

}  // namespace

void StepWriter::start_program(const HwConfig& hw, Dataflow dataflow) {
  hw_ = &hw;
  dataflow_ = dataflow;
  stages_ = false;
  regions_.clear();
  steps_.clear();
  frames_.assign(1, {0, 0, 0, 0});
  if (hw.dram_model == DramModel::banked &&
      !(banked_ && banked_->dram == hw.banked && banked_->clock_mhz == hw.clock_mhz))
    banked_.emplace(Banked{hw.banked, hw.clock_mhz, DramCosts(hw)});
}

StepWriter::Transfer StepWriter::transfer_times(MemoryId m, const Walk& walk, bool write,
                                                const LoopStrides* strides) {
  const Memory memory = hw_->memory(m);
  if (!memory.banked) {
    const ByteRate rate = memory.rate(write);
    const int64_t ticks = memory.one_bus ? rate.cycles(walk.bytes() * kDramTicks) : 0;
    return {rate.cycles(walk.bytes()), memory.channel.latency, ticks, write};
  }
  InlineVector<DramTransfer::Level, 8> levels;
  for (const Walk::Level& l : walk.levels) levels.push_back({l.count, l.stride});
  InlineVector<DramTransfer::Level, kMostLoops> around;
  for (size_t i = 1; strides && !levels.empty() && i < frames_.size(); ++i) {
    int64_t bytes = 0;
    for (const LoopStride& s : *strides) bytes += s.loop + 1 == i ? s.bytes : 0;
    around.push_back({steps_[frames_[i].at].count, bytes});
  }
  const DramCost cost = banked_->costs.transfer_cost({{levels.data(), levels.size()},
                                                      walk.run,
                                                      write,
                                                      strides == nullptr,
                                                      {around.data(), around.size()}});
  return {cost.alone, cost.latency, cost.bus, write};
}

void StepWriter::add_step(const Step& step, TouchSet writes) {
  steps_.push_back(step);
  frames_.back().writes |= writes;
  ++frames_.back().work;
}

void StepWriter::open_loop(int64_t count) {
  frames_.push_back({steps_.size(), 0, 0, 0});
  steps_.push_back({.kind = Step::Kind::loop, .count = count});
}

void StepWriter::close_loop() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  Step& loop = steps_[frame.at];
  const int64_t count = loop.count;
  const int64_t span = std::ssize(steps_) - static_cast<int64_t>(frame.at) - 1;
  Frame& outer = frames_.back();
  outer.reads |= frame.reads;
  outer.writes |= frame.writes;
  outer.work = std::min(kMuchWork, outer.work + frame.work * std::min(kMuchWork, count));
  const bool only_a_loop = span > 0 && steps_[frame.at + 1].kind == Step::Kind::loop &&
                           steps_[frame.at + 1].span == span - 1;
  if (span == 0 || count == 1 || only_a_loop) {
    if (only_a_loop) steps_[frame.at + 1].count *= count;
    steps_.erase(steps_.begin() + static_cast<ptrdiff_t>(frame.at));
    return;
  }
  loop.span = static_cast<int32_t>(span);
  loop.work = frame.work;
  loop.writes = frame.writes;
  loop.stale = (frame.reads & ~frame.writes) != 0;
}

void StepWriter::add_transfer(Step step, const Transfer& t, int64_t port, int64_t behind,
                              TouchSet writes) {
  step.occupancy = stamped_cycles(std::max({int64_t{1}, t.occupancy, port}) + behind);
  step.latency += stamped_cycles(t.latency);
  if (t.bus == 0) return add_step(step, writes);
  step.fill = stamped_cycles(behind);
  step.bus = t.bus;
  if (hw_->dram_model != DramModel::banked) return add_step(step, writes | touch(Moment::bus));
  step.turn_to = static_cast<int32_t>(banked_->costs.turn_ticks(t.write));
  step.turn_from = static_cast<int32_t>(banked_->costs.turn_ticks(!t.write));
  add_step(step, writes | touch(Moment::bus));
}

void StepWriter::load(Buffer to, MemoryId from, const Walk& walk, const LoopStrides& strides) {
  const int64_t beats = contract::port_beats(walk.run_count(), walk.run, hw_->buffer(to).width);
  add_load(to, from, transfer_times(from, walk, false, &strides), beats, 0);
}

void StepWriter::load_gathered(Buffer to, MemoryId from, const Walk& walk) {
  const int64_t beats = contract::port_beats(walk.run_count(), walk.run, hw_->buffer(to).width);
  add_load(to, from, transfer_times(from, walk, false, nullptr), beats, contract::kGatherLatency);
}

void StepWriter::load_transposed(Buffer to, MemoryId from, const Walk& walk,
                                 const LoopStrides& strides, int64_t element) {
  const int64_t side = contract::transposer_side(hw_->array, hw_->buffer(to).width, element);
  const int64_t rows = walk.levels.back().count;
  const contract::Transposition t{walk.run_count() / rows, rows, walk.run / element, side};
  // Row by row of a block: what is contiguous is a piece of a run. Blocks of a row follow one
  // another, and find its bytes' DRAM rows open.
  add_load(to, from, transfer_times(from, walk, false, &strides), t.input_cycles(),
           t.output_cycles());
}

void StepWriter::add_load(Buffer to, MemoryId from, const Transfer& t, int64_t port,
                          int64_t behind) {
  const bool shares = stages_ && from == MemoryId::dram;
  if (shares) frames_.back().reads |= touch(Moment::read_by_stage);
  add_transfer({.kind = Step::Kind::load,
                .memory = wait_for(from, false),
                .moment = loaded_moment(to),
                .shares = shares},
               t, port, behind, load_touches(to) | (shares ? touch(Moment::read_by_load) : 0));
}

void StepWriter::store(MemoryId to, const Walk& walk, const LoopStrides& strides) {
  const int64_t width = hw_->buffer(Buffer::output).width;
  const bool shares = stages_ && to == MemoryId::dram;
  if (shares) frames_.back().reads |= touch(Moment::written_by_stage);
  add_transfer({.kind = Step::Kind::store, .memory = wait_for(to, true), .shares = shares},
               transfer_times(to, walk, true, &strides),
               contract::port_beats(walk.run_count(), walk.run, width), 0,
               touch(Moment::store_free) | touch(Moment::store_release) |
                   touch(Moment::store_done) | touch(Moment::pending_store) |
                   (shares ? touch(Moment::written_by_store) : 0));
}

void StepWriter::stage(MemoryId from, const Walk& walk, const LoopStrides& strides) {
  const bool in = from == MemoryId::dram;
  const int64_t beats =
      contract::port_beats(walk.run_count(), walk.run, contract::stage_port(*hw_));
  const Moment mine = in ? Moment::read_by_stage : Moment::written_by_stage;
  const Moment other = in ? Moment::read_by_load : Moment::written_by_store;
  frames_.back().reads |= touch(other);
  add_transfer({.kind = Step::Kind::stage,
                .memory = wait_for(MemoryId::dram, !in),
                .latency = stamped_cycles(hw_->shared.channel.latency)},
               transfer_times(MemoryId::dram, walk, !in, &strides), beats, 0,
               touch(Moment::stage_free) | touch(Moment::stage_done) |
                   touch(Moment::pending_stage) | touch(mine));
}

void StepWriter::gemm(int64_t m, int64_t k, int64_t n) {
  const contract::ArrayTemplate& array = contract::template_of(hw_->array);
  const int64_t fill = array.preload_cycles(hw_->array, dataflow_);
  add_step({.kind = Step::Kind::gemm,
            .dataflow = dataflow_,
            .occupancy = stamped_cycles(array.stream_cycles(dataflow_, m, k, n)),
            .fill = stamped_cycles(fill),
            .latency = stamped_cycles(array.exit_cycles(hw_->array)),
            .read_behind = stamped_cycles(array.held_read_cycles(hw_->array, dataflow_) - fill)},
           touch(Moment::preload_free) | touch(Moment::held_read) | touch(Moment::stream_free) |
               touch(Moment::result) | touch(Moment::pending_preload) |
               touch(Moment::pending_stream));
}

void StepWriter::engine(int64_t cycles) {
  add_step({.kind = Step::Kind::load,
            .moment = loaded_moment(Buffer::activation),
            .occupancy = stamped_cycles(cycles)},
           load_touches(Buffer::activation));
}

void StepWriter::drain() {
  // The last row leaves behind the skew of the last operand. The transposer of the activations is a
  // selector behind the input skew and adds nothing to it.
  const contract::ArrayTemplate& array = contract::template_of(hw_->array);
  add_step({.kind = Step::Kind::drain,
            .fill = stamped_cycles(array.drain_cycles(hw_->array, dataflow_)),
            .latency = stamped_cycles(array.exit_cycles(hw_->array))},
           touch(Moment::stream_free) | touch(Moment::drain_free) | touch(Moment::result) |
               touch(Moment::pending_stream));
}

void StepWriter::add_unit(Queue q, int64_t cycles) {
  const QueueMoments& m = kQueueMoments[q];
  add_step({.kind = q == Queue::post ? Step::Kind::post : Step::Kind::vector,
            .occupancy = stamped_cycles(cycles),
            .latency = stamped_cycles(engine_of(q).latency)},
           touch(m.free) | touch(m.done) | touch(m.release) | touch(m.pending));
}

void StepWriter::post(int64_t rows, int64_t cols, int64_t groups) {
  const int64_t row_bytes = cols * hw_->activation_bytes();
  add_unit(Queue::post, rows * ceil_div(row_bytes, hw_->buffer(Buffer::output).width) * groups);
}

void StepWriter::set_table(Queue unit) { add_unit(unit, table_cycles(unit)); }

void StepWriter::lane(const LaneCommand& c) {
  add_unit(Queue::vector, contract::lane_cycles(c, *hw_));
}

void StepWriter::row(const RowCommand& c) {
  add_unit(Queue::vector, contract::row_cycles(c, *hw_));
}

void StepWriter::vector(const VectorCommand& c) {
  int64_t cycles = 0;
  for (size_t i = 0; i < kLaneClasses; ++i) cycles += ceil_div(c.ops[i], hw_->vector.lanes[i]);
  add_unit(Queue::vector, std::max({int64_t{1}, cycles,
                                    ceil_div(c.in_bytes, hw_->buffer(Buffer::activation).width),
                                    ceil_div(c.out_bytes, hw_->buffer(Buffer::output).width)}));
}

void StepWriter::add_wait(Step step, bool to_read) {
  step.to_read = to_read;
  add_step(step, touch(step.moment) | touch_ring(step.ring) |
                     (to_read ? touch(Moment::pending_load_full) : 0));
}

void StepWriter::sync(SyncKind kind, Queue queue, Buffer buffer) {
  const bool wait = is_wait(kind);
  const bool primed = kind == SyncKind::signal_primed || kind == SyncKind::wait_primed;
  const bool full = kind == SyncKind::signal_full || kind == SyncKind::wait_full;
  const Buffer held = dataflow_ == Dataflow::input_stationary ? Buffer::activation : Buffer::weight;
  // The operand that is preloaded is done with when it has been read.
  const bool stationary =
      queue == Queue::execute && buffer == held && dataflow_ != Dataflow::output_stationary;
  Step step{.kind = wait ? Step::Kind::wait : Step::Kind::signal,
            .ring = static_cast<uint8_t>(primed ? kPrimedRing : buffer_ring(buffer, full))};
  if (wait) {
    step.moment = stationary ? Moment::pending_preload : kQueueMoments[queue].pending;
    return add_wait(step, queue == Queue::load && full);
  }
  check(queue != Queue::stage, "the stage queue has no slots of buffers");
  if (queue == Queue::load && (full || primed)) {
    step.moment = loaded_moment(buffer);
    step.filled = true;
    frames_.back().reads |= touch(step.moment);
    return add_step(step, touch_ring(step.ring) | touch(step.moment));
  }
  const QueueMoments& own = kQueueMoments[queue];
  step.moment = full && queue != Queue::store ? own.done : own.release;
  if (stationary && !full) step.moment = Moment::held_read;
  step.slot_free = own.for_slot && !full;
  frames_.back().reads |= touch(step.moment);
  add_step(step, touch_ring(step.ring));
}

void StepWriter::region_sync(SyncKind kind, Queue queue, size_t region) {
  const bool wait = is_wait(kind);
  const bool full = kind == SyncKind::signal_full || kind == SyncKind::wait_full;
  Step step{.kind = wait ? Step::Kind::wait : Step::Kind::signal,
            .ring = static_cast<uint8_t>(region_ring(region, full)),
            .slot_free = !wait && !full};
  if (wait) {
    step.moment = kQueueMoments[queue].pending;
    return add_wait(step, queue == Queue::load && full);
  }
  step.moment = full ? kQueueMoments[queue].done : kQueueMoments[queue].release;
  frames_.back().reads |= touch(step.moment);
  add_step(step, touch_ring(step.ring));
}

void StepWriter::mark(const Mark& m) {
  Step step{.kind = m.waits ? Step::Kind::wait_marks : Step::Kind::mark,
            .ring = kMarks,
            .tensor = m.tensor};
  if (m.waits) {
    step.moment = kQueueMoments[m.queue].pending;
    frames_.back().reads |= touch(Moment::marks);
    step.to_read = m.queue == Queue::load;
    return add_step(step,
                    touch(step.moment) | (step.to_read ? touch(Moment::pending_load_full) : 0));
  }
  step.moment = kQueueMoments[m.queue].done;
  step.slot_free = m.queue == Queue::load;
  add_step(step, 0);
}

}  // namespace accsim::hw
