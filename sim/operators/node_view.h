#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/result.h"
#include "sim/graph/graph.h"

namespace accsim::sim {

/// What the rules of the op table see of one node: attributes, inputs and (for cost rules) outputs.
/// Before a rule runs, the input count has been checked against the op's row, so inputs below
/// `min_inputs` are present; use has_input() for the others.
class NodeView {
 public:
  /// `order`: the axes of input 0 as they lie in memory, outermost first; empty: as its dims say.
  NodeView(const Graph& graph, const Node& node, std::vector<size_t> order = {})
      : graph_(graph), node_(node), order_(std::move(order)) {}

  const Node& node() const { return node_; }
  /// Cost rules: the axes of input 0, and of what has as many, as they lie in memory.
  const std::vector<size_t>& axis_order() const { return order_; }
  /// One value an axis (dims, say) put in that order.
  std::vector<int64_t> in_order(const std::vector<int64_t>& by_axis) const;
  /// Where an axis stands in it.
  int64_t place_of(int64_t axis) const;
  int64_t opset() const { return node_.opset; }

  const Graph& graph() const { return graph_; }
  /// What the graph has noted for this node of `of`; nullopt: nothing.
  std::optional<int64_t> noted_size(std::string_view of) const;

  size_t input_count() const { return node_.inputs.size(); }
  bool has_input(size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != kNoTensor; }
  const Tensor& input(size_t i) const;
  const Dims& dims(size_t i) const { return input(i).dims; }
  int64_t rank(size_t i) const { return static_cast<int64_t>(dims(i).size()); }
  DType dtype(size_t i) const { return input(i).dtype; }
  /// The input's elements when known; nullptr when absent, not constant or too large to keep. Those
  /// of an empty tensor are always known.
  const ConstData* value(size_t i) const;
  /// The node that gives the input; nullopt: none.
  std::optional<NodeView> maker(size_t i) const;
  /// Has a rule asked for the elements of input i? Only of the first 64 inputs.
  bool asked_for(size_t i) const { return i < kCounted && (asked_ >> i & 1) != 0; }
  /// Elements of an integer input that must be known; the error names the input.
  Result<std::vector<int64_t>> known_integers(size_t i) const;

  size_t output_count() const { return node_.outputs.size(); }
  bool has_output(size_t i) const {
    return i < node_.outputs.size() && node_.outputs[i] != kNoTensor;
  }
  /// Valid once the shape rule has run.
  const Tensor& output(size_t i) const;

  bool has_attr(std::string_view name) const { return find_attribute(name) != nullptr; }
  const Attribute* find_attribute(std::string_view name) const;
  /// The attribute, or the fallback when it is absent or of another type.
  int64_t attr(std::string_view name, int64_t fallback) const;
  double attr(std::string_view name, double fallback) const;
  std::string attr(std::string_view name, const char* fallback) const;
  std::vector<int64_t> attr(std::string_view name, const std::vector<int64_t>& fallback) const;
  std::optional<std::vector<int64_t>> attr_ints(std::string_view name) const;

 protected:
  const Graph& graph_;
  const Node& node_;
  const std::vector<size_t> order_;

 private:
  static constexpr size_t kCounted = 64;
  mutable uint64_t asked_ = 0;  ///< a bit an input
};

/// What shape and value rules get: the view, and setters for the outputs.
class InferContext : public NodeView {
 public:
  InferContext(Graph& graph, const Node& node) : NodeView(graph, node), mutable_graph_(graph) {}

  /// Sets element type and shape of output i; does nothing for an output nobody asked for.
  void set_output(size_t i, DType dtype, Dims dims);
  /// A size that only the numbers of a run decide: the one that the user gave for this node, or the
  /// bound, which it can't exceed. `of` says what is counted. The graph notes it, without the
  /// operator's name.
  Result<int64_t> assumed_size(std::string_view of, int64_t bound);
  /// The same with all that is noted but the node's name: asked.size where the user gave none.
  Result<int64_t> assumed_size(Assumption asked);
  /// Sets the elements of output i (row-major, as many as its shape has).
  void set_value(size_t i, std::vector<int64_t> integers);
  void set_value(size_t i, std::vector<double> reals);
  void set_value(size_t i, ConstPtr value);
  /// Sets elements that output i is assumed to have, which only a run decides; not where the user
  /// states them.
  void set_assumed_value(size_t i, ConstPtr value);
  /// Does the user state the elements of output i?
  bool is_output_given(size_t i) const;

 private:
  Graph& mutable_graph_;
};

/// Axis in [-rank, rank) made non-negative; an error when outside, so always for rank 0.
Result<int64_t> normalize_axis(int64_t axis, int64_t rank);
/// Each axis normalised, sorted, duplicates refused.
Result<std::vector<int64_t>> normalize_axes(std::vector<int64_t> axes, int64_t rank);

}  // namespace accsim::sim
