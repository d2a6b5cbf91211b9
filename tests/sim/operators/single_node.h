#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/operators/node_view.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

/// A graph of one node, built input by input, to put questions to its row of the op table.
class SingleNode {
 public:
  SingleNode(std::string op, int64_t opset, std::string domain = "") {
    node_.name = "node";
    node_.op_type = std::move(op);
    node_.domain = std::move(domain);
    node_.opset = opset;
  }

  SingleNode& in(Dims dims, DType dtype = DType::float32) {
    node_.inputs.push_back(add(std::move(dims), dtype));
    return *this;
  }
  SingleNode& absent() {
    node_.inputs.push_back(kNoTensor);
    return *this;
  }
  SingleNode& ints(std::vector<int64_t> values, DType dtype = DType::int64) {
    const Dims dims{static_cast<int64_t>(values.size())};
    return constant(dims, dtype, std::make_shared<ConstData>(std::move(values)));
  }
  SingleNode& scalar(int64_t value) {
    return constant({}, DType::int64, std::make_shared<ConstData>(std::vector<int64_t>{value}));
  }
  SingleNode& reals(std::vector<double> values) {
    const Dims dims{static_cast<int64_t>(values.size())};
    return constant(dims, DType::float32, std::make_shared<ConstData>(std::move(values)));
  }
  SingleNode& constant(Dims dims, DType dtype, ConstPtr value) {
    in(std::move(dims), dtype);
    graph_.tensors.back().constant = true;
    graph_.tensors.back().value = std::move(value);
    return *this;
  }
  template <class T>
  SingleNode& attr(std::string name, T value) {
    Attribute a;
    a.name = std::move(name);
    a.value = std::move(value);
    node_.attributes.push_back(std::move(a));
    return *this;
  }
  SingleNode& attr(std::string name, int value) { return attr(std::move(name), int64_t{value}); }
  SingleNode& attr(std::string name, const char* value) {
    return attr(std::move(name), std::string(value));
  }
  SingleNode& list(std::string name, std::vector<int64_t> value) {
    return attr(std::move(name), std::move(value));
  }
  SingleNode& outs(size_t count) {
    outputs_ = count;
    return *this;
  }

  /// Runs the shape rule after the checks that the elaborator does.
  Status infer() {
    const OpRow* row = find_op(node_.domain, node_.op_type);
    if (row == nullptr) return Error{Errc::unsupported, "no row", ""};
    const auto count = static_cast<int>(node_.inputs.size());
    if (count < row->min_inputs || count > row->max_inputs)
      return Error{Errc::invalid, "wrong number of inputs", ""};
    for (int i = 0; i < row->min_inputs; ++i)
      if (node_.inputs[static_cast<size_t>(i)] == kNoTensor)
        return Error{Errc::invalid, "a needed input is absent", ""};
    node_.outputs.clear();
    for (size_t i = 0; i < outputs_; ++i) {
      node_.outputs.push_back(add({-1}, DType::undefined));
    }
    InferContext context(graph_, node_);
    return row->shape(context);
  }

  /// Runs the value rule; call after infer(). The elaborator calls it when all inputs are known.
  Status fold() {
    const OpRow* row = find_op(node_.domain, node_.op_type);
    InferContext context(graph_, node_);
    return row->value == nullptr ? ok() : row->value(context);
  }
  /// Whether the value rule may be asked: every present input has a value.
  bool all_known() const {
    const NodeView node = view();
    for (size_t i = 0; i < node.input_count(); ++i)
      if (node.has_input(i) && node.value(i) == nullptr) return false;
    return true;
  }
  /// Output i's elements; nullptr when nothing has set them.
  const ConstData* value(size_t i = 0) const { return tensor(i).value.get(); }

  Dims out(size_t i = 0) const { return tensor(i).dims; }
  DType type(size_t i = 0) const { return tensor(i).dtype; }

  /// The node as rules see it; call after infer().
  NodeView view() const { return {graph_, node_}; }
  /// The node's cost; call after infer(). Each item of it says where it writes, or it would be
  /// taken for one that does nothing (lower()).
  Result<Work> cost() const {
    Result<Work> work = find_op(node_.domain, node_.op_type)->cost(view());
    if (!work || !view().has_output(0) || elements(out()) == 0) return work;
    for (const WorkItem& item : *work) {
      const auto writes = [&](const auto& op) {
        EXPECT_TRUE(!op.outputs.empty() || op.inputs.empty()) << node_.op_type;
      };
      if (const auto* vector = std::get_if<VectorOp>(&item)) writes(*vector);
      if (const auto* move = std::get_if<MemoryOp>(&item)) writes(*move);
    }
    return work;
  }
  /// What it does with rows; its row has a rule for that.
  std::optional<RowMeaning> rows() const {
    return find_op(node_.domain, node_.op_type)->rows(view());
  }

 private:
  const Tensor& tensor(size_t i) const { return graph_.tensor(node_.outputs.at(i)); }

  TensorId add(Dims dims, DType dtype) {
    Tensor t;
    t.name = "t" + std::to_string(graph_.tensors.size());
    t.dims = std::move(dims);
    t.dtype = dtype;
    graph_.tensors.push_back(std::move(t));
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }

  Graph graph_;
  Node node_;
  size_t outputs_ = 1;
};

/// Shape of output 0, or the first error's text.
inline std::string shape_or_error(SingleNode& node) {
  const Status s = node.infer();
  return s ? accsim::to_string(node.out()) : s.errors().front().text();
}

/// Item i of a work list as a given kind; default-made with a failed expectation otherwise.
template <class T>
T item(const Result<Work>& work, size_t i = 0) {
  if (work && i < work->size() && std::holds_alternative<T>((*work)[i]))
    return std::get<T>((*work)[i]);
  ADD_FAILURE() << "no such work item" << (work ? "" : ": " + work.errors().front().text());
  return {};
}

inline int64_t total_macs(const Result<Work>& work) {
  int64_t macs = 0;
  if (work)
    for (const WorkItem& i : *work)
      if (const auto* gemm = std::get_if<GemmOp>(&i)) macs += gemm->macs();
  return macs;
}

}  // namespace accsim::sim
