#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/result.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

namespace onnx {

/// A protobuf message under construction. Fields are written in the order of the calls.
class Message {
 public:
  void add_integer(uint32_t field, int64_t value);
  void add_real(uint32_t field, float value);
  /// A string, bytes or an encoded message.
  void add_text(uint32_t field, std::string_view bytes);
  void add_message(uint32_t field, const Message& inner) { add_text(field, inner.bytes()); }
  /// The start of such a field, whose `bytes` bytes are written elsewhere.
  void add_header(uint32_t field, size_t bytes);
  void add_encoded(std::string_view encoded) { bytes_ += encoded; }
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  const std::string& bytes() const { return bytes_; }
  std::string take_bytes() { return std::move(bytes_); }

 private:
  void add_varint(uint64_t value);
  std::string bytes_;
};

// Messages of onnx.proto. Tensors are written with their payload when it is raw, else from `value`;
// attributes may be numbers, strings, lists of these and dense tensors.
/// As TensorProto, ValueInfoProto and NodeProto.
Message encode(const StoredTensor& tensor);
Message encode(const ValueDef& value);
Message encode(const NodeDef& node);
/// An entry of metadata_props (StringStringEntryProto).
Message encode_property(std::string_view key, std::string_view value);

}  // namespace onnx

/// The IR version since which initializers needn't be listed as inputs, too.
inline constexpr int64_t kInitializersNeedNoInput = 4;

/// Can encode() write a tensor of that type from its `value`?
bool writes_values(DType dtype);

/// A tensor of `values` with its elements in memory, to be stored in a model.
StoredTensor stored_integers(std::string name, Dims dims, std::vector<int64_t> values);
/// The same for reals; they are stored as float32.
StoredTensor stored_reals(std::string name, Dims dims, std::vector<double> values);  ///< float32
/// A tensor of known shape, as a graph input, output or value_info states it.
ValueDef stated_value(std::string name, DType dtype, const Dims& dims);

/// The bytes of a model made from scratch; functions aren't written.
std::string write_model(const ModelDef& model);

/// Which parts of a model's main graph stay in its file. Its outputs are all written anew.
struct GraphPart {
  std::vector<bool> nodes;          ///< by position in GraphDef::nodes
  std::set<std::string> inputs;     ///< names of graph inputs
  std::set<std::string> stored;     ///< names of initializers
  std::set<std::string> described;  ///< names of value_infos
  std::set<std::string> tensors;    ///< names of all tensors that there are then
};

/// What is to change in a model's file.
struct ModelEdit {
  std::optional<GraphPart> part{};                     ///< nothing: all of the main graph stays
  std::map<size_t, std::vector<NodeDef>> replaced;     ///< by position in GraphDef::nodes
  std::vector<StoredTensor> initializers;              ///< added
  std::vector<ValueDef> inputs, value_infos, outputs;  ///< added
  std::map<std::string, ValueDef> restated;  ///< inputs, outputs and value_infos with another shape
  std::map<std::string, std::string> metadata;  ///< properties set; "" takes one away
};

/// The bytes of the model in file `path` after an edit. Every message that the edit doesn't name is
/// copied byte for byte: nodes, weights and where they lie, attributes, functions, opset imports.
/// Errors name the file.
Result<std::string> edit_model(const std::string& path, const ModelEdit& edit);

}  // namespace accsim::sim
