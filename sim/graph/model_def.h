#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/base/variant.h"
#include "sim/graph/const_data.h"

namespace accsim::sim {

/// A model as its file states it: names not yet resolved, shapes not yet inferred, functions and
/// subgraphs not yet expanded. sim/onnx writes it, the elaborator (sim/elaborate/elaborate.h) reads
/// it.

/// Where the bytes of a stored tensor are. Import notes the place and never reads it.
struct Payload {
  enum class Kind { none, raw, typed, external, sparse };
  Kind kind = Kind::none;
  /// raw: little-endian elements inside the mapped file; typed: the whole TensorProto message;
  /// sparse: the whole SparseTensorProto message.
  const uint8_t* data = nullptr;
  size_t size = 0;      ///< bytes at `data`, or the external length when stated
  int typed_field = 0;  ///< typed: number of the TensorProto field that holds elements
  /// external, and sparse where it isn't "": location relative to the model's folder.
  std::string external_file;
  int64_t external_offset = 0;
};

/// An initializer, or the value of an attribute: its elements stay in the file.
struct StoredTensor {
  std::string name;
  DType dtype = DType::undefined;
  Dims dims;
  Payload payload;
  ConstPtr value;  ///< set for the small tensors that shapes may depend on
  bool sparse = false;
};

/// One dimension of a declared shape: a number, a symbol to bind, or nothing known.
struct DimDef {
  int64_t value = -1;  ///< -1: not a number
  std::string symbol;  ///< "" with value -1: unknown and unnamed
};

/// A graph's input, output or value_info: a name with what the file declares of it. Type and dims
/// are those of the tensors in a sequence or an optional.
struct ValueDef {
  std::string name;
  DType dtype = DType::undefined;
  std::optional<std::vector<DimDef>> dims;  ///< nullopt: no shape declared
  bool is_tensor = true;                    ///< false: sequence, map or sparse
  bool is_sequence = false;                 ///< of tensors
  bool is_optional = false;                 ///< a tensor or sequence that may be left out
  std::string part_of{};                    ///< of a tensor of a sequence: its name
};

struct GraphDef;

/// A node's attribute; the alternative says its kind, monostate one that isn't read.
struct Attribute {
  std::string name;
  std::string ref;  ///< inside a function body: name of the calling node's attribute
  Variant<std::monostate, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
          std::vector<std::string>, std::shared_ptr<const StoredTensor>,
          std::shared_ptr<const GraphDef>>
      value;
};
/// The value of an attribute as a T; nullptr when it is absent or of another type.
template <class T>
const T* held_value(const Attribute* attribute) {
  return attribute == nullptr ? nullptr : std::get_if<T>(&attribute->value);
}

/// One operator call of a graph or function, by names.
struct NodeDef {
  std::string name;
  std::string op_type;
  std::string domain;  ///< "" for ai.onnx
  std::string overload;
  std::vector<std::string> inputs;  ///< "" for an absent optional input
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
  std::string module{};  ///< of the network's source, as "layer1.0.conv1"; "": not stated

  const Attribute* find_attribute(std::string_view wanted) const {
    for (const Attribute& a : attributes)
      if (a.name == wanted) return &a;
    return nullptr;
  }
};

/// A graph as declared: the model's main one, or the body of an If, Loop or Scan.
struct GraphDef {
  std::string name;
  std::vector<NodeDef> nodes;
  std::vector<StoredTensor> initializers;
  std::vector<ValueDef> inputs;
  std::vector<ValueDef> outputs;
  std::vector<ValueDef> value_infos;
};

/// A function of the model, called by nodes of its domain, name and overload.
struct FunctionDef {
  std::string domain;
  std::string name;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;  ///< declared without default
  std::vector<Attribute> attribute_defaults;
  std::vector<NodeDef> nodes;
  std::map<std::string, int64_t> opsets;
};

/// A whole file: its main graph, its functions and the opsets that they are written in.
struct ModelDef {
  std::string file;
  int64_t ir_version = 0;
  std::string producer;
  std::map<std::string, int64_t> opsets;        ///< domain ("" for ai.onnx) -> version
  std::map<std::string, std::string> metadata;  ///< properties of the model
  GraphDef graph;
  std::vector<FunctionDef> functions;
  std::shared_ptr<const void> mapping;  ///< keeps Payload::data alive
};

}  // namespace accsim::sim
