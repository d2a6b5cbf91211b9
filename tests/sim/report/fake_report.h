#pragma once
#include <fmt/format.h>

#include <string>

#include "hw/config/load.h"
#include "sim/report/bounds.h"
#include "sim/report/report.h"
#include "tests/support/source.h"

namespace accsim::sim {

/// The shipped machine that the fake layers run on.
inline hw::HwConfig fake_machine() {
  Result<hw::HwConfig> hw = hw::load_hw(kSource + "/configs/64x64.yaml");
  check(hw.ok(), "configs/64x64.yaml");
  hw.value().file = "configs/64x64.yaml";
  return std::move(hw).value();
}

/// Counts that obey the sums of report.h: stalls and tail make up the cycles that aren't compute.
inline Costs fake_costs(int64_t i) {
  Costs c;
  c.compute_cycles = 9000 + 7919 * i;
  for (size_t w = 0; w < hw::kWaits; ++w) c.stalls[w] = 100 * i + 31 * static_cast<int64_t>(w);
  c.tail_cycles = 120 + i;
  c.cycles = c.compute_cycles + c.tail_cycles;
  for (int64_t stall : c.stalls) c.cycles += stall;
  c.alone_cycles = c.cycles;
  c.macs = c.compute_cycles * 3500;
  c.array_macs = c.macs;
  c.params = 4096 * (i + 1);
  c.dram_read = 200704 + 36864 * i;
  c.dram_write = i % 3 == 0 ? 0 : 200704;
  c.shared_read = i % 2 == 0 ? 0 : 802816;
  c.shared_write = i % 3 == 0 ? 200704 : 0;
  for (size_t b = 0; b < hw::kBuffers; ++b) {
    c.buffer_read[b] = 65536 * (i + 1) + static_cast<int64_t>(b);
    c.buffer_write[b] = 32768 * (i + 1) + static_cast<int64_t>(b);
  }
  c.compute_bound = c.compute_cycles - 64;
  c.dram_bound = (c.dram_read * 10 + 1023) / 1024;
  c.dram_busy = i % 4 == 1 ? c.cycles - 5 : c.dram_bound;
  c.sram_busy = c.compute_cycles / 2;
  c.traffic_bound = c.dram_read / 2 + c.dram_write;
  c.energy = {0.3 * static_cast<double>(c.macs), 1.5e4, 9.1e6, 2.5e6, 1.1e8, 4.4e6};
  return c;
}

/// A network of `convs` blocks of Conv, folded Relu and a view.
inline Report fake_report(int64_t convs = 12) {
  Report r;
  r.model_name = "resnet-like";
  r.model_file = "models/resnet_like_op17.onnx";
  r.opset = 17;
  r.ir_version = 8;
  r.nodes = 3 * convs;
  r.params = 25'557'032;
  r.weight_bytes = 102'228'128;
  r.bindings = {{"batch", 1}, {"sequence", 128}};
  r.defaulted = {"batch"};
  r.hw = fake_machine();
  for (int64_t i = 0; i < convs; ++i) {
    LayerReport conv;
    conv.name = fmt::format("/layer{}/layer{}.{}/conv{}/Conv", i / 4, i / 4, i % 4, i);
    conv.op_type = i % 5 == 4 ? "QLinearGlobalAveragePool" : "Conv";
    conv.fate = i % 5 == 4 ? Fate::vector : Fate::gemm;
    conv.mapping = "ws 8x56 n64 k576";
    conv.input_shapes = {{1, 64, 56, 56}, {64, 64, 3, 3}};
    conv.output_shape = {1, 64, 56, 56};
    conv.costs = fake_costs(i);
    conv.bound = busiest_bound(conv.costs);
    LayerReport relu;
    relu.name = fmt::format("/layer{}/relu{}/Relu", i / 4, i);
    relu.op_type = "Relu";
    relu.fate = Fate::folded;
    relu.merged_into = conv.name;
    relu.output_shape = {1, 64, 56, 56};
    LayerReport view;
    view.name = fmt::format("/Reshape_{}", i);
    view.op_type = "Reshape";
    view.output_shape = {1, 200704};
    for (LayerReport& layer : std::array{conv, relu, view}) r.layers.push_back(std::move(layer));
    r.totals += conv.costs;
  }
  r.bound = busiest_bound(r.totals);
  r.distinct_ops = 9;
  r.shared_peak_bytes = 1'003'520;
  return r;
}

}  // namespace accsim::sim
