#include "hw/random/scatter_loads.h"

#include "hw/program/visit.h"
#include "hw/random/draw.h"

namespace accsim::hw {
namespace {

/// Cuts the load behind some of the outermost level's iterations or, without levels, of the run's
/// bytes: `c` keeps the first part, the result is the rest. The load can be cut.
LoadCommand cut_load(LoadCommand& c, std::mt19937& random) {
  const bool runs = !c.walk.levels.empty();
  int64_t& whole = runs ? c.walk.levels[0].count : c.walk.run;
  const int64_t first = draw_number(random, 1, whole - 1);
  LoadCommand rest = c;
  (runs ? rest.walk.levels[0].count : rest.walk.run) = whole - first;
  whole = first;
  rest.source += Affine(runs ? first * c.walk.levels[0].stride : first);
  if (rest.gather) rest.gather->index_offset += Affine(first * Gather::kIndexBytes);
  rest.slot_offset += Affine(c.walk.bytes());
  return rest;
}

bool can_be_cut(const LoadCommand& c) {
  if (c.transposed > 0 && c.walk.levels.size() < 2) return false;  // one matrix
  return !c.padded && (c.walk.levels.empty() ? c.walk.run : c.walk.levels[0].count) > 1;
}

/// `all`: tensors of the program, with the twins.
void scatter_body(std::vector<Item>& body, const std::vector<ProgramTensor>& all,
                  std::mt19937& random) {
  const auto placed = [&](LoadCommand c) {
    const bool region = all[static_cast<size_t>(c.tensor)].slots > 0;  // it has tokens
    if (!region && draw_number(random, 0, 1) == 1) c.tensor += static_cast<int>(all.size() / 2);
    return Item{Command{std::move(c)}};
  };
  rewrite_nest(body, [&](Item item, std::vector<Item>& to) {
    auto* command = std::get_if<Command>(&item.node);
    auto* load = command ? std::get_if<LoadCommand>(command) : nullptr;
    if (!load) {
      to.push_back(std::move(item));
      return;
    }
    LoadCommand first = *load;
    if (!can_be_cut(first) || draw_number(random, 0, 3) == 0) {
      to.push_back(placed(std::move(first)));
      return;
    }
    LoadCommand rest = cut_load(first, random);
    to.push_back(placed(std::move(first)));
    to.push_back(placed(std::move(rest)));
  });
}

}  // namespace

void scatter_loads(Program& program, MemoryImage& image, std::mt19937& random) {
  const auto tensors = static_cast<int>(program.tensors.size());
  for (int i = 0; i < tensors; ++i) {
    ProgramTensor twin = program.tensors[static_cast<size_t>(i)];
    twin.name += " (twin)";
    twin.memory = twin.memory == MemoryId::dram ? MemoryId::shared : MemoryId::dram;
    twin.slots = 0;
    program.tensors.push_back(std::move(twin));
    image.push_back(std::vector(image[static_cast<size_t>(i)]));
  }
  scatter_body(program.body, program.tensors, random);
}

}  // namespace accsim::hw
