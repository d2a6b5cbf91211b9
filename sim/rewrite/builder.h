#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/onnx/writer.h"

namespace accsim::sim::rewrite {

/// A tensor of the graph that is being written: what nodes read and give.
struct Value {
  std::string name;
  DType dtype = DType::float32;
  Dims dims;
  bool constant = false;  ///< the same in every run: weights, and what is made of them

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  int64_t dim(int64_t axis) const {
    return dims[static_cast<size_t>(axis < 0 ? axis + rank() : axis)];
  }
};

/// Writes nodes in the form that the model's opset has. Names are "<prefix>/<Op>_<label>" for nodes
/// and "<prefix>/<label>" for tensors; labels must differ within a prefix. Every tensor given gets
/// a value_info. Axes are counted from the front and in range.
class Builder {
 public:
  /// `shared` is a prefix for constants that all layers use; no name of the model starts with it.
  Builder(int64_t opset, int64_t ir_version, std::string shared, ModelEdit& edit)
      : opset_(opset), ir_version_(ir_version), shared_(std::move(shared)), edit_(edit) {}

  void begin_layer(std::string prefix) { prefix_ = std::move(prefix); }
  /// The nodes since begin_layer(), the last of them giving `output` under that name.
  std::vector<NodeDef> finish_layer(const std::string& output);

  Value transpose(const Value& x, const std::vector<int64_t>& perm, const std::string& label);
  Value reshape(const Value& x, const Dims& dims, const std::string& label);
  /// Pieces of `size` along an axis, the last one smaller; labels are "<label><i>". Constants are
  /// cut by Slice, so that each piece can be folded on its own, the others by one Split.
  std::vector<Value> cut_axis(const Value& x, int64_t axis, int64_t size, const std::string& label);
  /// x[0:end] along the last two axes.
  Value crop(const Value& x, int64_t rows, int64_t cols, const std::string& label);
  /// Zeros before and behind, per axis.
  Value pad(const Value& x, const Dims& before, const Dims& behind, const std::string& label);
  /// Replaces an axis by the axes of `indices`.
  Value gather(const Value& x, int64_t axis, Dims dims, std::vector<int64_t> indices,
               const std::string& label);
  /// Batch dims broadcast; both have a rank of 2 or more.
  Value matmul(const Value& a, const Value& b, const std::string& label);
  Value sum(const std::vector<Value>& terms, const std::string& label);
  Value concat(const std::vector<Value>& parts, int64_t axis, const std::string& label);
  Value add(const Value& a, const Value& b, const std::string& label);
  /// x * factor; factor 1 gives x.
  Value scale(const Value& x, double factor, const std::string& label);

 private:
  std::string store_integers(Dims dims, std::vector<int64_t> values);
  std::string store_constant(StoredTensor tensor);
  Value slice(const Value& x, std::vector<int64_t> starts, std::vector<int64_t> ends,
              std::vector<int64_t> axes, const std::string& label);
  /// Adds a node with one output.
  Value emit_node(const std::string& op, std::vector<std::string> inputs,
                  std::vector<Attribute> attributes, Value output, const std::string& label);
  Value result_like(const Value& like, Dims dims, const std::string& label) const;

  int64_t opset_, ir_version_;
  std::string shared_, prefix_;
  ModelEdit& edit_;
  std::vector<NodeDef> nodes_;
  std::map<std::pair<Dims, std::vector<int64_t>>, std::string> constants_;
  std::map<std::pair<double, DType>, std::string> factors_;
};

}  // namespace accsim::sim::rewrite
