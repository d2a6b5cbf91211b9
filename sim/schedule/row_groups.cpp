#include "sim/schedule/row_groups.h"

#include <algorithm>

namespace accsim::sim {
namespace {

class RowGroupFinder {
 public:
  RowGroupFinder(const OpReaders& readers, const hw::HwConfig& hw, std::span<const ChainOp> ops)
      : readers_(readers), hw_(hw), ops_(ops) {}

  std::vector<RowGroup> find_groups() {
    std::vector<RowGroup> out;
    for (const ChainOp& op : ops_) flows_.push_back(row_flow(*op.request, hw_));
    // In one, or in a chain of one unit, whose rest is of one unit, too.
    std::vector<bool> seen(ops_.size(), false);
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (seen[i]) continue;
      RowGroup run;
      for (std::optional<size_t> at = i; at && flows_[*at]; at = next_on_other_unit(*at)) {
        run.ops.push_back(*at);
        run.flows.push_back(*flows_[*at]);
      }
      for (const size_t op : run.ops) seen[op] = true;
      if (!has_both_units(run)) continue;
      run.shared_beside = shared_beside(run.ops, run);
      add_pairs(run);
      out.push_back(std::move(run));
    }
    return out;
  }

 private:
  /// The op that reads what op i has written and is cut alike.
  std::optional<size_t> next_on_other_unit(size_t i) const {
    const OpFlow& from = *flows_[i];
    std::optional<size_t> found;
    if (from.out.side == OperandPort::Side::internal) {
      const size_t j = i + 1;
      if (j < ops_.size() && ops_[j].layer == ops_[i].layer && flows_[j] &&
          flows_[j]->in == from.out)
        found = j;
    } else if (const auto reader = readers_.only_reader(i, from.out, from.count * from.out_bytes)) {
      if (flows_[reader->op] && flows_[reader->op]->in == reader->in) found = reader->op;
    }
    if (!found) return std::nullopt;
    const OpFlow& to = *flows_[*found];
    return to.count == from.count && to.in_bytes == from.out_bytes ? found : std::nullopt;
  }

  bool has_both_units(const RowGroup& run) const {
    const auto on_array = [&](size_t op) { return readers_.on_array(op); };
    return std::ranges::any_of(run.ops, on_array) && !std::ranges::all_of(run.ops, on_array);
  }

  void add_pairs(RowGroup& run) const {
    for (size_t k = 0; run.ops.size() > 2 && k + 1 < run.ops.size(); ++k) {
      RowGroup pair;
      pair.ops = {run.ops[k], run.ops[k + 1]};
      pair.flows = {run.flows[k], run.flows[k + 1]};
      if (!has_both_units(pair)) continue;
      // What stands between any ops of the run is done before the pair.
      pair.shared_beside = shared_beside(run.ops, pair);
      run.pairs.emplace_back(k, std::move(pair));
    }
  }

  /// Of tensors that are alive anywhere in `span`, those between the run's ops left out.
  int64_t shared_beside(const std::vector<size_t>& span, const RowGroup& run) const {
    std::vector<size_t> between;
    for (size_t k = 0; k + 1 < run.ops.size(); ++k)
      if (run.flows[k].out.side == OperandPort::Side::output)
        between.push_back(readers_.written_tensor(run.ops[k], run.flows[k].out));
    return readers_.shared_bytes(span, between);
  }

  const OpReaders& readers_;
  const hw::HwConfig& hw_;
  const std::span<const ChainOp> ops_;
  std::vector<std::optional<OpFlow>> flows_;  ///< by op
};

}  // namespace

std::vector<RowGroup> row_groups(const OpReaders& readers, const hw::HwConfig& hw,
                                 std::span<const ChainOp> ops) {
  return RowGroupFinder(readers, hw, ops).find_groups();
}

std::vector<TileStep> interleave(const std::vector<bool>& on_array, int64_t count) {
  // Op k is behind[k] pieces behind the first one. What the array makes for the vector unit is a
  // piece ahead: then nobody waits for it.
  std::vector<int64_t> behind(on_array.size(), 0);
  for (size_t k = 1; k < on_array.size(); ++k)
    behind[k] = behind[k - 1] + (on_array[k - 1] && !on_array[k] ? 2 : 1);
  std::vector<size_t> order;
  for (const bool array : {false, true})
    for (size_t k = on_array.size(); k-- > 0;)
      if (on_array[k] == array) order.push_back(k);
  std::vector<TileStep> out;
  for (int64_t step = 0; step < count + behind.back(); ++step)
    for (const size_t k : order)
      if (const int64_t piece = step - behind[k]; piece >= 0 && piece < count)
        out.push_back({k, piece});
  return out;
}

}  // namespace accsim::sim
