#include "sim/validate/spreadsheet_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "hw/dot_product/spreadsheet.h"

namespace accsim::sim {
namespace {

struct Sheet {
  hw::SpreadsheetRules rules;
  int64_t last_winograd_row = kMostLayerSize;  ///< whose weights may be in Winograd's form
};
/// By the words of `sheet`.
constexpr std::array<Sheet, 3> kSheets = {
    {{hw::kResNet50Sheet}, {hw::kAlexNetSheet}, {hw::kGoogLeNetSheet, 19}}};
constexpr int64_t kAddition = 1;  // by the words of `form`

std::vector<LayerParameter> spreadsheet_parameters() {
  return {
      {.name = "sheet",
       .least = 0,
       .meaning = "whose rules count",
       .words = {"ResNet50", "AlexNet", "GoogLeNet"}},
      {.name = "row", .otherwise = 1, .meaning = "row of the sheet"},
      {.name = "form",
       .least = 0,
       .otherwise = 0,
       .meaning = "a convolution, one with a residual addition, or a product",
       .words = {"conv", "conv + elwise", "fc"}},
      {.name = "c", .meaning = "channels"},
      {.name = "h", .meaning = "rows of the image"},
      {.name = "w", .meaning = "columns of the image"},
      {.name = "k", .meaning = "kernels"},
      {.name = "kernel_h", .meaning = "rows of the window"},
      {.name = "kernel_w", .meaning = "columns of the window"},
      {.name = "stride_y", .otherwise = 1, .meaning = "step down"},
      {.name = "stride_x", .otherwise = 1, .meaning = "step to the right"},
      {.name = "padded", .least = 0, .meaning = "1: MACs are counted for each input"},
      {.name = "conv_h", .meaning = "rows of the result, before any pooling"},
      {.name = "conv_w", .meaning = "columns of the result, before any pooling"},
      {.name = "out_h", .like = "conv_h", .meaning = "rows that are written"},
      {.name = "out_w", .like = "conv_w", .meaning = "columns that are written"},
      {.name = "winograd", .least = 0, .otherwise = 0, .meaning = "1: weights in Winograd's form"},
      {.name = "fc_batch", .otherwise = 1, .meaning = "images per product"},
      {.name = "macs", .meaning = "multipliers"},
      {.name = "buffer_kib", .meaning = "KiB of the convolution buffer"},
      {.name = "dram_mb_per_s", .meaning = "the memory's rate in MB/s"},
      {.name = "clock_mhz", .meaning = "the clock in MHz"},
  };
}

/// Zeros at both ends of a side together, with which a window makes so many results.
std::optional<int64_t> padding(int64_t size, int64_t kernel, int64_t stride, int64_t results) {
  const int64_t covered = (results - 1) * stride + kernel;
  const int64_t zeros = std::max<int64_t>(0, covered - size);
  if (zeros > 2 * (kernel - 1) || size + zeros - covered >= stride) return std::nullopt;
  return zeros;
}

Result<ModelDef> spreadsheet_model(const LayerSizes& s) {
  const auto no_such_shape = [](std::string why) {
    return Error{Errc::invalid, std::move(why), ""};
  };
  const auto high = padding(s["h"], s["kernel_h"], s["stride_y"], s["conv_h"]);
  const auto wide = padding(s["w"], s["kernel_w"], s["stride_x"], s["conv_w"]);
  if (!high || !wide)
    return no_such_shape(fmt::format("a window doesn't make {} x {} (width x height) of {} x {}",
                                     s["conv_w"], s["conv_h"], s["w"], s["h"]));
  if (s["out_h"] > s["conv_h"] || s["out_w"] > s["conv_w"])
    return no_such_shape("pooling doesn't make results larger");
  const LayerKind& conv = *std::ranges::find(layer_kinds(), "conv", &LayerKind::name);
  LayerSizes sizes;
  for (const char* name : {"c", "h", "w", "k", "kernel_h", "kernel_w", "stride_y", "stride_x"})
    sizes.values[name] = s[name];
  sizes.values["pad_t"] = *high / 2;
  sizes.values["pad_b"] = *high - *high / 2;
  sizes.values["pad_l"] = *wide / 2;
  sizes.values["pad_r"] = *wide - *wide / 2;
  fill_sizes(conv, sizes);
  return conv.model(sizes);
}

Result<RowCost> spreadsheet_row_cost(const LayerSizes& s) {
  if (s["fc_batch"] != 1)
    return Error{Errc::invalid, "fc_batch must be 1: how a batch counts isn't described", ""};
  const Sheet& sheet = kSheets[static_cast<size_t>(s["sheet"])];
  const bool winograd = s["winograd"] != 0 && s["row"] <= sheet.last_winograd_row;
  const hw::SpreadsheetLayer layer{s["w"],        s["h"],        s["c"],
                                   s["k"],        s["kernel_w"], s["kernel_h"],
                                   s["stride_x"], s["stride_y"], s["padded"] != 0,
                                   s["out_w"],    s["out_h"],    s["form"] == kAddition,
                                   winograd};
  const hw::SpreadsheetMachine machine{s["macs"], s["buffer_kib"],
                                       static_cast<double>(s["dram_mb_per_s"]) / 1000,
                                       static_cast<double>(s["clock_mhz"])};
  const auto cost = hw::spreadsheet_cost(layer, machine, sheet.rules);
  if (!cost) return cost.errors();
  return RowCost{cost->cycles,
                 cost->mac_cycles >= cost->dram_cycles ? Bound::compute : Bound::dram};
}

}  // namespace

LayerKind spreadsheet_kind() {
  return {"spreadsheet", "a layer of NVDLA's performance spreadsheet", spreadsheet_parameters(),
          spreadsheet_model, spreadsheet_row_cost};
}

}  // namespace accsim::sim
