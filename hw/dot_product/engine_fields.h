#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/field_of.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// The fields of the dot-product template: an engine that takes an atom of input channels for an
/// atom of kernels per cycle (docs/dot-product.md, section "Fields", which has the source of each).
/// The values are those of NVDLA's nv_small with the memory of its test bench.
struct DotProductEngine {
  int64_t atom_channels = 8;     ///< channels of a block, each output per cycle
  int64_t atom_kernels = 8;      ///< kernels of a group
  int64_t element_bytes = 1;     ///< bytes of a feature and of a weight
  int64_t stripe = 16;           ///< outputs of the longest stripe
  int64_t short_stripe = 8;      ///< outputs of a stripe that makes the rest come out
  int64_t block_cycles = 8;      ///< cycles that a block lasts at least
  int64_t kernel_cycles = 1;     ///< cycles to load a kernel's part of a block's weights
  int64_t load_cycles = 2;       ///< cycles that the load of a block's weights takes at least
  int64_t entry_bytes = 8;       ///< bytes of a read, and of an entry of the buffer
  int64_t banks = 32;            ///< banks of the buffer
  int64_t bank_entries = 512;    ///< entries of a bank
  int64_t spare_entries = 8;     ///< entries of weights on their way beyond the banks
  int64_t burst_entries = 8;     ///< entries of weights that are asked for together
  int64_t weight_align = 128;    ///< bytes; a layer's weights are padded to a multiple
  int64_t request_interval = 2;  ///< cycles of the port per read
  int64_t read_latency = 32;     ///< cycles from a read to its answer
  int64_t places = 16;           ///< output atoms that the accumulator's output holds
  int64_t atom_cycles = 9;       ///< cycles between two output atoms at least
  int64_t weight_start = 28;     ///< cycles from time zero to the first read of weights
  int64_t feature_start = 36;    ///< cycles from time zero to the first read of features
  int64_t feature_latency = 7;   ///< cycles from the last features' answer until they are there
  int64_t issue_to_atom = 36;    ///< cycles from a stripe's last block to its first output atom
  int64_t atom_to_place = 11;    ///< cycles from an output atom until its place is free
  int64_t atom_to_write = 39;    ///< cycles from an output atom until it is written
  int64_t load_to_entries = 49;  ///< cycles from the load of a group's last block to free entries
  int64_t layer_to_reads = 45;   ///< cycles from a layer's last block to reads of the next one

  bool operator==(const DotProductEngine&) const = default;
};

/// The fields of the units beside the engine: pooling, LRN and point-wise work, each from memory to
/// memory (docs/dot-product.md, section "Pooling, LRN and point-wise layers", which has the source
/// of each). The values are those of NVDLA's nv_small with the memory of its test bench.
struct SideUnits {
  int64_t atom_elements = 8;       ///< channels of a position that a read or a write brings
  int64_t request_interval = 2;    ///< cycles of the port per read, and per write
  int64_t read_latency = 32;       ///< cycles from a read to its answer
  int64_t unit_start = 20;         ///< cycles from time zero to the first read
  int64_t pool_rate = 1;           ///< elements per cycle of pooling
  int64_t pool_banks = 8;          ///< banks of its line buffer
  int64_t pool_bank_atoms = 16;    ///< atoms of outputs that a bank holds
  int64_t pool_turn = 3;           ///< cycles that a line of one output holds up the next one
  int64_t pool_latency = 33;       ///< cycles from an answer to the write, beside the pooling
  int64_t lrn_rate = 1;            ///< elements per cycle of LRN
  int64_t lrn_width = 8;           ///< positions of a line that LRN takes together
  int64_t lrn_ahead = 4;           ///< channels that an element waits for, whatever the LRN's size
  int64_t lrn_set_up = 1;          ///< cycles of lrn_latency in which further reads may come
  int64_t lrn_latency = 50;        ///< cycles from an answer to the write, beside these channels
  int64_t lrn_bypass_latency = 8;  ///< the same where squares and products are bypassed
  int64_t point_rate = 1;          ///< elements per cycle of point-wise work
  int64_t point_block = 4;         ///< atoms of a line that are collected before they go on
  int64_t point_latency = 25;      ///< cycles from an answer to the write, without stages
  int64_t point_stages = 2;        ///< stages that a point-wise layer has at most
  int64_t stage_latency = 4;       ///< cycles that a stage adds
  int64_t alu_latency = 2;         ///< cycles that a stage's sum or maximum adds
  int64_t mul_latency = 1;         ///< cycles that a stage's product adds

  bool operator==(const SideUnits&) const = default;
};

/// A field of the units beside the engine: its name, its unit, and its range.
using SideUnitField = FieldOf<SideUnits>;

/// A field of the engine: its name, its unit, and its range.
using DotProductField = FieldOf<DotProductEngine>;

/// All fields, in the order of the struct.
std::span<const DotProductField> dot_product_fields();

/// All fields of the units beside the engine, in the order of the struct.
std::span<const SideUnitField> side_unit_fields();

/// Are all fields in range? Lists all that aren't.
Status check_side_units(const SideUnits& units);

/// Are all fields in range, and is no short stripe longer than a stripe? Lists all that isn't.
Status check_engine(const DotProductEngine& engine);

}  // namespace accsim::hw
