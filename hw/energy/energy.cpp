#include "hw/energy/energy.h"

namespace accsim::hw {
namespace {

double real_bytes(Bytes b) { return static_cast<double>(b.count()); }

}  // namespace

Picojoules total_energy(const Energy& e) {
  return e.mac + e.vector + e.sram + e.shared + e.dram + e.leakage;
}

Energy energy(const Counts& counts, Cycles cycles, const HwConfig& hw) {
  const EnergyConfig& e = hw.energy;
  const Memory dram = hw.memory(MemoryId::dram), shared = hw.memory(MemoryId::shared);
  Energy out;
  out.mac = Picojoules(e.mean_mac() * static_cast<double>(counts.array_macs.count()));
  for (int64_t ops : counts.vector_ops)
    out.vector += Picojoules(e.vector_op * static_cast<double>(ops));
  out.vector += Picojoules(e.vector_op *
                           static_cast<double>(counts.weighed + counts.joined + counts.divisions));
  for (size_t b = 0; b < kBuffers; ++b)
    out.sram += Picojoules(e.buffer_byte[b] * (real_bytes(counts.buffer_read[b]) +
                                               real_bytes(counts.buffer_written[b])));
  out.shared = Picojoules(shared.read_byte * real_bytes(counts.moved(MemoryId::shared)));
  out.dram = Picojoules(dram.read_byte * real_bytes(counts.read[MemoryId::dram]) +
                        dram.write_byte * real_bytes(counts.written[MemoryId::dram]));
  out.leakage = Picojoules(e.static_per_cycle * static_cast<double>(cycles.count()));
  return out;
}

}  // namespace accsim::hw
