#pragma once
#include <optional>

#include "hw/program/program.h"
#include "hw/random/dice.h"
#include "hw/random/slot_room.h"

namespace accsim::hw {

/// A lane command and how much it takes of its slots, all of which it uses from byte 0 on.
struct RandomLanes {
  LaneCommand command;
  SlotRoom room;         ///< of the parameters without a table and channels
  int64_t channels = 0;  ///< whose scales it takes from the parameter slot
  /// Puts it behind what else lies in the slots; its first channel behind so many bytes.
  void place_behind(const SlotRoom& by, int64_t channels_at = 0);
};

/// Draws lane commands: strides of all kinds, broadcasts, taps, slides, reductions.
class LaneDrawer {
 public:
  LaneDrawer(const HwConfig& hw, Dice dice) : hw_(hw), dice_(dice) {}

  /// Nothing when what has been drawn doesn't fit.
  std::optional<RandomLanes> draw_lanes(const SlotRoom& room) const;

 private:
  LaneCommand draw_command() const;
  template <size_t N>
  void draw_strides(std::array<int64_t, N>& strides, int64_t run) const;
  void draw_slide(LaneCommand& c) const;
  void draw_weights(LaneCommand& c) const;
  void draw_zeros(LaneCommand& c) const;
  void draw_scales(LaneCommand& c) const;
  void draw_output(LaneCommand& c) const;

  const HwConfig& hw_;
  const Dice dice_;
};

}  // namespace accsim::hw
