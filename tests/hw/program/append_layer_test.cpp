#include "hw/program/append_layer.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace accsim::hw {
namespace {

/// What a command says of loops and tensors. Each command's fields are all named here: one that
/// comes to it doesn't compile before it has been thought of.
struct Names {
  std::vector<Affine*> addresses;
  std::vector<std::vector<int>*> loops;
  std::vector<int*> tensors;

  explicit Names(Command& c) {
    std::visit([this](auto& command) { of(command); }, c);
  }

 private:
  void of(LoadCommand& c) {
    auto& [buffer, tensor, source, slot_offset, walk, padded, transposed, gather] = c;
    auto& [extent, count, kernel, stride, dilation, origin, pitch, images, image_pitch, tap,
           pad_value] = padded.value();
    auto& [index_offset, row_pitch, limit] = gather.value();
    addresses = {&source, &slot_offset, &origin[0], &origin[1], &origin[2], &index_offset};
    tensors = {&tensor};
  }
  void of(GemmCommand& c) {
    auto& [m, k, n, useful_macs, window, weights, accumulator_row, first_of, accumulate] = c;
    auto& [tile, pixel, count, stride, origin, first, line, line_step, offset, pad_value] = window;
    auto& [at, pitch, groups, group_k, group_n, first_k, bits] = weights;
    addresses = {&origin[0], &origin[1], &origin[2], &first,
                 &offset,    &at,        &first_k,   &accumulator_row};
    loops = {&first_of};
  }
  void of(DrainCommand& c) {
    auto& [m, n, accumulator_row, first_of, accumulate] = c;
    addresses = {&accumulator_row};
    loops = {&first_of};
  }
  void of(PostCommand& c) {
    auto& [rows, cols, accumulator_row, parameter_offset, slot_offset, pitch, transposed,
           has_parameters, epilogue, groups, group_rows, group_offset] = c;
    addresses = {&accumulator_row, &parameter_offset, &slot_offset, &group_offset};
  }
  void of(SetTableCommand& c) {
    auto& [unit, parameter_offset] = c;
    addresses = {&parameter_offset};
  }
  void of(LaneCommand& c) {
    auto& [op, rows, run, tap_op, taps, tap_stride, across, slide, a, b, weight_stride,
           channel_offset, macs, slot_offset, out_stride, shift, epilogue] = c;
    addresses = {&slot_offset, &channel_offset};
    for (LaneOperand* o : {&a, &b.value()}) {
      auto& [buffer, offset, row_stride, splat, zero, multiplier] = *o;
      addresses.push_back(&offset);
    }
  }
  void of(RowCommand& c) {
    auto& [op, rows, pieces, run, in, mask, parameter_offset, parameter_stride, per_channel, out,
           row_multiplier, mask_multiplier, difference_shift, numerator, exponent, logarithm,
           input_zero, unit_bits, epsilon, epilogue] = c;
    addresses = {&parameter_offset, &logarithm.value().offset};
    for (RowOperand* o : {&in, &mask.value(), &out}) {
      auto& [offset, row_stride, piece_stride] = *o;
      addresses.push_back(&offset);
    }
  }
  void of(VectorCommand& c) {
    auto& [ops, in_bytes, out_bytes] = c;
    static_assert(std::is_same_v<decltype(in_bytes), int64_t>, "no address");
  }
  void of(StoreCommand& c) {
    auto& [tensor, target, slot_offset, walk] = c;
    addresses = {&target, &slot_offset};
    tensors = {&tensor};
  }
  void of(StageCommand& c) {
    auto& [from, to, source, target, walk] = c;
    addresses = {&source, &target};
    tensors = {&from, &to};
  }
};

constexpr int kLoops = 3, kTensors = 4;  ///< of the layer

/// A command of each kind, with all that it may have.
std::vector<Command> all_commands() {
  LoadCommand load;
  load.padded.emplace();
  load.gather.emplace();
  LaneCommand lane;
  lane.b.emplace();
  RowCommand row;
  row.mask.emplace();
  row.logarithm.emplace();
  return {load,           GemmCommand{}, DrainCommand{},    PostCommand{}, VectorCommand{},
          StoreCommand{}, row,           SetTableCommand{}, lane,          StageCommand{}};
}

/// A layer of one command, whose n-th address is 10n + (n + 1) x loop 0 + 7 x loop 2, which knows
/// all loops, and whose n-th tensor is number n + 1.
Program layer_of(Command c) {
  const Names names(c);
  for (size_t n = 0; n < names.addresses.size(); ++n) {
    *names.addresses[n] = Affine(static_cast<int64_t>(10 * n));
    names.addresses[n]->add_term(0, static_cast<int64_t>(n + 1));
    names.addresses[n]->add_term(2, 7);
  }
  for (std::vector<int>* loops : names.loops) *loops = {2, 0, 1};
  for (size_t n = 0; n < names.tensors.size(); ++n) *names.tensors[n] = static_cast<int>(n + 1);
  Program p;
  p.dataflow = Dataflow::input_stationary;
  p.loops = kLoops;
  p.tensors.resize(kTensors);
  p.body = {{std::move(c)}};
  return p;
}

Program network_of(int loops, size_t tensors) {
  Program p;
  p.name = "network";
  p.loops = loops;
  p.tensors.resize(tensors);
  p.body = {{Mark{true, Queue::load, 0}}};
  return p;
}

TEST(AppendLayer, IsThereACommandOfEachKind) {
  std::vector<bool> seen(std::variant_size_v<Command>);
  for (const Command& c : all_commands()) seen[c.index()] = true;
  for (const bool is : seen) EXPECT_TRUE(is);
}

TEST(AppendLayer, NumbersLoopsAndTensorsOfEveryCommandAnew) {
  const std::vector<int> tensors = {9, 2, 7, 5};
  for (const Command& command : all_commands()) {
    Program network = network_of(20, 10);
    append_layer(network, layer_of(command), "a", tensors);
    ASSERT_EQ(network.body.size(), 3U);
    Command& c = std::get<Command>(network.body[2].node);
    ASSERT_EQ(c.index(), command.index());
    const Names names(c);
    for (size_t n = 0; n < names.addresses.size(); ++n) {
      Affine wanted(static_cast<int64_t>(10 * n));
      wanted.add_term(20, static_cast<int64_t>(n + 1));
      wanted.add_term(22, 7);
      EXPECT_EQ(*names.addresses[n], wanted) << "command " << c.index() << ", address " << n;
    }
    for (const std::vector<int>* loops : names.loops)
      EXPECT_EQ(*loops, (std::vector<int>{22, 20, 21})) << "command " << c.index();
    for (size_t n = 0; n < names.tensors.size(); ++n)
      EXPECT_EQ(*names.tensors[n], tensors[n + 1]) << "command " << c.index() << ", tensor " << n;
  }
}

/// Loops, and what stands in loops; token operations of buffers have no tensor.
TEST(AppendLayer, NumbersTheTextAnew) {
  const auto text = [](int loops, std::vector<int> t) {
    Loop inner{loops + 1, "inner", 2, {{Mark{true, Queue::load, t[0]}}}};
    Loop outer{loops,
               "outer",
               4,
               {{inner}, {Sync{SyncKind::wait_free, Queue::stage, Buffer::activation, t[1]}}}};
    return std::vector<Item>{{outer},
                             {Sync{SyncKind::wait_free, Queue::load, Buffer::weight}},
                             {Mark{false, Queue::stage, t[2]}},
                             {LayerHead{"own", Dataflow::weight_stationary}}};
  };
  const auto same = [](const std::vector<Item>& a, size_t from, const std::vector<Item>& b) {
    const auto& outer = std::get<Loop>(a[from].node);
    const auto& wanted = std::get<Loop>(b[0].node);
    EXPECT_EQ(outer.id, wanted.id);
    EXPECT_EQ(outer.count, wanted.count);
    EXPECT_EQ(outer.name, wanted.name);
    const auto& inner = std::get<Loop>(outer.body[0].node);
    const auto& wanted_inner = std::get<Loop>(wanted.body[0].node);
    EXPECT_EQ(inner.id, wanted_inner.id);
    EXPECT_EQ(std::get<Mark>(inner.body[0].node), std::get<Mark>(wanted_inner.body[0].node));
    EXPECT_EQ(std::get<Sync>(outer.body[1].node), std::get<Sync>(wanted.body[1].node));
    EXPECT_EQ(std::get<Sync>(a[from + 1].node), std::get<Sync>(b[1].node));
    EXPECT_EQ(std::get<Mark>(a[from + 2].node), std::get<Mark>(b[2].node));
    EXPECT_EQ(std::get<LayerHead>(a[from + 3].node).name, "own");
  };
  Program layer;
  layer.loops = 2;
  layer.tensors.resize(3);
  layer.body = text(0, {0, 1, 2});
  Program network = network_of(11, 30);
  append_layer(network, layer, "a", std::vector<int>{21, 4, 8});
  append_layer(network, layer, "b", std::vector<int>{3, 2, 21});
  ASSERT_EQ(network.body.size(), 1U + 2 * (1 + 4));
  EXPECT_EQ(std::get<Mark>(network.body[0].node), (Mark{true, Queue::load, 0}))
      << "not the layer's";
  same(network.body, 2, text(11, {21, 4, 8}));
  same(network.body, 7, text(13, {3, 2, 21}));
  EXPECT_EQ(network.loops, 11 + 2 + 2);
  EXPECT_EQ(network.tensors.size(), 30U);
}

TEST(AppendLayer, PutsAHeadBeforeTheText) {
  Program network = network_of(0, 1);
  Program layer;
  layer.dataflow = Dataflow::input_stationary;
  append_layer(network, layer, "first", {});
  layer.dataflow = Dataflow::output_stationary;
  append_layer(network, layer, "second", {});
  ASSERT_EQ(network.body.size(), 3U);
  const auto& first = std::get<LayerHead>(network.body[1].node);
  const auto& second = std::get<LayerHead>(network.body[2].node);
  EXPECT_EQ(first.name, "first");
  EXPECT_EQ(first.dataflow, Dataflow::input_stationary);
  EXPECT_EQ(second.name, "second");
  EXPECT_EQ(second.dataflow, Dataflow::output_stationary);
  EXPECT_EQ(network.dataflow, Dataflow::weight_stationary) << "the network's own";
}

TEST(AppendLayer, TakesATensorForEachOfTheLayers) {
  Program network = network_of(0, 10);
  EXPECT_DEATH(append_layer(network, layer_of(StoreCommand{}), "a", std::vector<int>{1, 2, 3}),
               "a layer has other tensors");
}

}  // namespace
}  // namespace accsim::hw
