#include "hw/random/product_drawer.h"

#include <algorithm>
#include <tuple>

#include "hw/random/random_weights.h"

namespace accsim::hw {

/// What a tile multiplies, and how it lies in its slots.
struct DrawnProduct {
  int64_t m, k, n;
  int64_t accumulators;  ///< rows of a group
  int64_t groups;        ///< along k, each with a scale
  int64_t group_rows;    ///< from one to the next
  RandomWeights weights;
  int64_t pitch;  ///< of the output's pixels
  int64_t table;  ///< bytes
  bool adds, uses_table;
  int64_t passes;  ///< at most, over a group's sums

  int64_t scale_bytes() const { return n * TensorDrawer::kParameterBytes; }
  int64_t group_bytes() const { return (groups - 1) * n * PostCommand::kGroupBytes; }
  int64_t out_bytes() const { return (m - 1) * pitch + n; }
};

namespace {

GemmCommand gemm_command(const DrawnProduct& p, int64_t first_row, bool accumulate) {
  GemmCommand c;
  c.m = p.m;
  c.k = p.k;
  c.n = p.n;
  c.useful_macs = p.m * p.weights.useful;
  c.window.tile = c.window.count = {1, 1, p.m};
  c.window.pixel = c.window.line = p.k;
  c.weights = p.weights.tile;
  c.accumulator_row = Affine(first_row);
  c.accumulate = accumulate;
  return c;
}

}  // namespace

DrawnProduct ProductDrawer::draw_product() const {
  DrawnProduct p{};
  const bool turned = dataflow_ == Dataflow::input_stationary;
  const bool stays = dataflow_ == Dataflow::output_stationary;
  const int64_t rows = hw_.accumulator_rows();
  p.k = dice_.pick(1, hw_.array.rows);
  p.n = turned ? dice_.pick(1, std::min<int64_t>(rows, 20)) : dice_.pick(1, hw_.array.cols);
  p.n = std::min(p.n, bytes_of_slot(Buffer::parameter) / TensorDrawer::kParameterBytes);
  p.m =
      dice_.pick(1, turned ? hw_.array.cols : std::min<int64_t>(rows, stays ? hw_.array.rows : 24));
  p.m =
      std::min({p.m, bytes_of_slot(Buffer::activation) / p.k, bytes_of_slot(Buffer::output) / p.n});
  p.n = std::min(p.n, bytes_of_slot(Buffer::weight) / p.k);
  p.accumulators = turned ? p.n : p.m;
  p.weights =
      random_weights(hw_, dataflow_, p.k, p.n, bytes_of_slot(Buffer::weight), dice_.generator());
  draw_groups(p);
  p.table = loads_.table_bytes(p.scale_bytes() + p.group_bytes());
  p.uses_table = p.table > 0 && !dice_.one_in(4);
  p.adds = dice_.one_in(3);
  const int64_t spare = p.m > 1 ? (bytes_of_slot(Buffer::output) - p.n) / (p.m - 1) - p.n : 0;
  p.pitch = p.n + (p.adds && dice_.one_in(2) ? std::min<int64_t>(spare, dice_.pick(0, 7)) : 0);
  return p;
}

void ProductDrawer::draw_groups(DrawnProduct& p) const {
  const int64_t room = bytes_of_slot(Buffer::parameter) - p.scale_bytes();
  const int64_t most = std::min({hw_.accumulator_rows() / p.accumulators, int64_t{5},
                                 1 + room / (p.n * PostCommand::kGroupBytes)});
  p.groups = dice_.one_in(2) ? 1 : dice_.pick(1, most);
  const int64_t spare =
      p.groups > 1 ? (hw_.accumulator_rows() - p.groups * p.accumulators) / (p.groups - 1) : 0;
  p.group_rows =
      p.accumulators + (dice_.one_in(3) ? std::min<int64_t>(spare, dice_.pick(0, 3)) : 0);
}

void ProductDrawer::draw_tile(const TileText& to, int64_t most_passes) {
  DrawnProduct p = draw_product();
  p.passes = most_passes;
  const bool weights_first = dice_.one_in(3);  // before the post holds its parameters
  if (weights_first) loads_.fill_anyhow(to, Buffer::weight, p.weights.bytes);
  const int64_t ahead = p.adds && hw_.buffer(Buffer::output).slots > 1 && dice_.one_in(2) ? 2 : 1;
  loads_.fill_scales(to, p.table, p.n, p.group_bytes());
  to.add_sync(SyncKind::wait_full, Queue::post, Buffer::parameter);
  if (p.table > 0) to.add_command(SetTableCommand{Queue::post, Affine(0)});
  const bool early = dice_.one_in(2);
  if (p.adds && early)
    for (int64_t i = 0; i < ahead; ++i) prime_slot(to, p);
  for (int64_t i = 0; i < ahead; ++i) {
    draw_sums(to, p, weights_first && i == 0);
    if (p.adds && !early) prime_slot(to, p);
    draw_results(to, p);
    stores_.drain_slot(to, p.out_bytes());
    if (!early || !p.adds) break;
  }
  to.add_sync(SyncKind::signal_free, Queue::post, Buffer::parameter);
}

void ProductDrawer::prime_slot(const TileText& to, const DrawnProduct& p) {
  loads_.fill_slot(to, Buffer::output, p.out_bytes(), SyncKind::signal_primed);
}

/// One or two gemms a group, or more, into an accumulator slot.
void ProductDrawer::draw_sums(const TileText& to, const DrawnProduct& p, bool has_weights) {
  if (!has_weights) loads_.fill_slot(to, Buffer::weight, p.weights.bytes);
  loads_.fill_slot(to, Buffer::activation, p.m * p.k);
  to.add_sync(SyncKind::wait_full, Queue::execute, Buffer::weight);
  to.add_sync(SyncKind::wait_full, Queue::execute, Buffer::activation);
  const bool stays = dataflow_ == Dataflow::output_stationary;
  to.add_sync(SyncKind::wait_free, Queue::execute, Buffer::accumulator);
  for (int64_t g = 0; g < p.groups; ++g) {
    const int64_t row = g * p.group_rows, passes = dice_.pick(1, p.passes);
    for (int64_t i = 0; i < passes; ++i) to.add_command(gemm_command(p, row, i > 0));
    if (stays) to.add_command(DrainCommand{p.m, p.n, Affine(row), {}, false});
  }
  to.add_sync(SyncKind::signal_free, Queue::execute, Buffer::weight);
  to.add_sync(SyncKind::signal_free, Queue::execute, Buffer::activation);
  to.add_sync(SyncKind::signal_full, Queue::execute, Buffer::accumulator);
}

void ProductDrawer::draw_results(const TileText& to, const DrawnProduct& p) {
  to.add_sync(SyncKind::wait_full, Queue::post, Buffer::accumulator);
  to.add_sync(p.adds ? SyncKind::wait_primed : SyncKind::wait_free, Queue::post, Buffer::output);
  PostCommand c;
  c.transposed = dataflow_ == Dataflow::input_stationary;
  c.rows = p.accumulators;
  c.cols = c.transposed ? p.m : p.n;
  c.parameter_offset = Affine(p.table);
  c.pitch = p.pitch;
  c.groups = p.groups;
  c.group_rows = p.group_rows;
  c.group_offset = Affine(p.table + p.scale_bytes());
  c.has_parameters = true;
  c.epilogue = draw_epilogue(p);
  to.add_command(std::move(c));
  to.add_sync(SyncKind::signal_free, Queue::post, Buffer::accumulator);
  to.add_sync(SyncKind::signal_full, Queue::post, Buffer::output);
}

Epilogue ProductDrawer::draw_epilogue(const DrawnProduct& p) const {
  Epilogue e;
  e.table = p.uses_table;
  e.relu = dice_.one_in(4);
  e.zero = dice_.zero_point();
  if (p.adds) e.residual.emplace();
  std::tie(e.low, e.high) = dice_.pick_limits(e.highest_limit());
  if (e.lowest_result() > e.high) e.relu = false;
  if (p.adds) e.residual = draw_residual();
  return e;
}

Residual ProductDrawer::draw_residual() const {
  Residual r;
  r.zero = dice_.zero_point();
  r.multiplier =
      dice_.one_in(8) ? dice_.number(INT16_MIN, INT16_MAX) : dice_.number(INT16_MAX / 2, INT16_MAX);
  r.shift = dice_.one_in(8) ? dice_.number(0, 31) : dice_.number(13, 17);
  std::tie(r.low, r.high) = dice_.pick_limits(INT8_MAX);
  return r;
}

}  // namespace accsim::hw
