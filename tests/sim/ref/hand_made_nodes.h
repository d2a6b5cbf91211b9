#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/operators/names.h"
#include "tests/sim/ref/node_case.h"

namespace accsim::sim::ref {

/// Nodes that run, of operators whose inputs must fit together so closely that no random node of
/// them does, or that have much to be spoiled (masks, states, caches, both directions).
namespace hand_made {

using Value = decltype(Attribute::value);
using Ints = std::vector<int64_t>;

inline NodeInput real(Dims dims, std::vector<double> data = {}) {
  return {true, DType::float32, std::move(dims), {}, std::move(data)};
}
inline NodeInput of(DType dtype, Dims dims, std::vector<double> data = {}) {
  return {true, dtype, std::move(dims), {}, std::move(data)};
}
/// A constant vector of int64.
inline NodeInput vector(Ints values) {
  const Dims dims{static_cast<int64_t>(values.size())};
  return {true, DType::int64, dims, std::move(values), {}};
}
/// A constant scalar of int64.
inline NodeInput scalar(int64_t value) { return {true, DType::int64, {}, {value}, {}}; }
inline NodeInput absent() { return {false, DType::float32, {}, {}, {}}; }

inline Attribute attribute(std::string name, Value value) {
  return {std::move(name), "", std::move(value)};
}
inline Attribute word(std::string name, std::string value) {
  return attribute(std::move(name), std::move(value));
}
inline Attribute number(std::string name, int64_t value) {
  return attribute(std::move(name), value);
}
inline Attribute list(std::string name, Ints values) {
  return attribute(std::move(name), std::move(values));
}

inline NodeCase onnx(std::string op, int64_t opset, std::vector<NodeInput> inputs, size_t outputs,
                     std::vector<Attribute> attributes = {}) {
  return {std::move(op),        "", opset, std::move(inputs), std::vector<bool>(outputs, true),
          std::move(attributes)};
}
inline NodeCase microsoft(std::string op, std::vector<NodeInput> inputs, size_t outputs,
                          std::vector<Attribute> attributes = {}) {
  NodeCase c = onnx(std::move(op), 17, std::move(inputs), outputs, std::move(attributes));
  c.domain = kMicrosoft;
  return c;
}

/// A recurrent operator of three inputs and four hidden elements: two sequences of four steps.
inline NodeCase recurrent(const char* op, int64_t gates, bool bidirectional, bool batch_first) {
  const int64_t directions = bidirectional ? 2 : 1, rows = gates * 4;
  const Dims state = batch_first ? Dims{2, directions, 4} : Dims{directions, 2, 4};
  std::vector<NodeInput> inputs{real(batch_first ? Dims{2, 4, 3} : Dims{4, 2, 3}),
                                real({directions, rows, 3}),
                                real({directions, rows, 4}),
                                real({directions, 2 * rows}),
                                of(DType::int32, {2}, {4, 3}),
                                real(state)};
  if (gates == 4) {
    inputs.push_back(real(state));
    inputs.push_back(real({directions, 3 * 4}));
  }
  std::vector<Attribute> attributes{number("hidden_size", 4), number("layout", batch_first ? 1 : 0),
                                    word("direction", bidirectional ? "bidirectional" : "reverse")};
  if (gates == 3) attributes.push_back(number("linear_before_reset", bidirectional ? 1 : 0));
  return onnx(op, 14, std::move(inputs), gates == 4 ? 3 : 2, std::move(attributes));
}

/// Two channels of three taps that go on where a state ends.
inline NodeCase causal_conv() {
  return onnx("CausalConvWithState", 27,
              {real({2, 3, 8}), real({3, 1, 4}), real({3}), real({2, 3, 3})}, 2,
              {word("activation", "silu")});
}

inline void add_windows(std::vector<NodeCase>& out) {
  for (const char* op : {"BlackmanWindow", "HammingWindow", "HannWindow"}) {
    out.push_back(onnx(op, 17, {scalar(8)}, 1, {number("periodic", 0)}));
    out.push_back(onnx(op, 17, {scalar(1)}, 1));
  }
  out.push_back(onnx(
      "MelWeightMatrix", 17,
      {scalar(4), scalar(16), of(DType::int64, {}, {8000}), real({}, {0}), real({}, {4000})}, 1));
  out.push_back(onnx("STFT", 17, {real({2, 16, 1}), scalar(4), real({8}), scalar(8)}, 1,
                     {number("onesided", 1)}));
  out.push_back(onnx("STFT", 17, {real({1, 12, 2}), scalar(3), absent(), scalar(5)}, 1,
                     {number("onesided", 0)}));
}

inline void add_shapes(std::vector<NodeCase>& out) {
  out.push_back(onnx("ConstantOfShape", 9, {vector({2, 3})}, 1));
  out.push_back(onnx("Range", 11, {scalar(0), scalar(10), scalar(3)}, 1));
  out.push_back(onnx("NonZero", 13, {vector({1, 0, 2, 0})}, 1));
  out.push_back(onnx("Unique", 13, {vector({3, 1, 3, 2})}, 4, {number("sorted", 0)}));
  out.push_back(onnx("Unique", 13, {vector({3, 1, 3, 2})}, 4, {number("axis", 0)}));
}

inline void add_convolutions(std::vector<NodeCase>& out) {
  out.push_back(onnx("ConvTranspose", 11, {real({1, 4, 3, 3}), real({4, 2, 3, 3}), real({4})}, 1,
                     {number("group", 2), list("strides", {2, 2}), list("pads", {1, 0, 0, 1}),
                      list("output_padding", {1, 1}), list("kernel_shape", {3, 3})}));
  out.push_back(onnx("ConvTranspose", 11, {real({2, 2, 4}), real({2, 3, 3})}, 1,
                     {list("output_shape", {8}), list("strides", {2}),
                      word("auto_pad", "SAME_UPPER"), list("dilations", {2})}));
  out.push_back(onnx(
      "DeformConv", 19,
      {real({1, 4, 5, 5}), real({2, 2, 3, 3}), real({1, 36, 3, 3}), real({2}), real({1, 18, 3, 3})},
      1, {number("group", 2), number("offset_group", 2)}));
  out.push_back(onnx("Col2Im", 18, {real({1, 8, 9}), vector({4, 4}), vector({2, 2})}, 1));
  out.push_back(
      onnx("Col2Im", 18, {real({2, 6, 4}), vector({5, 5}), vector({1, 3})}, 1,
           {list("strides", {3, 3}), list("dilations", {1, 2}), list("pads", {0, 1, 0, 2})}));
  out.push_back(causal_conv());
  out.push_back(microsoft(
      "FusedConv", {real({1, 2, 4, 4}), real({2, 2, 3, 3}), real({2}), real({1, 2, 4, 4})}, 1,
      {list("pads", {1, 1, 1, 1}), word("activation", "Clip"),
       attribute("activation_params", std::vector<double>{0, 1})}));
  out.push_back(microsoft("QLinearConv",
                          {of(DType::uint8, {1, 2, 4, 4}), real({}, {0.1}), of(DType::uint8, {}),
                           of(DType::uint8, {3, 2, 3, 3}), real({3}, {0.1}), of(DType::uint8, {3}),
                           real({}, {2}), of(DType::uint8, {}), of(DType::int32, {3})},
                          1));
}

inline void add_regions(std::vector<NodeCase>& out) {
  out.push_back(onnx("AffineGrid", 20, {real({2, 2, 3}), vector({2, 3, 4, 5})}, 1,
                     {number("align_corners", 1)}));
  out.push_back(onnx("AffineGrid", 20, {real({1, 3, 4}), vector({1, 3, 2, 4, 5})}, 1));
  const std::vector<double> corners{0, 1, 3.5, 4, 1, 1, 5, 5};
  out.push_back(onnx("RoiAlign", 16,
                     {real({2, 3, 6, 6}), real({2, 4}, corners), of(DType::int64, {2}, {0, 1})}, 1,
                     {number("output_height", 2), number("output_width", 3)}));
  out.push_back(onnx("RoiAlign", 10,
                     {real({2, 3, 6, 6}), real({2, 4}, corners), of(DType::int64, {2}, {1, 0})}, 1,
                     {word("mode", "max"), number("sampling_ratio", 2)}));
  out.push_back(onnx("MaxRoiPool", 11,
                     {real({2, 2, 6, 6}), real({2, 5}, {0, 0, 0, 3, 3, 1, 1, 1, 5, 5})}, 1,
                     {list("pooled_shape", {2, 3}), attribute("spatial_scale", 0.5)}));
}

inline void add_attentions(std::vector<NodeCase>& out) {
  out.push_back(microsoft("Attention",
                          {real({2, 4, 8}), real({8, 24}), real({24}),
                           of(DType::int32, {2, 4}, {1, 1, 1, 0}), absent(), real({2, 2, 4, 4})},
                          2, {number("num_heads", 2), number("unidirectional", 1)}));
  out.push_back(microsoft("Attention", {real({1, 3, 4}), real({4, 10}), real({10})}, 1,
                          {number("num_heads", 1), list("qkv_hidden_sizes", {4, 4, 2})}));
  out.push_back(microsoft(
      "MultiHeadAttention",
      {real({2, 3, 8}), real({2, 5, 8}), real({2, 5, 4}), real({20}), of(DType::int32, {2, 7}, {1}),
       real({1, 2, 3, 7}), real({2, 2, 2, 4}), real({2, 2, 2, 2})},
      4, {number("num_heads", 2)}));
  out.push_back(
      microsoft("GroupQueryAttention",
                {real({2, 3, 16}), absent(), absent(), real({2, 1, 2, 4}), real({2, 1, 2, 4}),
                 of(DType::int32, {2}, {4}), of(DType::int32, {}, {5}), real({8, 2}), real({8, 2}),
                 of(DType::int64, {2, 3}, {1, 2, 3}), real({1, 2, 3, 5}), real({2}), absent(),
                 absent(), real({4}), real({4})},
                3,
                {number("num_heads", 2), number("kv_num_heads", 1), number("do_rotary", 1),
                 number("local_window_size", 2)}));
  out.push_back(microsoft(
      "GroupQueryAttention",
      {real({2, 3, 8}), real({2, 3, 4}), real({2, 3, 4}), real({2, 1, 2, 4}), real({2, 1, 2, 4}),
       of(DType::int32, {2}, {4}), of(DType::int32, {}, {5}), real({8, 2}), real({8, 2})},
      3,
      {number("num_heads", 2), number("kv_num_heads", 1), number("do_rotary", 1),
       attribute("softcap", 2.0)}));
  out.push_back(
      microsoft("RotaryEmbedding",
                {real({2, 3, 8}), of(DType::int64, {2, 3}, {0, 1, 2}), real({6, 2}), real({6, 2})},
                1, {number("num_heads", 2)}));
  out.push_back(
      microsoft("RotaryEmbedding",
                {real({2, 2, 3, 4}), of(DType::int64, {1}, {3}), real({6, 2}), real({6, 2})}, 1,
                {number("interleaved", 1)}));
}

inline void add_tables(std::vector<NodeCase>& out) {
  out.push_back(microsoft(
      "EmbedLayerNormalization",
      {of(DType::int32, {2, 4}), of(DType::int32, {2, 4}), real({5, 8}), real({6, 8}), real({2, 8}),
       real({8}), real({8}), of(DType::int32, {2, 4}), of(DType::int32, {2, 4}, {3, 2, 1, 0})},
      3));
  out.push_back(microsoft("EmbedLayerNormalization",
                          {of(DType::int32, {2, 4}), absent(), real({5, 8}), real({6, 8}), absent(),
                           real({8}), real({8})},
                          2));
  for (const int64_t bits : {2, 4, 8})
    out.push_back(microsoft(
        "MatMulNBits",
        {real({2, 3, 32}), of(DType::uint8, {4, 2, 2 * bits}), real({8}),
         of(DType::uint8, {4 * ((2 * bits + 7) / 8)}), absent(), real({4})},
        1, {number("K", 32), number("N", 4), number("bits", bits), number("block_size", 16)}));
  for (const int64_t type : {0, 1})
    out.push_back(microsoft(
        "MatMulBnb4", {real({2, 32}), of(DType::uint8, {64}), real({8})}, 1,
        {number("K", 32), number("N", 4), number("block_size", 16), number("quant_type", type)}));
  out.push_back(microsoft("MatMulNBits",
                          {real({40}), of(DType::uint8, {3, 2, 16}), real({6}), real({3, 2})}, 1,
                          {number("K", 40), number("N", 3), number("block_size", 32)}));
}

/// Three tokens of five channels, four experts of six, two of them for each token.
inline void add_mixtures(std::vector<NodeCase>& out) {
  const std::vector<NodeInput> plain = {real({3, 5}), real({3, 4}),    real({4, 6, 5}),
                                        real({4, 6}), real({4, 5, 6}), real({4, 5})};
  out.push_back(microsoft("MoE", plain, 1, {number("k", 2)}));
  std::vector<NodeInput> gated = plain;
  gated.push_back(real({4, 6, 5}));
  gated.push_back(real({4, 6}));
  out.push_back(microsoft("MoE", gated, 1, {number("k", 2), word("activation_type", "swiglu")}));
}

inline void add_quantised(std::vector<NodeCase>& out) {
  const auto bytes = [](const Dims& dims) { return of(DType::uint8, dims); };
  for (const Dims& mask : {Dims{2, 4}, Dims{2}, Dims{4}})
    out.push_back(
        microsoft("QAttention",
                  {bytes({2, 4, 8}), bytes({8, 24}), real({24}), real({}, {0.1}), real({24}),
                   of(DType::int32, mask, {3, 4, 1, 0}), bytes({}), bytes({24})},
                  2, {number("num_heads", 2)}));
  out.push_back(microsoft(
      "QEmbedLayerNormalization",
      {of(DType::int32, {2, 4}), of(DType::int32, {2, 4}), bytes({5, 8}), bytes({6, 8}),
       bytes({2, 8}), bytes({8}), bytes({8}), of(DType::int32, {2, 4}), real({}), real({}),
       real({}), real({}), real({}), bytes({}), bytes({}), bytes({}), bytes({}), bytes({})},
      2));
  for (const int64_t directions : {1, 2}) {
    const Dims scales{directions, 12};
    out.push_back(
        microsoft("DynamicQuantizeLSTM",
                  {real({4, 2, 5}), bytes({directions, 5, 12}), bytes({directions, 3, 12}),
                   real({directions, 24}), of(DType::int32, {2}, {4, 3}), real({directions, 2, 3}),
                   real({directions, 2, 3}), real({directions, 9}), real(scales), bytes(scales),
                   real({directions}), bytes({directions})},
                  3, {word("direction", directions == 2 ? "bidirectional" : "reverse")}));
  }
}

/// Of operators of few bits, and of group norms.
inline void add_trained(std::vector<NodeCase>& out) {
  NodeCase quant =
      onnx("Quant", 17, {real({2, 3, 4}), real({3, 1}, {0.5}), real({}, {0}), real({}, {4})}, 1,
           {word("rounding_mode", "FLOOR")});
  quant.domain = kQonnx;
  out.push_back(std::move(quant));
  NodeCase steps = onnx("MultiThreshold", 17, {real({2, 3, 4, 4}), real({3, 5})}, 1);
  steps.domain = kFinn;
  out.push_back(std::move(steps));
  for (const int64_t last : {0, 1}) {
    const Dims x = last != 0 ? Dims{2, 5, 6, 4} : Dims{2, 4, 5, 6};
    const std::vector<Attribute> attributes = {number("groups", 2), number("channels_last", last)};
    out.push_back(microsoft("GroupNorm", {real(x), real({4}), real({4})}, 1, attributes));
    out.push_back(microsoft(
        "SkipGroupNorm", {real(x), real({4}), real({4}), real({2, 4}), real({4})}, 2, attributes));
  }
  out.push_back(microsoft("QLinearReduceMean",
                          {of(DType::uint8, {2, 4, 5}), real({}, {0.1}), of(DType::uint8, {}, {9}),
                           real({}, {0.2}), of(DType::uint8, {}, {20})},
                          1, {list("axes", {1, 2})}));
  out.push_back(onnx("SwiGLU", 28, {real({2, 3}), real({2, 3})}, 1, {attribute("alpha", 1.5)}));
}

}  // namespace hand_made

inline std::vector<NodeCase> hand_made_nodes() {
  std::vector<NodeCase> out;
  hand_made::add_windows(out);
  hand_made::add_shapes(out);
  hand_made::add_convolutions(out);
  hand_made::add_regions(out);
  hand_made::add_attentions(out);
  hand_made::add_tables(out);
  hand_made::add_mixtures(out);
  hand_made::add_quantised(out);
  hand_made::add_trained(out);
  for (const auto& [op, gates] : {std::pair{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}})
    for (const bool both : {false, true})
      for (const bool batch_first : {false, true})
        out.push_back(hand_made::recurrent(op, gates, both, batch_first));
  return out;
}

}  // namespace accsim::sim::ref
