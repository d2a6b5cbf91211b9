#include "sim/validate/tiled_kinds.h"

#include <algorithm>
#include <string>

#include "hw/engines/engine_timing.h"
#include "hw/engines/tiled_program.h"
#include "hw/engines/vta_machine.h"
#include "sim/validate/layer_list.h"

namespace accsim::sim {
namespace {

using Parameters = std::vector<LayerParameter>;

/// What decides a program beside sizes and tiles, and the port and memory that it runs on.
Parameters with_program(Parameters sizes, std::vector<std::string_view> orders,
                        std::vector<std::string_view> nestings) {
  const Parameters more = {
      {.name = "order", .least = 0, .meaning = "loops over tiles", .words = std::move(orders)},
      {.name = "micro",
       .least = 0,
       .meaning = "nesting of micro-operations",
       .words = std::move(nestings)},
      {.name = "contexts", .otherwise = 1, .meaning = "tiles that take turns"},
      {.name = "sync",
       .least = 0,
       .otherwise = 0,
       .meaning = "tokens for what is needed, or barriers",
       .words = {"credit", "tvm"}},
      {.name = "uops",
       .least = 0,
       .otherwise = 0,
       .meaning = "how often micro-operations are read",
       .words = {"once", "each"}},
      {.name = "bias", .least = 0, .otherwise = 0, .meaning = "1: with a bias"},
      {.name = "port_bytes", .otherwise = 8, .meaning = "bytes of a beat"},
      {.name = "burst", .otherwise = 256, .meaning = "beats of the longest burst"},
      {.name = "latency", .otherwise = 32, .meaning = "cycles to a read's first beat"},
      {.name = "reads",
       .least = 0,
       .otherwise = 0,
       .meaning = "do requests overlap?",
       .words = {"pipelined", "serial"}},
  };
  sizes.insert(sizes.end(), more.begin(), more.end());
  return sizes;
}

std::string word_of(const LayerKind& kind, const LayerSizes& s, std::string_view name) {
  return std::string(kind.parameter(name)->words[static_cast<size_t>(s[name])]);
}

/// The cost of a layer whose sizes are known.
Result<RowCost> cost_of(hw::TiledLayer layer, const LayerKind& kind, const LayerSizes& s) {
  layer.order = word_of(kind, s, "order");
  layer.micro = word_of(kind, s, "micro");
  layer.contexts = s["contexts"];
  layer.barrier = s["sync"] == 1;
  layer.micro_each = s["uops"] == 1;
  layer.bias = s["bias"] != 0;
  const auto machine =
      hw::vta_machine({s["port_bytes"], s["burst"], s["latency"], s["reads"] == 0});
  if (!machine) return machine.errors();
  const auto program = hw::make_tiled_program(layer);
  if (!program) return program.errors();
  const auto cycles = hw::time_engine_program(program->commands, *machine);
  if (!cycles) return cycles.errors();
  return RowCost{static_cast<double>(cycles->count())};
}

Result<RowCost> gemm_cost(const LayerSizes& s) {
  static const LayerKind kKind = tiled_gemm_kind();
  return cost_of({hw::TiledGemm{s["m"], s["k"], s["n"], s["tile_m"], s["tile_k"], s["tile_n"]}},
                 kKind, s);
}

int64_t out_size(int64_t size, const LayerSizes& s) {
  return (size + 2 * s["pad"] - s["kernel"]) / s["stride"] + 1;
}

Result<RowCost> conv_cost(const LayerSizes& s) {
  static const LayerKind kKind = tiled_conv_kind();
  return cost_of({hw::TiledConvolution{s["h"], s["w"], s["c"], s["k"], s["kernel"], s["stride"],
                                       s["pad"], out_size(s["h"], s), out_size(s["w"], s),
                                       s["tile_h"], s["tile_w"], s["tile_c"], s["tile_k"]}},
                 kKind, s);
}

Result<ModelDef> gemm_model(const LayerSizes& s) { return product_model({s["m"], s["k"], s["n"]}); }

/// That of the kind `conv`.
Result<ModelDef> conv_model(const LayerSizes& s) {
  const LayerKind& conv = *std::ranges::find(layer_kinds(), "conv", &LayerKind::name);
  LayerSizes sizes;
  for (const char* name : {"c", "h", "w", "k", "kernel", "stride", "pad"})
    sizes.values[name] = s[name];
  fill_sizes(conv, sizes);
  return conv.model(sizes);
}

}  // namespace

LayerKind tiled_gemm_kind() {
  return {"tiled_gemm", "a product as a program of VTA",
          with_program({{.name = "m", .meaning = "rows"},
                        {.name = "k", .meaning = "reduction"},
                        {.name = "n", .meaning = "columns"},
                        {.name = "tile_m", .meaning = "rows of a tile"},
                        {.name = "tile_k", .meaning = "reduction of a step"},
                        {.name = "tile_n", .meaning = "columns of a tile"}},
                       {"mn", "nm"}, {"k", "nk", "kn", "1", "mk"}),
          gemm_model, gemm_cost};
}

LayerKind tiled_conv_kind() {
  return {"tiled_conv", "a convolution as a program of VTA",
          with_program({{.name = "c", .meaning = "channels"},
                        {.name = "h", .meaning = "rows of the image"},
                        {.name = "w", .meaning = "columns of the image"},
                        {.name = "k", .meaning = "kernels"},
                        {.name = "kernel", .meaning = "side of the window"},
                        {.name = "stride", .otherwise = 1, .meaning = "step of the window"},
                        {.name = "pad", .least = 0, .otherwise = 0, .meaning = "zeros around"},
                        {.name = "tile_h", .meaning = "rows of a tile of the output"},
                        {.name = "tile_w", .meaning = "columns of a tile of the output"},
                        {.name = "tile_c", .meaning = "channels of a step"},
                        {.name = "tile_k", .meaning = "kernels of a tile"}},
                       {"hwc", "hcw", "whc", "wch", "chw", "cwh"}, {"ckk", "tvm", "kk1"}),
          conv_model, conv_cost};
}

}  // namespace accsim::sim
