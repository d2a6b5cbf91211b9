#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/elaborate/budget.h"
#include "sim/elaborate/graph_builder.h"

namespace accsim::sim {

/// Nodes of ai.onnx that an operator stands for, added one behind the other. Their names and those
/// of their tensors begin with the operator's. Once there is an error, nothing more is added, and
/// all calls give kNoTensor.
class AddedNodes {
 public:
  /// All of them must outlive it.
  AddedNodes(const NodeCall& call, GraphBuilder& builder, Budget& budget)
      : call_(call), builder_(builder), budget_(budget) {}

  const NodeCall& call() const { return call_; }
  const Tensor& tensor(TensorId id) const { return builder_.graph().tensor(id); }
  const Dims& dims(TensorId id) const { return tensor(id).dims; }
  /// Has the graph got the tensor? What is added for a try is taken back.
  bool has_tensor(TensorId id) const {
    return id >= 0 && static_cast<size_t>(id) < builder_.graph().tensors.size();
  }
  const Errors& errors() const { return errors_; }
  std::string scoped_name(std::string_view what) const;
  /// Ends the adding with errors of nodes that others added.
  TensorId fail(Errors errors) {
    errors_ = std::move(errors);
    return kNoTensor;
  }

  /// A node. It gives output `output` of the operator under the file's name for it, if the file
  /// has one; the node that gives output 0 has the operator's name.
  TensorId add_node(std::string_view op_type, std::string_view what, TensorIds inputs,
                    std::vector<Attribute> attributes = {}, int output = kInner);
  TensorId add_reshape(std::string_view what, TensorId of, const Dims& to, int output = kInner);
  TensorId add_transpose(std::string_view what, TensorId of, std::vector<int64_t> perm,
                         int output = kInner);
  TensorId add_concat(std::string_view what, TensorIds parts, int64_t axis, int output = kInner);
  /// Indices [from, to) of an axis; the tensor itself where these are all.
  TensorId add_slice(std::string_view what, TensorId of, int64_t axis, int64_t from, int64_t to);
  /// A constant; as many values as `to` has elements.
  TensorId add_integers(std::string_view what, const Dims& to, std::vector<int64_t> values);
  /// A constant of one real number.
  TensorId add_real(std::string_view what, DType dtype, double value);

  /// Names the output of a node that is none of the operator's.
  static constexpr int kInner = -1;

 private:
  TensorId take(const Result<TensorId>& added);

  const NodeCall& call_;
  GraphBuilder& builder_;
  Budget& budget_;
  Errors errors_;
};

}  // namespace accsim::sim
