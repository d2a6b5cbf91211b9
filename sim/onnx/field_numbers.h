#pragma once
#include <cstdint>

/// The field numbers of onnx.proto that are read or written, named as there: message NodeProto's
/// field op_type is Node::kOpType. tests/oracle/field_numbers_test.cpp compares them with
/// libonnx's.
namespace accsim::sim::onnx::proto {

/// ModelProto: a whole file.
struct Model {
  enum : uint32_t {
    kIrVersion = 1,
    kProducerName = 2,
    kGraph = 7,
    kOpsetImport = 8,
    kMetadataProps = 14,
    kFunctions = 25,
  };
};
/// OperatorSetIdProto: a domain and its version.
struct OperatorSetId {
  enum : uint32_t { kDomain = 1, kVersion = 2 };
};
/// StringStringEntryProto: metadata, and where external data lie.
struct StringStringEntry {
  enum : uint32_t { kKey = 1, kValue = 2 };
};
/// GraphProto: nodes and the tensors between them.
struct Graph {
  enum : uint32_t {
    kNode = 1,
    kName = 2,
    kInitializer = 5,
    kInput = 11,
    kOutput = 12,
    kValueInfo = 13,
    kQuantizationAnnotation = 14,
    kSparseInitializer = 15,
  };
};
/// TensorAnnotation: scale and zero point of a tensor.
struct TensorAnnotation {
  enum : uint32_t { kTensorName = 1, kParameterNames = 2 };
};
/// NodeProto: one operator of a graph.
struct Node {
  enum : uint32_t {
    kInput = 1,
    kOutput = 2,
    kName = 3,
    kOpType = 4,
    kAttribute = 5,
    kDomain = 7,
    kOverload = 8,
    kMetadataProps = 9,
  };
};
/// AttributeProto: one value field and its type.
struct Attribute {
  enum : uint32_t {
    kName = 1,
    kF = 2,
    kI = 3,
    kS = 4,
    kT = 5,
    kG = 6,
    kFloats = 7,
    kInts = 8,
    kStrings = 9,
    kType = 20,
    kRefAttrName = 21,
    kSparseTensor = 22,
  };
};
/// AttributeProto.AttributeType, which is optional in old files.
struct AttributeType {
  enum : int64_t {
    kUndefined,
    kFloat,
    kInt,
    kString,
    kTensor,
    kGraph,
    kFloats,
    kInts,
    kStrings,
    kTensors,
    kGraphs,
    kSparseTensor,
    kSparseTensors,
    kTypeProto,
    kTypeProtos,
  };
};
/// FunctionProto: a function of the model's own.
struct Function {
  enum : uint32_t {
    kName = 1,
    kInput = 4,
    kOutput = 5,
    kAttribute = 6,
    kNode = 7,
    kOpsetImport = 9,
    kDomain = 10,
    kAttributeProto = 11,
    kOverload = 13,
  };
};
/// TensorProto: elements stored in the file or beside it.
struct Tensor {
  enum : uint32_t {
    kDims = 1,
    kDataType = 2,
    kFloatData = 4,
    kInt32Data = 5,
    kStringData = 6,
    kInt64Data = 7,
    kName = 8,
    kRawData = 9,
    kDoubleData = 10,
    kUint64Data = 11,
    kExternalData = 13,
    kDataLocation = 14,
  };
};
/// SparseTensorProto: elements that are stored with their places.
struct SparseTensor {
  enum : uint32_t { kValues = 1, kIndices = 2, kDims = 3 };
};
/// ValueInfoProto: a name and a type.
struct ValueInfo {
  enum : uint32_t { kName = 1, kType = 2 };
};
/// TypeProto: the kinds of types.
struct Type {
  enum : uint32_t {
    kTensorType = 1,
    kSequenceType = 4,
    kMapType = 5,
    kOpaqueType = 7,
    kSparseTensorType = 8,
    kOptionalType = 9,
  };
};
/// TypeProto.Tensor: element type and shape.
struct TensorType {
  enum : uint32_t { kElemType = 1, kShape = 2 };
};
/// TypeProto.Sequence and .Optional: the type of what is in them.
struct HeldType {
  enum : uint32_t { kElemType = 1 };
};
/// SequenceProto and OptionalProto, of files of test data (onnx-data.proto): the tensors of the
/// one; the tensor or sequence of the other.
struct HeldValue {
  enum : uint32_t { kTensorValue = 3, kSequenceValue = 5 };
};
/// TensorShapeProto: a list of dimensions.
struct TensorShape {
  enum : uint32_t { kDim = 1 };
};
/// TensorShapeProto.Dimension: a number or a symbol.
struct Dimension {
  enum : uint32_t { kDimValue = 1, kDimParam = 2 };
};

}  // namespace accsim::sim::onnx::proto
