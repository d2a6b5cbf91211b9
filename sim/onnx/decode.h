#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/graph/model_def.h"
#include "sim/onnx/field_numbers.h"
#include "sim/onnx/wire.h"

/// Decoders of the single messages of onnx.proto. Each reads one message into `out` and gives false
/// with the fault set when it is malformed. Field numbers stand in the .cpp files as in onnx.proto.
namespace accsim::sim::onnx {

/// What the decoders share.
struct Decoder {
  Fault& fault;
  std::string file;    ///< that is read; external data lies beside it
  bool alone = false;  ///< it is no file: external data counts as not there, and isn't looked for
  int depth = 0;       ///< of nested graphs

  bool decode_tensor(ByteSpan message, StoredTensor& out);
  bool sparse_tensor(ByteSpan message, StoredTensor& out);
  bool value_info(ByteSpan message, ValueDef& out);
  bool decode_attribute(ByteSpan message, Attribute& out);
  bool decode_node(ByteSpan message, NodeDef& out);
  bool decode_graph(ByteSpan message, GraphDef& out);
  bool decode_function(ByteSpan message, FunctionDef& out);
  bool decode_opset(ByteSpan message, std::map<std::string, int64_t>& out);
  bool decode_property(ByteSpan message, std::map<std::string, std::string>& out);

 private:
  /// Which field of a TypeProto says what it is; 0: none does.
  struct TypeKind {
    uint32_t number = 0;
    ByteSpan message{};
  };

  bool decode_external(ByteSpan message, Payload& payload);
  TypeKind type_kind(ByteSpan message);
  bool decode_type(ByteSpan message, ValueDef& out);
  bool tensor_type(ByteSpan message, ValueDef& out);
  bool decode_shape(ByteSpan message, ValueDef& out);
};

/// ai.onnx is stored as "".
inline std::string normal_domain(std::string domain) {
  return domain == "ai.onnx" ? std::string() : std::move(domain);
}

/// The two texts of a StringStringEntryProto.
inline bool read_entry(ByteSpan message, Fault& fault, std::string& key, std::string& value) {
  return read_fields(message, fault, into(proto::StringStringEntry::kKey, key),
                     into(proto::StringStringEntry::kValue, value));
}

/// Decodes the elements of a small tensor from their little-endian bytes (raw_data layout).
ConstPtr decode_elements(DType dtype, size_t count, ByteSpan raw);

/// Whether import keeps the elements of such a tensor.
bool is_small(DType dtype, int64_t count);

/// The elements of a sparse tensor in the layout of raw_data, as a dense tensor has them: zeros,
/// and the values that `message` (SparseTensorProto) stores. nullopt when values or indices can't
/// be read, an index lies outside, or there are more than kMostDenseBytes.
std::optional<std::vector<uint8_t>> dense_elements(const std::string& model_file, ByteSpan message,
                                                   DType dtype, const Dims& dims);

/// Appends the elements that a TensorProto's typed field holds to `out`, in the layout of raw_data.
/// `most` bounds their number. False with the fault set when the field is malformed.
bool typed_elements(ByteSpan message, int typed_field, DType dtype, size_t most, Fault& fault,
                    std::vector<uint8_t>& out);
/// The typed field that belongs to an element type.
int typed_field_of(DType dtype);

}  // namespace accsim::sim::onnx
