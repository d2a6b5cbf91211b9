#include "hw/dot_product/engine_fields.h"

#include <fmt/format.h>

#include <array>

namespace accsim::hw {
namespace {

using Engine = DotProductEngine;
constexpr int64_t kMost = 1 << 20;  // of one field: sums of all cycles are checked apart

constexpr std::array kFields{
    DotProductField{"atom_channels", "channels", &Engine::atom_channels, 1, kMost},
    DotProductField{"atom_kernels", "kernels", &Engine::atom_kernels, 1, kMost},
    DotProductField{"element_bytes", "bytes", &Engine::element_bytes, 1, 8},
    DotProductField{"stripe", "outputs", &Engine::stripe, 1, kMost},
    DotProductField{"short_stripe", "outputs", &Engine::short_stripe, 1, kMost},
    DotProductField{"block_cycles", "cycles", &Engine::block_cycles, 1, kMost},
    DotProductField{"kernel_cycles", "cycles per kernel", &Engine::kernel_cycles, 0, kMost},
    DotProductField{"load_cycles", "cycles", &Engine::load_cycles, 0, kMost},
    DotProductField{"entry_bytes", "bytes", &Engine::entry_bytes, 1, kMost},
    DotProductField{"banks", "banks", &Engine::banks, 2, 4096},
    DotProductField{"bank_entries", "entries", &Engine::bank_entries, 1, kMost},
    DotProductField{"spare_entries", "entries", &Engine::spare_entries, 0, kMost},
    DotProductField{"burst_entries", "entries", &Engine::burst_entries, 1, kMost},
    DotProductField{"weight_align", "bytes", &Engine::weight_align, 1, kMost},
    DotProductField{"request_interval", "cycles", &Engine::request_interval, 1, kMost},
    DotProductField{"read_latency", "cycles", &Engine::read_latency, 0, kMost},
    DotProductField{"places", "output atoms", &Engine::places, 1, kMost},
    DotProductField{"atom_cycles", "cycles", &Engine::atom_cycles, 1, kMost},
    DotProductField{"weight_start", "cycles", &Engine::weight_start, 0, kMost},
    DotProductField{"feature_start", "cycles", &Engine::feature_start, 0, kMost},
    DotProductField{"feature_latency", "cycles", &Engine::feature_latency, 0, kMost},
    DotProductField{"issue_to_atom", "cycles", &Engine::issue_to_atom, 0, kMost},
    DotProductField{"atom_to_place", "cycles", &Engine::atom_to_place, 0, kMost},
    DotProductField{"atom_to_write", "cycles", &Engine::atom_to_write, 0, kMost},
    DotProductField{"load_to_entries", "cycles", &Engine::load_to_entries, 0, kMost},
    DotProductField{"layer_to_reads", "cycles", &Engine::layer_to_reads, 0, kMost},
};
static_assert(sizeof(Engine) == kFields.size() * sizeof(int64_t), "a field has no row");

}  // namespace

std::span<const DotProductField> dot_product_fields() { return kFields; }

Status check_engine(const DotProductEngine& engine) {
  Errors errors;
  for (const DotProductField& f : kFields) {
    const int64_t value = engine.*f.member;
    if (value >= f.least && value <= f.most) continue;
    errors.push_back(
        {Errc::invalid,
         fmt::format("{} must be {} to {} {}, is {}", f.name, f.least, f.most, f.unit, value),
         std::string(f.name)});
  }
  if (engine.short_stripe > engine.stripe)
    errors.push_back({Errc::invalid,
                      fmt::format("a short stripe of {} outputs is longer than a stripe of {}",
                                  engine.short_stripe, engine.stripe),
                      "short_stripe"});
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::hw
