#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/compare/cause.h"

namespace accsim::sim {

/// What a comparison knows of one layer.
struct SideLayer {
  std::string name, op_type;
  int64_t cycles = 0;
  CauseCycles causes{};  ///< those of a layer; together `cycles`

  friend bool operator==(const SideLayer&, const SideLayer&) = default;
};

/// One side of a comparison: a network costed on a machine.
struct RunSide {
  std::string model_name, model_file;
  std::string machine_name, machine_file;
  std::string objective;  ///< what the mappings were chosen by; "" in reports that don't say
  double clock_mhz = 0;
  int64_t rows = 0, cols = 0;  ///< of the array
  int64_t macs = 0;
  int64_t cycles = 0;  ///< of the run: its layers' unless layers overlap
  double energy_pj = 0, area_mm2 = 0;
  bool weight_load_apart = true;  ///< false in older reports: Cause::array_fill has it, too
  std::vector<std::pair<std::string, std::string>> machine;  ///< field path and value, file order
  std::vector<SideLayer> layers;                             ///< in execution order

  double nanoseconds(int64_t count) const { return static_cast<double>(count) * 1e3 / clock_mhz; }
  friend bool operator==(const RunSide&, const RunSide&) = default;
};

/// The side that a report stands for.
RunSide run_side(const Report& report);

/// Cycles of the run by cause, Cause::overlap among them; together `side.cycles`.
CauseCycles run_causes(const RunSide& side);

}  // namespace accsim::sim
