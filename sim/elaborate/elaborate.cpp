#include "sim/elaborate/elaborate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/elaborate/elaborator.h"
#include "sim/elaborate/node_order.h"
#include "sim/elaborate/symbols.h"
#include "sim/operators/fold.h"

namespace accsim::sim {
namespace {

constexpr int64_t kOldestOpset = 7;
constexpr int64_t kOldestIr = 3;
/// Elements that all known constants of a model may hold together (half a gigabyte).
constexpr int64_t kValueBudget = int64_t{1} << 26;
/// Shapes depend on few real numbers, and weights made by ConstantOfShape needn't be written out.
constexpr int64_t kMostFoldedReals = 4096;
/// Largest tensor, and largest sum of tensors, in bytes.
constexpr int64_t kMostBytes = int64_t{1} << 62;
constexpr std::array<std::string_view, 6> kRandomOps = {"RandomNormal",  "RandomNormalLike",
                                                        "RandomUniform", "RandomUniformLike",
                                                        "Bernoulli",     "Multinomial"};

bool is_random(const Node& node) {
  return node.domain.empty() && std::ranges::find(kRandomOps, node.op_type) != kRandomOps.end();
}

/// Operators whose outputs follow from the shapes of their inputs alone.
bool reads_only_shapes(const Node& node) {
  return node.domain.empty() && (node.op_type == "Shape" || node.op_type == "Size");
}

}  // namespace

const TensorId* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return &found->second;
  }
  return nullptr;
}

Elaborator::Elaborator(const ModelDef& model, const ElaborateOptions& options)
    : model_(model), options_(options), value_budget_(kValueBudget) {
  for (const FunctionDef& function : model.functions)
    functions_.emplace(FunctionKey{function.domain, function.name, function.overload}, &function);
}

Result<Graph> elaborate(const ModelDef& model, const ElaborateOptions& options) {
  return Elaborator(model, options).run();
}

Result<Graph> Elaborator::run() {
  Status status = check_versions();
  if (!status) return status.errors();
  graph_.name = model_.graph.name;
  graph_.file = model_.file;
  graph_.ir_version = model_.ir_version;
  const auto opset = model_.opsets.find("");
  graph_.opset = opset == model_.opsets.end() ? 0 : opset->second;
  graph_.mapping = model_.mapping;
  graph_.metadata = model_.metadata;

  Scope scope;
  scope.graph = &model_.graph;
  status = add_inputs(scope);
  if (status) status = add_initializers(model_.graph, scope);
  if (status) status = expand(model_.graph.nodes, scope);
  if (!status) return status.errors();
  for (const ValueDef& output : model_.graph.outputs) {
    const TensorId* id = scope.find(output.name);
    if (id == nullptr)
      return at(fmt::format("output '{}'", output.name), Errc::invalid,
                "no node, input or initializer gives it");
    graph_.outputs.push_back(*id);
  }
  return std::move(graph_);
}

Status Elaborator::check_versions() const {
  if (model_.ir_version < kOldestIr)
    return Error{Errc::unsupported,
                 fmt::format("IR version {} is older than {}; export the model again",
                             model_.ir_version, kOldestIr),
                 model_.file};
  if (model_.graph.nodes.empty())
    return Error{Errc::invalid, "the graph has no nodes", model_.file};
  const auto opset = model_.opsets.find("");
  const bool uses_onnx = std::ranges::any_of(
      model_.graph.nodes, [](const NodeDef& node) { return node.domain.empty(); });
  if (opset == model_.opsets.end()) {
    if (!uses_onnx) return ok();
    return Error{Errc::invalid, "the model doesn't say which opset of ai.onnx it is written in",
                 model_.file};
  }
  if (opset->second < kOldestOpset)
    return Error{Errc::unsupported,
                 fmt::format("opset {} is older than {}; convert the model with "
                             "onnx.version_converter or export it again",
                             opset->second, kOldestOpset),
                 model_.file};
  return ok();
}

Status Elaborator::add_inputs(Scope& scope) {
  std::set<std::string_view> stored;
  for (const StoredTensor& tensor : model_.graph.initializers) stored.insert(tensor.name);
  std::vector<const ValueDef*> inputs;
  Errors errors;
  for (const ValueDef& input : model_.graph.inputs) {
    if (stored.contains(input.name)) continue;  // up to IR 3 initializers are listed as inputs too
    const auto fixed = options_.constants.find(input.name);
    if (fixed == options_.constants.end()) {
      inputs.push_back(&input);
      if (!input.is_tensor)
        errors.push_back(at(fmt::format("input '{}'", input.name), Errc::unsupported,
                            "is a sequence, map, optional or sparse tensor; only dense tensors "
                            "are supported"));
      else if (input.dtype == DType::undefined)
        errors.push_back(
            at(fmt::format("input '{}'", input.name), Errc::invalid, "has no element type"));
      continue;
    }
    const StoredTensor& value = fixed->second;
    const Result<TensorId> id = add_tensor({input.name, Tensor::Origin::initializer, value.dtype,
                                            value.dims, kNoNode, true, value.value, value.payload});
    if (!id) return id.errors();
    scope.names.emplace(input.name, *id);
  }
  if (!errors.empty()) return errors;
  Result<BoundInputs> bound = bind_symbols(inputs, options_, model_.file);
  if (!bound) return bound.errors();
  graph_.bindings = std::move(bound->bindings);
  graph_.defaulted = std::move(bound->defaulted);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Result<TensorId> id = add_tensor({inputs[i]->name,
                                      Tensor::Origin::input,
                                      inputs[i]->dtype,
                                      std::move(bound->dims[i]),
                                      kNoNode,
                                      false,
                                      nullptr,
                                      {}});
    if (!id) return id.errors();
    if (!scope.names.emplace(inputs[i]->name, *id).second)
      return at(fmt::format("input '{}'", inputs[i]->name), Errc::invalid, "is listed twice");
    graph_.inputs.push_back(*id);
  }
  return ok();
}

Status Elaborator::add_initializers(const GraphDef& graph, Scope& scope) {
  for (const StoredTensor& stored : graph.initializers) {
    const Result<TensorId> id =
        add_tensor({scope.prefix + stored.name, Tensor::Origin::initializer, stored.dtype,
                    stored.dims, kNoNode, true, stored.value, stored.payload});
    if (!id) return id.errors();
    if (!scope.names.emplace(stored.name, *id).second)
      return at(fmt::format("initializer '{}'", stored.name), Errc::invalid,
                "is stored twice, or once as an input's fixed value");
  }
  return ok();
}

Result<TensorId> Elaborator::add_tensor(Tensor tensor) {
  const TensorId id = static_cast<TensorId>(graph_.tensors.size());
  graph_.tensors.push_back(std::move(tensor));
  const Tensor& added = graph_.tensors.back();
  if (added.origin == Tensor::Origin::node) return id;  // counted when its shape is known
  const Status counted = count_output(id, fmt::format("tensor '{}'", added.name));
  if (!counted) return counted.errors();
  return id;
}

Result<TensorId> Elaborator::add_constant(std::string name, Dims dims,
                                          std::vector<int64_t> values) {
  return add_tensor({std::move(name),
                     Tensor::Origin::initializer,
                     DType::int64,
                     std::move(dims),
                     kNoNode,
                     true,
                     std::make_shared<const ConstData>(std::move(values)),
                     {}});
}

Status Elaborator::expand(const std::vector<NodeDef>& nodes, Scope& scope) {
  if (!options_.allow_unsupported) {
    Status support = check_support(nodes, scope.prefix);
    if (!support) return support;
  }
  const auto known = [&](std::string_view name) { return scope.find(name) != nullptr; };
  const auto taken = [&](std::string_view name) { return scope.names.contains(name); };
  const Result<std::vector<size_t>> order = topological_order(nodes, known, taken);
  if (!order) {
    const Error& first = order.errors().front();
    return at(first.where, first.code, first.message);
  }
  for (size_t i : *order) {
    Status status = expand_node(nodes[i], i, scope);
    if (!status) return status;
  }
  return ok();
}

Status Elaborator::expand_node(const NodeDef& def, size_t index, Scope& scope) {
  Call call{def, scope.prefix + node_name(def, index), {}, resolve(def.attributes, scope), scope};
  Status status = step(label(call));
  if (!status) return status;
  for (const std::string& input : def.inputs) {
    const TensorId* id = input.empty() ? nullptr : scope.find(input);
    call.inputs.push_back(id == nullptr ? kNoTensor : *id);
  }
  while (!call.inputs.empty() && call.inputs.back() == kNoTensor) call.inputs.pop_back();
  if (const FunctionDef* function = function_of(def)) return inline_function(call, *function);
  if (def.domain.empty() && def.op_type == "If") return expand_if(call);
  if (def.domain.empty() && def.op_type == "Loop") return expand_loop(call);
  if (def.domain.empty() && def.op_type == "Scan") return expand_scan(call);
  return add_plain(call);
}

Status Elaborator::add_plain(const Call& call) {
  const NodeDef& def = call.def;
  Node node{call.name,   def.op_type, def.domain,      opset_of(def.domain, call.scope),
            call.inputs, {},          call.attributes, false};
  const NodeId id = static_cast<NodeId>(graph_.nodes.size());
  for (const std::string& output : def.outputs) {
    if (output.empty()) {
      node.outputs.push_back(kNoTensor);
      continue;
    }
    Tensor tensor;
    tensor.name = call.scope.prefix + output;
    tensor.producer = id;
    node.outputs.push_back(static_cast<TensorId>(graph_.tensors.size()));
    graph_.tensors.push_back(std::move(tensor));
    call.scope.names[output] = node.outputs.back();
  }
  graph_.nodes.push_back(std::move(node));
  return infer(find_op(def.domain, def.op_type), label(call), call.scope);
}

Status Elaborator::infer(const OpRow* row, const std::string& label, const Scope& scope) {
  if (row == nullptr) assume_outputs(scope);
  Status status = row == nullptr ? ok() : run_rules(*row, label);
  if (!status) return status;
  for (TensorId id : graph_.nodes.back().outputs) {
    if (id == kNoTensor) continue;
    if (row == nullptr) status = count_output(id, label);
    if (!status) return status;
  }
  return ok();
}

namespace {

/// The two operands of a plain product must be numbers of one type; a shape rule looks only at
/// dims.
Status check_operand_types(const OpRow& row, const NodeView& node) {
  constexpr std::array<std::string_view, 8> kPlain = {"Conv",   "ConvTranspose", "MatMul", "Gemm",
                                                      "Einsum", "LSTM",          "GRU",    "RNN"};
  if (!row.domain.empty() || std::ranges::find(kPlain, row.name) == kPlain.end()) return ok();
  for (size_t i = 0; i < 2 && i < node.input_count(); ++i) {
    if (!node.has_input(i)) continue;
    const DType type = node.dtype(i);
    if (type == DType::string || type == DType::boolean || type != node.dtype(0))
      return Error{Errc::invalid,
                   fmt::format("multiplies {} by {}; both operands must be numbers of one type",
                               name(node.dtype(0)), name(node.dtype(i))),
                   ""};
  }
  return ok();
}

}  // namespace

Status Elaborator::run_rules(const OpRow& row, const std::string& label) {
  Node& node = graph_.nodes.back();
  const auto count = static_cast<int64_t>(node.inputs.size());
  if (count > row.max_inputs)
    return at(label, Errc::invalid,
              fmt::format("has {} inputs, at most {} are allowed", count, row.max_inputs));
  for (int64_t i = 0; i < row.min_inputs; ++i)
    if (i >= count || node.inputs[static_cast<size_t>(i)] == kNoTensor)
      return at(label, Errc::invalid,
                fmt::format("lacks input {}; at least {} are needed", i, row.min_inputs));
  InferContext context(graph_, node);
  const Status alike = check_operand_types(row, context);
  if (!alike) return at(label, alike.errors());
  const Status shape = row.shape(context);
  if (!shape) return at(label, shape.errors());
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoTensor) continue;
    if (graph_.tensor(node.outputs[i]).dtype == DType::undefined)
      return at(label, Errc::invalid, fmt::format("has no output {}, but names one", i));
    const Status counted = count_output(node.outputs[i], label);
    if (!counted) return counted;
  }
  mark_constant(node, row);
  if (!values_wanted(node, row)) return ok();
  const Status value = row.value(context);
  if (!value) return at(label, value.errors());
  for (TensorId id : node.outputs)
    if (id != kNoTensor && graph_.tensor(id).value)
      value_budget_ -= static_cast<int64_t>(graph_.tensor(id).value->size());
  return ok();
}

Status Elaborator::count_output(TensorId id, const std::string& label) {
  const Tensor& tensor = graph_.tensor(id);
  const std::optional<int64_t> count = checked_elements(tensor.dims);
  const bool fits = count && *count <= kMostBytes / 16 &&
                    storage_bytes(tensor.dtype, *count) <= kMostBytes - total_bytes_;
  if (!fits) {
    const bool negative = std::ranges::any_of(tensor.dims, [](int64_t dim) { return dim < 0; });
    return at(label, negative ? Errc::invalid : Errc::overflow,
              fmt::format("tensor '{}' would be {} of {}: {}", tensor.name, to_string(tensor.dims),
                          name(tensor.dtype),
                          negative ? "a dim is negative"
                                   : "more bytes than can be counted; check the shapes"));
  }
  total_bytes_ += storage_bytes(tensor.dtype, *count);
  return ok();
}

void Elaborator::mark_constant(Node& node, const OpRow& row) {
  // Nothing is known of what a row of fate `unsupported` computes, not even that it is repeatable.
  bool constant = !is_random(node) && row.fate != Fate::unsupported;
  for (TensorId id : node.inputs)
    if (id != kNoTensor && !graph_.tensor(id).constant) constant = false;
  constant = constant || reads_only_shapes(node);
  bool all_constant = true;
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    Tensor& tensor = graph_.tensor(id);
    tensor.constant = tensor.constant || constant;
    all_constant = all_constant && tensor.constant;
    const bool numeric = bits(tensor.dtype) > 0;
    if (tensor.constant && numeric && !tensor.value && elements(tensor.dims) == 0)
      tensor.value = is_float(tensor.dtype)
                         ? std::make_shared<const ConstData>(std::vector<double>{})
                         : std::make_shared<const ConstData>(std::vector<int64_t>{});
  }
  node.folded = all_constant;
}

bool Elaborator::values_wanted(const Node& node, const OpRow& row) {
  if (row.value == nullptr || !node.folded) return false;
  if (!reads_only_shapes(node))
    for (TensorId id : node.inputs)
      if (id != kNoTensor && !graph_.tensor(id).value) return false;
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    const Tensor& tensor = graph_.tensor(id);
    const int64_t count = elements(tensor.dims);
    const int64_t most = is_float(tensor.dtype) ? kMostFoldedReals : kMostFolded;
    if (tensor.dtype == DType::string || count > most || count > value_budget_) return false;
  }
  return true;
}

std::vector<Attribute> Elaborator::resolve(const std::vector<Attribute>& attributes,
                                           const Scope& scope) const {
  std::vector<Attribute> out;
  out.reserve(attributes.size());
  for (const Attribute& attribute : attributes) {
    if (attribute.ref.empty()) {
      out.push_back(attribute);
      continue;
    }
    if (scope.frame == nullptr) continue;
    for (const Attribute& given : scope.frame->attributes)
      if (given.name == attribute.ref) out.push_back({attribute.name, "", given.value});
  }
  return out;
}

int64_t Elaborator::opset_of(const std::string& domain, const Scope& scope) const {
  if (scope.frame != nullptr) {
    const auto& opsets = scope.frame->function->opsets;
    const auto own = opsets.find(domain);
    if (own != opsets.end()) return own->second;
  }
  const auto found = model_.opsets.find(domain);
  return found == model_.opsets.end() ? 1 : found->second;
}

Status Elaborator::step(const std::string& label) {
  if (++steps_ > kMostSteps)
    return at(label, Errc::capacity,
              fmt::format("expanding loops and functions gives more than {} nodes", kMostSteps));
  return ok();
}

std::string Elaborator::label(const Call& call) const { return node_label(call.def, call.name); }

Error Elaborator::at(const std::string& label, Errc code, std::string message) const {
  return Error{code, std::move(message), fmt::format("{}: {}", model_.file, label)};
}

Errors Elaborator::at(const std::string& label, const Errors& errors) const {
  Errors out = errors;
  for (Error& error : out)
    error.where = error.where.empty() ? fmt::format("{}: {}", model_.file, label)
                                      : fmt::format("{}: {}: {}", model_.file, label, error.where);
  return out;
}

}  // namespace accsim::sim
