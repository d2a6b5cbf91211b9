#pragma once
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "sim/lower/lane_meaning.h"
#include "sim/map/lanes/lane_problem.h"
#include "sim/operators/op_table.h"
#include "tests/support/index.h"

namespace accsim::sim {

/// An index of a tensor, dim by dim.
using At = std::vector<int64_t>;

/// A node of its own, its tensors with their layouts, and what it is by ONNX.
struct LaneCase {
  Graph graph;
  Dims out;
  LaneLayouts layouts;
  /// Elements of input 0 that make a result, and the number that a mean divides by.
  std::function<std::vector<At>(const At&)> taps = [](const At& o) { return std::vector<At>{o}; };
  std::function<int64_t(const At&)> divisor = [](const At&) { return 1; };
  /// Has the result the opposite sign?
  std::function<bool(const At&)> negated = [](const At&) { return false; };

  const Node& node() const { return graph.nodes.front(); }
  const Dims& dims(size_t port) const { return graph.tensor(node().inputs[port]).dims; }
  std::optional<LaneWork> work() const { return lane_work(NodeView(graph, node()), layouts); }
};

/// Builds a LaneCase: inputs, attributes, then infer().
class LaneCaseBuilder {
 public:
  LaneCaseBuilder(std::string op, int64_t opset) {
    node_.name = node_.op_type = std::move(op);
    node_.opset = opset;
  }
  /// `channels_last`: so it lies, and the result, if that has its rank.
  LaneCaseBuilder& in(Dims dims, bool channels_last = false, bool constant = false) {
    Tensor t;
    t.name = "t" + std::to_string(out_.graph.tensors.size());
    t.dims = std::move(dims);
    t.dtype = DType::float32;
    t.constant = constant;
    out_.graph.tensors.push_back(std::move(t));
    node_.inputs.push_back(static_cast<TensorId>(out_.graph.tensors.size() - 1));
    const Dims& its = out_.graph.tensors.back().dims;
    out_.layouts.inputs.push_back(channels_last ? channels_last_layout(its)
                                                : row_major_layout(its));
    if (channels_last) last_ = std::max(last_, its.size());
    return *this;
  }
  LaneCaseBuilder& absent() {
    node_.inputs.push_back(kNoTensor);
    out_.layouts.inputs.emplace_back();
    return *this;
  }
  LaneCaseBuilder& integers(std::vector<int64_t> values) {
    in({std::ssize(values)}, false, true);
    out_.graph.tensors.back().dtype = DType::int64;
    out_.graph.tensors.back().value = std::make_shared<ConstData>(std::move(values));
    return *this;
  }
  template <class T>
  LaneCaseBuilder& attr(std::string name, T value) {
    Attribute a;
    a.name = std::move(name);
    a.value = std::move(value);
    node_.attributes.push_back(std::move(a));
    return *this;
  }

  LaneCaseBuilder& turned(int port, int64_t piece) {
    out_.layouts.turned = {port, piece};
    return *this;
  }

  LaneCase build() {
    const TensorId result = add_output();
    node_.outputs = {result};
    out_.graph.nodes.push_back(node_);
    InferContext context(out_.graph, out_.graph.nodes.front());
    const Status inferred = find_op(node_)->shape(context);
    if (!inferred) ADD_FAILURE() << inferred.errors().front().text();
    out_.out = out_.graph.tensor(result).dims;
    out_.layouts.output =
        last_ == out_.out.size() ? channels_last_layout(out_.out) : row_major_layout(out_.out);
    return std::move(out_);
  }

 private:
  TensorId add_output() {
    Tensor t;
    t.name = "out" + std::to_string(out_.graph.tensors.size());
    t.dtype = DType::float32;
    t.producer = 0;
    out_.graph.tensors.push_back(std::move(t));
    return static_cast<TensorId>(out_.graph.tensors.size() - 1);
  }

  LaneCase out_;
  Node node_;
  size_t last_ = 0;  ///< rank of what lies with its channels last; 0: nothing
};

/// Where an element lies: row-major, or (channels last) with dim 1 behind the others.
inline size_t place(const Dims& dims, const At& at, bool channels_last) {
  size_t out = 0;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!channels_last || d != 1) out = out * test::as_index(dims[d]) + test::as_index(at[d]);
  return channels_last ? out * test::as_index(dims[1]) + test::as_index(at[1]) : out;
}

/// Calls `each` for all indices of a shape.
template <class Each>
void for_indices(const Dims& dims, Each each) {
  At at(dims.size(), 0);
  for (int64_t n = 0; n < elements(dims); ++n) {
    each(at);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++at[d] < dims[d]) break;
      at[d] = 0;
    }
  }
}

/// Windows over the spatial dims of a tensor N x C x spatial, as ONNX has them.
struct Windows {
  Dims kernel, stride, dilation, before, after;
};

inline std::vector<At> window_taps(const At& o, const Windows& w, const Dims& in, bool padded) {
  std::vector<At> out;
  for_indices(w.kernel, [&](const At& k) {
    At at = o;
    bool inside = true;
    for (size_t d = 0; d < k.size(); ++d) {
      at[d + 2] = o[d + 2] * w.stride[d] + k[d] * w.dilation[d] - w.before[d];
      const int64_t low = padded ? -w.before[d] : 0, high = in[d + 2] + (padded ? w.after[d] : 0);
      inside = inside && at[d + 2] >= low && at[d + 2] < high;
    }
    if (inside) out.push_back(at);
  });
  return out;
}

}  // namespace accsim::sim
