#pragma once
#include "hw/program/contract.h"
#include "sim/map/program_description.h"

namespace accsim::sim {

/// Loads of one tensor into one buffer.
template <class Sink>
class TileLoads {
 public:
  TileLoads(const hw::HwConfig& hw, Sink& sink, hw::Buffer buffer, int tensor)
      : hw_(hw), sink_(sink), buffer_(buffer), tensor_(tensor) {}

  template <class Fill>
  void load_plain(hw::Walk walk, Fill fill) const {
    sink_.add_load(buffer_, tensor_, walk.merge(), fill);
  }

  /// Matrices of rows of `cols` elements, written as columns: through the transposer, or where it
  /// has nothing to turn or is too narrow, element by element.
  template <class Fill>
  void load_turned(hw::Walk walk, hw::Walk::Level rows, int64_t cols, int64_t element,
                   Fill fill) const {
    const int64_t side =
        hw::contract::transposer_side(hw_.array, hw_.buffer(buffer_).width, element);
    if (rows.count == 1 || cols == 1 || side == 0) {
      walk.levels.push_back({cols, element});
      walk.levels.push_back(rows);
      walk.run = element;
      return load_plain(walk, fill);
    }
    walk.merge();
    walk.levels.push_back(rows);
    walk.run = cols * element;
    sink_.add_load(buffer_, tensor_, walk, fill, element);
  }

 private:
  const hw::HwConfig& hw_;
  Sink& sink_;
  const hw::Buffer buffer_;
  const int tensor_;
};

}  // namespace accsim::sim
