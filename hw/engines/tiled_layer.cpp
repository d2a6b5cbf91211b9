#include "hw/engines/tiled_layer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "sim/base/sums.h"

namespace accsim::hw {
namespace {

constexpr int64_t kMostSize = 1 << 20;             // of one size of a layer
constexpr int64_t kMostPlaces = int64_t{1} << 40;  // of a scratchpad

/// A size, and what a tile takes of it.
struct TiledSize {
  std::string_view name;
  int64_t size, tile;
};

bool is_one_of(const std::string& word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

Error wrong(std::string_view where, std::string message) {
  return {Errc::invalid, std::move(message), std::string(where)};
}

/// Are order and nesting known?
Status check_words(const TiledLayer& layer, std::span<const std::string_view> orders,
                   std::span<const std::string_view> nestings) {
  const auto check = [](std::string_view where, const std::string& word,
                        std::span<const std::string_view> words) -> Status {
    if (is_one_of(word, words)) return ok();
    return wrong(where, fmt::format("is {}; valid: {}", word, fmt::join(words, ", ")));
  };
  if (Status order = check("order", layer.order, orders); !order) return order;
  return check("micro", layer.micro, nestings);
}

/// Sizes in range, in tiles that are whole.
Status check_sizes(std::span<const TiledSize> sizes) {
  for (const TiledSize& one : sizes) {
    if (one.tile < 1 || one.size < 1 || one.size > kMostSize)
      return wrong(one.name, fmt::format("must be 1 to {}", kMostSize));
    if (one.size % one.tile != 0)
      return wrong(one.name,
                   fmt::format("{} isn't a number of whole tiles of {}", one.size, one.tile));
  }
  return ok();
}

Status check_blocks(std::string_view name, int64_t channels) {
  if (channels % 16 == 0) return ok();
  return wrong(name, fmt::format("{} channels aren't whole blocks of 16", channels));
}

/// Does the input have all outputs along a dimension, and every window something of it?
bool windows_inside(int64_t whole, int64_t out, int64_t tile, const TiledConvolution& c) {
  const int64_t last = (out - tile) * c.stride - c.pad;
  return (out - 1) * c.stride + c.taps <= whole + 2 * c.pad && last < whole &&
         (tile - 1) * c.stride + c.taps > c.pad;
}

Status check_layer(const TiledGemm& g, const TiledLayer& layer) {
  const std::array sizes{TiledSize{"rows", g.rows, g.tile_rows},
                         TiledSize{"inner", g.inner, g.tile_inner},
                         TiledSize{"columns", g.columns, g.tile_columns}};
  if (Status ranges = check_sizes(sizes); !ranges) return ranges;
  if (Status inner = check_blocks("inner", g.tile_inner); !inner) return inner;
  if (Status columns = check_blocks("columns", g.tile_columns); !columns) return columns;
  return check_words(layer, kGemmOrders, kGemmNestings);
}

Status check_layer(const TiledConvolution& c, const TiledLayer& layer) {
  const std::array sizes{TiledSize{"height", c.height, 1},
                         TiledSize{"width", c.width, 1},
                         TiledSize{"taps", c.taps, 1},
                         TiledSize{"stride", c.stride, 1},
                         TiledSize{"pad", c.pad + 1, 1},
                         TiledSize{"channels", c.channels, c.tile_channels},
                         TiledSize{"kernels", c.kernels, c.tile_kernels},
                         TiledSize{"out_height", c.out_height, c.tile_height},
                         TiledSize{"out_width", c.out_width, c.tile_width}};
  if (Status ranges = check_sizes(sizes); !ranges) return ranges;
  if (Status channels = check_blocks("channels", c.tile_channels); !channels) return channels;
  if (Status kernels = check_blocks("kernels", c.tile_kernels); !kernels) return kernels;
  if (!windows_inside(c.height, c.out_height, c.tile_height, c))
    return wrong("out_height", "a window has nothing of the input, or more than is there");
  if (!windows_inside(c.width, c.out_width, c.tile_width, c))
    return wrong("out_width", "a window has nothing of the input, or more than is there");
  return check_words(layer, kConvolutionOrders, kConvolutionNestings);
}

/// What the work of making a program grows with, at most.
struct LayerExtent {
  int64_t commands = 0;
  int64_t micro = 0;   ///< micro-operations of a context
  int64_t places = 0;  ///< of a scratchpad, of a context
};

LayerExtent extent_of(const TiledGemm& g) {
  const int64_t tiles = (g.rows / g.tile_rows) * (g.columns / g.tile_columns);
  const int64_t inner = g.tile_inner / 16, columns = g.tile_columns / 16;
  return {.commands = multiply_counts(tiles, g.inner / 16 + 1),
          .micro = (g.tile_rows + columns) * inner,
          .places = std::max({g.tile_rows * columns, g.tile_rows * inner, columns * inner})};
}

LayerExtent extent_of(const TiledConvolution& c) {
  const int64_t tiles = multiply_counts(
      (c.out_height / c.tile_height) * (c.out_width / c.tile_width), c.kernels / c.tile_kernels);
  const int64_t in = c.tile_channels / 16, out = c.tile_kernels / 16;
  const int64_t window =
      ((c.tile_height - 1) * c.stride + c.taps) * ((c.tile_width - 1) * c.stride + c.taps);
  const int64_t taps = c.taps * (c.taps + c.tile_height);
  return {.commands = multiply_counts(tiles, multiply_counts(c.channels / 16, out + 1) + 1),
          .micro = multiply_counts(in * out, taps),
          .places =
              std::max({multiply_counts(out, c.tile_height * c.tile_width),
                        multiply_counts(in, window), multiply_counts(in * out, c.taps * c.taps)})};
}

}  // namespace

EngineCommand element_command(int64_t kind, const ElementRows& rows) {
  EngineCommand command;
  command.kind = kind;
  command.address = rows.base + rows.first * rows.bytes;
  command.row_bytes = rows.size * rows.bytes;
  command.rows = rows.rows;
  command.pitch = rows.pitch * rows.bytes;
  return command;
}

std::unique_ptr<TileLayout> make_tile_layout(const TiledLayer& layer) {
  if (const auto* gemm = std::get_if<TiledGemm>(&layer.sizes))
    return make_gemm_layout(*gemm, layer.micro);
  return make_convolution_layout(std::get<TiledConvolution>(layer.sizes), layer.micro);
}

Status check_tiled_layer(const TiledLayer& layer) {
  if (Status sizes = std::visit([&](const auto& s) { return check_layer(s, layer); }, layer.sizes);
      !sizes)
    return sizes;
  if (layer.contexts < 1 || layer.contexts > kMostSize)
    return wrong("contexts", fmt::format("must be 1 to {}", kMostSize));
  constexpr int64_t kPerCommand = 8;  // of which most are shared by a tile
  const LayerExtent extent = std::visit([](const auto& s) { return extent_of(s); }, layer.sizes);
  if (multiply_counts(extent.commands, kPerCommand) > kMostCommands)
    return Error{Errc::capacity,
                 fmt::format("more than {} commands; use larger tiles", kMostCommands), "tiles"};
  if (multiply_counts(extent.micro, layer.contexts) > kMostCommands)
    return Error{Errc::capacity,
                 fmt::format("more than {} micro-operations; use smaller tiles or fewer contexts",
                             kMostCommands),
                 "tiles"};
  if (multiply_counts(extent.places, layer.contexts) > kMostPlaces)
    return Error{Errc::capacity,
                 "scratchpads of more than 2^40 places; use smaller tiles or fewer contexts",
                 "tiles"};
  return ok();
}

}  // namespace accsim::hw
