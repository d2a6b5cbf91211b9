#include "hw/dot_product/engine_fields.h"

#include <fmt/format.h>

#include <array>

namespace accsim::hw {
namespace {

using Engine = DotProductEngine;
constexpr int64_t kMost = 1 << 20;  // of one field: sums of all cycles are checked apart

constexpr std::array kFields{
    DotProductField{"atom_channels", "channels", &Engine::atom_channels, 1, kMost,
                    "channels of a block, for each output and cycle", true},
    DotProductField{"atom_kernels", "kernels", &Engine::atom_kernels, 1, kMost,
                    "kernels of a group", true},
    DotProductField{"element_bytes", "bytes", &Engine::element_bytes, 1, 8,
                    "a feature, and a weight", true},
    DotProductField{"stripe", "outputs", &Engine::stripe, 1, kMost,
                    "outputs of the longest stripe"},
    DotProductField{"short_stripe", "outputs", &Engine::short_stripe, 1, kMost,
                    "outputs of the stripe that makes the rest come out"},
    DotProductField{"block_cycles", "cycles", &Engine::block_cycles, 1, kMost,
                    "cycles that a block lasts at least"},
    DotProductField{"kernel_cycles", "cycles per kernel", &Engine::kernel_cycles, 0, kMost,
                    "time to load a kernel's part of a block's weights"},
    DotProductField{"load_cycles", "cycles", &Engine::load_cycles, 0, kMost,
                    "cycles that a block's weights take at least"},
    DotProductField{"entry_bytes", "bytes", &Engine::entry_bytes, 1, kMost,
                    "size of a read, and of an entry of the buffer"},
    DotProductField{"banks", "banks", &Engine::banks, 2, 4096,
                    "banks of the buffer, which features and weights share"},
    DotProductField{"bank_entries", "entries", &Engine::bank_entries, 1, kMost,
                    "entries of a bank"},
    DotProductField{"spare_entries", "entries", &Engine::spare_entries, 0, kMost,
                    "weights that may be on their way beyond their banks"},
    DotProductField{"burst_entries", "entries", &Engine::burst_entries, 1, kMost,
                    "weights that are asked for together"},
    DotProductField{"weight_align", "bytes", &Engine::weight_align, 1, kMost,
                    "a layer's weights are padded to a multiple"},
    DotProductField{"request_interval", "cycles", &Engine::request_interval, 1, kMost,
                    "from a read to the next one", true},
    DotProductField{"read_latency", "cycles", &Engine::read_latency, 0, kMost,
                    "from a read to its answer", true},
    DotProductField{"places", "output atoms", &Engine::places, 1, kMost,
                    "room of the accumulator's output"},
    DotProductField{"atom_cycles", "cycles", &Engine::atom_cycles, 1, kMost,
                    "from an output atom to the next one at least"},
    DotProductField{"weight_start", "cycles", &Engine::weight_start, 0, kMost,
                    "from a layer's start to its first read of weights"},
    DotProductField{"feature_start", "cycles", &Engine::feature_start, 0, kMost,
                    "from a layer's start to its first read of features"},
    DotProductField{"feature_latency", "cycles", &Engine::feature_latency, 0, kMost,
                    "from the last features' answer until they can be used"},
    DotProductField{"issue_to_atom", "cycles", &Engine::issue_to_atom, 0, kMost,
                    "from a stripe's last block to its first output atom"},
    DotProductField{"atom_to_place", "cycles", &Engine::atom_to_place, 0, kMost,
                    "from an output atom until its place is free"},
    DotProductField{"atom_to_write", "cycles", &Engine::atom_to_write, 0, kMost,
                    "from an output atom until it is written"},
    DotProductField{"load_to_entries", "cycles", &Engine::load_to_entries, 0, kMost,
                    "from the load of a group's last block until its entries are free"},
    DotProductField{"layer_to_reads", "cycles", &Engine::layer_to_reads, 0, kMost,
                    "from a layer's last block to reads of the next one"},
};
static_assert(sizeof(Engine) == kFields.size() * sizeof(int64_t), "a field has no row");

using Side = SideUnits;
constexpr std::array kSideFields{
    SideUnitField{"atom_elements", "channels", &Side::atom_elements, 1, kMost,
                  "channels of a position that a read or a write brings", true},
    SideUnitField{"request_interval", "cycles", &Side::request_interval, 1, kMost,
                  "from a read to the next one, and from a write to the next one", true},
    SideUnitField{"read_latency", "cycles", &Side::read_latency, 0, kMost,
                  "from a read to its answer", true},
    SideUnitField{"unit_start", "cycles", &Side::unit_start, 0, kMost,
                  "from a layer's start to its first read"},
    SideUnitField{"pool_rate", "elements per cycle", &Side::pool_rate, 1, kMost,
                  "what pooling takes", true},
    SideUnitField{"pool_banks", "banks", &Side::pool_banks, 1, 4096,
                  "banks of the line buffer of pooling"},
    SideUnitField{"pool_bank_atoms", "atoms", &Side::pool_bank_atoms, 1, kMost,
                  "atoms of outputs that a bank of the line buffer holds"},
    SideUnitField{"pool_turn", "cycles", &Side::pool_turn, 0, kMost,
                  "time that a line of one output holds up the next one"},
    SideUnitField{"pool_latency", "cycles", &Side::pool_latency, 0, kMost,
                  "from an answer to the write, beside the pooling"},
    SideUnitField{"lrn_rate", "elements per cycle", &Side::lrn_rate, 1, kMost, "what LRN takes",
                  true},
    SideUnitField{"lrn_width", "positions", &Side::lrn_width, 1, kMost,
                  "positions of a line that LRN takes together"},
    SideUnitField{"lrn_ahead", "channels", &Side::lrn_ahead, 0, kMost,
                  "channels that an element of LRN waits for"},
    SideUnitField{"lrn_set_up", "cycles", &Side::lrn_set_up, 0, kMost,
                  "part of the latencies of LRN in which further positions may be read"},
    SideUnitField{"lrn_latency", "cycles", &Side::lrn_latency, 0, kMost,
                  "from an answer to the write, beside the channels that are waited for"},
    SideUnitField{"lrn_bypass_latency", "cycles", &Side::lrn_bypass_latency, 0, kMost,
                  "the same without squares and products"},
    SideUnitField{"point_rate", "elements per cycle", &Side::point_rate, 1, kMost,
                  "what point-wise layers take", true},
    SideUnitField{"point_block", "atoms", &Side::point_block, 1, kMost,
                  "atoms of a line that a point-wise layer collects before they go on"},
    SideUnitField{"point_latency", "cycles", &Side::point_latency, 0, kMost,
                  "from an answer to the write of a point-wise layer without stages"},
    SideUnitField{"point_stages", "stages", &Side::point_stages, 0, 64,
                  "stages that a point-wise layer has at most, each a sum, a product and ReLU"},
    SideUnitField{"stage_latency", "cycles", &Side::stage_latency, 0, kMost,
                  "time that a stage adds"},
    SideUnitField{"alu_latency", "cycles", &Side::alu_latency, 0, kMost,
                  "time that a sum, a maximum or a minimum adds to its stage"},
    SideUnitField{"mul_latency", "cycles", &Side::mul_latency, 0, kMost,
                  "time that a product adds to its stage"},
};
static_assert(sizeof(Side) == kSideFields.size() * sizeof(int64_t), "a field has no row");

}  // namespace

std::span<const DotProductField> dot_product_fields() { return kFields; }
std::span<const SideUnitField> side_unit_fields() { return kSideFields; }

Status check_side_units(const SideUnits& units) {
  const Errors errors = out_of_range<SideUnits>(units, kSideFields);
  if (!errors.empty()) return errors;
  return ok();
}

Status check_engine(const DotProductEngine& engine) {
  Errors errors = out_of_range<DotProductEngine>(engine, kFields);
  if (engine.short_stripe > engine.stripe)
    errors.push_back({Errc::invalid,
                      fmt::format("a short stripe of {} outputs is longer than a stripe of {}",
                                  engine.short_stripe, engine.stripe),
                      "short_stripe"});
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::hw
