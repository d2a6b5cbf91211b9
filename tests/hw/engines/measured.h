#pragma once
#include <string>

#include "hw/config/load.h"
#include "hw/engines/engine_timing.h"
#include "hw/engines/tiled_commands.h"
#include "hw/engines/tiled_program.h"
#include "tests/support/measured_rows.h"

namespace accsim::hw {

/// The layer of a row of validation/tables/vta_rtl.csv, by the columns that its head describes.
inline TiledLayer measured_layer(const MeasuredRow& row) {
  const auto n = [&](const char* column) { return number(row, column); };
  TiledLayer layer;
  if (row.at("kind") == "gemm")
    layer.sizes = TiledGemm{n("M"), n("K"), n("N"), n("m_t"), n("k_t"), n("n_t")};
  else
    layer.sizes =
        TiledConvolution{n("H"),  n("W"),  n("CI"),  n("CO"),  n("ksize"), n("stride"), n("pad"),
                         n("OH"), n("OW"), n("h_t"), n("w_t"), n("ci_t"),  n("co_t")};
  layer.order = row.at("order");
  layer.contexts = n("contexts");
  layer.barrier = row.at("sync") == "tvm";
  layer.micro = row.at("uop_mode");
  layer.micro_each = row.at("uop_load") == "each";
  layer.bias = row.at("bias") == "1";
  return layer;
}

/// VTA as its file has it, with a port of 8 bytes or of 16.
inline const EngineMachine& vta_machine(int64_t port_bytes = 8) {
  const auto load = [](const char* file) {
    return load_hw(kSource + "/configs/known/" + file)->engines;
  };
  static const EngineMachine kNarrow = load("vta-16x16.yaml"), kWide = load("vta-16x16-wide.yaml");
  return port_bytes == 16 ? kWide : kNarrow;
}

/// The machine that a row was measured on.
inline EngineMachine measured_machine(const MeasuredRow& row) {
  EngineMachine machine = vta_machine(number(row, "port_bits") / 8);
  machine.page_beats = number(row, "max_burst");
  machine.latency = number(row, "mem_latency");
  machine.reads_overlap = row.at("mem_mode") == "pipelined" ? 1 : 0;
  return machine;
}

}  // namespace accsim::hw
