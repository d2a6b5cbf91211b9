#include "hw/engines/tiled_program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include "hw/engines/tiled_commands.h"

namespace accsim::hw {
namespace {

/// All tiles of a layer, in the order of its loops.
std::vector<OutputTile> all_tiles(const TiledLayer& layer, const TileLayout& layout) {
  std::vector<OutputTile> tiles;
  std::vector<int64_t> at(layer.order.size(), 0);
  for (bool more = true; more;) {
    OutputTile tile = layout.tile(layer.order, at);
    tile.context = static_cast<int64_t>(tiles.size()) % layer.contexts;
    tiles.push_back(tile);
    more = false;
    for (size_t axis = at.size(); axis-- > 0 && !more;) {
      more = ++at[axis] < layout.tiles(layer.order[axis]);
      if (!more) at[axis] = 0;
    }
  }
  return tiles;
}

/// Writes the program. Letters in brackets are those of the table's head.
class ProgramWriter {
 public:
  ProgramWriter(const TiledLayer& layer, const TileLayout& layout)
      : layer_(layer), layout_(layout), tiles_(all_tiles(layer, layout)) {
    for (int64_t j = 0; j < std::min(layer.contexts, count(tiles_.size())); ++j)
      for (MicroKernel& kernel : layout.kernels(j))
        kernels_[j].push_back({std::move(kernel), std::nullopt});
  }
  TiledProgram write();

 private:
  using Tiles = std::span<const OutputTile>;
  /// A kernel, and where it lies in the table once it has been used.
  struct PlacedKernel {
    MicroKernel kernel;
    std::optional<int64_t> place;
  };

  static int64_t count(size_t size) { return static_cast<int64_t>(size); }
  void write_group(Tiles group, size_t first);
  void begin_tile(const OutputTile& tile, bool first_group);
  void load_step(const OutputTile& tile, int64_t step, bool first_group);
  void compute_step(const OutputTile& tile, bool last_of_context);
  void finish_tile(int64_t context);
  void store_tile(const OutputTile& tile, bool posts);
  bool has_later_tile(size_t tile) const {
    return tile + static_cast<size_t>(layer_.contexts) < tiles_.size();
  }

  EngineCommand& add(int64_t kind, int64_t items = 0) {
    EngineCommand& command = program_.commands.emplace_back();
    command.kind = kind;
    command.items = items;
    return command;
  }
  int64_t place_of(const std::vector<MicroOperation>& operations);
  void use(int64_t place, int64_t size);
  void use(const MicroOperation& one) { use(place_of({one}), 1); }

  const TiledLayer& layer_;
  const TileLayout& layout_;
  std::vector<OutputTile> tiles_;
  std::map<int64_t, std::vector<PlacedKernel>> kernels_;  // by context
  std::map<std::vector<MicroOperation>, int64_t> table_;
  TiledProgram program_;
};

/// The table has each distinct list once, in the order of first use.
int64_t ProgramWriter::place_of(const std::vector<MicroOperation>& operations) {
  const auto [place, is_new] = table_.try_emplace(operations, program_.micro_operations);
  if (is_new) program_.micro_operations += count(operations.size());
  return place->second;
}

/// Micro-operations that the next command runs.
void ProgramWriter::use(int64_t place, int64_t size) {
  if (layer_.micro_each)
    program_.commands.push_back(
        element_command(tiled::kUop, {kMicroBase, kMicroBytes, place, 1, size, size}));
}

/// [a]
void ProgramWriter::begin_tile(const OutputTile& tile, bool first_group) {
  use({tile.context * layout_.sums(), 0, 0});
  EngineCommand& clear = add(tiled::kGemmReset, layout_.sums());
  if (!first_group) clear.takes |= tiled::kStored;
  if (layer_.bias)
    program_.commands.push_back(element_command(
        tiled::kAcc, {kBiasBase, kSumsBytes, tile.block, 1, layout_.blocks(), layout_.blocks()}));
  if (layer_.barrier) program_.commands.back().posts |= tiled::kFreed;
}

/// [b], reads.
void ProgramWriter::load_step(const OutputTile& tile, int64_t step, bool first_group) {
  std::vector<EngineCommand> loads = layout_.loads(tile, step);
  if (layer_.barrier || !first_group || step > 0) loads.front().takes |= tiled::kFreed;
  loads.back().posts |= tiled::kLoaded;
  program_.commands.insert(program_.commands.end(), loads.begin(), loads.end());
}

/// [b], products.
void ProgramWriter::compute_step(const OutputTile& tile, bool last_of_context) {
  bool first = true;
  for (PlacedKernel& one : kernels_[tile.context]) {
    const int64_t size = count(one.kernel.operations.size());
    if (!one.place) one.place = place_of(one.kernel.operations);
    use(*one.place, size);
    EngineCommand& gemm = add(tiled::kGemm, size * one.kernel.times);
    if (first) gemm.takes |= tiled::kLoaded;
    first = false;
  }
  if (layer_.barrier || !last_of_context) program_.commands.back().posts |= tiled::kFreed;
}

/// [d]
void ProgramWriter::finish_tile(int64_t context) {
  const int64_t sums = context * layout_.sums();
  if (layer_.bias) {
    use({sums, layer_.contexts * layout_.sums() + context * layout_.blocks(), 0});
    add(tiled::kAluReg, layout_.sums());
  }
  use({sums, sums, 0});
  for (int i = 0; i < 3; ++i) add(tiled::kAluImm, layout_.sums());  // shift, max, min
  program_.commands.back().posts |= tiled::kDone;
}

/// [e]
void ProgramWriter::store_tile(const OutputTile& tile, bool posts) {
  std::vector<EngineCommand> stores = layout_.stores(tile);
  stores.front().takes |= tiled::kDone;
  if (posts) stores.back().posts |= tiled::kStored;
  program_.commands.insert(program_.commands.end(), stores.begin(), stores.end());
}

void ProgramWriter::write_group(Tiles group, size_t first) {
  for (const OutputTile& tile : group) begin_tile(tile, first == 0);
  for (int64_t step = 0; step < layout_.steps(); ++step) {
    for (const OutputTile& tile : group) load_step(tile, step, first == 0);
    for (size_t j = 0; j < group.size(); ++j)
      compute_step(group[j], step + 1 == layout_.steps() && !has_later_tile(first + j));
  }
  if (layer_.barrier)  // [c]
    for (size_t j = 0; j < group.size(); ++j) add(tiled::kNopLoad).takes |= tiled::kFreed;
  for (const OutputTile& tile : group) finish_tile(tile.context);
  for (size_t j = 0; j < group.size(); ++j)
    store_tile(group[j],
               layer_.barrier || has_later_tile(first + j) || first + j + 1 == tiles_.size());
}

TiledProgram ProgramWriter::write() {
  if (!layer_.micro_each) add(tiled::kUop);  // once its number is known
  const size_t contexts = static_cast<size_t>(layer_.contexts);
  for (size_t first = 0; first < tiles_.size(); first += contexts) {
    const size_t size = std::min(contexts, tiles_.size() - first);
    write_group(Tiles(tiles_).subspan(first, size), first);
  }
  if (layer_.barrier)
    for (size_t j = 1; j < std::min(contexts, tiles_.size()); ++j)
      add(tiled::kNopCore).takes |= tiled::kStored;
  add(tiled::kFinish).takes |= tiled::kStored;
  const int64_t micro = program_.micro_operations;
  if (!layer_.micro_each)
    program_.commands.front() =
        element_command(tiled::kUop, {kMicroBase, kMicroBytes, 0, 1, micro, micro});
  return std::move(program_);
}

}  // namespace

Result<TiledProgram> make_tiled_program(const TiledLayer& layer, const EngineMachine& machine) {
  if (Status sizes = check_tiled_layer(layer); !sizes) return sizes.errors();
  const std::unique_ptr<TileLayout> layout = make_tile_layout(layer);
  TiledProgram program = ProgramWriter(layer, *layout).write();
  if (Status bound = bind_tiled_program(program.commands, machine); !bound) return bound.errors();
  return program;
}

}  // namespace accsim::hw
