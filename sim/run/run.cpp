#include "sim/run/run.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "sim/onnx/reader.h"
#include "sim/ref/npy.h"
#include "sim/ref/run_work.h"
#include "sim/report/write_file.h"
#include "sim/run/raw_layer.h"
#include "sim/run/run_inputs.h"

namespace accsim::sim {
namespace {

StoredTensor constant_of(const std::string& name, const ref::Array& array) {
  StoredTensor stored;
  stored.name = name;
  stored.dtype = array.dtype();
  stored.dims = array.dims();
  stored.value = is_float(array.dtype()) ? std::make_shared<const ConstData>(array.reals())
                                         : std::make_shared<const ConstData>(array.integers());
  return stored;
}

bool is_whole(const Result<Graph>& graph) {
  return graph && std::ranges::all_of(graph->assumed,
                                      [](const Assumption& a) { return a.input || a.of_cost; });
}

/// The graph of a model whose shapes depend on what inputs hold: those that they depend on, small
/// ones, become constants, all others stay inputs. nullopt: that doesn't help.
std::optional<Graph> with_fixed_inputs(const ModelDef& model, const ref::Arrays& arrays,
                                       ElaborateOptions& options) {
  constexpr int64_t kSmall = 4096;
  ElaborateOptions fixed = options;
  for (const auto& [name, array] : arrays)
    if (array.size() <= kSmall && array.dtype() != DType::string)
      fixed.constants[name] = constant_of(name, array);
  Result<Graph> graph = elaborate(model, fixed);
  if (!graph) return std::nullopt;
  const bool whole = is_whole(graph);
  for (const auto& [name, array] : arrays) {
    ElaborateOptions without = fixed;
    if (without.constants.erase(name) == 0 || options.constants.contains(name)) continue;
    Result<Graph> other = elaborate(model, without);
    if (!other || is_whole(other) != whole) continue;
    fixed = std::move(without);
    graph = std::move(other);
  }
  options = std::move(fixed);
  return std::move(*graph);
}

/// One graph is that of all inputs of a series: what its shapes depend on is the same in all.
Status check_series(const std::map<std::string, std::vector<ref::Array>>& series,
                    const ElaborateOptions& options) {
  for (const auto& [name, all] : series)
    if (options.constants.contains(name))
      for (const ref::Array& one : all)
        if (std::memcmp(one.raw_data(), all.front().raw_data(), static_cast<size_t>(one.bytes())) !=
            0)
          return Error{Errc::invalid,
                       fmt::format("input '{}' decides shapes, so it must be the same in each of "
                                   "the inputs; run them one by one",
                                   name),
                       "--inputs"};
  return ok();
}

constexpr double kGiga = 1e9;

/// Is what a float run computes within Limits::giga_operations?
Status check_operations(const Graph& graph, const RunRequest& request) {
  const double wanted = ref::run_operations(graph);
  const int64_t most = request.elaborate.limits.giga_operations;
  if (wanted <= static_cast<double>(most) * kGiga) return ok();
  return Error{Errc::capacity,
               fmt::format("would compute some {:.0f} billion operations, at most {} are; use "
                           "smaller shapes, or {} N",
                           std::ceil(wanted / kGiga), most, kOperationsOption),
               request.model};
}

std::string place_of_input(const RunRequest& request, const Tensor& tensor) {
  return fmt::format("{}: input '{}'", request.model, tensor.name);
}

/// Can an input that no file gives be drawn?
Status check_input(const RunRequest& request, const Tensor& tensor) {
  if (!ref::element_kind(tensor.dtype))
    return Error{Errc::unsupported,
                 fmt::format("is {}, which isn't computed with", name(tensor.dtype)),
                 place_of_input(request, tensor)};
  const int64_t most = request.elaborate.limits.memory_bytes;
  if (storage_bytes(tensor.dtype, elements(tensor.dims)) > most)
    return Error{Errc::capacity,
                 fmt::format("would be {}, beyond {} MiB; use smaller shapes, or {} N",
                             accsim::to_string(tensor.dims), most >> 20, kMemoryOption),
                 place_of_input(request, tensor)};
  return ok();
}

Status draw_input(const RunRequest& request, TensorId id, PreparedRun& out) {
  const Tensor& tensor = out.graph.tensor(id);
  const auto named = std::ranges::find(request.inputs, tensor.name, &InputSource::name);
  if (named == request.inputs.end() && !tensor.value) out.defaulted.push_back(tensor.name);
  const uint64_t seed = named == request.inputs.end() ? 0 : named->seed;
  try {
    out.inputs[tensor.name] = ref::random_input(out.graph, id, seed, out.memory);
  } catch (const ref::BeyondMemory& e) {
    return ref::beyond_memory(e, out.memory->byte_limit(), place_of_input(request, tensor));
  }
  return ok();
}

}  // namespace

std::optional<PreparedRun> in_blocks(const PreparedRun& prepared, const CostedNetwork& network) {
  if (!network.in_blocks) return std::nullopt;
  PreparedRun out = prepared;
  out.graph = *network.in_blocks;
  return out;
}

ref::RunOptions run_options(const PreparedRun& prepared, const RunRequest& request) {
  ref::RunOptions out;
  out.threads = request.threads;
  out.weight_seed = request.weight_seed;
  out.memory = prepared.memory;
  out.operations = kGiga * static_cast<double>(request.elaborate.limits.giga_operations);
  return out;
}

Result<PreparedRun> prepare_run(const RunRequest& request) {
  Result<ModelDef> model = read_model(request.model);
  if (!model) return model.errors();
  drop_defaults(request, *model);
  ElaborateOptions options = request.elaborate;
  options.as_written = !request.reals;
  Result<GivenInputs> given = read_model_inputs(*model, request, options);
  if (!given) return given.errors();
  Result<Graph> graph = elaborate(*model, options);
  if (!is_whole(graph))
    if (auto fixed = with_fixed_inputs(*model, given->arrays, options)) graph = std::move(*fixed);
  if (!graph) return graph.errors();
  if (!options.cut.empty())
    if (Status s = read_part_inputs(*graph, request, options.constants, given->arrays); !s)
      return s.errors();
  if (Status s = check_series(given->series, options); !s) return s.errors();
  graph = costed_graph(std::move(*graph), options);
  if (!graph) return graph.errors();
  PreparedRun out{
      .graph = std::move(*graph),
      .inputs = std::move(given->arrays),
      .memory = std::make_shared<ref::MemoryCount>(request.elaborate.limits.memory_bytes),
      .defaulted = {},
      .series = std::move(given->series)};
  if (Status s = ref::check_runnable(out.graph); !s) return s.errors();
  std::vector<TensorId> drawn;
  for (TensorId id : out.graph.inputs)
    if (!out.inputs.contains(out.graph.tensor(id).name)) drawn.push_back(id);
  for (TensorId id : drawn)
    if (Status s = check_input(request, out.graph.tensor(id)); !s) return s.errors();
  if (Status s = check_operations(out.graph, request); !s) return s.errors();
  for (TensorId id : drawn)
    if (Status s = draw_input(request, id, out); !s) return s.errors();
  return out;
}

Status prepare_output(const Graph& graph, const RunRequest& request) {
  if (request.output.empty()) return ok();
  const Dumper dumper(request.output, request.dump);
  if (!request.dump.empty() &&
      std::ranges::none_of(graph.nodes, [&](const Node& node) { return dumper.is_wanted(node); }))
    return Error{Errc::usage, fmt::format("no layer is named or of type '{}'", request.dump),
                 "--dump"};
  const std::string path = request.output + (request.dump.empty() ? ""
                                             : request.raw        ? "/layers"
                                                                  : "/tensors");
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error || !std::filesystem::is_directory(path))
    return Error{Errc::io, fmt::format("can't be made a folder: {}", error.message()), path};
  std::filesystem::remove(request.output + "/manifest.json", error);
  return ok();
}

std::string plain_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !out.empty());
    out += plain ? c : '_';
  }
  if (out.size() > 120) out = out.substr(out.size() - 120);
  return out.empty() ? "_" : out;
}

std::string file_name(const std::string& name) { return plain_name(name) + ".npy"; }

Status write_outputs(const Graph& graph, const std::string& folder, RunSummary& summary) {
  if (folder.empty()) return ok();
  std::vector<std::string>& written = summary.written;
  std::set<TensorId> done;
  for (TensorId id : graph.outputs) {
    if (!done.insert(id).second) continue;
    const std::string wanted = file_name(graph.tensor(id).name);
    std::string file = wanted;
    for (int n = 2; std::ranges::count(written, file) > 0; ++n)
      file = fmt::format("{}_{}.npy", wanted.substr(0, wanted.size() - 4), n);
    const ref::Array& array = summary.result.outputs.at(graph.tensor(id).name);
    const Status saved =
        write_file_atomically(fmt::format("{}/{}", folder, file), ref::to_npy(array));
    if (!saved) return saved;
    written.push_back(std::move(file));
  }
  return ok();
}

bool Dumper::is_wanted(const Node& node) const {
  if (what_.empty()) return false;
  return what_ == "all" || node.op_type == what_ ||
         fnmatch(what_.c_str(), node.name.c_str(), 0) == 0;
}

Result<DumpTensor> Dumper::write_tensor(const Graph& graph, TensorId id, const ref::Array& array,
                                        bool apart) {
  const auto known = written_.find(id);
  if (known != written_.end() && !apart) return known->second;
  const Tensor& tensor = graph.tensor(id);
  DumpTensor out{tensor.name,
                 fmt::format("tensors/{}{}_{}", id, apart ? "_int8" : "", file_name(tensor.name)),
                 array.dtype(), array.dims()};
  const Status done = write_file_atomically(folder_ + "/" + out.file, ref::to_npy(array));
  if (!done) return done.errors();
  if (!apart) written_.emplace(id, out);
  return out;
}

Status Dumper::add_layer(const ref::NodeRun& run, const char* computed) {
  const Node& node = run.graph.nodes[static_cast<size_t>(run.node)];
  if (!is_wanted(node)) return ok();
  if (raw_) return add_raw(run, computed);
  DumpLayer layer{node.name, node.op_type, {}, {}, computed};
  const auto all = [&](const std::vector<TensorId>& ids, const std::vector<ref::Array>& arrays,
                       std::vector<DumpTensor>& to) -> Status {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] == kNoTensor || arrays[i].empty()) continue;
      Result<DumpTensor> tensor = write_tensor(run.graph, ids[i], arrays[i]);
      if (!tensor) return tensor.errors();
      to.push_back(std::move(*tensor));
    }
    return ok();
  };
  if (Status s = all(node.inputs, run.inputs, layer.inputs); !s) return s;
  if (Status s = all(node.outputs, run.outputs, layer.outputs); !s) return s;
  manifest_.layers.push_back(std::move(layer));
  return ok();
}

Status Dumper::add_raw(const ref::NodeRun& run, const char* computed) {
  const Node& node = run.graph.nodes[static_cast<size_t>(run.node)];
  Result<DumpLayer> layer = write_raw_layer(
      run, folder_, fmt::format("layers/{:04}_{}", run.node, plain_name(node.name)));
  if (!layer) return layer.errors();
  layer->computed = computed;
  manifest_.layers.push_back(std::move(*layer));
  return ok();
}

Status Dumper::write_manifest(const std::string& model, const std::string& mode) {
  if (what_.empty()) return ok();
  manifest_.model = model;
  manifest_.mode = mode;
  return write_file_atomically(folder_ + "/manifest.json", to_json(manifest_));
}

Result<RunSummary> run_network(PreparedRun& prepared, const RunRequest& request) {
  const Graph& graph = prepared.graph;
  if (Status s = prepare_output(graph, request); !s) return s.errors();
  Dumper dumper(request.output, request.dump, request.raw);
  ref::RunOptions options = run_options(prepared, request);
  options.progress = request.progress;
  if (!request.dump.empty())
    options.observe = [&](const ref::NodeRun& run) { return dumper.add_layer(run, "float"); };
  Result<ref::RunResult> result =
      ref::run_graph(graph, std::exchange(prepared.inputs, {}), options);
  if (!result) return result.errors();
  RunSummary summary{std::move(*result), {}};
  if (Status s = write_outputs(graph, request.output, summary); !s) return s.errors();
  if (request.output.empty()) return summary;
  if (Status s = dumper.write_manifest(request.model, "float"); !s) return s.errors();
  if (!request.dump.empty()) summary.written.push_back("manifest.json");
  return summary;
}

}  // namespace accsim::sim
