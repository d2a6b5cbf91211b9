#include "hw/dot_product/stripe_timer.h"

#include <algorithm>

namespace accsim::hw {

bool StripeTimer::State::equals_but_for_time(const State& other) const {
  const int64_t moved = issued - other.issued;
  const auto same = [&](const AtomRun& a, const AtomRun& b) {
    return a.first - b.first == moved && a.count == b.count;
  };
  return lasts == other.lasts && last_atom && other.last_atom &&
         *last_atom - *other.last_atom == moved && std::ranges::equal(held, other.held, same);
}

void StripeTimer::State::move(int64_t cycles) {
  issued += cycles;
  if (last_atom) *last_atom += cycles;
  for (AtomRun& run : held) run.first += cycles;
}

void StripeTimer::run_group(const std::array<StripeRun, 3>& stripes, const GroupStripes& group) {
  GroupStripes rest = group;
  bool begun = false;
  for (StripeRun run : stripes) {
    if (run.number == 0) continue;
    if (!begun) {  // the only stripe that may wait for weights or features
      step(run.outputs, group);
      --run.number;
      rest.there = 0;
      begun = true;
    }
    run_equal(run, rest);
  }
}

/// Brent's search for a period: the state is compared with that of a checkpoint, which moves on
/// when as many stripes have followed it as came before.
void StripeTimer::run_equal(const StripeRun& run, const GroupStripes& group) {
  State checkpoint = now_;
  int64_t since = 0, most = 1;
  for (int64_t left = run.number; left > 0;) {
    step(run.outputs, group);
    --left;
    ++since;
    if (now_.equals_but_for_time(checkpoint)) {
      const int64_t cycles = left / since * (now_.issued - checkpoint.issued);
      now_.move(cycles);
      last_load_ += cycles;
      left %= since;
      since = 0;
      checkpoint = now_;
    } else if (since == most) {
      most *= 2;
      since = 0;
      checkpoint = now_;
    }
  }
}

void StripeTimer::step(int64_t outputs, const GroupStripes& group) {
  const int64_t lasts = std::max(engine_.block_cycles, outputs);
  const int64_t from_block_to_block = std::max(group.load_cycles, lasts);
  const int64_t load = std::max(now_.issued, group.there);
  const int64_t lasted = now_.issued + now_.lasts;
  const int64_t first = std::max(load + group.load_cycles, lasted);
  waited_ += first - std::max(now_.issued + group.load_cycles, lasted);
  last_load_ = group.blocks == 1 ? load : first + (group.blocks - 2) * from_block_to_block;
  now_.issued = std::max(first + (group.blocks - 1) * from_block_to_block, places_free(outputs));
  now_.lasts = lasts;
  hand_out(outputs);
  free_places();
  ++stepped_;
}

/// The cycle from which so many places are free, 0 where they always are.
int64_t StripeTimer::places_free(int64_t outputs) const {
  int64_t in_use = outputs;
  for (const AtomRun& run : now_.held) in_use += run.count;
  int64_t wait_for = in_use - engine_.places;  // atoms, from the oldest on
  if (wait_for <= 0) return 0;
  for (const AtomRun& run : now_.held) {
    if (wait_for <= run.count)
      return run.first + (wait_for - 1) * engine_.atom_cycles + engine_.atom_to_place;
    wait_for -= run.count;
  }
  check(false, "a stripe has more outputs than there are places");
  return 0;
}

/// The atoms of a stripe whose last block has just been issued.
void StripeTimer::hand_out(int64_t outputs) {
  int64_t first = now_.issued + engine_.issue_to_atom;
  const bool follows = now_.last_atom && *now_.last_atom + engine_.atom_cycles >= first;
  if (follows) first = *now_.last_atom + engine_.atom_cycles;
  if (follows && !now_.held.empty())
    now_.held.back().count += outputs;
  else
    now_.held.push_back({first, outputs});
  now_.last_atom = first + (outputs - 1) * engine_.atom_cycles;
  if (!first_atom_) first_atom_ = first;
}

/// Forgets the atoms whose places are free in the cycle of the last issue.
void StripeTimer::free_places() {
  size_t gone = 0;
  for (AtomRun& run : now_.held) {
    const int64_t since = now_.issued - engine_.atom_to_place - run.first;
    if (since < 0) break;
    const int64_t freed = std::min(run.count, since / engine_.atom_cycles + 1);
    run.first += freed * engine_.atom_cycles;
    run.count -= freed;
    if (run.count > 0) break;
    ++gone;
  }
  now_.held.erase(now_.held.begin(), now_.held.begin() + static_cast<std::ptrdiff_t>(gone));
}

}  // namespace accsim::hw
