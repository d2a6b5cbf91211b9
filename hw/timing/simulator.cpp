#include "hw/timing/simulator.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "hw/program/contract.h"

namespace accsim::hw {

namespace {

/// Of no command; there is room below for any growth.
constexpr int64_t kNoEnd = std::numeric_limits<int64_t>::min() / 2;

}  // namespace

Timing Simulator::go_on(std::span<const Step> steps, std::span<const int32_t> tensors) {
  tensors_ = tensors;
  zero_ = state_.end;
  sums_ = {};
  run_body(steps.data(), steps.data() + steps.size());
  return layer_share();
}

Timing Simulator::layer_share() const {
  Timing out;
  out.total = Cycles(time_of(state_.end - zero_));
  for (const Queue q : Queue::all()) {
    const auto& sums = sums_[q];
    const int64_t free_at = state_.moments[static_cast<size_t>(kQueueMoments[q].free)];
    out.queues[q].busy = Cycles(time_of(sums[0]));
    out.queues[q].hidden = Cycles(time_of(sums[1]));
    out.queues[q].free_at = Cycles(time_of(std::max<int64_t>(0, free_at - zero_)));
    for (size_t w = 0; w < kWaits; ++w) out.queues[q].waits[w] = Cycles(time_of(sums[2 + w]));
  }
  return out;
}

/// Free tokens of a ring's slots.
void Simulator::begin_with(size_t ring, int64_t slots) {
  check(slots <= static_cast<int64_t>(TokenRing::kMostTokens),
        "more slots than tokens have places");
  TokenRing& free = state_.rings[ring];
  free.size = static_cast<uint32_t>(slots);
  for (uint32_t i = 0; i < free.size; ++i) free.at(i) = stamp(0, Wait::slot);
}

void Simulator::begin(const HwConfig& hw, TimingMode mode, Watcher* watcher,
                      std::span<const int64_t> regions) {
  mode_ = mode;
  watcher_ = watcher;
  state_.moments.fill(0);
  sums_ = {};
  state_.bus = {};
  state_.end = 0;
  state_.marks.clear();
  state_.dataflow.reset();
  for (TokenRing& r : state_.rings) r.head = r.size = 0;
  for (size_t b = 0; b < kBuffers; ++b) {
    begin_with(buffer_ring(static_cast<Buffer>(b), false), hw.buffers[b].slots);
  }
  for (size_t r = 0; r < regions.size(); ++r) begin_with(region_ring(r, false), regions[r]);
}

void Simulator::run_body(const Step* from, const Step* to) {
  for (const Step* s = from; s < to; ++s) {
    switch (s->kind) {
      case Step::Kind::loop:
        run_loop(*s);
        s += s->span;
        break;
      case Step::Kind::load:
        run_load(*s);
        break;
      case Step::Kind::gemm:
        run_gemm(*s);
        break;
      case Step::Kind::drain:
        run_drain(*s);
        break;
      case Step::Kind::post:
        run_unit(*s, Queue::post);
        break;
      case Step::Kind::vector:
        run_unit(*s, Queue::vector);
        break;
      case Step::Kind::store:
        run_store(*s);
        break;
      case Step::Kind::stage:
        run_stage(*s);
        break;
      case Step::Kind::wait: {
        TokenRing& r = state_.rings[s->ring];
        check(r.size > 0, "a wait without a token: the program would block");
        wait_until(*s, r.at(0));
        r.head = (r.head + 1) % TokenRing::kMostTokens;
        --r.size;
        break;
      }
      case Step::Kind::signal: {
        TokenRing& r = state_.rings[s->ring];
        check(r.size < TokenRing::kMostTokens, "more tokens than slots");
        const int64_t done =
            s->slot_free ? stamp(time_of(at(s->moment)), Wait::slot) : at(s->moment);
        r.at(r.size++) = done + (contract::kTokenLatency << kWhyBits);
        // One slot of a buffer becomes full a cycle.
        if (s->filled) at(s->moment) += int64_t{1} << kWhyBits;
        break;
      }
      case Step::Kind::mark:
        run_mark(*s);
        break;
      case Step::Kind::wait_marks:
        wait_until(*s, marks_of(*s));
        break;
    }
  }
}

/// The queue's next command waits for a token, or for marks, of this time.
void Simulator::wait_until(const Step& s, int64_t time) {
  at(s.moment) = std::max(at(s.moment), time);
  if (s.to_read) at(Moment::pending_load_full) = std::max(at(Moment::pending_load_full), time);
  if (watcher_) [[unlikely]]
    watcher_->on_token(s, time_of(time));
}

/// When all marks so far of the tensor that a step is about are reached.
int64_t& Simulator::marks_of(const Step& s) {
  const auto own = static_cast<size_t>(s.tensor);
  const size_t t = tensors_.empty() ? own : static_cast<size_t>(tensors_[own]);
  if (t >= state_.marks.size()) state_.marks.resize(t + 1);
  return state_.marks[t];
}

void Simulator::run_mark(const Step& s) {
  const int64_t done = s.slot_free ? stamp(time_of(at(s.moment)), Wait::slot) : at(s.moment);
  int64_t& marks = marks_of(s);
  marks = std::max(marks, done + (contract::kTokenLatency << kWhyBits));
}

// ---- loops --------------------------------------------------------------------------------------

void Simulator::run_loop(const Step& s) {
  if (mode_ == TimingMode::periodic && s.span == 1 && (&s)[1].kind == Step::Kind::gemm && !watcher_)
    return run_gemms((&s)[1], s.count);
  // Saving and comparing the state costs about as much as some steps.
  constexpr int64_t kWorthWatching = 24;
  if (mode_ == TimingMode::periodic && s.count >= 3 && (s.count - 2) * s.work >= kWorthWatching)
    return watched_loop(s);
  if (watcher_) watcher_->begin_loop(s);
  run_iterations(s, s.count);
  if (watcher_) watcher_->end_loop(s);
}

void Simulator::run_iterations(const Step& s, int64_t times) {
  const Step* const from = &s + 1;
  for (int64_t i = 0; i < times; ++i) {
    run_body(from, from + s.span);
    if (watcher_) [[unlikely]]
      watcher_->end_iteration(s);
  }
}

/// The end of an iteration is its own: long before that of all so far where, say, stores are
/// behind. Queues are in order and iterations alike, so none ends before the one before it.
void Simulator::watched_loop(const Step& s) {
  if (nesting_ == histories_.size())
    histories_.push_back(std::make_unique_for_overwrite<LoopHistory>());
  LoopHistory& history = *histories_[nesting_++];
  history.begin();
  if (watcher_) watcher_->begin_loop(s);
  int64_t done = 0, ahead = 0, end = state_.end;
  while (done < s.count && ahead == 0) {
    state_.end = kNoEnd;
    run_iterations(s, 1);
    history.record(s, state_, sums_);
    ahead = skip_periods(s, history, s.count - ++done);
    end = std::max(end, state_.end);
  }
  state_.end = end;
  run_iterations(s, s.count - done - ahead);
  if (watcher_) watcher_->end_loop(s);
  --nesting_;
}

/// With `left` iterations to go: skips whole periods ahead if there is one. Returns the iterations
/// skipped.
int64_t Simulator::skip_periods(const Step& s, const LoopHistory& history, int64_t left) {
  const int64_t period = history.find_period(s, zero_);
  const int64_t periods = period > 0 ? left / period : 0;
  if (periods == 0) return 0;
  if (watcher_) watcher_->on_skip(s, period, periods, time_of(history.growth(period)));
  history.move_ahead(s, period, periods, state_, sums_);
  return periods * period;
}

// ---- commands -----------------------------------------------------------------------------------

namespace {

/// When another queue may act on it that a command has ended, because of a memory.
int64_t handed_on(int64_t end, Wait memory) {
  return end + (contract::kTokenLatency << kWhyBits) + static_cast<int64_t>(memory);
}

}  // namespace

/// The queue starts its next command: accounts the gap and the occupancy, returns the start. `free`
/// and the result have no reason.
int64_t Simulator::start_command(Queue q, int64_t& free, int64_t ready, int64_t occupancy) {
  auto& sums = sums_[q];
  const int64_t begin = std::max(free, without_why(ready));
  if (watcher_) [[unlikely]] {
    gap_begin_ = std::min(begin, std::max(free, zero_));
    gap_why_ = ready;
  }
  sums[0] += occupancy;
  if (free < zero_) [[unlikely]] {  // at work, or at rest, under the layers before
    sums[1] += std::clamp<int64_t>(zero_ - begin, 0, occupancy);
    sums[2 + why_of(ready)] += std::max<int64_t>(0, begin - zero_);
  } else {
    sums[2 + why_of(ready)] += begin - free;
  }
  free = begin + occupancy;
  return begin;
}

Simulator::BusTime Simulator::take_bus(const Step& s, int64_t free, int64_t ready) {
  if (s.bus == 0) return {ready, 0, false};
  const int64_t from = std::max(free, without_why(ready));
  const bool write = s.kind == Step::Kind::store || s.memory == Wait::dram_write;
  const Bus::Slot slot = state_.bus.take({s.bus, s.turn_to, s.turn_from, write}, from);
  const int64_t begin = without_why(slot.begin);
  if (begin <= from) return {ready, slot.end, false};
  const Wait why = slot.behind_write ? Wait::dram_write : Wait::dram_read;
  return {begin + static_cast<int64_t>(why), slot.end, true};
}

/// The queue is free for its next command in the cycle in which the bus is: that one goes on there.
Simulator::Move Simulator::run_transfer(const Step& s, Queue q, int64_t& free, const BusTime& bus) {
  constexpr int64_t kCycle = int64_t{1} << kWhyBits;
  const int64_t from = std::max(free, without_why(bus.ready));
  const int64_t behind = s.bus > 0 ? s.fill : 0;
  const int64_t occupancy = std::max(s.occupancy, without_why(bus.end) + behind - from);
  const int64_t begin = start_command(q, free, bus.ready, occupancy);
  const int64_t arrived = std::max(free, without_why(bus.end + kCycle - 1) + behind);
  return {begin, free, arrived + s.latency};
}

void Simulator::run_load(const Step& s) {
  int64_t &pending = at(Moment::pending_load), &full = at(Moment::pending_load_full);
  int64_t& free = at(Moment::load_free);
  const int64_t channel = s.shares && s.bus == 0 ? at(Moment::read_by_stage) : 0;
  const BusTime bus = take_bus(s, free, std::max(pending, channel));
  const int64_t read = bus.held_up ? bus.ready : std::max(full, channel);
  // What held the load up is why what it brings isn't there: a slot, or what it reads.
  const bool waited = without_why(bus.ready) > free;
  const bool for_slot = without_why(read) < without_why(bus.ready);
  const auto why = !waited    ? static_cast<int64_t>(s.memory)
                   : for_slot ? static_cast<int64_t>(Wait::slot)
                              : static_cast<int64_t>(why_of(read));
  const Move m = run_transfer(s, Queue::load, free, bus);
  pending = full = 0;
  if (s.shares) at(Moment::read_by_load) = handed_on(s.bus > 0 ? m.begin : m.end, s.memory);
  // Of two memories the slower one may deliver last what was asked for first.
  at(s.moment) = std::max(at(s.moment), m.done + why);
  finish_command(s, Queue::load, m);
}

void Simulator::run_gemm(const Step& s) {
  // What is on its way through the array is of one dataflow.
  if (std::exchange(state_.dataflow, s.dataflow).value_or(s.dataflow) != s.dataflow)
    at(Moment::preload_free) = std::max(at(Moment::preload_free),
                                        at(Moment::result) + (contract::kTokenLatency << kWhyBits));
  // The shadow registers are free once the previous pass has begun to swap them in.
  const int64_t preloaded =
      std::max(at(Moment::preload_free), at(Moment::pending_preload)) + s.fill;
  at(Moment::held_read) = preloaded + s.read_behind;
  const int64_t begin = start_command(Queue::execute, at(Moment::stream_free),
                                      std::max(preloaded, at(Moment::pending_stream)), s.occupancy);
  at(Moment::pending_preload) = at(Moment::pending_stream) = 0;
  at(Moment::preload_free) = begin + static_cast<int64_t>(Wait::weight_load);
  const int64_t done = begin + s.occupancy + s.latency;
  at(Moment::result) = done + static_cast<int64_t>(Wait::array);
  finish_command(s, Queue::execute, {begin, begin + s.occupancy, done});
}

/// As many of the same, none of which waits for a token: from the second on, each streams when the
/// one before has streamed and the array is preloaded again.
void Simulator::run_gemms(const Step& s, int64_t times) {
  int64_t& free = at(Moment::stream_free);
  do {
    if (times-- == 0) return;
    run_gemm(s);
  } while (free < zero_);
  const int64_t gap = std::max<int64_t>(0, s.fill - s.occupancy);
  const int64_t ahead = (s.occupancy + gap) * times;
  auto& sums = sums_[Queue::execute];
  sums[0] += s.occupancy * times;
  sums[2 + static_cast<size_t>(Wait::weight_load)] += gap * times;
  if (times > 0)
    at(Moment::held_read) =
        at(Moment::preload_free) + ahead - s.occupancy - gap + s.fill + s.read_behind;
  free += ahead;
  at(Moment::preload_free) += ahead;
  at(Moment::result) += ahead;
  state_.end = std::max(state_.end, without_why(at(Moment::result)));
}

void Simulator::run_drain(const Step& s) {
  const int64_t ready = std::max(at(Moment::drain_free), at(Moment::pending_stream));
  const int64_t begin = start_command(Queue::execute, at(Moment::stream_free), ready, 0);
  at(Moment::pending_stream) = 0;
  at(Moment::drain_free) = begin + s.fill + static_cast<int64_t>(Wait::array);
  const int64_t done = begin + s.fill + s.latency;
  at(Moment::result) = done + static_cast<int64_t>(Wait::array);
  finish_command(s, Queue::execute, {begin, begin + s.occupancy, done});
}

void Simulator::run_unit(const Step& s, Queue q) {
  const QueueMoments& u = kQueueMoments[q];
  const int64_t pending = at(u.pending);
  const int64_t begin = start_command(q, at(u.free), pending, s.occupancy);
  at(u.pending) = 0;
  const int64_t done = begin + s.occupancy + s.latency;
  at(u.done) = done + static_cast<int64_t>(Wait::post);
  // What held the unit up is why an accumulator slot is still taken.
  constexpr auto kArray = static_cast<size_t>(Wait::array);
  const bool held_up = begin == without_why(pending) && why_of(pending) != kArray;
  at(u.release) =
      begin + s.occupancy +
      (held_up ? static_cast<int64_t>(why_of(pending)) : static_cast<int64_t>(Wait::post));
  finish_command(s, q, {begin, begin + s.occupancy, done});
}

void Simulator::run_store(const Step& s) {
  int64_t &pending = at(Moment::pending_store), &free = at(Moment::store_free);
  const bool channel = s.shares && s.bus == 0;
  const int64_t ready = channel ? std::max(pending, at(Moment::written_by_stage)) : pending;
  const Move m = run_transfer(s, Queue::store, free, take_bus(s, free, ready));
  pending = 0;
  if (s.shares) at(Moment::written_by_store) = handed_on(s.bus > 0 ? m.begin : m.end, s.memory);
  at(Moment::store_release) = m.end + static_cast<int64_t>(s.memory);
  at(Moment::store_done) = m.done + static_cast<int64_t>(s.memory);
  finish_command(s, Queue::store, m);
}

/// An ideal DRAM's channels go from queue to queue in the order of the text. On a bus a stage may
/// begin when what comes before it in the text has begun.
void Simulator::run_stage(const Step& s) {
  const bool in = s.memory == Wait::dram_read;
  int64_t &pending = at(Moment::pending_stage), &free = at(Moment::stage_free);
  const int64_t ready = std::max(pending, at(in ? Moment::read_by_load : Moment::written_by_store));
  const Move m = run_transfer(s, Queue::stage, free, take_bus(s, free, ready));
  pending = 0;
  at(in ? Moment::read_by_stage : Moment::written_by_stage) = handed_on(m.end, s.memory);
  at(Moment::stage_done) = m.done + static_cast<int64_t>(s.memory);
  finish_command(s, Queue::stage, m);
}

void Simulator::finish_command(const Step& s, Queue q, const Move& at) {
  state_.end = std::max(state_.end, at.done);
  if (watcher_) [[unlikely]]
    watcher_->on_command({s, q, time_of(gap_begin_), time_of(at.begin), time_of(at.end),
                          time_of(at.done), static_cast<Wait>(why_of(gap_why_))});
}

}  // namespace accsim::hw
