#include "sim/validate/layer_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/onnx/writer.h"
#include "sim/operators/names.h"
#include "sim/validate/layer_list.h"
#include "sim/validate/spreadsheet_kind.h"
#include "sim/validate/tiled_kinds.h"
#include "sim/validate/unit_kinds.h"

namespace accsim::sim {
namespace {

Error no_such_shape(std::string why) { return {Errc::invalid, std::move(why), ""}; }

/// A model under construction. Every tensor has a name of its own; weights are external data that
/// nobody reads.
class LayerModel {
 public:
  std::string add_input(const std::string& name, const Dims& dims) {
    model_.graph.inputs.push_back(stated_value(name, DType::float32, dims));
    return name;
  }

  std::string add_weight(const std::string& name, Dims dims) {
    StoredTensor out;
    out.name = name;
    out.dtype = DType::float32;
    out.dims = std::move(dims);
    out.payload.kind = Payload::Kind::external;
    out.payload.external_file = "weights.bin";
    model_.graph.initializers.push_back(std::move(out));
    return name;
  }

  std::string add_number(const std::string& name, double value) {
    model_.graph.initializers.push_back(stored_reals(name, {}, {value}));
    return name;
  }

  /// A node with one result; the result's name.
  std::string add_node(std::string_view type, const std::string& name,
                       std::vector<std::string> inputs, std::vector<Attribute> attributes = {}) {
    NodeDef node;
    node.name = name;
    node.op_type = type;
    node.inputs = std::move(inputs);
    node.outputs = {name + ":0"};
    node.attributes = std::move(attributes);
    model_.graph.nodes.push_back(std::move(node));
    return name + ":0";
  }

  ModelDef finish(const std::string& result) {
    ValueDef out;
    out.name = result;
    out.dtype = DType::float32;
    model_.graph.outputs.push_back(std::move(out));
    return std::move(model_);
  }

 private:
  ModelDef model_ = empty_model();
};

Result<ModelDef> product(const LayerSizes& s) {
  if (s["batch"] == 1) return product_model({s["m"], s["k"], s["n"]});
  LayerModel m;
  const std::string a = m.add_input("A", {s["batch"], s["m"], s["k"]});
  const std::string b = m.add_input("B", {s["batch"], s["k"], s["n"]});
  return m.finish(m.add_node(op::kMatMul, "product", {a, b}));
}

/// (silu(x gate) * (x up)) down.
Result<ModelDef> ffn_gated(const LayerSizes& s) {
  LayerModel m;
  const std::string x = m.add_input("x", {s["m"], s["hidden"]});
  const Dims wide = {s["hidden"], s["inner"]};
  const std::string gate = m.add_node(op::kMatMul, "gate", {x, m.add_weight("gate_weight", wide)});
  const std::string up = m.add_node(op::kMatMul, "up", {x, m.add_weight("up_weight", wide)});
  const std::string share = m.add_node(op::kSigmoid, "sigmoid", {gate});
  const std::string silu = m.add_node(op::kMul, "silu", {gate, share});
  const std::string gated = m.add_node(op::kMul, "gated", {silu, up});
  const std::string w = m.add_weight("down_weight", {s["inner"], s["hidden"]});
  return m.finish(m.add_node(op::kMatMul, "down", {gated, w}));
}

/// gelu(x up + bias) down + bias, with gelu(y) = y (1 + erf(y / sqrt(2))) / 2.
Result<ModelDef> ffn_erf(const LayerSizes& s) {
  LayerModel m;
  const std::string x = m.add_input("x", {s["m"], s["hidden"]});
  const std::string w1 = m.add_weight("up_weight", {s["hidden"], s["inner"]});
  const std::string up = m.add_node(op::kMatMul, "up", {x, w1});
  const std::string y = m.add_node(op::kAdd, "up_bias", {up, m.add_weight("bias1", {s["inner"]})});
  const std::string scaled =
      m.add_node(op::kDiv, "scaled", {y, m.add_number("root", std::sqrt(2))});
  const std::string erf = m.add_node(op::kErf, "erf", {scaled});
  const std::string plus = m.add_node(op::kAdd, "plus", {erf, m.add_number("one", 1)});
  const std::string twice = m.add_node(op::kMul, "twice", {y, plus});
  const std::string gelu = m.add_node(op::kMul, "gelu", {twice, m.add_number("half", 0.5)});
  const std::string w2 = m.add_weight("down_weight", {s["inner"], s["hidden"]});
  const std::string down = m.add_node(op::kMatMul, "down", {gelu, w2});
  return m.finish(m.add_node(op::kAdd, "bias", {down, m.add_weight("bias2", {s["hidden"]})}));
}

/// softmax(q k / sqrt(head) + mask) v. The queries of all heads that share keys are rows of one
/// product. Keys lie as [head, kv].
Result<ModelDef> attention(const LayerSizes& s) {
  if (s["heads"] % s["heads_kv"] != 0)
    return no_such_shape(fmt::format("{} heads of keys don't divide {} heads of queries",
                                     s["heads_kv"], s["heads"]));
  if (s["causal"] != 0 && s["kv"] < s["q"])
    return no_such_shape(fmt::format(
        "causal attention of {} queries needs as many keys; there are {}", s["q"], s["kv"]));
  LayerModel m;
  const int64_t rows = s["heads"] / s["heads_kv"] * s["q"];
  const std::string q = m.add_input("q", {s["batch"], s["heads_kv"], rows, s["head"]});
  const std::string k = m.add_input("k", {s["batch"], s["heads_kv"], s["head"], s["kv"]});
  const std::string v = m.add_input("v", {s["batch"], s["heads_kv"], s["kv"], s["head"]});
  std::string scores = m.add_node(op::kMatMul, "scores", {q, k});
  const double root = std::sqrt(static_cast<double>(s["head"]));
  scores = m.add_node(op::kDiv, "scaled", {scores, m.add_number("root", root)});
  if (s["causal"] != 0)
    scores = m.add_node(op::kAdd, "masked", {scores, m.add_weight("mask", {rows, s["kv"]})});
  const std::string weights =
      m.add_node(op::kSoftmax, "softmax", {scores}, {{"axis", "", int64_t{-1}}});
  return m.finish(m.add_node(op::kMatMul, "values", {weights, v}));
}

/// Attributes of what moves a window over an image; none where the window doesn't fit.
Result<std::vector<Attribute>> window(const LayerSizes& s) {
  const auto covered = [&](const char* kernel, const char* dilation) {
    return (s[kernel] - 1) * s[dilation] + 1;
  };
  const int64_t wide = covered("kernel_w", "dilation_x"), high = covered("kernel_h", "dilation_y");
  const int64_t w = s["w"] + s["pad_l"] + s["pad_r"], h = s["h"] + s["pad_t"] + s["pad_b"];
  if (wide > w || high > h)
    return no_such_shape(
        fmt::format("a kernel over {} x {} (width x height) is larger than the padded image, "
                    "{} x {}",
                    wide, high, w, h));
  using List = std::vector<int64_t>;
  return std::vector<Attribute>{
      {"kernel_shape", "", List{s["kernel_h"], s["kernel_w"]}},
      {"strides", "", List{s["stride_y"], s["stride_x"]}},
      {"pads", "", List{s["pad_t"], s["pad_l"], s["pad_b"], s["pad_r"]}},
      {"dilations", "", List{s["dilation_y"], s["dilation_x"]}},
  };
}

std::string add_image(LayerModel& m, const LayerSizes& s, const std::string& name = "x") {
  return m.add_input(name, {s["batch"], s["c"], s["h"], s["w"]});
}

Result<ModelDef> conv(const LayerSizes& s) {
  if (s["c"] % s["groups"] != 0 || s["k"] % s["groups"] != 0)
    return no_such_shape(fmt::format("{} groups don't divide {} channels and {} kernels",
                                     s["groups"], s["c"], s["k"]));
  auto attributes = window(s);
  if (!attributes) return attributes.errors();
  attributes->push_back({"group", "", s["groups"]});
  LayerModel m;
  const std::string x = add_image(m, s);
  const std::string w =
      m.add_weight("weight", {s["k"], s["c"] / s["groups"], s["kernel_h"], s["kernel_w"]});
  return m.finish(m.add_node(op::kConv, "conv", {x, w}, std::move(*attributes)));
}

Result<ModelDef> pool(const LayerSizes& s) {
  auto attributes = window(s);
  if (!attributes) return attributes.errors();
  if (const Status strips = check_strips(s); !strips) return strips.errors();
  if (s["average"] != 0) attributes->pop_back();  // they have no dilations in this opset
  LayerModel m;
  const std::string x = add_image(m, s);
  return m.finish(m.add_node(s["average"] != 0 ? op::kAveragePool : op::kMaxPool, "pool", {x},
                             std::move(*attributes)));
}

Result<ModelDef> lrn(const LayerSizes& s) {
  LayerModel m;
  return m.finish(m.add_node(op::kLRN, "lrn", {add_image(m, s)}, {{"size", "", s["size"]}}));
}

bool takes_two(std::string_view function) {
  for (const char* two : {op::kAdd, op::kSub, op::kMul, op::kDiv, op::kMax, op::kMin})
    if (function == two) return true;
  return false;
}

Result<ModelDef> pointwise(const LayerSizes& s) {
  std::vector<PointFunction> functions = stage_functions(s);
  if (!s.functions.empty()) functions.clear();
  for (const std::string& function : s.functions) functions.push_back({function, true});
  LayerModel m;
  std::string x = add_image(m, s);
  int number = 0;
  for (const auto& [function, reads] : functions) {
    std::vector<std::string> inputs = {x};
    const std::string name = fmt::format("{}{}", function, ++number);
    if (takes_two(function) && !reads)
      inputs.push_back(m.add_number(name + "_operand", 2));
    else if (takes_two(function))
      inputs.push_back(s["per_channel"] != 0 ? m.add_weight(name + "_operand", {s["c"], 1, 1})
                                             : add_image(m, s, name + "_operand"));
    x = m.add_node(function, name, std::move(inputs));
  }
  return m.finish(x);
}

/// Images, and the window that some kinds move over them.
std::vector<LayerParameter> image_parameters(std::vector<LayerParameter> more, bool has_window) {
  std::vector<LayerParameter> out = {
      {.name = "batch", .otherwise = 1, .meaning = "images"},
      {.name = "c", .meaning = "channels"},
      {.name = "h", .meaning = "rows of an image"},
      {.name = "w", .meaning = "columns of an image"},
  };
  out.insert(out.end(), more.begin(), more.end());
  if (!has_window) return out;
  const std::vector<LayerParameter> window = {
      {.name = "kernel", .otherwise = 1, .meaning = "side of the window"},
      {.name = "kernel_h", .like = "kernel", .meaning = "rows of the window"},
      {.name = "kernel_w", .like = "kernel", .meaning = "columns of the window"},
      {.name = "stride", .otherwise = 1, .meaning = "step of the window"},
      {.name = "stride_x", .like = "stride", .meaning = "step to the right"},
      {.name = "stride_y", .like = "stride", .meaning = "step down"},
      {.name = "pad", .least = 0, .otherwise = 0, .meaning = "zeros at each side"},
      {.name = "pad_t", .least = 0, .like = "pad", .meaning = "zeros above"},
      {.name = "pad_b", .least = 0, .like = "pad", .meaning = "zeros below"},
      {.name = "pad_l", .least = 0, .like = "pad", .meaning = "zeros at the left"},
      {.name = "pad_r", .least = 0, .like = "pad", .meaning = "zeros at the right"},
      {.name = "dilation", .otherwise = 1, .meaning = "distance of a window's elements"},
      {.name = "dilation_x", .like = "dilation", .meaning = "distance to the right"},
      {.name = "dilation_y", .like = "dilation", .meaning = "distance down"},
  };
  out.insert(out.end(), window.begin(), window.end());
  return out;
}

std::vector<LayerParameter> joined(std::vector<LayerParameter> some,
                                   const std::vector<LayerParameter>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

std::vector<LayerParameter> ffn_parameters() {
  return {{.name = "m", .meaning = "rows: tokens"},
          {.name = "hidden", .meaning = "columns of what goes in and comes out"},
          {.name = "inner", .meaning = "columns in between"}};
}

std::vector<LayerParameter> attention_parameters() {
  return {{.name = "batch", .otherwise = 1, .meaning = "sequences"},
          {.name = "heads", .meaning = "heads of queries"},
          {.name = "heads_kv", .like = "heads", .meaning = "heads of keys and values"},
          {.name = "q", .meaning = "queries per head; 1 is decoding"},
          {.name = "kv", .like = "q", .meaning = "keys per head"},
          {.name = "head", .meaning = "elements of a query"},
          {.name = "causal", .least = 0, .otherwise = 0, .meaning = "1: with a mask"}};
}

}  // namespace

const LayerParameter* LayerKind::parameter(std::string_view wanted) const {
  const auto at = std::ranges::find(parameters, wanted, &LayerParameter::name);
  return at == parameters.end() ? nullptr : &*at;
}

const std::vector<LayerKind>& layer_kinds() {
  static const std::vector<LayerKind> kKinds = {
      {"product",
       "matrices [m, k] and [k, n], both inputs",
       {{.name = "batch", .otherwise = 1, .meaning = "products"},
        {.name = "m", .meaning = "rows"},
        {.name = "k", .meaning = "reduction"},
        {.name = "n", .meaning = "columns"}},
       product},
      {"ffn_gated", "(silu(x gate) * (x up)) down", ffn_parameters(), ffn_gated},
      {"ffn_erf", "gelu(x up + bias) down + bias, by erf", ffn_parameters(), ffn_erf},
      {"attention", "softmax(q k / sqrt(head)) v", attention_parameters(), attention},
      {"conv", "a convolution without bias",
       image_parameters({{.name = "k", .meaning = "kernels"},
                         {.name = "groups", .otherwise = 1, .meaning = "groups of channels"}},
                        true),
       conv},
      {"pool", "the largest, or the average, of a window",
       image_parameters(
           joined({{.name = "average", .least = 0, .otherwise = 0, .meaning = "1: averages"}},
                  strip_parameters()),
           true),
       pool, nullptr, pool_pin},
      {"lrn", "local response normalisation over channels",
       image_parameters({{.name = "size", .otherwise = 5, .meaning = "channels that are summed"},
                         bypass_parameter()},
                        false),
       lrn, nullptr, lrn_pin},
      {"pointwise", "the operators of `function`, one after the other",
       image_parameters(
           joined({{.name = "per_channel",
                    .least = 0,
                    .otherwise = 0,
                    .meaning = "1: a second operand is a weight per channel, else an image"}},
                  stage_parameters()),
           false),
       pointwise, nullptr, pointwise_pin},
      tiled_gemm_kind(),
      tiled_conv_kind(),
      spreadsheet_kind(),
  };
  return kKinds;
}

void fill_sizes(const LayerKind& kind, LayerSizes& sizes) {
  for (const LayerParameter& p : kind.parameters)
    if (!sizes.values.contains(p.name))
      sizes.values.emplace(p.name, p.otherwise ? *p.otherwise : sizes[p.like]);
}

const std::vector<std::string>& pointwise_functions() {
  static const std::vector<std::string> kFunctions = {
      op::kRelu, op::kLeakyRelu, op::kSigmoid, op::kTanh, op::kElu, op::kSoftplus,
      op::kExp,  op::kSqrt,      op::kAbs,     op::kNeg,  op::kErf, op::kAdd,
      op::kSub,  op::kMul,       op::kDiv,     op::kMax,  op::kMin};
  return kFunctions;
}

}  // namespace accsim::sim
