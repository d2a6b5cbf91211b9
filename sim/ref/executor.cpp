#include "sim/ref/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "sim/base/limits.h"
#include "sim/base/units.h"
#include "sim/onnx/external_file.h"
#include "sim/operators/op_table.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {
namespace {

std::string label_of_node(const Graph& graph, const Node& node) {
  return fmt::format("{}: node '{}' ({})", graph.file, node.name, node.op_type);
}

Error error_at(std::string where, Errc code, std::string message) {
  return {code, std::move(message), std::move(where)};
}

Errors error_at(const std::string& where, Errors errors) {
  for (Error& e : errors) e.where = e.where.empty() ? where : where + ": " + e.where;
  return errors;
}

/// Why the file gives no elements of a stored tensor, and what to do.
std::string missing_elements(const Graph& graph, const Payload& payload) {
  constexpr std::string_view kDraw = "use --weights random:SEED to draw weights";
  const std::string& file = payload.external_file;
  if (payload.kind == Payload::Kind::sparse && file.empty())
    return fmt::format(
        "its sparse elements are fewer than its indices, or too many to be made "
        "dense; {}",
        kDraw);
  if (payload.kind == Payload::Kind::none || file.empty())
    return fmt::format("the file doesn't have its elements; {}", kDraw);
  const std::string refusal = onnx::external_refusal(graph.file, file);
  if (!refusal.empty())
    return fmt::format(
        "its elements in '{}' are refused: {}; put the file into the folder of the model and name "
        "it so, or {}",
        file, refusal, kDraw);
  return fmt::format("its elements should be in '{}', which isn't there or too short; {}", file,
                     kDraw);
}

/// A stored tensor from the file, or drawn; `drawn` counts the latter.
Result<Array> load_tensor(const Graph& graph, TensorId id, std::optional<uint64_t> seed,
                          const std::shared_ptr<MemoryCount>& memory, size_t& drawn) {
  const Tensor& tensor = graph.tensor(id);
  const std::string where = fmt::format("{}: tensor '{}'", graph.file, tensor.name);
  if (tensor.origin != Tensor::Origin::initializer)
    return error_at(where, Errc::invalid, "has no value when it is read");
  std::optional<Array> stored = stored_array(graph, tensor, memory);
  if (stored) return std::move(*stored);
  if (!seed) return error_at(where, Errc::invalid, missing_elements(graph, tensor.payload));
  ++drawn;
  return random_weights(graph, id, *seed, memory);
}

/// The elements of a stored tensor: the reals that its integers stand for, where it says so.
Result<Array> load_reals(const Graph& graph, TensorId id, std::optional<uint64_t> seed,
                         const std::shared_ptr<MemoryCount>& memory, size_t& drawn) {
  Result<Array> stored = load_tensor(graph, id, seed, memory, drawn);
  const Tensor& tensor = graph.tensor(id);
  if (!stored || !tensor.quantisation || is_float(tensor.dtype)) return stored;
  const auto part = [&](TensorId of) -> Result<std::vector<double>> {
    if (of == kNoTensor) return std::vector<double>{};
    Result<Array> array = load_tensor(graph, of, seed, memory, drawn);
    if (!array) return array.errors();
    return array->reals();
  };
  const auto scale = part(tensor.quantisation->scale), times = part(tensor.quantisation->times);
  const auto zero = part(tensor.quantisation->zero_point);
  if (!scale || !times || !zero) return (!scale ? scale : !times ? times : zero).errors();
  const int64_t inner =
      elements(tensor.dims, static_cast<size_t>(tensor.quantisation->axis) + 1, tensor.dims.size());
  const auto of = [&](const std::vector<double>& v, int64_t i, double fallback) {
    return v.empty() ? fallback : v[static_cast<size_t>(i / inner) % v.size()];
  };
  Array out(DType::float32, tensor.dims, memory);
  const std::vector<double> integers = stored->reals();
  for (int64_t i = 0; i < out.size(); ++i)
    out.data<float>()[i] = static_cast<float>((integers[static_cast<size_t>(i)] - of(*zero, i, 0)) *
                                              of(*scale, i, 1) * of(*times, i, 1));
  return out;
}

class Runner {
 public:
  Runner(const Graph& graph, const RunOptions& options)
      : graph_(graph),
        options_(options),
        state_(options.threads, options.weight_seed, options.memory),
        arrays_(graph.tensors.size()),
        readers_(graph.tensors.size(), 0) {
    state_.most_operations = options.operations;
  }

  Result<RunResult> run_guarded(Arrays inputs) {
    try {
      return run_all(std::move(inputs));
    } catch (const BeyondMemory& e) {
      return beyond_memory(e, state_.memory->byte_limit(),
                           running_ == nullptr ? graph_.file : label_of_node(graph_, *running_));
    }
  }

 private:
  Result<RunResult> run_all(Arrays inputs) {
    if (Status s = check_runnable(graph_); !s) return s.errors();
    if (Status s = take_inputs(std::move(inputs)); !s) return s.errors();
    for (const Node& node : graph_.nodes)
      for (TensorId id : node.inputs)
        if (id != kNoTensor) ++readers_[static_cast<size_t>(id)];
    for (TensorId id : graph_.outputs) ++readers_[static_cast<size_t>(id)];
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (options_.progress && !options_.progress(i, graph_.nodes.size()))
        return error_at(graph_.file, Errc::io, "stopped before the end");
      if (Status s = run_node(static_cast<NodeId>(i)); !s) return s.errors();
    }
    return collect_outputs();
  }

  Status take_inputs(Arrays inputs) {
    Errors errors;
    for (TensorId id : graph_.inputs) {
      const Tensor& tensor = graph_.tensor(id);
      const auto found = inputs.find(tensor.name);
      const std::string where = fmt::format("{}: input '{}'", graph_.file, tensor.name);
      if (found == inputs.end()) {
        errors.push_back(error_at(where, Errc::invalid, "has no value"));
        continue;
      }
      Array given = std::move(found->second);
      share_texts(given);
      if (given.dtype() != tensor.dtype || given.dims() != tensor.dims)
        errors.push_back(error_at(
            where, Errc::invalid,
            fmt::format("is {} {}, but was given {} {}", name(tensor.dtype), to_string(tensor.dims),
                        name(given.dtype()), to_string(given.dims()))));
      else if (Status s = check_given(tensor, given); !s)
        errors.push_back(error_at(where, s.errors()).front());
      if (given.is_counted_by(*state_.memory)) {
        array_at(id) = std::move(given);
        continue;
      }
      // Counted like every other array, and freed when dead.
      Array own(given.dtype(), given.dims(), state_.memory);
      std::copy_n(static_cast<const uint8_t*>(given.raw_data()), given.bytes(),
                  static_cast<uint8_t*>(own.raw_data()));
      array_at(id) = std::move(own);
    }
    if (!errors.empty()) return errors;
    return ok();
  }

  /// Makes the run's texts those of an array of strings. Places that a kernel has copied are the
  /// run's already.
  void share_texts(Array& array) {
    if (array.dtype() != DType::string) return;
    if (array.texts() == nullptr)
      array.set_texts(state_.texts);
    else
      array = moved_to(state_.texts, array, state_.memory);
  }

  Array& array_at(TensorId id) { return arrays_[static_cast<size_t>(id)]; }

  /// The array of a tensor that a node or the caller reads; stored ones are loaded on first use.
  Result<Array> fetch_array(TensorId id) {
    if (!array_at(id).empty()) return array_at(id);
    if (options_.loaded != nullptr && !(*options_.loaded)[static_cast<size_t>(id)].empty()) {
      Array loaded = (*options_.loaded)[static_cast<size_t>(id)];
      share_texts(loaded);
      return loaded;
    }
    Result<Array> stored =
        load_reals(graph_, id, options_.weight_seed, state_.memory, state_.random_weights);
    if (!stored) return stored.errors();
    array_at(id) = std::move(*stored);
    share_texts(array_at(id));
    return array_at(id);
  }

  Status run_node(NodeId id) {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    if (node.absorbed) return ok();
    running_ = &node;
    std::vector<Array> inputs;
    for (TensorId input : node.inputs) {
      if (input == kNoTensor) {
        inputs.emplace_back();
        continue;
      }
      Result<Array> array = fetch_array(input);
      if (!array) return array.errors();
      inputs.push_back(std::move(*array));
    }
    KernelContext step(graph_, node, inputs, state_);
    Result<bool> done = false;
    try {
      if (options_.substitute) done = options_.substitute(id, inputs, step.outputs());
      if (!done) return done.errors();
      if (!*done)
        if (Status s = compute_wanted(step, node); !s) return s;
    } catch (const std::length_error&) {
      return error_at(label_of_node(graph_, node), Errc::capacity,
                      "it is too large; use smaller inputs");
    }
    if (options_.observe)
      if (Status s = options_.observe({graph_, id, inputs, step.outputs()}); !s) return s;
    for (size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNoTensor && readers_[static_cast<size_t>(node.outputs[i])] > 0)
        array_at(node.outputs[i]) = std::move(step.outputs()[i]);
    for (TensorId input : node.inputs)
      if (input != kNoTensor && --readers_[static_cast<size_t>(input)] == 0)
        array_at(input) = Array();
    return ok();
  }

  /// Kernels may rely on their first output, and on elements in one of them. A node that names only
  /// later ones is computed as one that names the first, too; where no element is wanted there is
  /// nothing to compute, however large the other dims are.
  Status compute_wanted(KernelContext& step, const Node& node) {
    const auto has_none = [this](TensorId id) {
      return id == kNoTensor || elements(graph_.tensor(id).dims) == 0;
    };
    if (std::ranges::all_of(node.outputs, has_none)) {
      for (size_t i = 0; i < node.outputs.size(); ++i)
        if (step.has_output(i)) step.output_array(i);
      return ok();
    }
    if (step.has_output(0)) return compute_node(step, node);
    Graph graph = graph_;
    Node whole = node;
    whole.outputs[0] = static_cast<TensorId>(graph.tensors.size());
    graph.tensors.emplace_back();
    const OpRow* row = find_op(node.domain, node.op_type);
    check(row != nullptr, "a node without row passed elaboration");
    InferContext shapes(graph, whole);
    if (Status s = row->shape(shapes); !s) return error_at(label_of_node(graph_, node), s.errors());
    KernelContext all(graph, whole, step.inputs(), state_);
    if (Status s = compute_node(all, whole); !s) return s;
    for (size_t i = 1; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kNoTensor) step.outputs()[i] = std::move(all.outputs()[i]);
    return ok();
  }

  Status compute_node(KernelContext& step, const Node& node) {
    const KernelRow* kernel = find_kernel(node.domain, node.op_type);
    check(kernel != nullptr, "a node without kernel passed check_runnable");
    if (Status done = kernel->run(step); !done)
      return error_at(label_of_node(graph_, node), done.errors());
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoTensor) continue;
      Array& out = step.output_array(i);  // allocates what an empty output's kernel didn't touch
      round_elements(out);
      share_texts(out);
      if (node.outputs[i] >= std::ssize(graph_.tensors)) continue;  // what nobody named
      if (Status s = check_given(graph_.tensor(node.outputs[i]), out); !s)
        return error_at(label_of_node(graph_, node), s.errors());
    }
    return ok();
  }

  Result<RunResult> collect_outputs() {
    RunResult result;
    for (TensorId id : graph_.outputs) {
      Result<Array> array = fetch_array(id);
      if (!array) return array.errors();
      result.outputs[graph_.tensor(id).name] = std::move(*array);
    }
    result.peak_bytes = state_.memory->peak_bytes();
    result.random_weights = state_.random_weights;
    return result;
  }

  const Graph& graph_;
  const RunOptions& options_;
  RunState state_;
  std::vector<Array> arrays_;
  std::vector<int64_t> readers_;
  const Node* running_ = nullptr;  ///< or the last that ran; null: none yet
};

/// What a node asks for that no known definition has; "" for nothing. An attribute that no kernel
/// knows of could mean anything, so its node isn't computed.
std::string unknown_request(const Node& node) {
  const OpRow* row = find_op(node);
  if (row == nullptr) return "";
  if (node.domain.empty() && node.opset > kNewestOpset)
    return fmt::format(
        "opset {} is newer than {}, the last that is computed with; convert the "
        "model with onnx.version_converter",
        node.opset, kNewestOpset);
  for (const Attribute& attribute : node.attributes)
    if (!row->has_attribute(attribute.name))
      return fmt::format(
          "attribute '{}' is unknown, so the node can't be computed; remove it if "
          "it has no meaning",
          attribute.name);
  return "";
}

/// Strings are moved, and nothing else is done with them.
bool can_compute(DType dtype, const KernelRow& kernel) {
  return dtype == DType::string ? kernel.moves : element_kind(dtype).has_value();
}

}  // namespace

Status check_runnable(const Graph& graph) {
  Errors errors;
  for (const Assumption& a : graph.assumed)
    if (!a.input && !a.of_cost)
      errors.push_back(error_at(
          fmt::format("{}: node '{}' (op {})", graph.file, a.node, a.op_type), Errc::unsupported,
          fmt::format("what its output is depends on its numbers ({}); costs assume "
                      "that, run computes what is known before",
                      a.of)));
  if (!errors.empty()) return errors;
  for (const Node& node : graph.nodes) {
    if (node.absorbed) continue;
    const KernelRow* kernel = find_kernel(node.domain, node.op_type);
    if (kernel == nullptr) {
      std::string why = "the reference executor has no kernel for it";
      if (const OpRow* row = find_op(node); row != nullptr && !row->no_kernel.empty())
        why = fmt::format("the reference executor refuses it: {}", row->no_kernel);
      errors.push_back(error_at(label_of_node(graph, node), Errc::unsupported, std::move(why)));
      continue;
    }
    if (std::string why = unknown_request(node); !why.empty()) {
      errors.push_back(error_at(label_of_node(graph, node), Errc::unsupported, std::move(why)));
      continue;
    }
    for (const auto* ids : {&node.inputs, &node.outputs})
      for (TensorId id : *ids)
        if (id != kNoTensor && !can_compute(graph.tensor(id).dtype, *kernel)) {
          errors.push_back(
              error_at(label_of_node(graph, node), Errc::unsupported,
                       fmt::format("tensor '{}' is {}, which isn't computed with",
                                   graph.tensor(id).name, name(graph.tensor(id).dtype))));
          break;
        }
  }
  if (!errors.empty()) return errors;
  return ok();
}

Error beyond_memory(const BeyondMemory& e, int64_t most, std::string where) {
  constexpr int64_t kMib = int64_t{1} << 20;
  return {Errc::capacity,
          fmt::format("arrays would take {} MiB from here on, at most {} are taken; {} N takes N",
                      ceil_div(e.bytes, kMib), most / kMib, kMemoryOption),
          std::move(where)};
}

Result<std::vector<Array>> load_weights(const Graph& graph, std::optional<uint64_t> weight_seed,
                                        const std::shared_ptr<MemoryCount>& memory) {
  std::vector<Array> out(graph.tensors.size());
  size_t drawn = 0;
  for (const Node& node : graph.nodes) {
    std::vector<TensorId> read = node.inputs;
    read.insert(read.end(), node.quantisation.begin(), node.quantisation.end());
    for (TensorId id : read) {
      if (id == kNoTensor || graph.tensor(id).origin != Tensor::Origin::initializer) continue;
      Array& array = out[static_cast<size_t>(id)];
      if (!array.empty()) continue;
      Result<Array> stored = load_reals(graph, id, weight_seed, memory, drawn);
      if (!stored) return stored.errors();
      array = std::move(*stored);
    }
  }
  return out;
}

Result<RunResult> run_graph(const Graph& graph, Arrays inputs, const RunOptions& options) {
  return Runner(graph, options).run_guarded(std::move(inputs));
}

}  // namespace accsim::sim::ref
