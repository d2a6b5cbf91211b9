#include "sim/quantise/value_machine.h"

#include <algorithm>

#include "sim/base/sums.h"

namespace accsim::sim {

hw::HwConfig value_machine(const hw::HwConfig& hw) {
  if (!hw.has_dot_products()) return hw;
  hw::HwConfig out = hw;
  out.array.form = hw::ArrayForm::systolic;
  out.array.dataflows = {hw::Dataflow::weight_stationary};
  out.vector.form = hw::VectorForm::lanes;
  // Slots for a tile of operands or of sums, whatever the engine's banks are.
  constexpr int64_t kLeastKib = 64;
  const int64_t tile = hw.array.rows * hw.array.cols * hw.accumulator_bytes();
  for (hw::BufferConfig& buffer : out.buffers) {
    buffer.slots = 2;
    buffer.kib = std::max({buffer.kib, kLeastKib, ceil_div(2 * tile, 1024)});
  }
  return out;
}

}  // namespace accsim::sim
