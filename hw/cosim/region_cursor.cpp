#include "hw/cosim/region_cursor.h"

#include <utility>

#include "hw/cosim/rtl_layout.h"

namespace accsim::hw {
namespace {

static_assert(kMostRegions == rtl::kRegions);

void move_address(Descriptor& d, size_t low, size_t high, int64_t bytes) {
  const uint64_t address =
      (uint64_t{d.words[high]} << 32 | d.words[low]) + static_cast<uint64_t>(bytes);
  d.words[low] = static_cast<uint32_t>(address);
  d.words[high] = static_cast<uint32_t>(address >> 32);
}

constexpr size_t kStageSource = rtl::stage_cmd::kWalk + rtl::dma_cmd::kRegion;

}  // namespace

RegionCursor::RegionCursor(const Program& program, const ChannelOrder& order, Queue queue)
    : program_(program),
      order_(order),
      queue_(queue),
      numbers_(region_numbers(program)),
      sides_(program.tensors.size()) {}

void RegionCursor::note_wait(const Sync& s) {
  Side& side = sides_[static_cast<size_t>(s.region)][s.kind == SyncKind::wait_free];
  ++side.waits;
  side.waiting = true;
}

void RegionCursor::put_signal(const Sync& s, Descriptor& d) const {
  const bool target = queue_ == Queue::stage && s.kind == SyncKind::signal_full;
  d.words[target ? rtl::stage_cmd::kTarget : rtl::dma_cmd::kRegion] |= rtl::region_flags::kSignal;
}

/// The region that a tensor is, with the wait for its slot if there is one.
uint32_t RegionCursor::slot_flags(int tensor, bool fills) {
  const auto t = static_cast<size_t>(tensor);
  if (numbers_[t] < 0) return 0;
  Side& side = sides_[t][fills];
  uint32_t out = static_cast<uint32_t>(numbers_[t]) << rtl::region_flags::kRegionShift;
  if (!std::exchange(side.waiting, false)) return out;
  out |= rtl::region_flags::kWaits;
  const bool initial = fills && side.waits <= program_.tensors[t].slots;
  return initial ? out | rtl::region_flags::kInitialSlot : out;
}

/// Where the slot of a region begins that the queue uses.
int64_t RegionCursor::slot_begin(int tensor, bool fills) const {
  const ProgramTensor& t = program_.tensors[static_cast<size_t>(tensor)];
  if (t.slots == 0) return 0;
  return (sides_[static_cast<size_t>(tensor)][fills].waits - 1) % t.slots * t.slot_bytes();
}

void RegionCursor::complete_descriptor(const Command& command, Descriptor& d) {
  namespace at = rtl::dma_cmd;
  namespace stage = rtl::stage_cmd;
  if (const auto* load = std::get_if<LoadCommand>(&command)) {
    d.words[at::kRegion] |= slot_flags(load->tensor, false);
    move_address(d, at::kAddrLo, at::kAddrHi, slot_begin(load->tensor, false));
  } else if (const auto* store = std::get_if<StoreCommand>(&command)) {
    d.words[at::kRegion] |= slot_flags(store->tensor, true);
    move_address(d, at::kAddrLo, at::kAddrHi, slot_begin(store->tensor, true));
  } else if (const auto* copy = std::get_if<StageCommand>(&command)) {
    d.words[kStageSource] |= slot_flags(copy->from, false);
    d.words[stage::kTarget] |= slot_flags(copy->to, true);
    const bool out = *writes_dram(program_, command);
    const int64_t from = slot_begin(copy->from, false), to = slot_begin(copy->to, true);
    move_address(d, stage::kWalk + at::kAddrLo, stage::kWalk + at::kAddrHi, out ? to : from);
    move_address(d, stage::kFarLo, stage::kFarHi, out ? from : to);
  }
  const auto writes = writes_dram(program_, command);
  if (!writes) return;
  const ChannelOrder::Turn turn =
      order_.turn_of_command(queue_, *writes, commands_on_dram_[*writes]++);
  static_assert(kStageSource == at::kRegion);
  if (turn.waits) d.words[at::kRegion] |= rtl::region_flags::kTurnWait;
  if (turn.gives) d.words[at::kRegion] |= rtl::region_flags::kTurnGive;
}

}  // namespace accsim::hw
