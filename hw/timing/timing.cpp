#include "hw/timing/timing.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "hw/program/contract.h"
#include "hw/timing/compile.h"
#include "hw/timing/periodic.h"

namespace accsim {

std::string_view name(Wait w) {
  constexpr std::array<std::string_view, kWaits> kNames = {"dram_read", "dram_write", "shared",
                                                           "array",     "post",       "slot"};
  return kNames[static_cast<size_t>(w)];
}

namespace {

/// A moment with the reason why it isn't earlier.
struct Event {
  int64_t time = 0;
  Wait why = Wait::array;

  void at_least(Event other) {
    if (other.time > time) *this = other;
  }
};

/// Tokens of one kind under way: at most as many as the buffer has slots, oldest first.
struct Tokens {
  static constexpr int kMost = 16;
  std::array<Event, kMost> events{};
  int size = 0;

  Event pop() {
    check(size > 0, "a wait without a token: the program would block");
    const Event first = events[0];
    std::move(events.begin() + 1, events.begin() + size, events.begin());
    --size;
    return first;
  }
  void push(Event e) {
    check(size < kMost, "more tokens than slots");
    events[static_cast<size_t>(size++)] = e;
  }
};

class Simulator {
 public:
  Simulator(const std::vector<Step>& steps, const HwConfig& hw, TimingMode mode,
            const CommandObserver& observer)
      : steps_(steps), mode_(mode), observer_(observer) {
    for (size_t b = 0; b < kBuffers; ++b)
      for (int64_t s = 0; s < hw.buffers[b].slots; ++s) free_[b].push({0, Wait::slot});
  }

  Timing run() {
    body(0, steps_.size());
    Timing out;
    out.total = Cycles(end_.time);
    constexpr std::array<int, kQueues> kFree = {kLoadFree, kStreamFree, kPostFree, kStoreFree};
    for (size_t q = 0; q < kQueues; ++q) {
      out.queues[q].busy = Cycles(busy_[q]);
      out.queues[q].free_at = Cycles(at_[static_cast<size_t>(kFree[q])].time);
      for (size_t w = 0; w < kWaits; ++w) out.queues[q].waits[w] = Cycles(waits_[q][w]);
    }
    return out;
  }

 private:
  /// Moments that later commands build on, besides the tokens.
  enum Moment {
    kLoadFree, kPreloadFree, kStreamFree, kDrainFree, kPostFree, kStoreFree,
    kLoadDone, kPreloadEnd, kResult, kPostDone,
    kPendLoad, kPendPreload, kPendStream, kPendPost, kPendStore,
    kMoments
  };
  Event& at(Moment m) { return at_[m]; }

  void body(size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      const Step& s = steps_[i];
      switch (s.kind) {
        case Step::Kind::loop:
          loop(i, s);
          i = static_cast<size_t>(s.end) - 1;
          break;
        case Step::Kind::load: load(s); break;
        case Step::Kind::gemm: gemm(s); break;
        case Step::Kind::drain: drain(s); break;
        case Step::Kind::post: post(s); break;
        case Step::Kind::store: store(s); break;
        case Step::Kind::wait: wait(s); break;
        case Step::Kind::signal: signal(s); break;
      }
    }
  }

  void loop(size_t at, const Step& s) {
    const auto from = at + 1, to = static_cast<size_t>(s.end);
    // Saving and comparing the state costs about as much as some tens of steps.
    constexpr int64_t kWorthWatching = 150;
    if (mode_ == TimingMode::step || s.work < kWorthWatching || s.count < 4) {
      for (int64_t i = 0; i < s.count; ++i) body(from, to);
      return;
    }
    // Detectors live as long as the simulator, one a nesting depth, because they hold much memory.
    if (depth_ == detectors_.size()) detectors_.emplace_back();
    PeriodDetector& detector = detectors_[depth_++];
    detector.reset();
    run_watched(s.count, from, to, detector);
    --depth_;
  }

  void run_watched(int64_t count, size_t from, size_t to, PeriodDetector& detector) {
    for (int64_t i = 0; i < count; ++i) {
      body(from, to);
      save_state();
      save_sums();
      detector.record(state_, sums_);
      const int period = detector.period();
      if (period == 0) continue;
      const int64_t periods = (count - 1 - i) / period;
      detector.skip(period, periods, state_, sums_);
      restore(state_, sums_);
      for (i += periods * period + 1; i < count; ++i) body(from, to);
      return;
    }
  }

  /// The queue starts its next command: accounts the gap and the occupancy, returns the start.
  int64_t start(Queue q, Event& free, Event ready, int64_t occupancy) {
    const int64_t begin = std::max(free.time, ready.time);
    waits_[static_cast<size_t>(q)][static_cast<size_t>(ready.why)] += begin - free.time;
    busy_[static_cast<size_t>(q)] += occupancy;
    free = {begin + occupancy, begin > free.time ? ready.why : free.why};
    return begin;
  }

  void load(const Step& s) {
    const bool waited = at(kPendLoad).time > at(kLoadFree).time;
    const int64_t begin = start(Queue::load, at(kLoadFree), at(kPendLoad), s.occupancy);
    at(kPendLoad) = {};
    at(kLoadDone) = {begin + s.occupancy + s.latency, waited ? Wait::slot : s.memory};
    finish(Queue::load, begin, at(kLoadDone));
  }

  void gemm(const Step& s) {
    // The shadow registers are free once the previous pass has begun to swap them in.
    Event preload = at(kPreloadFree);
    preload.at_least(at(kPendPreload));
    at(kPreloadEnd) = {preload.time + s.fill, preload.why};
    Event ready = at(kPreloadEnd);
    ready.at_least(at(kPendStream));
    const int64_t begin = start(Queue::execute, at(kStreamFree), ready, s.occupancy);
    at(kPendPreload) = at(kPendStream) = {};
    at(kPreloadFree) = {begin, Wait::array};
    at(kResult) = {begin + s.occupancy + s.latency, Wait::array};
    finish(Queue::execute, begin, at(kResult));
  }

  void drain(const Step& s) {
    Event ready = at(kDrainFree);
    ready.at_least(at(kPendStream));
    const int64_t begin = start(Queue::execute, at(kStreamFree), ready, 0);
    at(kPendStream) = {};
    at(kDrainFree) = {begin + s.fill, Wait::array};
    at(kResult) = {begin + s.fill + s.latency, Wait::array};
    finish(Queue::execute, begin, at(kResult));
  }

  void post(const Step& s) {
    const int64_t begin = start(Queue::post, at(kPostFree), at(kPendPost), s.occupancy);
    const Event pend = at(kPendPost);
    at(kPendPost) = {};
    at(kPostDone) = {begin + s.occupancy + s.latency, Wait::post};
    // What held the unit up is why an accumulator slot is still taken.
    post_why_ = begin == pend.time && pend.why != Wait::array ? pend.why : Wait::post;
    finish(Queue::post, begin, at(kPostDone));
  }

  void store(const Step& s) {
    const int64_t begin = start(Queue::store, at(kStoreFree), at(kPendStore), s.occupancy);
    at(kPendStore) = {};
    store_why_ = s.memory;
    finish(Queue::store, begin, {begin + s.occupancy + s.latency, s.memory});
  }

  void finish(Queue q, int64_t begin, Event e) {
    end_.at_least({e.time, Wait::array});
    if (observer_) observer_({q, begin, e.time});
  }

  void wait(const Step& s) {
    Tokens& from = (s.full ? full_ : free_)[static_cast<size_t>(s.buffer)];
    pending(s).at_least(from.pop());
  }

  Event& pending(const Step& s) {
    switch (s.queue) {
      case Queue::load: return at(kPendLoad);
      case Queue::execute: return at(s.stationary ? kPendPreload : kPendStream);
      case Queue::post: return at(kPendPost);
      case Queue::store: return at(kPendStore);
    }
    check(false, "unknown queue");
    return end_;
  }

  void signal(const Step& s) {
    Event e = done(s);
    e.time += contract::kTokenLatency;
    (s.full ? full_ : free_)[static_cast<size_t>(s.buffer)].push(e);
  }

  /// When the queue's last command is done with the slot that the token is about.
  Event done(const Step& s) {
    switch (s.queue) {
      case Queue::load: return at(kLoadDone);
      case Queue::execute:
        if (s.full) return at(kResult);
        return {s.stationary ? at(kPreloadEnd).time : at(kStreamFree).time, Wait::slot};
      case Queue::post:
        return s.full ? at(kPostDone) : Event{at(kPostFree).time, post_why_};
      case Queue::store: return {at(kStoreFree).time, store_why_};
    }
    check(false, "unknown queue");
    return end_;
  }

  // ---- loop skipping -------------------------------------------------------------------------

  static int64_t pack(Event e) {
    return e.time * PeriodDetector::kTagRange + static_cast<int64_t>(e.why);
  }
  static Event unpack(int64_t v) {
    return {v / PeriodDetector::kTagRange, static_cast<Wait>(v % PeriodDetector::kTagRange)};
  }

  void save_state() {
    std::vector<int64_t>& out = state_;
    out.clear();
    int64_t sizes = static_cast<int64_t>(post_why_) * 8 + static_cast<int64_t>(store_why_);
    for (size_t b = 0; b < kBuffers; ++b)
      sizes = (sizes * 17 + full_[b].size) * 17 + free_[b].size;
    out.push_back(sizes);
    out.push_back(pack(end_));
    for (const Event& e : at_) out.push_back(pack(e));
    for (size_t b = 0; b < kBuffers; ++b)
      for (const Tokens* t : {&full_[b], &free_[b]})
        for (int i = 0; i < t->size; ++i) out.push_back(pack(t->events[static_cast<size_t>(i)]));
  }

  void save_sums() {
    sums_.assign(busy_.begin(), busy_.end());
    for (const auto& queue : waits_) sums_.insert(sums_.end(), queue.begin(), queue.end());
  }

  void restore(const std::vector<int64_t>& state, const std::vector<int64_t>& sums) {
    size_t i = 1;
    end_ = unpack(state[i++]);
    for (Event& e : at_) e = unpack(state[i++]);
    for (size_t b = 0; b < kBuffers; ++b)
      for (Tokens* t : {&full_[b], &free_[b]})
        for (int k = 0; k < t->size; ++k) t->events[static_cast<size_t>(k)] = unpack(state[i++]);
    i = 0;
    for (int64_t& b : busy_) b = sums[i++];
    for (auto& queue : waits_)
      for (int64_t& w : queue) w = sums[i++];
  }

  const std::vector<Step>& steps_;
  const TimingMode mode_;
  const CommandObserver& observer_;
  std::array<Event, kMoments> at_{};
  std::array<Tokens, kBuffers> full_, free_;
  Event end_;
  Wait post_why_ = Wait::post;
  Wait store_why_ = Wait::dram_write;
  std::array<int64_t, kQueues> busy_{};
  std::array<std::array<int64_t, kWaits>, kQueues> waits_{};
  std::deque<PeriodDetector> detectors_;
  size_t depth_ = 0;
  std::vector<int64_t> state_, sums_;  ///< scratch of the innermost watched loop
};

}  // namespace

Timing simulate(const Program& program, const HwConfig& hw, TimingMode mode,
                const CommandObserver& observer) {
  const std::vector<Step> steps = compile(program, hw);
  return Simulator(steps, hw, mode, observer).run();
}

}  // namespace accsim
