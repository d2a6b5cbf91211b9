#include "sim/schedule/row_tile_shape.h"

namespace accsim::sim {

std::vector<PartStep> in_parts(const std::vector<TileStep>& turns,
                               const std::vector<bool>& on_array, int64_t parts) {
  std::vector<PartStep> out, array, vector;
  const auto take_step = [&] {
    size_t v = 0;
    for (size_t a = 0; a < array.size(); ++a) {
      for (; v * array.size() < (a + 1) * vector.size(); ++v) out.push_back(vector[v]);
      out.push_back(array[a]);
    }
    for (; v < vector.size(); ++v) out.push_back(vector[v]);
    array.clear();
    vector.clear();
  };
  for (const TileStep& t : turns) {
    if (on_array[t.k]) {
      array.push_back({t.k, t.piece});
      continue;
    }
    if (!array.empty()) take_step();  // the next one begins in the vector unit
    for (int64_t part = 0; part < parts; ++part) vector.push_back({t.k, t.piece, part});
  }
  take_step();
  return out;
}

std::vector<int64_t> most_alive(const std::vector<PartStep>& turns,
                                const std::vector<bool>& on_array, int64_t parts) {
  std::vector<int64_t> alive(on_array.size(), 0), most(on_array.size(), 0);
  for (const PartStep& t : turns) {
    if (t.part == 0) most[t.k] = std::max(most[t.k], ++alive[t.k]);
    if (t.k > 0 && (on_array[t.k] || t.part + 1 == parts)) --alive[t.k - 1];
  }
  return most;
}

}  // namespace accsim::sim
