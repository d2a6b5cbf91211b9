#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/config/fields.h"
#include "sim/cost/workload.h"

namespace accsim::sim {

/// How far a field is moved, to the side on which it should help.
enum class Move : uint8_t { tenth, twofold };
inline constexpr size_t kMoves = 2;

/// What the network costs on one machine.
struct MachineCost {
  int64_t cycles = 0;
  double time_us = 0, energy_pj = 0, area_mm2 = 0;
};

/// A field moved alone, all others as they are, and costed.
struct FieldMove {
  double wanted = 0;         ///< 1.1 or 2 times the field's value, or 0.9 or 0.5 times
  double value = 0;          ///< the nearest legal value beyond the field's own, which was costed
  std::string text;          ///< the same as the machine's file would have it
  std::string illegal;       ///< the rule that `wanted` breaks, when that is why value isn't it
  std::string refused;       ///< why nothing was costed; "" when it was
  MachineCost cost;          ///< with `value`
  int64_t cycles_saved = 0;  ///< fewer cycles; negative: more
};

/// What moving a field brings.
struct FieldAdvice {
  const hw::Field* field = nullptr;
  double value = 0;                     ///< the machine's own
  std::string text;                     ///< the same as the machine's file has it
  bool smaller = false;                 ///< latencies and energies: 10 % less and half
  std::array<FieldMove, kMoves> moves;  ///< by Move

  const FieldMove& field_move(Move m) const { return moves[static_cast<size_t>(m)]; }
  /// Cycles saved by the better of the moves; 0 without any.
  int64_t best_saving() const;
  bool is_tried() const;  ///< was any move costed?
  bool changes_cycles() const;
};

/// All numeric fields of a machine, those that save most cycles first (the larger move's saving,
/// then the file's order).
struct Advice {
  hw::HwConfig hw;
  std::string model_file;
  MachineCost base;
  std::vector<FieldAdvice> fields;
};

/// The value nearest to `wanted` that is legal with all other fields of `hw`: in the field's range,
/// whole if the field is, on the same side of its present value, and within the rules. Where the
/// rules refuse a stretch, the last value before it. `move.refused` when there is none.
void choose_value(const hw::Field& field, const hw::HwConfig& hw, FieldMove& move);

/// Moves every numeric field that the machine has, one at a time, and costs the network with it:
/// what `accsim sweep` finds for these machines. Errors: the machine itself can't run the network.
Result<Advice> advise(Workload& workload, const hw::HwConfig& hw, const MapOptions& options);

}  // namespace accsim::sim
