#include "sim/lower/key_blocks.h"

#include <fmt/format.h>

#include "sim/lower/attention.h"
#include "sim/operators/movement/box_rules.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// Versions of ai.onnx in which nodes are added: sizes of a Split are attributes there.
constexpr int64_t kSplitOpset = 11, kReshapeOpset = 13;

/// The axis of `from` that is axis `axis` of `to`, which has as many elements in another shape.
std::optional<size_t> same_axis(const Dims& from, const Dims& to, size_t axis) {
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] == to[axis] && elements(from, 0, i) == elements(to, 0, axis) &&
        elements(from) == elements(to))
      return i;
  return std::nullopt;
}

}  // namespace

void KeyBlocks::begin_keys(int64_t keys, int64_t each) {
  const int64_t count = keys / each;
  ranges_.clear();
  for (int64_t b = 0, first = 0; b < count; ++b, first = ranges_.back().end())
    ranges_.push_back({first, keys / count + (b < keys % count ? 1 : 0)});
}

std::string KeyBlocks::block_name(const std::string& of, size_t b) const {
  return fmt::format("{}/keys_{}_{}", of, ranges_[b].first, ranges_[b].end() - 1);
}

Dims KeyBlocks::block_dims(TensorId id, size_t axis, size_t b) const {
  Dims out = graph_.dims(id);
  out[axis] = ranges_[b].count;
  return out;
}

TensorId KeyBlocks::add_block(TensorId of, size_t b, Dims dims) {
  const Tensor& t = graph_.tensor(of);
  return graph_.add_tensor(t, block_name(t.name, b), std::move(dims));
}

const KeyBlocks::Blocks& KeyBlocks::blocks_along(TensorId id, size_t axis) {
  std::vector<Shown> chain;
  std::pair at(id, axis);
  while (!blocks_.contains(at)) {
    const auto in = axis_of_input(at.first, at.second);
    if (!in) {
      blocks_[at] = split_into_blocks(at.first, at.second);
      break;
    }
    chain.push_back({at.first, at.second, *in});
    at = {graph_.node(graph_.before().tensor(at.first).producer).inputs[0], *in};
  }
  for (auto shown = chain.rbegin(); shown != chain.rend(); ++shown) {
    blocks_[{shown->id, shown->axis}] = cut_shown(*shown, blocks_[at]);
    at = {shown->id, shown->axis};
  }
  return blocks_[at];
}

KeyBlocks::Blocks KeyBlocks::split_into_blocks(TensorId id, size_t axis) {
  std::string name = graph_.tensor(id).name;
  if (axis + 1 < graph_.dims(id).size()) name += fmt::format("/axis_{}", axis);
  std::vector<int64_t> sizes;
  for (const DimRange& keys : ranges_) sizes.push_back(keys.count);
  const Node split = graph_.new_operator(
      op::kSplit, kSplitOpset, {{"axis", "", static_cast<int64_t>(axis)}, {"split", "", sizes}});
  Blocks out;
  for (size_t b = 0; b < count(); ++b)
    out.push_back(
        graph_.add_tensor(graph_.tensor(id), block_name(name, b), block_dims(id, axis, b)));
  graph_.add_node(split, name + "/keys", {id}, out);
  return out;
}

std::optional<size_t> KeyBlocks::axis_of_input(TensorId id, size_t axis) const {
  if (id >= std::ssize(graph_.before().tensors)) return {};  // one that has been added
  const NodeId producer = graph_.before().tensor(id).producer;
  if (producer == kNoNode || graph_.before().tensor(id).constant) return {};
  const Node& n = graph_.node(producer);
  if (n.outputs.size() != 1 || n.folded) return {};
  if (is_node(n, op::kTranspose)) {
    const auto perm = permutation_of(NodeView(graph_.before(), n));
    return perm ? std::optional(static_cast<size_t>((*perm)[axis])) : std::nullopt;
  }
  if (is_node(n, op::kExpand)) {
    const Dims &from = graph_.dims(n.inputs[0]), &to = graph_.dims(id);
    const size_t more = to.size() - from.size();
    if (axis < more || from[axis - more] != to[axis]) return {};
    return axis - more;
  }
  if (is_node(n, op::kReshape) || is_node(n, op::kUnsqueeze))
    return same_axis(graph_.dims(n.inputs[0]), graph_.dims(id), axis);
  return {};
}

KeyBlocks::Blocks KeyBlocks::cut_shown(const Shown& shown, const Blocks& from) {
  const Node& n = graph_.node(graph_.before().tensor(shown.id).producer);
  const bool turned = is_node(n, op::kTranspose);
  Node like = n;
  if (!turned && !is_node(n, op::kExpand)) {
    like.op_type = op::kReshape;
    like.opset = kReshapeOpset;
    like.attributes.clear();
  }
  Blocks out;
  for (size_t b = 0; b < from.size(); ++b) {
    const Dims to = block_dims(shown.id, shown.axis, b);
    std::vector<TensorId> inputs{from[b]};
    if (!turned)
      inputs.push_back(graph_.add_constant(block_name(n.name, b) + "_shape", DType::int64,
                                           {std::ssize(to)},
                                           ConstData(std::vector<int64_t>(to.begin(), to.end()))));
    out.push_back(add_block(shown.id, b, to));
    graph_.add_node(like, block_name(n.name, b), std::move(inputs), {out.back()});
  }
  return out;
}

}  // namespace accsim::sim
