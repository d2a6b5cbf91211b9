#include "sim/onnx/field_numbers.h"

#include <gtest/gtest.h>

#include "onnx/onnx-data_pb.h"
#include "onnx/onnx_pb.h"

namespace accsim::sim::onnx::proto {
namespace {

struct Number {
  const char* name;
  uint32_t ours;
  int theirs;
};

/// libonnx 1.12 doesn't know Node::kOverload, Node::kMetadataProps, Function::kAttributeProto and
/// Function::kOverload.
TEST(FieldNumbers, AreTheyTheSameAsProtobufsConstants) {
  using M = ::onnx::ModelProto;
  using G = ::onnx::GraphProto;
  using N = ::onnx::NodeProto;
  using A = ::onnx::AttributeProto;
  using F = ::onnx::FunctionProto;
  using T = ::onnx::TensorProto;
  using Y = ::onnx::TypeProto;
  const Number numbers[] = {
      {"Model.ir_version", Model::kIrVersion, M::kIrVersionFieldNumber},
      {"Model.producer_name", Model::kProducerName, M::kProducerNameFieldNumber},
      {"Model.graph", Model::kGraph, M::kGraphFieldNumber},
      {"Model.opset_import", Model::kOpsetImport, M::kOpsetImportFieldNumber},
      {"Model.metadata_props", Model::kMetadataProps, M::kMetadataPropsFieldNumber},
      {"Model.functions", Model::kFunctions, M::kFunctionsFieldNumber},
      {"OperatorSetId.domain", OperatorSetId::kDomain,
       ::onnx::OperatorSetIdProto::kDomainFieldNumber},
      {"OperatorSetId.version", OperatorSetId::kVersion,
       ::onnx::OperatorSetIdProto::kVersionFieldNumber},
      {"StringStringEntry.key", StringStringEntry::kKey,
       ::onnx::StringStringEntryProto::kKeyFieldNumber},
      {"StringStringEntry.value", StringStringEntry::kValue,
       ::onnx::StringStringEntryProto::kValueFieldNumber},
      {"Graph.node", Graph::kNode, G::kNodeFieldNumber},
      {"Graph.name", Graph::kName, G::kNameFieldNumber},
      {"Graph.initializer", Graph::kInitializer, G::kInitializerFieldNumber},
      {"Graph.input", Graph::kInput, G::kInputFieldNumber},
      {"Graph.output", Graph::kOutput, G::kOutputFieldNumber},
      {"Graph.value_info", Graph::kValueInfo, G::kValueInfoFieldNumber},
      {"Graph.quantization_annotation", Graph::kQuantizationAnnotation,
       G::kQuantizationAnnotationFieldNumber},
      {"TensorAnnotation.tensor_name", TensorAnnotation::kTensorName,
       ::onnx::TensorAnnotation::kTensorNameFieldNumber},
      {"TensorAnnotation.quant_parameter_tensor_names", TensorAnnotation::kParameterNames,
       ::onnx::TensorAnnotation::kQuantParameterTensorNamesFieldNumber},
      {"Graph.sparse_initializer", Graph::kSparseInitializer, G::kSparseInitializerFieldNumber},
      {"Node.input", Node::kInput, N::kInputFieldNumber},
      {"Node.output", Node::kOutput, N::kOutputFieldNumber},
      {"Node.name", Node::kName, N::kNameFieldNumber},
      {"Node.op_type", Node::kOpType, N::kOpTypeFieldNumber},
      {"Node.attribute", Node::kAttribute, N::kAttributeFieldNumber},
      {"Node.domain", Node::kDomain, N::kDomainFieldNumber},
      {"Attribute.name", Attribute::kName, A::kNameFieldNumber},
      {"Attribute.f", Attribute::kF, A::kFFieldNumber},
      {"Attribute.i", Attribute::kI, A::kIFieldNumber},
      {"Attribute.s", Attribute::kS, A::kSFieldNumber},
      {"Attribute.t", Attribute::kT, A::kTFieldNumber},
      {"Attribute.g", Attribute::kG, A::kGFieldNumber},
      {"Attribute.floats", Attribute::kFloats, A::kFloatsFieldNumber},
      {"Attribute.ints", Attribute::kInts, A::kIntsFieldNumber},
      {"Attribute.strings", Attribute::kStrings, A::kStringsFieldNumber},
      {"Attribute.type", Attribute::kType, A::kTypeFieldNumber},
      {"Attribute.ref_attr_name", Attribute::kRefAttrName, A::kRefAttrNameFieldNumber},
      {"Attribute.sparse_tensor", Attribute::kSparseTensor, A::kSparseTensorFieldNumber},
      {"Function.name", Function::kName, F::kNameFieldNumber},
      {"Function.input", Function::kInput, F::kInputFieldNumber},
      {"Function.output", Function::kOutput, F::kOutputFieldNumber},
      {"Function.attribute", Function::kAttribute, F::kAttributeFieldNumber},
      {"Function.node", Function::kNode, F::kNodeFieldNumber},
      {"Function.opset_import", Function::kOpsetImport, F::kOpsetImportFieldNumber},
      {"Function.domain", Function::kDomain, F::kDomainFieldNumber},
      {"Tensor.dims", Tensor::kDims, T::kDimsFieldNumber},
      {"Tensor.data_type", Tensor::kDataType, T::kDataTypeFieldNumber},
      {"Tensor.float_data", Tensor::kFloatData, T::kFloatDataFieldNumber},
      {"Tensor.int32_data", Tensor::kInt32Data, T::kInt32DataFieldNumber},
      {"Tensor.string_data", Tensor::kStringData, T::kStringDataFieldNumber},
      {"Tensor.int64_data", Tensor::kInt64Data, T::kInt64DataFieldNumber},
      {"Tensor.name", Tensor::kName, T::kNameFieldNumber},
      {"Tensor.raw_data", Tensor::kRawData, T::kRawDataFieldNumber},
      {"Tensor.double_data", Tensor::kDoubleData, T::kDoubleDataFieldNumber},
      {"Tensor.uint64_data", Tensor::kUint64Data, T::kUint64DataFieldNumber},
      {"Tensor.external_data", Tensor::kExternalData, T::kExternalDataFieldNumber},
      {"Tensor.data_location", Tensor::kDataLocation, T::kDataLocationFieldNumber},
      {"SparseTensor.values", SparseTensor::kValues, ::onnx::SparseTensorProto::kValuesFieldNumber},
      {"SparseTensor.dims", SparseTensor::kDims, ::onnx::SparseTensorProto::kDimsFieldNumber},
      {"ValueInfo.name", ValueInfo::kName, ::onnx::ValueInfoProto::kNameFieldNumber},
      {"ValueInfo.type", ValueInfo::kType, ::onnx::ValueInfoProto::kTypeFieldNumber},
      {"Type.tensor_type", Type::kTensorType, Y::kTensorTypeFieldNumber},
      {"Type.sequence_type", Type::kSequenceType, Y::kSequenceTypeFieldNumber},
      {"Type.map_type", Type::kMapType, Y::kMapTypeFieldNumber},
      {"Type.opaque_type", Type::kOpaqueType, Y::kOpaqueTypeFieldNumber},
      {"Type.sparse_tensor_type", Type::kSparseTensorType, Y::kSparseTensorTypeFieldNumber},
      {"Type.optional_type", Type::kOptionalType, Y::kOptionalTypeFieldNumber},
      {"TensorType.elem_type", TensorType::kElemType,
       ::onnx::TypeProto_Tensor::kElemTypeFieldNumber},
      {"TensorType.shape", TensorType::kShape, ::onnx::TypeProto_Tensor::kShapeFieldNumber},
      {"HeldType.elem_type of a sequence", HeldType::kElemType,
       ::onnx::TypeProto_Sequence::kElemTypeFieldNumber},
      {"HeldType.elem_type of an optional", HeldType::kElemType,
       ::onnx::TypeProto_Optional::kElemTypeFieldNumber},
      {"HeldValue.tensor_values of a sequence", HeldValue::kTensorValue,
       ::onnx::SequenceProto::kTensorValuesFieldNumber},
      {"HeldValue.tensor_value of an optional", HeldValue::kTensorValue,
       ::onnx::OptionalProto::kTensorValueFieldNumber},
      {"HeldValue.sequence_value of an optional", HeldValue::kSequenceValue,
       ::onnx::OptionalProto::kSequenceValueFieldNumber},
      {"TensorShape.dim", TensorShape::kDim, ::onnx::TensorShapeProto::kDimFieldNumber},
      {"Dimension.dim_value", Dimension::kDimValue,
       ::onnx::TensorShapeProto_Dimension::kDimValueFieldNumber},
      {"Dimension.dim_param", Dimension::kDimParam,
       ::onnx::TensorShapeProto_Dimension::kDimParamFieldNumber},
  };
  for (const Number& n : numbers) EXPECT_EQ(static_cast<int>(n.ours), n.theirs) << n.name;
}

TEST(FieldNumbers, AreAttributeTypesTheSameAsProtobufs) {
  using A = ::onnx::AttributeProto;
  const Number numbers[] = {
      {"UNDEFINED", AttributeType::kUndefined, A::UNDEFINED},
      {"FLOAT", AttributeType::kFloat, A::FLOAT},
      {"INT", AttributeType::kInt, A::INT},
      {"STRING", AttributeType::kString, A::STRING},
      {"TENSOR", AttributeType::kTensor, A::TENSOR},
      {"GRAPH", AttributeType::kGraph, A::GRAPH},
      {"FLOATS", AttributeType::kFloats, A::FLOATS},
      {"INTS", AttributeType::kInts, A::INTS},
      {"STRINGS", AttributeType::kStrings, A::STRINGS},
      {"TENSORS", AttributeType::kTensors, A::TENSORS},
      {"GRAPHS", AttributeType::kGraphs, A::GRAPHS},
      {"SPARSE_TENSOR", AttributeType::kSparseTensor, A::SPARSE_TENSOR},
      {"SPARSE_TENSORS", AttributeType::kSparseTensors, A::SPARSE_TENSORS},
      {"TYPE_PROTO", AttributeType::kTypeProto, A::TYPE_PROTO},
      {"TYPE_PROTOS", AttributeType::kTypeProtos, A::TYPE_PROTOS},
  };
  for (const Number& n : numbers) EXPECT_EQ(static_cast<int>(n.ours), n.theirs) << n.name;
}

}  // namespace
}  // namespace accsim::sim::onnx::proto
