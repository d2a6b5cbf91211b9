// Every kernel on nodes that nobody would write: without outputs, with unnamed ones, with empty
// tensors, zero-sized dims and scalars. The generator makes nodes of each operator until some of
// them run, then spoils those. Whatever comes of it is a result or an error; under the sanitizers
// the test also sees what a release build would get away with.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/operators/op_table.h"
#include "sim/ref/executor.h"
#include "sim/ref/kernel_context.h"
#include "tests/sim/ref/hand_made_nodes.h"
#include "tests/sim/ref/node_case.h"
#include "tests/sim/ref/spoiled_nodes.h"

namespace accsim::sim::ref {
namespace {

constexpr int64_t kOpsets[] = {7, 9, 11, 13, 17, 18, 21, 23};
constexpr int kTries = 3000;   // random nodes of an operator, to find some that run
constexpr size_t kEnough = 6;  // that run

/// What is being tried; printed when the program is aborted.
char current[2000];

void print_current(int) {
  (void)!::write(STDERR_FILENO, current, std::strlen(current));
  ::_exit(3);
}

std::string text(const Attribute& a) {
  return a.name + "=" +
         std::visit(
             []<class T>(const T& v) -> std::string {
               if constexpr (std::is_same_v<T, std::vector<int64_t>>)
                 return fmt::format("{}", fmt::join(v, ","));
               else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
                 return fmt::format("{}", v);
               else
                 return "...";
             },
             a.value);
}

std::string text(const NodeCase& c) {
  std::string out = fmt::format("{}.{} opset {}:", c.domain, c.op, c.opset);
  for (const NodeInput& i : c.inputs)
    out += i.present
               ? fmt::format(" {} {}{}", name(i.dtype), to_string(i.dims),
                             i.values.empty() ? "" : fmt::format("={}", fmt::join(i.values, ",")))
               : " absent";
  out += " ->";
  for (const bool named : c.outputs) out += named ? " y" : " \"\"";
  for (const Attribute& a : c.attributes) out += " " + text(a);
  return out + "\n";
}

ModelDef model_of(const NodeCase& c) {
  ModelDef model;
  model.file = "hostile.onnx";
  model.ir_version = 8;
  model.opsets = {{"", c.opset}, {"com.microsoft", 1}};
  NodeDef node;
  node.name = "node";
  node.op_type = c.op;
  node.domain = c.domain;
  node.attributes = c.attributes;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const NodeInput& input = c.inputs[i];
    const std::string name = input.present ? fmt::format("x{}", i) : "";
    node.inputs.push_back(name);
    if (!input.present) continue;
    if (!input.values.empty()) {
      NodeDef constant;
      constant.name = constant.op_type = "Constant";
      constant.outputs = {name};
      if (input.dims.empty())
        constant.attributes = {{"value_int", "", input.values.front()}};
      else
        constant.attributes = {{"value_ints", "", input.values}};
      model.graph.nodes.push_back(std::move(constant));
      continue;
    }
    ValueDef value{name, input.dtype, std::vector<DimDef>{}, true};
    for (const int64_t d : input.dims) value.dims->push_back({d, ""});
    model.graph.inputs.push_back(std::move(value));
  }
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    node.outputs.push_back(c.outputs[i] ? fmt::format("y{}", i) : "");
    if (c.outputs[i])
      model.graph.outputs.push_back({node.outputs.back(), DType::undefined, std::nullopt, true});
  }
  model.graph.nodes.push_back(std::move(node));
  return model;
}

/// The nearest element of a type; 0 for what is no number.
template <class T>
T element_of(double v) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(v);
  } else {
    using Limits = std::numeric_limits<T>;
    if (v >= static_cast<double>(Limits::max())) return Limits::max();
    if (v <= static_cast<double>(Limits::min())) return Limits::min();
    return std::isnan(v) ? T{} : static_cast<T>(v);
  }
}

/// The elements of a graph input: those that the node states, else random ones.
Array array_of(const Graph& graph, TensorId id, const NodeCase& c) {
  Array array = random_input(graph, id, 1);
  const std::string& name = graph.tensor(id).name;  // "x3"
  const std::vector<double>& data = c.inputs.at(std::stoul(name.substr(1))).data;
  with_element_kind(array.kind(), [&]<class T>(T) {
    for (int64_t i = 0; i < array.size() && !data.empty(); ++i)
      array.data<T>()[i] = element_of<T>(data[static_cast<size_t>(i) % data.size()]);
  });
  return array;
}

/// run(), but a node that asks for more memory than there is fails the test: these are small.
Result<RunResult> run_small(const Graph& graph, const Arrays& inputs, const std::string& what) {
  RunOptions options;
  options.weight_seed = 1;
  try {
    return run_graph(graph, inputs, options);
  } catch (const std::bad_alloc&) {
    ADD_FAILURE() << "too little memory for " << what;
    return Error{Errc::capacity, "too little memory", ""};
  }
}

/// Is the node computed? False for whatever is refused.
bool runs(const NodeCase& c) {
  const std::string what = text(c);
  std::strncpy(current, what.c_str(), sizeof current - 1);
  const Result<Graph> graph = elaborate(model_of(c), {});
  if (!graph) return false;
  Arrays inputs;
  for (const TensorId id : graph->inputs) {
    if (!element_kind(graph->tensor(id).dtype)) return false;
    inputs[graph->tensor(id).name] = array_of(*graph, id, c);
  }
  const Result<RunResult> result = run_small(*graph, inputs, what);
  if (!result) return false;
  for (const TensorId id : graph->outputs) {
    const Tensor& t = graph->tensor(id);
    EXPECT_EQ(result->outputs.at(t.name).dims(), t.dims) << what;
    EXPECT_EQ(result->outputs.at(t.name).dtype(), t.dtype) << what;
  }
  return true;
}

// ---- nodes that may run --------------------------------------------------------------------

using Value = decltype(Attribute::value);
using Ints = std::vector<int64_t>;

/// Values that attributes of a name may take; those of other names stay away.
// NOLINTNEXTLINE(readability-function-size): a list
const std::map<std::string, std::vector<Value>>& attribute_values() {
  const auto ints = [](std::initializer_list<int64_t> values) {
    std::vector<Value> out;
    for (const int64_t v : values) out.emplace_back(v);
    return out;
  };
  const auto words = [](std::initializer_list<const char*> values) {
    std::vector<Value> out;
    for (const char* v : values) out.emplace_back(std::string(v));
    return out;
  };
  static const std::map<std::string, std::vector<Value>> kValues = {
      {"axis", ints({-1, 0, 1, 2})},
      {"axes", {Ints{0}, Ints{-1}, Ints{0, 1}, Ints{1, 2}}},
      {"keepdims", ints({0, 1})},
      {"noop_with_empty_axes", ints({0, 1})},
      {"kernel_shape", {Ints{1}, Ints{2, 2}, Ints{3, 3}, Ints{1, 1}}},
      {"strides", {Ints{1, 1}, Ints{2, 2}, Ints{2}}},
      {"pads", {Ints{0, 0, 0, 0}, Ints{1, 1, 1, 1}, Ints{0, 1}}},
      {"dilations", {Ints{1, 1}, Ints{2, 2}}},
      {"auto_pad", words({"NOTSET", "SAME_UPPER", "VALID"})},
      {"group", ints({1, 2})},
      {"output_shape", {Ints{4, 4}}},
      {"direction", words({"forward", "bidirectional", "reverse", "LEFT"})},
      {"layout", ints({0, 1})},
      {"hidden_size", ints({4})},
      {"linear_before_reset", ints({0, 1})},
      {"mode",
       words({"linear", "nearest", "constant", "reflect", "DCR", "avg", "max", "bilinear"})},
      {"reduction", words({"mean", "sum", "none", "add"})},
      {"equation", words({"ij,jk->ik", "ii->i", "...i->...", "bij,bjk->bik", "i,i->"})},
      {"perm", {Ints{1, 0}, Ints{0, 2, 1}}},
      {"to", ints({1, 6, 7, 10, 11, 9})},
      {"blocksize", ints({2})},
      {"block_size", ints({2, 16})},
      {"size", ints({3})},
      {"p", ints({1, 2})},
      {"k", ints({1, 2})},
      {"K", ints({16})},
      {"N", ints({4})},
      {"bits", ints({4})},
      {"num_groups", ints({2})},
      {"num_heads", ints({2})},
      {"q_num_heads", ints({2})},
      {"kv_num_heads", ints({1, 2})},
      {"qkv_hidden_sizes", {Ints{8, 8, 8}}},
      {"unidirectional", ints({0, 1})},
      {"is_causal", ints({0, 1})},
      {"do_rotary", ints({0, 1})},
      {"transA", ints({0, 1})},
      {"transB", ints({0, 1})},
      {"activation", words({"Relu", "silu", "none"})},
      {"channels_last", ints({0, 1})},
      {"pooled_shape", {Ints{2, 2}}},
      {"num_outputs", ints({2})},
      {"split", {Ints{1, 1}, Ints{2, 2}}},
      {"starts", {Ints{0}}},
      {"ends", {Ints{1}}},
      {"onesided", ints({0, 1})},
      {"inverse", ints({0, 1})},
      {"exclusive", ints({0, 1})},
      {"largest", ints({0, 1})},
      {"sorted", ints({0, 1})},
      {"align_corners", ints({0, 1})},
      {"batch_axis", ints({0, 1})},
      {"time_axis", ints({0, 1})},
      {"batch_dims", ints({0, 1})},
      {"allowzero", ints({1})},
      {"value_ints", {Ints{1, 2}}},
      {"value_float", {Value(1.5)}},
      {"detect_negative", ints({0})},
      {"qk_matmul_output_mode", ints({0, 1, 2})},
      {"output_datatype", ints({1})},
      {"training_mode", ints({1})},
      {"scales", {std::vector<double>{1, 1, 2, 2}}},
      {"update_rule", words({"linear", "gated", "delta", "gated_delta"})},
  };
  return kValues;
}

class Generator {
 public:
  explicit Generator(const OpRow& row)
      : row_(row), random_(std::hash<std::string_view>()(row.name)) {}

  NodeCase next() {
    NodeCase c;
    c.op = row_.name;
    c.domain = row_.domain;
    c.opset = kOpsets[pick(std::size(kOpsets))];
    const auto most = std::min(row_.max_inputs, row_.min_inputs + 6);
    const auto count =
        row_.min_inputs + static_cast<int>(pick(static_cast<size_t>(most - row_.min_inputs) + 1));
    const DType main = main_type();
    const Dims base = dims();
    for (int i = 0; i < count; ++i) c.inputs.push_back(input(i, main, base));
    c.outputs.assign(1 + pick(4), true);
    for (const auto& [name, values] : attribute_values()) {
      if (row_.has_attribute(name) && pick(3) > 0)
        c.attributes.push_back({name, "", values[pick(values.size())]});
    }
    return c;
  }

 private:
  size_t pick(size_t below) { return random_() % below; }

  DType main_type() {
    constexpr DType kTypes[] = {DType::float32, DType::float32, DType::float32, DType::int64,
                                DType::uint8,   DType::int32,   DType::boolean, DType::int8};
    return kTypes[pick(std::size(kTypes))];
  }

  Dims dims() {
    static const Dims kDims[] = {
        {4, 4}, {2, 4}, {2, 4, 8}, {1, 2, 4, 4}, {8},    {2, 8},       {3, 4, 4}, {2, 4, 4, 2}, {4},
        {1, 8}, {1},    {},        {4, 8},       {8, 8}, {2, 2, 2, 2}, {8, 24},   {1, 4, 8}};
    return kDims[pick(std::size(kDims))];
  }

  NodeInput input(int i, DType main, const Dims& base) {
    NodeInput in;
    in.present = i < row_.min_inputs || pick(4) > 0;
    in.dtype = i == 0 || pick(2) == 0 ? main : pick(2) == 0 ? DType::float32 : DType::int64;
    if (pick(8) == 0) in.dtype = pick(2) == 0 ? DType::uint8 : DType::int32;
    switch (i == 0 ? 0 : pick(6)) {
      case 0:
      case 1:
        in.dims = base;
        break;
      case 2:
        in.dims = base.empty() ? Dims{} : Dims{base.back()};
        break;
      case 3:
        in.dims = base.size() < 2 ? Dims{} : Dims{base[1]};
        break;
      default:
        in.dims = dims();
    }
    if (i > 0 && pick(4) == 0) in.dims = pick(2) == 0 ? Dims{} : Dims{1};
    if (i > 0 && in.dtype == DType::int64 && pick(2) == 0) make_constant(in, base.size());
    return in;
  }

  void make_constant(NodeInput& in, size_t rank) {
    in.values.resize(pick(2) == 0 ? 1 + pick(2) : std::max<size_t>(1, rank * (1 + pick(2))));
    for (int64_t& v : in.values) v = static_cast<int64_t>(pick(5)) - 1;
    if (pick(2) == 0)
      std::fill(in.values.begin(), in.values.end(), 1 + static_cast<int64_t>(pick(2)));
    in.dims = {static_cast<int64_t>(in.values.size())};
    if (in.values.size() == 1 && pick(2) == 0) in.dims = {};
  }

  const OpRow& row_;
  std::mt19937_64 random_;
};

/// Nodes of the operator that run: the hand-made ones, all of which must, and a few random ones.
std::vector<NodeCase> good_cases(const OpRow& row, const std::vector<NodeCase>& made) {
  std::vector<NodeCase> out;
  for (const NodeCase& c : made) {
    if (c.op != row.name || c.domain != row.domain) continue;
    EXPECT_TRUE(runs(c)) << text(c);
    out.push_back(c);
  }
  const size_t enough = out.size() + kEnough;
  Generator generator(row);
  for (int i = 0; i < kTries && out.size() < enough; ++i)
    if (NodeCase c = generator.next(); runs(c)) out.push_back(std::move(c));
  return out;
}

TEST(HostileNodes, IsEveryKernelsAnswerAResultOrAnError) {
  std::signal(SIGABRT, print_current);
  std::signal(SIGSEGV, print_current);
  std::signal(SIGFPE, print_current);
  const std::vector<NodeCase> made = hand_made_nodes();
  std::vector<std::string> never;
  size_t kernels = 0, nodes = 0, computed = 0;
  for (const OpRow* row : all_ops()) {
    if (find_kernel(row->domain, row->name) == nullptr) continue;
    ++kernels;
    const std::vector<NodeCase> good = good_cases(*row, made);
    if (good.empty()) never.push_back(fmt::format("{}.{}", row->domain, row->name));
    for (const NodeCase& c : good)
      for (const NodeCase& bad : spoiled(c)) {
        ++nodes;
        computed += runs(bad);
      }
  }
  EXPECT_GT(kernels, 150u);
  EXPECT_GT(computed, 10 * kernels);  // the rest is refused, most often by the shape rules
  EXPECT_EQ(std::vector<std::string>{}, never) << "add nodes of these to hand_made_nodes.h";
  RecordProperty("nodes", std::to_string(nodes));
}

}  // namespace
}  // namespace accsim::sim::ref
