#include "sim/validate/tiled_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>

#include "hw/engines/engine_timing.h"
#include "hw/engines/tiled_program.h"
#include "sim/validate/layer_list.h"

namespace accsim::sim {
namespace {

using Parameters = std::vector<LayerParameter>;

using Words = std::span<const std::string_view>;

/// What decides a program beside sizes and tiles.
Parameters with_program(Parameters sizes, Words orders, Words nestings) {
  const Parameters more = {
      {.name = "order",
       .least = 0,
       .meaning = "loops over tiles",
       .words = {orders.begin(), orders.end()}},
      {.name = "micro",
       .least = 0,
       .meaning = "nesting of micro-operations",
       .words = {nestings.begin(), nestings.end()}},
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
      {.name = "bias",
       .least = 0,
       .otherwise = 0,
       .meaning = "1: with a bias",
       .words = {"0", "1"}},
  };
  sizes.insert(sizes.end(), more.begin(), more.end());
  return sizes;
}

std::string word_of(const LayerKind& kind, const LayerSizes& s, std::string_view name) {
  return std::string(kind.parameter(name)->words[static_cast<size_t>(s[name])]);
}

/// A layer with its program.
hw::TiledLayer with_words(hw::TiledLayer layer, const LayerKind& kind, const LayerSizes& s) {
  layer.order = word_of(kind, s, "order");
  layer.micro = word_of(kind, s, "micro");
  layer.contexts = s["contexts"];
  layer.barrier = s["sync"] == 1;
  layer.micro_each = s["uops"] == 1;
  layer.bias = s["bias"] == 1;
  return layer;
}

hw::TiledLayer gemm_layer(const LayerSizes& s) {
  static const LayerKind kKind = tiled_gemm_kind();
  return with_words({hw::TiledGemm{s["m"], s["k"], s["n"], s["tile_m"], s["tile_k"], s["tile_n"]}},
                    kKind, s);
}

int64_t out_size(int64_t size, const LayerSizes& s) {
  return (size + 2 * s["pad"] - s["kernel"]) / s["stride"] + 1;
}

hw::TiledLayer conv_layer(const LayerSizes& s) {
  static const LayerKind kKind = tiled_conv_kind();
  return with_words({hw::TiledConvolution{s["h"], s["w"], s["c"], s["k"], s["kernel"], s["stride"],
                                          s["pad"], out_size(s["h"], s), out_size(s["w"], s),
                                          s["tile_h"], s["tile_w"], s["tile_c"], s["tile_k"]}},
                    kKind, s);
}

/// Programs compute on blocks of 16 x 16 in int8.
Status check_array(const hw::HwConfig& hw) {
  if (!hw.has_engines())
    return Error{Errc::unsupported,
                 fmt::format("{} has no section engines, by whose rules programs of tiled layers "
                             "are timed",
                             hw.name),
                 "engines"};
  if (hw.array.rows == 16 && hw.array.cols == 16 && hw.computes_int8() && hw.weight_bytes() == 1 &&
      !hw.narrow_weights())
    return ok();
  return Error{Errc::unsupported,
               fmt::format("programs of tiled layers compute on blocks of 16 x 16 in int8; {} has "
                           "another array",
                           hw.name),
               "array"};
}

Result<Cycles> cycles_of(const hw::TiledLayer& layer, const hw::HwConfig& hw) {
  if (const Status fits = check_array(hw); !fits) return fits.errors();
  const auto program = hw::make_tiled_program(layer, hw.engines);
  if (!program) return program.errors();
  return hw::time_engine_program(program->commands, hw.engines);
}

Result<Cycles> gemm_cycles(const LayerSizes& s, const hw::HwConfig& hw) {
  return cycles_of(gemm_layer(s), hw);
}

Result<Cycles> conv_cycles(const LayerSizes& s, const hw::HwConfig& hw) {
  return cycles_of(conv_layer(s), hw);
}

Result<ModelDef> gemm_model(const LayerSizes& s) {
  if (const Status good = check_tiled_layer(gemm_layer(s)); !good) return good.errors();
  return product_model({s["m"], s["k"], s["n"]});
}

/// That of the kind `conv`.
Result<ModelDef> conv_model(const LayerSizes& s) {
  const LayerKind& conv = *std::ranges::find(layer_kinds(), "conv", &LayerKind::name);
  LayerSizes sizes;
  for (const char* name : {"c", "h", "w", "k", "kernel", "stride", "pad"})
    sizes.values[name] = s[name];
  fill_sizes(conv, sizes);
  auto model = conv.model(sizes);  // which says where a window doesn't fit
  if (!model) return model.errors();
  if (const Status good = check_tiled_layer(conv_layer(s)); !good) return good.errors();
  return model;
}

}  // namespace

std::optional<hw::TiledLayer> tiled_layer(const ValidationPoint& point) {
  if (point.kind == nullptr) return std::nullopt;
  if (point.kind->cycles == gemm_cycles) return gemm_layer(point.sizes);
  if (point.kind->cycles == conv_cycles) return conv_layer(point.sizes);
  return std::nullopt;
}

LayerKind tiled_gemm_kind() {
  return {"tiled_gemm",
          "a product as a program of the machine's engines",
          with_program({{.name = "m", .meaning = "rows"},
                        {.name = "k", .meaning = "reduction"},
                        {.name = "n", .meaning = "columns"},
                        {.name = "tile_m", .meaning = "rows of a tile"},
                        {.name = "tile_k", .meaning = "reduction of a step"},
                        {.name = "tile_n", .meaning = "columns of a tile"}},
                       hw::kGemmOrders, hw::kGemmNestings),
          gemm_model,
          nullptr,
          nullptr,
          gemm_cycles};
}

LayerKind tiled_conv_kind() {
  return {"tiled_conv",
          "a convolution as a program of the machine's engines",
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
                       hw::kConvolutionOrders, hw::kConvolutionNestings),
          conv_model,
          nullptr,
          nullptr,
          conv_cycles};
}

}  // namespace accsim::sim
