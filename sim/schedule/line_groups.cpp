#include "sim/schedule/line_groups.h"

#include <algorithm>

namespace accsim::sim {
namespace {

class LineGroupFinder {
 public:
  LineGroupFinder(const OpReaders& readers, const hw::HwConfig& hw, std::span<const ChainOp> ops)
      : readers_(readers) {
    for (const ChainOp& op : ops) flows_.push_back(line_flow(*op.request, hw));
  }

  std::vector<LineGroup> find_groups() {
    std::vector<LineGroup> out;
    std::vector<bool> taken(flows_.size(), false);
    for (size_t i = 0; i < flows_.size(); ++i) {
      if (taken[i]) continue;
      LineGroup run;
      for (std::optional<size_t> at = i; at && flows_[*at]; at = next_on_other_unit(*at)) {
        run.ops.push_back(*at);
        run.flows.push_back(*flows_[*at]);
        run.on_array.push_back(readers_.on_array(*at));
      }
      if (run.ops.size() < 2) continue;
      for (const size_t op : run.ops) taken[op] = true;
      run.shared = readers_.shared_bytes(run.ops);
      run.shared_of_two = readers_.shared_bytes(std::span(run.ops).first(2));
      out.push_back(std::move(run));
    }
    return out;
  }

 private:
  /// The op of the other unit that reads what op i has written, line by line.
  std::optional<size_t> next_on_other_unit(size_t i) const {
    const OpFlow& from = *flows_[i];
    const auto reader = readers_.only_reader(i, from.out, from.count * from.out_bytes);
    if (!reader || readers_.on_array(reader->op) == readers_.on_array(i)) return std::nullopt;
    const std::optional<OpFlow>& to = flows_[reader->op];
    const bool same = to && to->in == reader->in && to->window.extent == from.count &&
                      to->in_bytes == from.out_bytes;
    return same ? std::optional(reader->op) : std::nullopt;
  }

  const OpReaders& readers_;
  std::vector<std::optional<OpFlow>> flows_;  ///< by op
};

/// Lines of a result of which all that they are made of is among the first `read` lines.
int64_t made_of(const OpFlow& flow, int64_t read) {
  if (read >= flow.window.extent) return flow.count;
  int64_t out = 0;
  while (out < flow.count && flow.slices_needed(out + 1) <= read) ++out;
  return out;
}

/// The least bytes of the shared buffer that are alive while a run is, in pieces.
int64_t least_shared(const LineGroup& run, std::span<const ChainOp> ops) {
  int64_t out = run.shared;
  for (size_t k = 0; k + 1 < run.ops.size(); ++k) {
    const OpFlow& flow = run.flows[k];
    const OpRequest& request = *ops[run.ops[k]].request;
    const Place& written = request.outputs[static_cast<size_t>(flow.out.index)].place;
    if (written.memory == hw::MemoryId::shared) out -= flow.count * flow.out_bytes;
  }
  return out;
}

}  // namespace

std::vector<TensorId> in_the_way(std::span<const LineGroup> runs, std::span<const ChainOp> ops,
                                 std::span<const LayerTensors> tensors, const hw::HwConfig& hw) {
  std::vector<TensorId> out;
  for (const LineGroup& run : runs) {
    const int64_t least = std::min(least_shared(run, ops), least_shared(first_two(run), ops));
    const OperandPort& in = run.flows[0].in;
    if (least <= hw.shared.free_bytes() || in.side != OperandPort::Side::input) continue;
    const ChainOp& op = ops[run.first_op()];
    const auto i = static_cast<size_t>(in.index);
    if (op.request->inputs[i].place.memory == hw::MemoryId::shared)
      out.push_back(tensors[op.layer].inputs[i]);
  }
  return out;
}

LineGroup first_two(const LineGroup& run) {
  LineGroup out = run;
  out.ops.resize(2);
  out.flows.resize(2);
  out.on_array.resize(2);
  out.shared = run.shared_of_two;
  return out;
}

std::vector<LineGroup> line_groups(const OpReaders& readers, const hw::HwConfig& hw,
                                   std::span<const ChainOp> ops) {
  return LineGroupFinder(readers, hw, ops).find_groups();
}

std::vector<std::vector<int64_t>> line_ends(const LineGroup& run, int64_t lines) {
  std::vector<std::vector<int64_t>> out(run.ops.size());
  const size_t cut = run.on_array[0] ? 0 : 1;
  const int64_t all = run.flows[cut].count;
  for (int64_t end = lines; end < all; end += lines) out[cut].push_back(end);
  out[cut].push_back(all);
  if (cut == 1) {
    for (const int64_t end : out[1]) out[0].push_back(run.flows[1].slices_needed(end));
    out[0].back() = run.flows[0].count;
  }
  for (size_t k = cut + 1; k < run.ops.size(); ++k)
    for (const int64_t end : out[k - 1]) out[k].push_back(made_of(run.flows[k], end));
  return out;
}

}  // namespace accsim::sim
