#pragma once
#include <string>
#include <vector>

#include "sim/graph/model_def.h"
#include "sim/onnx/wire.h"

/// Decoders of the single messages of onnx.proto. Each reads one message into `out` and gives false
/// with the fault set when it is malformed. Field numbers stand in the .cpp files as in onnx.proto.
namespace accsim::onnx {

/// What the decoders share.
struct Decoder {
  Fault& fault;
  std::string folder;  ///< of the model, with a trailing '/' ("" for the current one)
  int depth = 0;       ///< of nested graphs

  bool tensor(Span message, StoredTensor& out);
  bool sparse_tensor(Span message, StoredTensor& out);
  bool value_info(Span message, ValueDef& out);
  bool attribute(Span message, Attribute& out);
  bool node(Span message, NodeDef& out);
  bool graph(Span message, GraphDef& out);
  bool function(Span message, FunctionDef& out);
  bool opset(Span message, std::map<std::string, int64_t>& out);
  bool property(Span message, std::map<std::string, std::string>& out);

 private:
  bool external(Span message, Payload& payload);
  bool type(Span message, ValueDef& out);
  bool tensor_type(Span message, ValueDef& out);
  bool shape(Span message, ValueDef& out);
};

/// ai.onnx is stored as "".
inline std::string normal_domain(std::string domain) {
  return domain == "ai.onnx" ? std::string() : domain;
}

/// Decodes the elements of a small tensor from their little-endian bytes (raw_data layout).
ConstPtr decode_elements(DType dtype, size_t count, Span raw);

/// Appends the elements that a TensorProto's typed field holds to `out`, in the layout of raw_data.
/// `most` bounds their number. False with the fault set when the field is malformed.
bool typed_elements(Span message, int typed_field, DType dtype, size_t most, Fault& fault,
                    std::vector<uint8_t>& out);
/// The typed field that belongs to an element type.
int typed_field_of(DType dtype);

}  // namespace accsim::onnx
