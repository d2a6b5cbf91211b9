#include "hw/random/random_weights.h"

#include <algorithm>

#include "hw/random/dice.h"

namespace accsim::hw {
namespace {

class Drawer {
 public:
  Drawer(const HwConfig& hw, bool turned, std::mt19937& random)
      : hw_(hw), turned_(turned), dice_(random) {}

  RandomWeights draw_weights(int64_t k, int64_t n, int64_t room) {
    RandomWeights out;
    WeightTile& t = out.tile;
    out.useful = k * n;
    int64_t row = turned_ ? k : n;
    if (dice_.one_in(2)) t.encoding = kPackedWeights;
    if (dice_.one_in(3) && !(turned_ && t.encoding.is_packed())) {
      const RandomWeights dense = out;
      const int64_t elements = draw_pack(t, k, n);
      if (elements > 0 && bytes_of(t, elements, k, n) <= room) {
        row = elements;
        out.useful = useful_products(t, k, n);
      } else {
        out = dense;
      }
    }
    t.pitch = t.encoding.row_bytes(row);
    const int64_t rows = turned_ ? n : k;
    const int64_t spare = rows > 1 ? (room - rows * t.pitch) / rows : 0;
    if (dice_.one_in(3)) t.pitch += dice_.pick(0, std::min<int64_t>(spare, 3));
    out.bytes = (rows - 1) * t.pitch + t.encoding.row_bytes(row);
    return out;
  }

 private:
  int64_t bytes_of(const WeightTile& t, int64_t row, int64_t k, int64_t n) const {
    return (turned_ ? n : k) * t.encoding.row_bytes(row);
  }

  /// Groups of k x n; elements of a row of the slot, or 0 where the array is too small.
  int64_t draw_pack(WeightTile& t, int64_t k, int64_t n) {
    t.groups = dice_.pick(2, std::min<int64_t>(4, hw_.array.rows));
    t.group_n = ceil_div(n, t.groups);
    t.group_k = dice_.pick(1, std::min<int64_t>(hw_.array.rows / t.groups, 6));
    if (t.groups * t.group_n > hw_.array.cols || t.groups * t.group_k > hw_.array.rows) return 0;
    const int64_t round = t.groups * t.group_k, first = dice_.pick(0, 2 * round);
    t.first_k = Affine(first);
    return turned_ ? ((first + k - 1) / round + 1) * t.group_k : t.group_n;
  }

  static int64_t useful_products(const WeightTile& t, int64_t k, int64_t n) {
    int64_t sum = 0;
    for (int64_t r = t.first_k.base; r < t.first_k.base + k; ++r) {
      const int64_t first = r / t.group_k % t.groups * t.group_n;
      sum += std::clamp<int64_t>(n - first, 0, t.group_n);
    }
    return sum;
  }

  const HwConfig& hw_;
  const bool turned_;
  const Dice dice_;
};

}  // namespace

RandomWeights random_weights(const HwConfig& hw, Dataflow dataflow, int64_t k, int64_t n,
                             int64_t room, std::mt19937& random) {
  return Drawer(hw, dataflow == Dataflow::input_stationary, random).draw_weights(k, n, room);
}

}  // namespace accsim::hw
