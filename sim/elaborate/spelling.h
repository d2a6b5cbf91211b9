#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/graph_builder.h"
#include "sim/elaborate/scope.h"
#include "sim/operators/fold.h"

namespace accsim::sim {

class Expander;

/// Adds the nodes that stand in for one node, and reads that node's inputs and attributes. Names of
/// new nodes are "<node>/<what>". After the first error nothing more is added: kNoTensor is given,
/// and errors() says why.
class Spelling {
 public:
  /// Both must outlive it. New nodes are expanded in turn, if they stand for others.
  Spelling(const NodeCall& call, Expander& expander) : call_(call), expander_(expander) {}

  const NodeCall& call() const { return call_; }
  /// Input i of the node; kNoTensor when it is absent.
  TensorId input(size_t i) const { return call_.input(i); }
  bool has(size_t i) const { return input(i) != kNoTensor; }
  /// Dims and element type of a tensor; a scalar's and undefined for kNoTensor.
  Dims dims(TensorId id) const;
  DType dtype(TensorId id) const;
  /// Is it what a product writes?
  bool is_product(TensorId id) const;
  /// The rank of a tensor.
  int64_t rank(TensorId id) const { return static_cast<int64_t>(dims(id).size()); }
  /// Dim `axis` of a tensor, from the end where it is negative; 0 where it has no such dim.
  int64_t dim(TensorId id, int64_t axis) const;
  /// The elements of an integer constant; empty where they aren't known.
  std::vector<int64_t> known_integers(TensorId id) const;
  /// The elements of a constant of any type of numbers; empty where they aren't known.
  std::vector<double> known_numbers(TensorId id) const;

  /// How many elements a constant may have that is made here.
  static int64_t most_values() { return kMostFolded; }

  // Attributes of the node; the fallback when one is absent or of another type.
  int64_t integer(std::string_view name, int64_t fallback) const {
    return call_.integer_attribute(name, fallback);
  }
  double real(std::string_view name, double fallback) const;
  std::string text(std::string_view name, std::string_view fallback) const;

  /// A node of ai.onnx, in its newest opset, with one output. Where inputs are floats of several
  /// types, as fused operators take them, all become that of the first which a run computes.
  TensorId add(const std::string& op_type, const std::string& what, TensorIds inputs,
               std::vector<Attribute> attributes = {});
  /// A node of any domain with so many outputs.
  TensorIds add_all(const std::string& domain, const std::string& op_type, const std::string& what,
                    TensorIds inputs, size_t outputs, std::vector<Attribute> attributes = {});
  TensorId reshape(const std::string& what, TensorId of, const Dims& to);
  TensorId transpose(const std::string& what, TensorId of, std::vector<int64_t> perm);
  /// [image, channel, spatial ...] of a tensor whose channels are the last dim, and the other way
  /// round; the tensor itself where it has no spatial dims.
  TensorId channels_first(const std::string& what, TensorId of);
  TensorId channels_last(const std::string& what, TensorId of);
  /// Elements `from` to `to`, exclusive, of an axis.
  TensorId slice(const std::string& what, TensorId of, int64_t axis, int64_t from, int64_t to);
  /// Constants: a list of integers; one number in a tensor without dims.
  TensorId integers(const std::string& what, std::vector<int64_t> values);
  TensorId number(const std::string& what, double value, DType dtype);
  /// Real numbers of such dims.
  TensorId numbers(const std::string& what, const Dims& dims, std::vector<double> values);
  /// Integers of such dims.
  TensorId integers(const std::string& what, const Dims& dims, std::vector<int64_t> values);
  /// A constant filled with zeros.
  TensorId zeros(const std::string& what, const Dims& dims, DType dtype);

  /// Notes that this form of the node can't be spelled out, and why.
  void refuse(std::string why);
  const Errors& errors() const { return errors_; }

 private:
  const Graph& graph() const;
  std::string scoped_name(const std::string& what) const;
  TensorIds in_one_float(const std::string& op_type, const std::string& what, TensorIds inputs);
  /// The tensor, or kNoTensor when there are errors.
  TensorId take(const Result<TensorId>& made);

  const NodeCall& call_;
  Expander& expander_;
  Errors errors_;
};

}  // namespace accsim::sim
