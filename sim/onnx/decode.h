#pragma once
#include <string>

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

}  // namespace accsim::onnx
