#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "sim/lower/lane_meaning.h"
#include "sim/quantise/int8_network.h"
#include "sim/quantise/run_int8.h"
#include "sim/quantise/value_machine.h"

namespace accsim::sim {
namespace {

/// The axis along which the largest element is looked for, and how the others lie around it.
struct Rows {
  int64_t outer = 1, length = 1, inner = 1;
};
Rows rows_of(const Dims& dims) {
  if (dims.empty()) return {};
  const size_t axis = dims.size() >= 4 ? 1 : dims.size() - 1;
  return {elements(dims, 0, axis), dims[axis], elements(dims, axis + 1, dims.size())};
}

int64_t largest_of(const std::vector<double>& values, int64_t from, const Rows& r) {
  int64_t best = 0;
  for (int64_t i = 1; i < r.length; ++i)
    if (values[static_cast<size_t>(from + i * r.inner)] >
        values[static_cast<size_t>(from + best * r.inner)])
      best = i;
  return best;
}

bool has_nan(const std::vector<double>& values, int64_t from, const Rows& r) {
  for (int64_t i = 0; i < r.length; ++i)
    if (std::isnan(values[static_cast<size_t>(from + i * r.inner)])) return true;
  return false;
}

void add_comparison(const ref::Array& wanted, const ref::Array& got, SignalNoise& to) {
  const std::vector<double> a = wanted.reals(), b = got.reals();
  for (size_t i = 0; i < a.size(); ++i)
    if (std::abs(a[i]) < kAsInfinity)
      to.add_pair(a[i], b[i]);
    else
      ++to.left_out;  // a mask's say nothing
}

void add_comparison(const ref::Array& wanted, const ref::Array& got, OutputQuality& to) {
  add_comparison(wanted, got, to.signal);
  const Rows rows = rows_of(wanted.dims());
  if (rows.length < 2) return;
  const std::vector<double> a = wanted.reals(), b = got.reals();
  for (int64_t o = 0; o < rows.outer; ++o)
    for (int64_t i = 0; i < rows.inner; ++i) {
      const int64_t from = o * rows.length * rows.inner + i;
      if (has_nan(a, from, rows)) continue;
      ++to.rows;
      to.agreed += largest_of(a, from, rows) == largest_of(b, from, rows) ? 1 : 0;
    }
}

/// Those of several inputs with an axis more in front.
ref::Arrays one_behind_the_other(std::vector<ref::Arrays> all) {
  if (all.size() == 1) return std::move(all.front());
  ref::Arrays out;
  for (const auto& [name, first] : all.front()) {
    Dims dims = first.dims();
    dims.insert(dims.begin(), std::ssize(all));
    ref::Array array(first.dtype(), dims);
    auto* to = static_cast<char*>(array.raw_data());
    for (const ref::Arrays& one : all)
      to = std::copy_n(static_cast<const char*>(one.at(name).raw_data()), one.at(name).bytes(), to);
    out[name] = std::move(array);
  }
  return out;
}

class Run {
 public:
  Run(const PreparedRun& prepared, const RunRequest& request, const hw::HwConfig& hw,
      const CostedNetwork& network)
      : graph_(prepared.graph),
        prepared_(prepared),
        request_(request),
        hw_(hw),
        network_(network),
        runs_(graph_, run_options(prepared_, request_), request.percentile, kept_tensors()) {
    quality_.model = request.model;
    quality_.hw = hw.name;
    quality_.percentile = request.percentile;
  }

  Result<RunSummary> run_each_input() {
    if (Status s = prepare_output(graph_, request_); !s) return s.errors();
    if (Status s = calibrate_ranges(); !s) return s.errors();
    auto network =
        Int8Network::make(graph_, network_, hw_, runs_, run_options(prepared_, request_));
    if (!network) return network.errors();
    quality_.left_out = network->program().report.left_out;
    for (const NetworkPart& part : network->program().network.parts)
      if (part.mapping->source_as<GemmSource>() && !network->is_hosted(part.layer))
        products_.emplace(part.layer, part.item);
    for (const TensorId id : graph_.outputs)
      quality_.outputs.push_back({graph_.tensor(id).name, {}});
    std::vector<ref::Arrays> outputs;
    for (int64_t i = 0; i < request_.count; ++i) {
      auto own = compute_input(*network, i);
      if (!own) return own.errors();
      outputs.push_back(std::move(*own));
    }
    RunSummary summary;
    summary.result.outputs = one_behind_the_other(std::move(outputs));
    return finish_summary(std::move(summary));
  }

 private:
  std::set<TensorId> kept_tensors() const {
    std::set<TensorId> out;
    for (const Layer& l : network_.lowered.layers)
      if (!l.outputs.empty() && l.outputs[0] != kNoTensor) out.insert(l.outputs[0]);
    return out;
  }

  ref::Arrays input_arrays(int64_t i) const {
    ref::Arrays out = prepared_.inputs;
    for (const TensorId id : graph_.inputs) {
      const std::string& name = graph_.tensor(id).name;
      const auto all = prepared_.series.find(name);
      const auto named = std::ranges::find(request_.inputs, name, &InputSource::name);
      const bool known = named != request_.inputs.end();
      if (all != prepared_.series.end())
        out[name] = all->second[static_cast<size_t>(i)];
      else if (!known || named->file.empty())
        out[name] = ref::random_input(
            graph_, id, (known ? named->seed : 0) + static_cast<uint64_t>(i), prepared_.memory);
    }
    return out;
  }

  /// Float runs of all inputs; scales are of the first ones.
  Status calibrate_ranges() {
    const int64_t count = request_.calibrate > 0 ? request_.calibrate : request_.count;
    quality_.calibrated = std::min(count, request_.count);
    FloatRuns others(graph_, run_options(prepared_, request_), request_.percentile, {});
    for (int64_t i = 0; i < request_.count; ++i) {
      auto kept = (i < count ? runs_ : others).run_float(input_arrays(i));
      if (!kept) return kept.errors();
      if (!tell_progress(i)) return stopped_error();
      keep_floats(std::move(*kept), i);
    }
    return ok();
  }

  /// Layers' results are compared for the first input only.
  void keep_floats(FloatRuns::Kept kept, int64_t i) {
    if (i == 0) first_ = std::move(kept.tensors);
    floats_.push_back(std::move(kept.result));
  }

  Result<ref::Arrays> compute_input(const Int8Network& network, int64_t i) {
    std::map<TensorId, ref::Array> given;
    ref::Arrays all = input_arrays(i);  // those that became constants, too
    for (const TensorId id : graph_.inputs) given[id] = std::move(all.at(graph_.tensor(id).name));
    const auto outcome = network.run_program(given);
    if (!outcome) return outcome.errors();
    quality_.referenced += outcome->compared;
    ++quality_.inputs;
    ref::Arrays out;
    for (size_t k = 0; k < graph_.outputs.size(); ++k) {
      const std::string& name = quality_.outputs[k].name;
      auto got = network.values_of(*outcome, graph_.outputs[k]);
      if (!got) return got.errors();
      add_comparison(floats_[static_cast<size_t>(i)].outputs.at(name), *got, quality_.outputs[k]);
      out[name] = std::move(*got);
    }
    if (i == 0)
      if (Status s = compare_layers(network, *outcome); !s) return s.errors();
    if (!tell_progress(request_.count + i)) return stopped_error().errors();
    return out;
  }

  Status compare_layers(const Int8Network& network, const Int8Network::Outcome& outcome) {
    for (size_t i = 0; i < network_.lowered.layers.size(); ++i) {
      const Layer& l = network_.lowered.layers[i];
      if (network_.mappings[i].empty() || l.outputs[0] == kNoTensor) continue;
      const auto wanted = first_.find(l.outputs[0]);
      if (wanted == first_.end() || !is_float(wanted->second.dtype())) continue;
      const auto got = network.values_of(outcome, l.outputs[0]);
      if (!got) return got.errors();
      LayerQuality q{l.name, l.op_type, {}};
      add_comparison(wanted->second, *got, q.signal);
      quality_.layers.push_back(std::move(q));
    }
    return ok();
  }

  bool tell_progress(int64_t done) const {
    return !request_.progress ||
           request_.progress(static_cast<size_t>(done), static_cast<size_t>(2 * request_.count));
  }
  Status stopped_error() const { return Error{Errc::invalid, "stopped", request_.model}; }

  Result<RunSummary> finish_summary(RunSummary summary) {
    summary.quantised = products_.size();
    summary.result.peak_bytes = floats_.front().peak_bytes;
    summary.result.random_weights = floats_.front().random_weights;
    summary.quality = std::move(quality_);
    if (Status s = write_outputs(graph_, request_.output, summary); !s) return s.errors();
    return summary;
  }

  const Graph& graph_;
  const PreparedRun& prepared_;
  const RunRequest& request_;
  const hw::HwConfig& hw_;
  const CostedNetwork& network_;
  FloatRuns runs_;
  std::map<TensorId, ref::Array> first_;          ///< layers' results of the first input
  std::vector<ref::RunResult> floats_;            ///< by input
  std::set<std::pair<size_t, size_t>> products_;  ///< of the program: layer, and op of it
  QualityReport quality_;
};

}  // namespace

Result<RunSummary> run_int8_network(const PreparedRun& prepared, const RunRequest& request,
                                    const hw::HwConfig& machine) {
  const hw::HwConfig hw = value_machine(machine);
  const Result<CostedNetwork> network = cost_network(prepared.graph, hw, {});
  if (!network) return network.errors();
  const std::optional<PreparedRun> other = in_blocks(prepared, *network);
  try {
    return Run(other ? *other : prepared, request, hw, *network).run_each_input();
  } catch (const ref::BeyondMemory& e) {
    return ref::beyond_memory(e, prepared.memory->byte_limit(), request.model);
  }
}

}  // namespace accsim::sim
