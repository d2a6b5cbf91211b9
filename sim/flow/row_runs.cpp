#include "sim/flow/row_runs.h"

#include <algorithm>

namespace accsim::sim {
namespace {

bool reads(const OpRequest& r, int port) {
  const auto among = [&](const std::vector<Access>& side) {
    return std::ranges::find(side, port, &Access::port) != side.end();
  };
  if (r.residual == port) return true;
  if (const auto* op = std::get_if<GemmOp>(&r.item))
    return op->a_port == port || op->b_port == port || op->bias_port == port;
  if (const auto* op = std::get_if<VectorOp>(&r.item)) return among(op->inputs);
  return among(std::get<MemoryOp>(r.item).inputs);
}

class RunFinder {
 public:
  RunFinder(const Graph& graph, const Lowered& lowered, const Residency& residency,
            const hw::HwConfig& hw, std::span<const ChainOp> ops)
      : graph_(graph), lowered_(lowered), residency_(residency), hw_(hw), ops_(ops) {
    const size_t tensors = graph.tensors.size();
    readers_.assign(tensors, 0);
    first_.assign(tensors, -1);
    last_.assign(tensors, -1);
    for (const TensorId id : graph.outputs) ++readers_[root(id)];
    for (size_t i = 0; i < lowered.layers.size(); ++i) {
      const Layer& l = lowered.layers[i];
      if (l.fate == Fate::folded || l.work.empty()) continue;
      for (const TensorId id : l.inputs)
        if (id != kNoTensor) {
          ++readers_[root(id)];
          last_[root(id)] = static_cast<int>(i);
        }
      for (const TensorId id : l.outputs)
        if (id != kNoTensor) first_[root(id)] = last_[root(id)] = static_cast<int>(i);
    }
  }

  std::vector<RowRun> find() {
    std::vector<RowRun> out;
    for (const ChainOp& op : ops_) flows_.push_back(row_flow(*op.request, hw_));
    std::vector<bool> taken(ops_.size(), false);
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (taken[i]) continue;
      RowRun run;
      for (std::optional<size_t> at = i; at && flows_[*at]; at = next(*at)) {
        run.ops.push_back(*at);
        run.flows.push_back(*flows_[*at]);
      }
      if (!has_both_units(run)) continue;
      for (const size_t op : run.ops) taken[op] = true;
      run.shared_beside = shared_beside(run);
      out.push_back(std::move(run));
    }
    return out;
  }

 private:
  size_t root(TensorId id) const {
    return static_cast<size_t>(residency_.root[static_cast<size_t>(id)]);
  }
  int64_t bytes(size_t id) const {
    const Tensor& t = graph_.tensors[id];
    return elements(t.dims) * element_bytes(hw_, t.dtype);
  }
  const Layer& layer(size_t op) const { return lowered_.layers[ops_[op].layer]; }

  /// The op that reads what op i has written and is cut alike.
  std::optional<size_t> next(size_t i) const {
    const RowFlow& from = *flows_[i];
    std::optional<size_t> found;
    if (from.out.side == OperandPort::Side::internal) {
      const size_t j = i + 1;
      if (j < ops_.size() && ops_[j].layer == ops_[i].layer && flows_[j] &&
          flows_[j]->in == from.out)
        found = j;
    } else {
      found = reader(i);
    }
    if (!found) return std::nullopt;
    const RowFlow& to = *flows_[*found];
    return to.rows == from.rows && to.in_row == from.out_row ? found : std::nullopt;
  }

  /// The one op that reads the tensor that op i, the last of its layer, has written.
  std::optional<size_t> reader(size_t i) const {
    const RowFlow& from = *flows_[i];
    if (i + 1 < ops_.size() && ops_[i + 1].layer == ops_[i].layer) return std::nullopt;
    const size_t tensor = root(layer(i).outputs[static_cast<size_t>(from.out.index)]);
    if (readers_[tensor] != 1 || from.rows * from.out_row != bytes(tensor)) return std::nullopt;
    for (size_t j = i + 1; j < ops_.size() && ops_[j].layer <= static_cast<size_t>(last_[tensor]);
         ++j) {
      const auto& inputs = layer(j).inputs;
      for (size_t port = 0; port < inputs.size(); ++port) {
        if (inputs[port] == kNoTensor || root(inputs[port]) != tensor) continue;
        if (!reads(*ops_[j].request, static_cast<int>(port))) continue;
        const OperandPort in{OperandPort::Side::input, static_cast<int>(port)};
        const bool alone = j + 1 == ops_.size() || ops_[j + 1].layer != ops_[j].layer ||
                           !reads(*ops_[j + 1].request, static_cast<int>(port));
        return alone && flows_[j] && flows_[j]->in == in ? std::optional(j) : std::nullopt;
      }
    }
    return std::nullopt;
  }

  bool has_both_units(const RowRun& run) const {
    const auto on_array = [&](size_t op) {
      return std::holds_alternative<GemmOp>(ops_[op].request->item);
    };
    return std::ranges::any_of(run.ops, on_array) && !std::ranges::all_of(run.ops, on_array);
  }

  int64_t shared_beside(const RowRun& run) const {
    const auto from = static_cast<int>(ops_[run.ops.front()].layer);
    const auto to = static_cast<int>(ops_[run.ops.back()].layer);
    std::vector<size_t> between;
    for (size_t k = 0; k + 1 < run.ops.size(); ++k)
      if (run.flows[k].out.side == OperandPort::Side::output)
        between.push_back(
            root(layer(run.ops[k]).outputs[static_cast<size_t>(run.flows[k].out.index)]));
    int64_t out = 0;
    for (size_t id = 0; id < first_.size(); ++id)
      if (residency_.resident[id] && root(static_cast<TensorId>(id)) == id && first_[id] >= 0 &&
          first_[id] <= to && last_[id] >= from && std::ranges::find(between, id) == between.end())
        out += bytes(id);
    return out;
  }

  const Graph& graph_;
  const Lowered& lowered_;
  const Residency& residency_;
  const hw::HwConfig& hw_;
  const std::span<const ChainOp> ops_;
  std::vector<std::optional<RowFlow>> flows_;  ///< by op
  std::vector<int> readers_;                   ///< by tensor whose bytes they are
  std::vector<int> first_, last_;              ///< layers of its life; -1: none
};

}  // namespace

std::vector<RowRun> row_runs(const Graph& graph, const Lowered& lowered, const Residency& residency,
                             const hw::HwConfig& hw, std::span<const ChainOp> ops) {
  return RunFinder(graph, lowered, residency, hw, ops).find();
}

std::vector<Turn> turns(const std::vector<bool>& on_array, int64_t count) {
  // Op k is behind[k] pieces behind the first one. What the array makes for the vector unit is a
  // piece ahead: then nobody waits for it.
  std::vector<int64_t> behind(on_array.size(), 0);
  for (size_t k = 1; k < on_array.size(); ++k)
    behind[k] = behind[k - 1] + (on_array[k - 1] && !on_array[k] ? 2 : 1);
  std::vector<size_t> order;
  for (const bool array : {false, true})
    for (size_t k = on_array.size(); k-- > 0;)
      if (on_array[k] == array) order.push_back(k);
  std::vector<Turn> out;
  for (int64_t step = 0; step < count + behind.back(); ++step)
    for (const size_t k : order)
      if (const int64_t piece = step - behind[k]; piece >= 0 && piece < count)
        out.push_back({k, piece});
  return out;
}

std::vector<int64_t> most_alive(std::span<const Turn> turns, size_t ops) {
  std::vector<int64_t> alive(ops, 0), most(ops, 0);
  for (const Turn& t : turns) {
    most[t.k] = std::max(most[t.k], ++alive[t.k]);
    if (t.k > 0) --alive[t.k - 1];
  }
  return most;
}

}  // namespace accsim::sim
