#include "sim/map/product/heuristic_tiling.h"

#include <algorithm>

namespace accsim::sim {
namespace {

/// Enough tiles for the first load and the last store to be a small part of the whole.
constexpr int64_t kTiles = 8;

int64_t most_that_fit(int64_t capacity, int64_t each) {
  return each == 0 ? capacity : capacity / each;
}

/// `length` in as few equal parts as `largest` allows, each a multiple of `unit` if that is
/// possible: one of tile_sizes(length, unit), at most `largest`.
int64_t even_part(int64_t length, int64_t largest, int64_t unit) {
  if (largest >= length) return length;
  if (largest < unit) unit = 1;
  const int64_t units = ceil_div(length, unit);
  return std::min(length, ceil_div(units, ceil_div(units, largest / unit)) * unit);
}

class Rule {
 public:
  Rule(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d) : p_(p), hw_(hw) {
    t_.dataflow = d;
    t_.groups = p.most_groups;
  }

  std::optional<Tiling> choose_tiling() {
    if (!cut_weights() || !cut_pixels()) return std::nullopt;
    choose_order();
    return t_;
  }

 private:
  int64_t bytes_of_slot(hw::Buffer b) const { return hw_.buffer(b).slot_bytes(); }
  bool fits_slots() const { return sim::fits(tiling_footprint(p_, hw_, t_), hw_); }

  /// Channels and columns, with pixels at their smallest.
  bool cut_weights() {
    const int64_t rows = hw_.array.rows, cols = hw_.array.cols;
    const int64_t channels = t_.groups * p_.op.channels, outputs = t_.groups * p_.op.outputs;
    const bool scaled = p_.scale_count() > 1;  // a tile for each scale
    t_.channels = scaled ? p_.scale_group : channels;
    t_.outputs = outputs;
    if (fits_slots() || t_.groups > 1) return fits_slots() || unpack_groups();
    const int64_t columns = std::min(cols, outputs);
    const int64_t weight_rows =
        most_that_fit(bytes_of_slot(hw::Buffer::weight), p_.weight_row(columns) * p_.kernel_taps());
    t_.outputs = columns;
    if (!scaled)
      t_.channels =
          std::max<int64_t>(1, even_part(channels, std::max<int64_t>(1, weight_rows), rows));
    while (!fits_slots() && !scaled && t_.channels > 1)
      t_.channels = even_part(channels, t_.channels / 2, 1);
    while (!fits_slots() && t_.outputs > 1) t_.outputs = even_part(outputs, t_.outputs / 2, 1);
    if (!fits_slots()) return false;
    // As many blocks of columns as the other buffers leave room for.
    const Footprint one = tiling_footprint(p_, hw_, t_);
    const int64_t blocks =
        std::min({most_that_fit(bytes_of_slot(hw::Buffer::weight), one.weight),
                  most_that_fit(bytes_of_slot(hw::Buffer::parameter), one.parameter),
                  most_that_fit(bytes_of_slot(hw::Buffer::output) / kOutputShare, one.output),
                  most_that_fit(hw_.accumulator_rows() / kOutputShare, one.accumulator_rows)});
    const int64_t wanted =
        even_part(outputs, std::max<int64_t>(1, blocks) * t_.outputs, t_.outputs);
    const int64_t least = t_.outputs;
    t_.outputs = wanted;
    if (!fits_slots()) t_.outputs = least;
    return true;
  }

  /// Packed groups that don't fit: fewer of them.
  bool unpack_groups() {
    while (t_.groups > 1) {
      t_.groups /= 2;
      t_.channels = t_.groups * p_.op.channels;
      t_.outputs = t_.groups * p_.op.outputs;
      if (fits_slots()) return true;
    }
    return cut_weights();
  }

  /// `field`, a size of a tile of `length`, as large as fits up to `limit`.
  void grow_size(int64_t& field, int64_t length, int64_t limit) {
    int64_t low = 1, high = limit;
    while (low < high) {
      field = low + (high - low + 1) / 2;
      if (fits_slots())
        low = field;
      else
        high = field - 1;
    }
    field = even_part(length, low, 1);
  }

  bool cut_pixels() {
    const GemmOp& op = p_.op;
    const int64_t lanes =
        t_.dataflow == hw::Dataflow::input_stationary ? hw_.array.cols : hw_.array.rows;
    const int64_t cuts =
        ceil_div(t_.groups * op.outputs, t_.outputs) * ceil_div(op.batch, t_.groups);
    const int64_t tiles = std::max<int64_t>(1, kTiles / cuts);
    // Rows of a tile that are enough to hide the loading of the next weights.
    const int64_t enough = std::max(lanes, ceil_div(op.m(), tiles));
    grow_size(t_.pixels, p_.x.out, std::min(p_.x.out, enough));
    if (t_.pixels == p_.x.out)
      grow_size(t_.lines, p_.y.out, std::min(p_.y.out, ceil_div(enough, t_.pixels)));
    const bool planar = op.in[0] == 1 && op.out[0] == 1 && op.kernel[0] == 1;
    if (planar && t_.pixels == p_.x.out && t_.lines == p_.y.out)
      grow_size(t_.images, op.images, std::min(op.images, ceil_div(enough, t_.pixels * t_.lines)));
    return fits_slots();
  }

  void choose_order() {
    const GemmOp& op = p_.op;
    const int64_t m = t_.images * t_.lines * t_.pixels;
    const double tiles = static_cast<double>(ceil_div(op.m(), m));
    const double chunks = static_cast<double>(ceil_div(t_.groups * op.outputs, t_.outputs));
    if (chunks <= 1) return;
    const double a = static_cast<double>(op.m() * op.channels * p_.a_bytes);
    const double w = static_cast<double>(op.k() * op.outputs) * p_.weight_size();
    t_.outputs_outer = a * (chunks - 1) < w * (tiles - 1);
  }

  static constexpr int64_t kOutputShare = 64;  ///< pixels that must fit beside the columns

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  Tiling t_;
};

}  // namespace

std::optional<Tiling> heuristic_tiling(const GemmProblem& p, const hw::HwConfig& hw,
                                       hw::Dataflow dataflow) {
  return Rule(p, hw, dataflow).choose_tiling();
}

}  // namespace accsim::sim
