#include "hw/config/derive.h"

namespace accsim::hw {
namespace {

void set_unless_given(DerivableNumber& number, double value) {
  if (!number.given) number.value = value;
}

void derive_energies(HwConfig& hw) {
  EnergyConfig& e = hw.energy;
  const Technology t = e.technology;
  const TypesConfig& types = hw.types;
  set_unless_given(e.mac, mac_pj(t, types.activation, types.weight));
  for (TypeMode& m : hw.types.modes) set_unless_given(m.mac, mac_pj(t, m.activation, m.weight));
  set_unless_given(e.vector_op, vector_op_pj(t, is_float(types.activation)));
  for (size_t b = 0; b < kBuffers; ++b)
    set_unless_given(e.buffer_byte[b], sram_pj_per_byte(t, hw.buffers[b].slot_bytes()));
  set_unless_given(e.shared_byte, sram_pj_per_byte(t, hw.shared.kib * 1024));
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
