#include "hw/timing/chain.h"

#include <algorithm>

#include "sim/base/check.h"
#include "sim/base/sums.h"

namespace accsim::hw {

Chain::Chain(const HwConfig& hw, bool loads_first, ChainMemory* memory)
    : loads_first_(loads_first), memory_(memory ? *memory : own_) {
  memory_.begin_chain(hw, loads_first);
  simulator_.begin(hw, TimingMode::periodic, nullptr, kStageRegions);
  number_ = memory_.state_number(simulator_.state());
}

int64_t Chain::floor_of(const SimulatorState& s) const {
  const auto at = [&](Moment m) { return s.moments[static_cast<size_t>(m)]; };
  const int64_t floor = std::min(at(Moment::load_free), at(Moment::store_free));
  return loads_first_ ? floor : std::min(floor, at(Moment::vector_free));
}

namespace {

/// Everything from a floor on, tokens at the beginning of their rings.
void rebase_state(SimulatorState& s, int64_t floor) {
  const auto later = [floor](int64_t time) { return std::max<int64_t>(0, time - floor); };
  for (int64_t& m : s.moments) m = later(m);
  for (auto& ring : s.rings) {
    if (ring.size == 0) continue;
    auto from_head = ring;
    for (uint32_t i = 0; i < ring.size; ++i) from_head.events[i] = later(ring.at(i));
    from_head.head = 0;
    ring = from_head;
  }
  s.bus.rebase(floor);
  s.end -= floor;
}

}  // namespace

int32_t Chain::program_number(std::span<const Step> steps) {
  const auto [at, fresh] = programs_.try_emplace(steps.data());
  if (fresh) at->second = memory_.program_number(steps);
  return at->second;
}

void Chain::simulate_program(std::span<const Step> steps, std::span<const int64_t> marks,
                             Known& out) {
  ++done_.simulated;
  done_.steps += std::ssize(steps);
  SimulatorState from = memory_.state(number_);
  from.marks.assign(marks.begin(), marks.end());
  simulator_.restore(from);
  out.share = simulator_.go_on(steps);
  SimulatorState next = simulator_.state();
  out.marks = next.marks;
  out.ahead = floor_of(next);
  rebase_state(next, out.ahead);
  out.next = memory_.state_number(next);
}

const Chain::Known& Chain::go_on(std::span<const Step> steps, std::span<const int32_t> tensors) {
  key_ = {number_, program_number(steps)};
  for (const int32_t t : tensors) {
    if (static_cast<size_t>(t) >= marks_.size()) marks_.resize(static_cast<size_t>(t) + 1);
    key_.push_back(std::max<int64_t>(0, marks_[static_cast<size_t>(t)] - base_));
  }
  const auto [known, fresh] = memory_.find_known(
      {reinterpret_cast<const char*>(key_.data()), key_.size() * sizeof(int64_t)});
  if (fresh) simulate_program(steps, std::span(key_).subspan(2), known);
  return known;
}

void Chain::set_mark(size_t tensor, int64_t time) {
  changes_.push_back({tensor, marks_[tensor]});
  marks_[tensor] = time;
}

/// Keeps times far from the end of 64 bits: what lies before the floor counts as the floor.
void Chain::move_base() {
  if (base_ < int64_t{1} << 60) return;
  for (size_t t = 0; t < marks_.size(); ++t) set_mark(t, std::max<int64_t>(0, marks_[t] - base_));
  base_ = 0;
}

void Chain::go_back(const Place& place) {
  check(place.changes <= changes_.size(), "a chain has left a place that it goes back to");
  number_ = place.number;
  base_ = place.base;
  total_ = place.total;
  for (; changes_.size() > place.changes; changes_.pop_back())
    marks_[changes_.back().tensor] = changes_.back().before;
}

Timing Chain::add_program(std::span<const Step> steps, std::span<const int32_t> tensors) {
  ++done_.added;
  const Known& k = go_on(steps, tensors);
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto tensor = static_cast<size_t>(tensors[i]);
    const int64_t mark = base_ + k.marks[i];
    if (mark > marks_[tensor]) set_mark(tensor, mark);
  }
  base_ += k.ahead;
  number_ = k.next;
  total_ = add_counts(total_, k.share.total.count());
  move_base();
  return k.share;
}

}  // namespace accsim::hw
