#include "hw/config/derive.h"

#include <algorithm>

#include "hw/config/buffer_memory.h"

namespace accsim::hw {
namespace {

void set_unless_given(DerivableNumber& number, double value) {
  if (!number.given) number.value = value;
}

/// Bits of an element's registers that a MAC clocks.
double clocked_bits(const HwConfig& hw, DType activation, DType weight, double rate) {
  // Weights of int4 are widened in front of the array.
  const int operand = std::max({bits(activation), bits(weight), 8});
  const int sum = bits(is_float(activation) ? DType::float32 : DType::int32);
  if (hw.has_dot_products()) return operand + sum / static_cast<double>(hw.array.rows);
  const bool both = std::ranges::all_of(hw.array.dataflows, sums_stay);
  return operand * (both ? 2 : 1) + sum / std::max(rate, 1.0);
}

double element_pj(const HwConfig& hw, DType activation, DType weight, double rate) {
  const Technology t = hw.energy.technology;
  return mac_pj(t, activation, weight) + register_pj(t, clocked_bits(hw, activation, weight, rate));
}

void derive_energies(HwConfig& hw) {
  EnergyConfig& e = hw.energy;
  const Technology t = e.technology;
  const TypesConfig& types = hw.types;
  set_unless_given(e.mac, element_pj(hw, types.activation, types.weight, 1));
  for (TypeMode& m : hw.types.modes)
    set_unless_given(m.mac, element_pj(hw, m.activation, m.weight, m.rate));
  set_unless_given(e.vector_op, vector_op_pj(t, is_float(types.activation)));
  for (size_t b = 0; b < kBuffers; ++b) {
    const MemoryShape memory = slot_memory(hw, static_cast<Buffer>(b));
    // A byte is written to all copies and read from one: the mean of a write and a read.
    const double accesses =
        (1 + static_cast<double>(buffer_copies(hw, static_cast<Buffer>(b)))) / 2;
    set_unless_given(e.buffer_byte[b], accesses * sram_pj_per_byte(t, memory.bytes, memory.width));
  }
  const MemoryShape shared = shared_memory(hw);
  set_unless_given(e.shared_byte, sram_pj_per_byte(t, shared.bytes, shared.width));
  const DramKind kind = dram_kind(hw);
  const double dram = kind == DramKind::custom ? 0 : dram_pj_per_byte(kind);
  set_unless_given(e.dram_read_byte, dram);
  set_unless_given(e.dram_write_byte, dram);
  const auto elements = static_cast<double>(hw.array.rows * hw.array.cols);
  set_unless_given(e.static_per_cycle, kStaticPart * elements * e.mac.value);
}

}  // namespace

DramKind dram_kind(const HwConfig& hw) {
  if (hw.dram_model == DramModel::ideal) return hw.energy.dram;
  switch (hw.banked.preset) {
    case DramPreset::ddr4_2400:
      return DramKind::ddr4;
    case DramPreset::lpddr4_3200:
      return DramKind::lpddr4;
    case DramPreset::hbm2:
      return DramKind::hbm2;
  }
  return DramKind::custom;
}

void derive(HwConfig& hw) {
  if (hw.dram_model == DramModel::banked) hw.dram = hw.banked.peak_channel(hw.clock_mhz);
  if (hw.energy.technology != Technology::custom) derive_energies(hw);
}

}  // namespace accsim::hw
