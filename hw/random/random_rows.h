#pragma once
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "hw/program/program.h"
#include "hw/random/slot_room.h"

namespace accsim::hw {

inline constexpr int64_t kRowTables = 8, kRowChannels = 600;
/// What random row commands read from the parameter slot, as a tensor holds it: kRowTables tables
/// of a softmax, then kRowChannels channels of a normalisation.
std::vector<uint8_t> random_row_parameters(std::mt19937& random);
/// A part of a tensor of units of the same kind.
struct RowParameters {
  int64_t begin = 0, unit = 1, count = 0;  ///< units from `begin` on
};
/// Where in random_row_parameters() those of such a command may begin.
RowParameters row_parameters(const RowCommand& c);

/// A row command and how much it takes of its slots, all of which it uses from byte 0 on.
struct RandomRows {
  RowCommand command;
  SlotRoom room;
  /// Puts it behind what else lies in the slots.
  void place_behind(const SlotRoom& by);
};
/// Nothing when what has been drawn doesn't fit.
std::optional<RandomRows> random_rows(const HwConfig& hw, const SlotRoom& room,
                                      std::mt19937& random);

}  // namespace accsim::hw
