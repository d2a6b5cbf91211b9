#include "hw/engines/tiled_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "hw/engines/tiled_commands.h"
#include "hw/engines/tiled_program.h"
#include "sim/base/sums.h"

namespace accsim::hw {
namespace {

using tiled::kAcc;
using tiled::kAluImm;
using tiled::kAluReg;
using tiled::kGemm;
using tiled::kGemmReset;
using tiled::kInp;
using tiled::kStore;
using tiled::kUop;
using tiled::kWgt;

constexpr int64_t kBlock = 16;  // channels of a vector

/// Of the read of a step, or of all reads of a layer: commands, rows, and bytes in them.
struct ReadSum {
  int64_t commands = 0, rows = 0, bytes = 0;
};

/// What a tile has, and how many there are, in the counts of a program.
struct TileCounts {
  int64_t tiles = 0, steps = 0;
  int64_t sums = 0, blocks = 0;      ///< of a tile: vectors of sums, blocks of its channels
  int64_t vectors = 0, weights = 0;  ///< of a step: scratchpad places
  int64_t kernels = 0, items = 0;    ///< of a step: products, and their items
  ReadSum first_input, inputs;       ///< of the first step, and of all
  ReadSum weight_step;
  int64_t store_commands = 0, store_rows = 0, row_vectors = 0;  ///< of a tile
};

TileCounts counts_of(const TiledGemm& g, const TiledLayer& layer) {
  const int64_t kb = g.tile_inner / kBlock, nb = g.tile_columns / kBlock;
  TileCounts c;
  c.tiles = (g.rows / g.tile_rows) * (g.columns / g.tile_columns);
  c.steps = g.inner / g.tile_inner;
  c.sums = g.tile_rows * nb;
  c.blocks = nb;
  c.vectors = g.tile_rows * kb;
  c.weights = nb * kb;
  c.kernels = layer.micro == "1" ? kb : 1;
  c.items = g.tile_rows * nb * kb;
  c.first_input = {1, g.tile_rows, c.vectors * kVectorBytes};
  const int64_t times = c.tiles * c.steps;
  c.inputs = {times, times * g.tile_rows, times * c.first_input.bytes};
  c.weight_step = {1, nb, c.weights * kBlockBytes};
  c.store_commands = 1;
  c.store_rows = g.tile_rows;
  c.row_vectors = nb;
  return c;
}

/// Of one dimension: rows of the input in the window of the first tile, and summed over all tiles.
struct WindowSum {
  int64_t first = 0, all = 0;
};

WindowSum window_sum(int64_t whole, int64_t out, int64_t tile, const TiledConvolution& c) {
  WindowSum sum;
  const int64_t window = (tile - 1) * c.stride + c.taps;
  for (int64_t at = 0; at < out; at += tile) {
    const int64_t from = at * c.stride - c.pad;
    const int64_t inside = std::min(from + window, whole) - std::max<int64_t>(from, 0);
    if (at == 0) sum.first = inside;
    sum.all += inside;
  }
  return sum;
}

TileCounts counts_of(const TiledConvolution& v, const TiledLayer& layer) {
  const int64_t in = v.tile_channels / kBlock, out = v.tile_kernels / kBlock;
  const int64_t high = v.out_height / v.tile_height, wide = v.out_width / v.tile_width;
  const int64_t area = v.taps * v.taps;
  const WindowSum y = window_sum(v.height, v.out_height, v.tile_height, v);
  const WindowSum x = window_sum(v.width, v.out_width, v.tile_width, v);
  TileCounts c;
  c.tiles = high * wide * (v.kernels / v.tile_kernels);
  c.steps = v.channels / v.tile_channels;
  c.sums = out * v.tile_height * v.tile_width;
  c.blocks = out;
  c.vectors =
      in * ((v.tile_height - 1) * v.stride + v.taps) * ((v.tile_width - 1) * v.stride + v.taps);
  c.weights = out * in * area;
  c.kernels = layer.micro == "ckk" ? 1 : layer.micro == "tvm" ? in : in * out;
  c.items = c.sums * in * area;
  c.first_input = {in, in * y.first, in * y.first * x.first * kVectorBytes};
  const int64_t times = v.kernels / v.tile_kernels * c.steps * in;
  c.inputs = {times * high * wide, times * y.all * wide, times * y.all * x.all * kVectorBytes};
  c.weight_step = {1, out, c.weights * kBlockBytes};
  c.store_commands = out;
  c.store_rows = v.tile_height;
  c.row_vectors = v.tile_width;
  return c;
}

TileCounts counts_of(const TiledLayer& layer) {
  return std::visit([&](const auto& sizes) { return counts_of(sizes, layer); }, layer.sizes);
}

bool fits_counts(const TileCounts& c, const TiledLayer& layer, const TileRoom& room) {
  const int64_t j = layer.contexts;
  const int64_t biases = layer.bias ? j * c.blocks : 0;
  return j * c.vectors <= room.inputs && j * c.weights <= room.weights &&
         j * c.sums + biases <= room.sums && j * c.sums <= room.outputs;
}

/// Least times of commands, each with the cycles until the next one of its engine.
class LeastTimes {
 public:
  explicit LeastTimes(const EngineMachine& machine) : m_(machine), gap_(m_.end_to_start - 1) {}

  int64_t compute(tiled::Kind kind, int64_t commands, int64_t items) const {
    const CommandKind& k = tiled_kind(m_, kind);
    return commands * (k.pipeline_cycles + gap_) + items * k.item_cycles;
  }
  int64_t reads(tiled::Kind kind, const ReadSum& sum) const {
    const CommandKind& k = tiled_kind(m_, kind);
    const int64_t beats = sum.bytes / m_.port_bytes;
    const int64_t requests = m_.reads_overlap != 0
                                 ? std::max(beats, (sum.rows - sum.commands) * m_.client_cycles)
                                 : beats + (sum.rows - sum.commands) * m_.latency;
    const int64_t each = k.start_to_request + m_.latency + k.beat_to_write + k.write_to_end + gap_;
    return sum.commands * each + requests;
  }
  /// All stores of a tile.
  int64_t stores(const TileCounts& c) const {
    const CommandKind& k = tiled_kind(m_, kStore);
    const int64_t beats = c.row_vectors * kVectorBytes / m_.port_bytes;
    const int64_t row = k.start_to_beat + beats + (c.row_vectors - 1) * k.item_gap + m_.latency;
    return c.store_commands * (c.store_rows * row + gap_);
  }

 private:
  const EngineMachine& m_;
  int64_t gap_;
};

/// Numbers that divide a size into whole parts of whole steps, the smallest first.
std::vector<int64_t> tiles_of(int64_t size, int64_t step) {
  const int64_t steps = size / step;
  std::vector<int64_t> low, high;
  for (int64_t d = 1; d <= steps / d; ++d) {
    if (steps % d != 0) continue;
    low.push_back(d * step);
    if (d != steps / d) high.push_back(steps / d * step);
  }
  low.insert(low.end(), high.rbegin(), high.rend());
  return low;
}

/// Tiles along each dimension of a product or of an image and its channels.
using TileLists = std::vector<std::vector<int64_t>>;

TileLists tile_lists(const TiledGemm& g) {
  return {tiles_of(g.rows, 1), tiles_of(g.inner, kBlock), tiles_of(g.columns, kBlock)};
}

TileLists tile_lists(const TiledConvolution& c) {
  return {tiles_of(c.out_height, 1), tiles_of(c.out_width, 1), tiles_of(c.channels, kBlock),
          tiles_of(c.kernels, kBlock)};
}

/// Nestings whose commands aren't those of another one with fewer micro-operations.
std::vector<std::string_view> nestings_of(const TiledGemm&) { return {"k", "1"}; }
std::vector<std::string_view> nestings_of(const TiledConvolution&) {
  return {kConvolutionNestings.begin(), kConvolutionNestings.end()};
}

/// Are a tile's commands those of another nesting, too, that has as few micro-operations?
bool is_doubled(const TiledGemm& g, std::string_view micro) {
  return micro == "1" && g.tile_inner == kBlock;
}
bool is_doubled(const TiledConvolution& c, std::string_view micro) {
  return micro == "kk1" && c.tile_channels == kBlock && c.tile_kernels == kBlock;
}

void set_tile(const std::vector<int64_t>& tile, TiledGemm& g) {
  g.tile_rows = tile[0];
  g.tile_inner = tile[1];
  g.tile_columns = tile[2];
}

void set_tile(const std::vector<int64_t>& tile, TiledConvolution& c) {
  c.tile_height = tile[0];
  c.tile_width = tile[1];
  c.tile_channels = tile[2];
  c.tile_kernels = tile[3];
}

/// Calls `take` with every tile; the last dimension changes first.
void for_tiles(const TileLists& lists, std::vector<int64_t>& tile,
               const std::function<void(const std::vector<int64_t>&)>& take) {
  if (tile.size() == lists.size()) return take(tile);
  for (const int64_t size : lists[tile.size()]) {
    tile.push_back(size);
    for_tiles(lists, tile, take);
    tile.pop_back();
  }
}

/// The tilings of a layer's sizes, each with its nesting. Errors: more of them than `most`.
template <class Sizes>
Result<std::vector<TiledLayer>> tilings_of(const Sizes& sizes, const TiledLayer& layer,
                                           int64_t most) {
  const TileLists lists = tile_lists(sizes);
  const auto nestings = nestings_of(sizes);
  auto number = static_cast<int64_t>(nestings.size());
  for (const auto& list : lists)
    number = multiply_counts(number, static_cast<int64_t>(list.size()));
  if (number > most)
    return Error{Errc::capacity,
                 fmt::format("there are {} ways to cut and to nest this layer; {} are searched",
                             number, most),
                 "tiles"};
  std::vector<TiledLayer> out;
  TiledLayer one = layer;
  std::vector<int64_t> begin;
  for_tiles(lists, begin, [&](const std::vector<int64_t>& tile) {
    auto& cut = std::get<Sizes>(one.sizes);
    set_tile(tile, cut);
    for (const std::string_view micro : nestings) {
      one.micro = micro;
      if (!is_doubled(cut, micro)) out.push_back(one);
    }
  });
  return out;
}

/// Orders that run the tiles in different sequences: axes with one tile don't matter.
std::vector<std::string> orders_of(const TiledLayer& layer) {
  std::vector<std::string> out;
  std::set<std::string> seen;
  const std::unique_ptr<TileLayout> layout = make_tile_layout(layer);
  const auto add = [&](std::string_view order) {
    std::string moves;
    for (const char axis : order)
      if (layout->tiles(axis) > 1) moves += axis;
    if (seen.insert(moves).second) out.emplace_back(order);
  };
  if (std::holds_alternative<TiledGemm>(layer.sizes))
    for (const std::string_view order : kGemmOrders) add(order);
  else
    for (const std::string_view order : kConvolutionOrders) add(order);
  return out;
}

/// Programs whose data fit, and that differ in nothing but their order.
struct Candidate {
  TiledLayer layer;
  int64_t least = 0;
};

/// All of them, those of the least cycles first.
struct Candidates {
  std::vector<Candidate> list;
  int64_t programs = 0;  ///< of all orders
};

Result<Candidates> candidates_of(const TiledLayer& layer, const EngineMachine& machine,
                                 const TileRoom& room, int64_t most_tilings) {
  Candidates out;
  TiledLayer base = layer;
  base.order =
      std::holds_alternative<TiledGemm>(layer.sizes) ? kGemmOrders[0] : kConvolutionOrders[0];
  auto tilings = std::visit(
      [&](const auto& sizes) { return tilings_of(sizes, base, most_tilings); }, layer.sizes);
  if (!tilings) return tilings.errors();
  for (TiledLayer& one : *tilings) {
    const TileCounts counts = counts_of(one);
    int64_t fitting = 0;
    for (int64_t j = 1; j <= std::min(kMostSearchContexts, counts.tiles); ++j)
      for (const bool each : {false, true}) {
        one.contexts = j;
        one.micro_each = each;
        if (!fits_counts(counts, one, room) || !check_tiled_layer(one)) continue;
        out.list.push_back({one, least_tiled_cycles(one, machine)});
        ++fitting;
      }
    if (fitting > 0) out.programs += fitting * static_cast<int64_t>(orders_of(one).size());
  }
  std::ranges::stable_sort(out.list, {}, &Candidate::least);
  return out;
}

}  // namespace

bool fits_room(const TiledLayer& layer, int64_t micro_operations, const TileRoom& room) {
  return micro_operations <= room.micro && fits_counts(counts_of(layer), layer, room);
}

int64_t least_tiled_cycles(const TiledLayer& layer, const EngineMachine& machine) {
  const TileCounts c = counts_of(layer);
  const LeastTimes least(machine);
  const int64_t gap = machine.end_to_start - 1;
  const int64_t steps = c.tiles * c.steps;
  const int64_t biases = layer.bias ? 1 : 0;
  const int64_t uop = layer.micro_each ? least.reads(kUop, {1, 1, machine.port_bytes}) : 0;
  // Of a step, and of what ends a tile.
  const int64_t product = least.compute(kGemm, c.kernels, c.items) + c.kernels * uop;
  const int64_t finish = least.compute(kAluImm, 3, 3 * c.sums) +
                         biases * (least.compute(kAluReg, 1, c.sums) + uop) + uop;
  const int64_t begin = least.compute(kGemmReset, 1, c.sums) + uop +
                        biases * least.reads(kAcc, {1, 1, c.blocks * kSumsBytes});
  const ReadSum weights{steps, steps * c.weight_step.rows, steps * c.weight_step.bytes};
  const int64_t first_load = least.reads(kInp, c.first_input) + least.reads(kWgt, c.weight_step);
  const int64_t load = least.reads(kInp, c.inputs) + least.reads(kWgt, weights);
  const int64_t store = least.stores(c);
  // Sums of the first group may be cleared while its operands come.
  const int64_t cleared = c.tiles - std::min(layer.contexts, c.tiles);
  const int64_t compute = c.tiles * (c.steps * product + finish) + cleared * begin;
  const int64_t all = std::max({first_load + compute + store, load + product + finish + store,
                                first_load + c.steps * product + finish + c.tiles * store});
  return all - 4 * gap;  // the last command of an engine has nothing behind it
}

Result<TiledChoice> search_tiled_program(const TiledLayer& layer, const EngineMachine& machine,
                                         const TileRoom& room, const SearchLimits& limits) {
  if (Status sizes = check_tiled_layer(layer); !sizes) return sizes.errors();
  EngineProgram none;
  if (Status bound = bind_tiled_program(none, machine); !bound) return bound.errors();
  auto candidates = candidates_of(layer, machine, room, limits.tilings);
  if (!candidates) return candidates.errors();
  std::optional<TiledChoice> best;
  int64_t timed = 0, commands = 0;
  for (Candidate& candidate : candidates->list) {
    if (best && candidate.least >= best->cycles.count()) break;  // and so are all behind it
    for (const std::string& order : orders_of(candidate.layer)) {
      candidate.layer.order = order;
      const auto program = make_tiled_program(candidate.layer, machine);
      if (!program) continue;
      commands += static_cast<int64_t>(program->commands.size());
      if (commands > limits.commands)
        return Error{
            Errc::capacity,
            fmt::format("the search has made programs of more than {} commands", limits.commands),
            "tiles"};
      if (program->micro_operations > room.micro) continue;
      ++timed;
      const auto cycles = time_engine_program(program->commands, machine);
      if (cycles && (!best || *cycles < best->cycles)) best = {candidate.layer, *cycles, 0, 0};
    }
  }
  if (!best)
    return Error{Errc::capacity, "no program of this layer fits into the scratchpads", "tiles"};
  best->candidates = candidates->programs;
  best->timed = timed;
  return *best;
}

}  // namespace accsim::hw
