#include "hw/timing/chain.h"

#include <algorithm>

#include "sim/base/key_bytes.h"
#include "sim/base/sums.h"

namespace accsim::hw {

Chain::Chain(const HwConfig& hw, bool loads_first) : loads_first_(loads_first) {
  simulator_.begin(hw, TimingMode::periodic, nullptr, kStageRegions);
  now_ = simulator_.state();
}

int64_t Chain::floor_of(const Simulator::State& s) const {
  const auto at = [&](Moment m) { return s.moments[static_cast<size_t>(m)]; };
  const int64_t floor = std::min(at(Moment::load_free), at(Moment::store_free));
  return loads_first_ ? floor : std::min(floor, at(Moment::vector_free));
}

namespace {

/// Everything from a floor on, tokens at the beginning of their rings.
void rebase(Simulator::State& s, int64_t floor) {
  const auto later = [floor](int64_t time) { return std::max<int64_t>(0, time - floor); };
  for (int64_t& m : s.moments) m = later(m);
  for (auto& ring : s.rings) {
    if (ring.size == 0) continue;
    auto from_head = ring;
    for (uint32_t i = 0; i < ring.size; ++i) from_head.events[i] = later(ring.at(i));
    from_head.head = 0;
    ring = from_head;
  }
  s.end -= floor;
}

}  // namespace

void Chain::write_key(std::span<const Step> steps) {
  KeyBytes key;
  key.add(reinterpret_cast<uintptr_t>(steps.data()), now_.end);
  key.add(now_.dataflow ? static_cast<int>(*now_.dataflow) : -1);
  for (size_t m = 0; m < kFirstPending; ++m) key.add(now_.moments[m]);
  for (size_t r = 0; r < now_.rings.size(); ++r) {
    const auto& ring = now_.rings[r];
    if (ring.size == 0) continue;
    key.add(r, ring.size);
    for (uint32_t i = 0; i < ring.size; ++i) key.add(ring.events[i]);
  }
  for (const int64_t mark : now_.marks) key.add(mark);
  key_ = key.take();
}

void Chain::simulate(std::span<const Step> steps, Known& out) {
  ++simulated_;
  simulator_.restore(now_);
  out.share = simulator_.go_on(steps);
  out.next = simulator_.state();
  out.ahead = floor_of(out.next);
  rebase(out.next, out.ahead);
}

const Chain::Known& Chain::go_on(std::span<const Step> steps) {
  write_key(steps);
  const auto [found, fresh] = known_.try_emplace(key_);
  if (fresh) simulate(steps, found->second);
  return found->second;
}

/// Keeps times far from the end of 64 bits: what lies before the floor counts as the floor.
void Chain::move_base() {
  if (base_ < int64_t{1} << 60) return;
  for (int64_t& mark : marks_) mark = std::max<int64_t>(0, mark - base_);
  base_ = 0;
}

void Chain::go_to(const Place& place) {
  now_ = place.now;
  base_ = place.base;
  total_ = place.total;
  marks_ = place.marks;
}

Timing Chain::add(std::span<const Step> steps, std::span<const int32_t> tensors) {
  now_.marks.clear();
  for (const int32_t t : tensors) {
    if (static_cast<size_t>(t) >= marks_.size()) marks_.resize(static_cast<size_t>(t) + 1);
    now_.marks.push_back(std::max<int64_t>(0, marks_[static_cast<size_t>(t)] - base_));
  }
  const Known& k = go_on(steps);
  for (size_t i = 0; i < tensors.size(); ++i) {
    int64_t& mark = marks_[static_cast<size_t>(tensors[i])];
    mark = std::max(mark, base_ + k.next.marks[i]);
  }
  base_ += k.ahead;
  now_ = k.next;
  total_ = add_counts(total_, k.share.total.count());
  move_base();
  return k.share;
}

}  // namespace accsim::hw
