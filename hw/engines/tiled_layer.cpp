#include "hw/engines/tiled_layer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "sim/base/sums.h"

namespace accsim::hw {
namespace {

constexpr int64_t kMostSize = 1 << 20;  // of one size of a layer

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

/// Does every window along a dimension have something of the input?
bool windows_inside(int64_t out, int64_t tile, const TiledConvolution& c, int64_t whole) {
  const int64_t last = (out - tile) * c.stride - c.pad;
  return last < whole && (tile - 1) * c.stride + c.taps > c.pad;
}

Status check_layer(const TiledGemm& g, const TiledLayer& layer) {
  constexpr std::array<std::string_view, 5> kNames{"k", "nk", "kn", "1", "mk"};
  constexpr std::array<std::string_view, 2> kOrders{"mn", "nm"};
  const std::array sizes{TiledSize{"rows", g.rows, g.tile_rows},
                         TiledSize{"inner", g.inner, g.tile_inner},
                         TiledSize{"columns", g.columns, g.tile_columns}};
  if (Status ranges = check_sizes(sizes); !ranges) return ranges;
  if (Status inner = check_blocks("inner", g.tile_inner); !inner) return inner;
  if (Status columns = check_blocks("columns", g.tile_columns); !columns) return columns;
  if (!is_one_of(layer.micro, kNames)) return wrong("micro", "unknown: " + layer.micro);
  if (!is_one_of(layer.order, kOrders)) return wrong("order", "unknown: " + layer.order);
  return ok();
}

Status check_layer(const TiledConvolution& c, const TiledLayer& layer) {
  constexpr std::array<std::string_view, 3> kNames{"ckk", "tvm", "kk1"};
  constexpr std::array<std::string_view, 6> kOrders{"hwc", "hcw", "whc", "wch", "chw", "cwh"};
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
  if (!windows_inside(c.out_height, c.tile_height, c, c.height) ||
      !windows_inside(c.out_width, c.tile_width, c, c.width))
    return wrong("out_height", "a window has nothing of the input");
  if (!is_one_of(layer.micro, kNames)) return wrong("micro", "unknown: " + layer.micro);
  if (!is_one_of(layer.order, kOrders)) return wrong("order", "unknown: " + layer.order);
  return ok();
}

/// Commands and micro-operations at most, over all.
int64_t most_parts(const TiledGemm& g) {
  const int64_t steps = multiply_counts(multiply_counts(g.rows / g.tile_rows, g.inner / 16),
                                        g.columns / g.tile_columns);
  const int64_t micro = multiply_counts(g.tile_rows + g.tile_columns / 16, g.tile_inner / 16);
  return multiply_counts(add_counts(steps, 1), 24) + micro;
}

int64_t most_parts(const TiledConvolution& c) {
  const int64_t tiles = multiply_counts(
      (c.out_height / c.tile_height) * (c.out_width / c.tile_width), c.kernels / c.tile_kernels);
  const int64_t blocks = multiply_counts(c.channels / 16, 1 + c.tile_kernels / 16);
  const int64_t micro = multiply_counts(multiply_counts(c.tile_channels / 16, c.tile_kernels / 16),
                                        multiply_counts(c.taps, c.taps + c.tile_height));
  return add_counts(multiply_counts(add_counts(multiply_counts(tiles, blocks), 1), 24), micro);
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
  if (std::visit([](const auto& s) { return most_parts(s); }, layer.sizes) > kMostCommands)
    return Error{Errc::capacity, fmt::format("more than {} commands", kMostCommands), "tiles"};
  return ok();
}

}  // namespace accsim::hw
