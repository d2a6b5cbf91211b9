#pragma once
#include <optional>
#include <string_view>

#include "sim/map/cost_evaluator.h"

namespace accsim::sim {

/// What the mapping search minimises.
enum class Objective : uint8_t {
  cycles,   ///< until the last byte of the op's output has arrived
  energy,   ///< picojoules of the op
  edp,      ///< energy-delay product: picojoules times cycles
  traffic,  ///< bytes read from and written to DRAM
};
inline constexpr size_t kObjectives = 4;
/// As --objective and reports spell it: "cycles", "energy", "edp", "traffic".
std::string_view name(Objective o);
/// The objective of that name; nothing when there is none.
std::optional<Objective> objective_from(std::string_view name);

/// What counts first; the smaller is the better.
double primary(Objective o, int64_t cycles, double picojoules, int64_t dram_bytes);

/// How good a mapping is: by the objective, ties by cycles, then by DRAM bytes.
struct Score {
  double primary = 0;
  int64_t cycles = 0, dram_bytes = 0;
  friend auto operator<=>(const Score&, const Score&) = default;
};
/// The score of a program with this cost on the machine.
Score score(Objective o, const Cost& cost, const hw::HwConfig& hw);

}  // namespace accsim::sim
