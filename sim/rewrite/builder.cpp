#include "sim/rewrite/builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/names.h"

namespace accsim::sim::rewrite {

// Where operators took an attribute first and an input later: the versions of ai.onnx.
constexpr int64_t kSplitByInput = 13, kSliceByInput = 10, kPadByInput = 11;

Value Builder::result_like(const Value& like, Dims dims, const std::string& label) const {
  return {prefix_ + "/" + label, like.dtype, std::move(dims), like.constant};
}

Value Builder::emit_node(const std::string& op, std::vector<std::string> inputs,
                         std::vector<Attribute> attributes, Value output,
                         const std::string& label) {
  NodeDef node;
  node.name = fmt::format("{}/{}_{}", prefix_, op, label);
  node.op_type = op;
  node.inputs = std::move(inputs);
  node.outputs = {output.name};
  node.attributes = std::move(attributes);
  nodes_.push_back(std::move(node));
  edit_.value_infos.push_back(stated_value(output.name, output.dtype, output.dims));
  return output;
}

std::vector<NodeDef> Builder::finish_layer(const std::string& output) {
  check(!nodes_.empty() && nodes_.back().outputs.size() == 1, "a layer ends in one tensor");
  std::string& last = nodes_.back().outputs[0];
  // It is among the latest: looked for from the back, time grows with the nodes.
  const auto stated = std::find_if(edit_.value_infos.rbegin(), edit_.value_infos.rend(),
                                   [&](const ValueDef& value) { return value.name == last; });
  if (stated != edit_.value_infos.rend()) edit_.value_infos.erase(std::next(stated).base());
  last = output;
  return std::exchange(nodes_, {});
}

std::string Builder::store_constant(StoredTensor tensor) {
  std::string name = tensor.name;
  // An older file lists its initializers as graph inputs, too.
  if (ir_version_ < kInitializersNeedNoInput)
    edit_.inputs.push_back(stated_value(name, tensor.dtype, tensor.dims));
  edit_.initializers.push_back(std::move(tensor));
  return name;
}

std::string Builder::store_integers(Dims dims, std::vector<int64_t> values) {
  const auto [found, added] = constants_.try_emplace({dims, values});
  if (added)
    found->second =
        store_constant(stored_integers(fmt::format("{}/integers_{}", shared_, constants_.size()),
                                       std::move(dims), std::move(values)));
  return found->second;
}

Value Builder::transpose(const Value& x, const std::vector<int64_t>& perm,
                         const std::string& label) {
  if (std::ranges::is_sorted(perm)) return x;
  Dims dims;
  for (const int64_t axis : perm) dims.push_back(x.dim(axis));
  return emit_node(op::kTranspose, {x.name}, {{"perm", "", perm}}, result_like(x, dims, label),
                   label);
}

Value Builder::reshape(const Value& x, const Dims& dims, const std::string& label) {
  if (x.dims == dims) return x;
  return emit_node(op::kReshape,
                   {x.name, store_integers({static_cast<int64_t>(dims.size())}, dims)}, {},
                   result_like(x, dims, label), label);
}

Value Builder::slice(const Value& x, std::vector<int64_t> starts, std::vector<int64_t> ends,
                     std::vector<int64_t> axes, const std::string& label) {
  Value out = result_like(x, x.dims, label);
  for (size_t i = 0; i < axes.size(); ++i)
    out.dims[static_cast<size_t>(axes[i])] = ends[i] - starts[i];
  const Dims length = {static_cast<int64_t>(axes.size())};
  if (opset_ >= kSliceByInput)
    return emit_node(
        op::kSlice,
        {x.name, store_integers(length, std::move(starts)), store_integers(length, std::move(ends)),
         store_integers(length, std::move(axes))},
        {}, std::move(out), label);
  return emit_node(op::kSlice, {x.name},
                   {{"starts", "", std::move(starts)},
                    {"ends", "", std::move(ends)},
                    {"axes", "", std::move(axes)}},
                   std::move(out), label);
}

Value Builder::crop(const Value& x, int64_t rows, int64_t cols, const std::string& label) {
  return slice(x, {0, 0}, {rows, cols}, {x.rank() - 2, x.rank() - 1}, label);
}

std::vector<Value> Builder::cut_axis(const Value& x, int64_t axis, int64_t size,
                                     const std::string& label) {
  const int64_t length = x.dim(axis);
  if (length <= size) return {x};
  std::vector<Value> out;
  std::vector<int64_t> sizes;
  for (int64_t at = 0; at < length; at += size) {
    const std::string piece = fmt::format("{}{}", label, sizes.size());
    const int64_t end = std::min(at + size, length);
    sizes.push_back(end - at);
    if (x.constant) {
      out.push_back(slice(x, {at}, {end}, {axis}, piece));
      continue;
    }
    out.push_back(result_like(x, x.dims, piece));
    out.back().dims[static_cast<size_t>(axis)] = end - at;
  }
  if (x.constant) return out;
  NodeDef node;
  node.name = fmt::format("{}/Split_{}", prefix_, label);
  node.op_type = op::kSplit;
  node.inputs = {x.name};
  node.attributes = {{"axis", "", axis}};
  const Dims count = {static_cast<int64_t>(sizes.size())};
  if (opset_ >= kSplitByInput)
    node.inputs.push_back(store_integers(count, std::move(sizes)));
  else
    node.attributes.push_back({"split", "", std::move(sizes)});
  for (const Value& piece : out) {
    node.outputs.push_back(piece.name);
    edit_.value_infos.push_back(stated_value(piece.name, piece.dtype, piece.dims));
  }
  nodes_.push_back(std::move(node));
  return out;
}

Value Builder::pad(const Value& x, const Dims& before, const Dims& behind,
                   const std::string& label) {
  Value out = result_like(x, x.dims, label);
  bool any = false;
  for (size_t i = 0; i < out.dims.size(); ++i) {
    out.dims[i] += before[i] + behind[i];
    any = any || before[i] + behind[i] > 0;
  }
  if (!any) return x;
  std::vector<int64_t> pads = before;
  pads.insert(pads.end(), behind.begin(), behind.end());
  const Dims length = {static_cast<int64_t>(pads.size())};
  if (opset_ >= kPadByInput)
    return emit_node(op::kPad, {x.name, store_integers(length, std::move(pads))}, {},
                     std::move(out), label);
  return emit_node(op::kPad, {x.name}, {{"pads", "", std::move(pads)}}, std::move(out), label);
}

Value Builder::gather(const Value& x, int64_t axis, Dims dims, std::vector<int64_t> indices,
                      const std::string& label) {
  const auto at = static_cast<size_t>(axis);
  Value out = result_like(x, Dims(x.dims.begin(), x.dims.begin() + axis), label);
  out.dims.insert(out.dims.end(), dims.begin(), dims.end());
  for (size_t i = at + 1; i < x.dims.size(); ++i) out.dims.push_back(x.dims[i]);
  return emit_node(op::kGather, {x.name, store_integers(std::move(dims), std::move(indices))},
                   {{"axis", "", axis}}, std::move(out), label);
}

Value Builder::matmul(const Value& a, const Value& b, const std::string& label) {
  const std::optional<Dims> batch = broadcast_dims(Dims(a.dims.begin(), a.dims.end() - 2),
                                                   Dims(b.dims.begin(), b.dims.end() - 2));
  check(batch.has_value(), "elaboration has checked that batch dims broadcast");
  Value out = result_like(a, *batch, label);
  out.constant = a.constant && b.constant;
  out.dims.push_back(a.dim(-2));
  out.dims.push_back(b.dim(-1));
  return emit_node(op::kMatMul, {a.name, b.name}, {}, std::move(out), label);
}

Value Builder::sum(const std::vector<Value>& terms, const std::string& label) {
  if (terms.size() == 1) return terms[0];
  if (is_float(terms[0].dtype)) {
    std::vector<std::string> names;
    for (const Value& term : terms) names.push_back(term.name);
    return emit_node(op::kSum, std::move(names), {}, result_like(terms[0], terms[0].dims, label),
                     label);
  }
  // Sum isn't defined for integers.
  Value total = terms[0];
  for (size_t i = 1; i < terms.size(); ++i)
    total =
        add(total, terms[i], i + 1 == terms.size() ? label : fmt::format("{}_after_k{}", label, i));
  return total;
}

Value Builder::concat(const std::vector<Value>& parts, int64_t axis, const std::string& label) {
  if (parts.size() == 1) return parts[0];
  Value out = result_like(parts[0], parts[0].dims, label);
  int64_t& length = out.dims[static_cast<size_t>(axis)];
  std::vector<std::string> names;
  length = 0;
  for (const Value& part : parts) {
    length += part.dim(axis);
    names.push_back(part.name);
  }
  return emit_node(op::kConcat, std::move(names), {{"axis", "", axis}}, std::move(out), label);
}

Value Builder::add(const Value& a, const Value& b, const std::string& label) {
  const std::optional<Dims> dims = broadcast_dims(a.dims, b.dims);
  check(dims.has_value(), "elaboration has checked that the bias broadcasts");
  return emit_node(op::kAdd, {a.name, b.name}, {}, result_like(a, *dims, label), label);
}

Value Builder::scale(const Value& x, double factor, const std::string& label) {
  if (factor == 1) return x;
  const auto [found, added] = factors_.try_emplace({factor, DType::float32});
  if (added)
    found->second = store_constant(
        stored_reals(fmt::format("{}/factor_{}", shared_, factors_.size()), {}, {factor}));
  std::string name = found->second;
  if (x.dtype != DType::float32) {
    // Each layer casts for itself: constants of every element type needn't be written.
    Value cast{fmt::format("{}/{}_factor", prefix_, label), x.dtype, {}, true};
    name = emit_node(op::kCast, {name}, {{"to", "", static_cast<int64_t>(x.dtype)}}, cast,
                     label + "_factor")
               .name;
  }
  return emit_node(op::kMul, {x.name, name}, {}, result_like(x, x.dims, label), label);
}

}  // namespace accsim::sim::rewrite
