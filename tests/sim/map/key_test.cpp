#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "sim/map/mapper.h"

namespace accsim::sim {
namespace {

/// A request whose members change one by one: two requests that differ in anything a program
/// depends on mustn't share a mapping. Members are taken apart by name, so one that is added and
/// left out here doesn't compile.
class Keys : public testing::Test {
 protected:
  template <class T>
  void differs(T& member, std::type_identity_t<T> other) {
    const T was = std::exchange(member, std::move(other));
    EXPECT_TRUE(seen_.insert(key_of(request_)).second) << "change " << seen_.size();
    member = was;
  }
  template <class T, size_t N>
  void each_differs(std::array<T, N>& members) {
    for (T& member : members) differs(member, static_cast<T>(member + 1));
  }
  template <class... T>
  void grow(T&... members) {
    (differs(members, grown(members)), ...);
  }
  template <class T>
  static T grown(T value) {
    return static_cast<T>(value + 1);
  }
  static ValuePort grown(ValuePort) { return ValuePort::internal(9); }
  void access_differs(Access& access) {
    auto& [port, elements, run] = access;
    grow(port, elements, run);
  }
  void vector_op_differs(VectorOp& op) {
    auto& [inputs, outputs, ops, row, passes, row_work, lane] = op;
    access_differs(inputs[0]);
    access_differs(outputs[0]);
    differs(inputs, {inputs[0], inputs[0]});
    each_differs(ops);
    grow(row, passes);
    differs(row_work, std::nullopt);
    differs(lane, std::nullopt);
  }
  void start(WorkItem item) {
    request_.item = std::move(item);
    seen_ = {key_of(request_)};
  }

  OpRequest request_{{}, {{{"a"}, 1}, {{"b"}, 1}}, {{{"y"}, 1}}};
  std::set<std::string> seen_;
};

TEST_F(Keys, OfRequestsHaveTheirMembers) {
  start(GemmOp{});
  auto& [item, inputs, outputs, relu, residual, clips_sum, table, room, mode, unit, ports] =
      request_;
  for (Operand* side : {&inputs[0], &inputs[1], &outputs[0]}) {
    auto& [place, element_bytes] = *side;
    auto& [name, memory, constant, port, pitch] = place;
    differs(memory, hw::MemoryId::shared);
    differs(constant, true);
    differs(port.side, OperandPort::Side::region);
    differs(pitch.run, 4);
    differs(pitch.pitch, 8);
    grow(element_bytes);
    const std::string was = std::exchange(name, "another");
    EXPECT_TRUE(seen_.contains(key_of(request_))) << "names are for people";
    name = was;
  }
  differs(inputs, {inputs[0]});
  differs(relu, true);
  differs(clips_sum, true);
  differs(table, true);
  grow(residual, room, mode);
  differs(unit, UnitWork{});
  ports.inputs = {{3, 4}};
  EXPECT_TRUE(seen_.contains(key_of(request_))) << "which operands of the layer is all one";
  differs(item, VectorOp{});
  differs(item, MemoryOp{});
}

TEST_F(Keys, OfUnitsHaveTheirMembers) {
  start(VectorOp{.inputs = {{0, 8, 0}}, .outputs = {{0, 8, 0}}});
  differs(request_.unit, UnitWork{});
  request_.unit = UnitWork{
      {{hw::PoolLayer{}, 1}, {hw::LrnLayer{}, 1}, {hw::PointLayer{.stages = {{}}}, 1}}, ""};
  seen_.insert(key_of(request_));
  auto& [runs, lacks] = *request_.unit;
  differs(lacks, "what");
  for (auto& [layer, times] : runs) grow(times);
  auto& [width, height, channels, kernel_width, kernel_height, stride_x, stride_y, pad_left,
         pad_top, out_width, out_height, strips] = std::get<hw::PoolLayer>(runs[0].layer);
  grow(width, height, channels, kernel_width, kernel_height, stride_x, stride_y, pad_left);
  grow(pad_top, out_width, out_height);
  differs(strips, {{1, 1}});
  differs(strips, {{2, 1}});
  differs(strips, {{1, 2}});
  auto& [lrn_width, lrn_height, lrn_channels, bypass] = std::get<hw::LrnLayer>(runs[1].layer);
  grow(lrn_width, lrn_height, lrn_channels);
  differs(bypass, true);
  auto& [point_width, point_height, point_channels, stages] =
      std::get<hw::PointLayer>(runs[2].layer);
  grow(point_width, point_height, point_channels);
  auto& [alu, mul, operand_reads] = stages[0];
  differs(alu, true);
  differs(mul, true);
  grow(operand_reads);
}

TEST_F(Keys, OfProductsHaveTheirMembers) {
  start(GemmOp{});
  auto& [batch, images, channels, outputs, in, out, kernel, stride, dilation, pad, grouped,
         a_shared, b_shared, a_transposed, b_transposed, a_port, b_port, bias_port, out_port] =
      std::get<GemmOp>(request_.item);
  grow(batch, images, channels, outputs, a_port, b_port, bias_port, out_port);
  for (Extent3* extent : {&in, &out, &kernel, &stride, &dilation, &pad}) each_differs(*extent);
  for (bool* flag : {&grouped, &a_shared, &b_shared, &a_transposed, &b_transposed})
    differs(*flag, true);
}

TEST_F(Keys, OfRowsHaveTheirMembers) {
  VectorOp start_op{.inputs = {{0, 8, 0}}, .outputs = {{0, 8, 0}}};
  start_op.row_work = RowWork{.mask = RowMask{}, .log = RowLog{}};
  start_op.lane = LaneWork{};
  start(start_op);
  auto& op = std::get<VectorOp>(request_.item);
  auto& [kind, rows, row_stride, pieces, piece_stride, run, per_channel, channel_stride, in_port,
         out_port, mask, log] = *op.row_work;
  differs(kind, RowKind::rms_norm);
  for (RowNest* nest : {&rows, &row_stride, &channel_stride}) each_differs(*nest);
  grow(pieces, piece_stride, run, per_channel, in_port, out_port);
  auto& [mask_port, elements, mask_row_stride, mask_piece_stride] = *mask;
  grow(mask_port, elements, mask_piece_stride);
  each_differs(mask_row_stride);
  auto& [log_port, log_row_stride] = *log;
  grow(log_port);
  each_differs(log_row_stride);
  differs(mask, std::nullopt);
  differs(log, std::nullopt);
  vector_op_differs(op);
}

TEST_F(Keys, OfLanesHaveTheirMembers) {
  VectorOp start_op{.inputs = {{0, 8, 0}}, .outputs = {{0, 8, 0}}};
  start_op.lane = LaneWork{.axes = {{}, {}}};
  start(start_op);
  auto& lane = *std::get<VectorOp>(request_.item).lane;
  auto& [op, gather, a_port, b_port, axes, across, table] = lane;
  differs(op, LaneArithmetic::mul);
  differs(gather, LaneGather::max);
  differs(table, true);
  grow(a_port, b_port, across);
  differs(axes, {{}});
  for (LaneAxis& axis : axes) {
    auto& [count, a, b, slide, turned] = axis;
    auto& [extent, kernel, stride, dilation, pad, counted_from, counted_to] = slide;
    grow(count, a, b, extent, kernel, stride, dilation, pad, counted_from, counted_to);
    differs(turned, true);
  }
}

TEST_F(Keys, OfMovesHaveTheirMembers) {
  MemoryOp start_op{.inputs = {{0, 8, 0}}, .outputs = {{0, 8, 0}}};
  start_op.axes = {{2, 3}, {4, 5}};
  start_op.spacing = {6, 7};
  start_op.picked = PickedRows{};
  start(start_op);
  auto& [inputs, outputs, axes, spacing, from, to, picked] = std::get<MemoryOp>(request_.item);
  access_differs(inputs[0]);
  access_differs(outputs[0]);
  for (auto& [count, stride] : axes) grow(count, stride);
  for (int64_t& space : spacing) grow(space);
  grow(from, to);
  differs(axes, {axes[0]});
  differs(spacing, {});
  auto& [groups, rows, row, count, lists] = *picked;
  grow(groups, rows, row, count, lists);
  differs(picked, std::nullopt);
}

}  // namespace
}  // namespace accsim::sim
