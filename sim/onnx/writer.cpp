#include "sim/onnx/writer.h"

#include <bit>
#include <utility>

#include "sim/onnx/field_numbers.h"

namespace accsim::sim {
namespace onnx {
namespace {

void append_element(std::string& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

std::string raw_data(const StoredTensor& tensor) {
  if (tensor.payload.kind == Payload::Kind::raw)
    return {reinterpret_cast<const char*>(tensor.payload.data), tensor.payload.size};
  std::string out;
  if (!tensor.value) return out;
  check(writes_values(tensor.dtype), "a tensor that is written from its bytes only");
  const ConstData& values = *tensor.value;
  const auto bytes = static_cast<size_t>(storage_bytes(tensor.dtype, 1));
  for (size_t i = 0; i < values.size(); ++i) {
    if (tensor.dtype == DType::float32)
      append_element(out, std::bit_cast<uint32_t>(static_cast<float>(values.as_double(i))), bytes);
    else if (tensor.dtype == DType::float64)
      append_element(out, std::bit_cast<uint64_t>(values.as_double(i)), bytes);
    else
      append_element(out, static_cast<uint64_t>(values.integers()[i]), bytes);
  }
  return out;
}

struct AttributeWriter {
  Message& out;
  void operator()(std::monostate) const {}
  void operator()(int64_t v) const {
    out.add_integer(proto::Attribute::kI, v),
        out.add_integer(proto::Attribute::kType, proto::AttributeType::kInt);
  }
  void operator()(double v) const {
    out.add_real(proto::Attribute::kF, static_cast<float>(v)),
        out.add_integer(proto::Attribute::kType, proto::AttributeType::kFloat);
  }
  void operator()(const std::string& v) const {
    out.add_text(proto::Attribute::kS, v),
        out.add_integer(proto::Attribute::kType, proto::AttributeType::kString);
  }
  void operator()(const std::vector<int64_t>& v) const {
    for (const int64_t item : v) out.add_integer(proto::Attribute::kInts, item);
    out.add_integer(proto::Attribute::kType, proto::AttributeType::kInts);
  }
  void operator()(const std::vector<double>& v) const {
    for (const double item : v) out.add_real(proto::Attribute::kFloats, static_cast<float>(item));
    out.add_integer(proto::Attribute::kType, proto::AttributeType::kFloats);
  }
  void operator()(const std::shared_ptr<const StoredTensor>& v) const {
    out.add_message(proto::Attribute::kT, encode(*v)),
        out.add_integer(proto::Attribute::kType, proto::AttributeType::kTensor);
  }
  void operator()(const std::vector<std::string>& v) const {
    for (const std::string& item : v) out.add_text(proto::Attribute::kStrings, item);
    out.add_integer(proto::Attribute::kType, proto::AttributeType::kStrings);
  }
  void operator()(const std::shared_ptr<const GraphDef>&) const {
    check(false, "nothing that is written has graphs");
  }
};

}  // namespace

void Message::add_varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
  bytes_ += static_cast<char>(value);
}

void Message::add_integer(uint32_t field, int64_t value) {
  add_varint(uint64_t{field} << 3);
  add_varint(static_cast<uint64_t>(value));
}

void Message::add_real(uint32_t field, float value) {
  add_varint((uint64_t{field} << 3) | 5);
  append_element(bytes_, std::bit_cast<uint32_t>(value), 4);
}

void Message::add_header(uint32_t field, size_t bytes) {
  add_varint((uint64_t{field} << 3) | 2);
  add_varint(bytes);
}

void Message::add_text(uint32_t field, std::string_view bytes) {
  add_header(field, bytes.size());
  bytes_ += bytes;
}

Message encode(const StoredTensor& tensor) {
  Message out;
  for (const int64_t dim : tensor.dims) out.add_integer(proto::Tensor::kDims, dim);
  out.add_integer(proto::Tensor::kDataType, static_cast<int64_t>(tensor.dtype));
  if (!tensor.name.empty()) out.add_text(proto::Tensor::kName, tensor.name);
  out.add_text(proto::Tensor::kRawData, raw_data(tensor));
  return out;
}

Message encode(const ValueDef& value) {
  Message shape, tensor, type, out;
  if (value.dims) {
    for (const DimDef& dim : *value.dims) {
      Message one;
      if (dim.value >= 0)
        one.add_integer(proto::Dimension::kDimValue, dim.value);
      else if (!dim.symbol.empty())
        one.add_text(proto::Dimension::kDimParam, dim.symbol);
      shape.add_message(proto::TensorShape::kDim, one);
    }
  }
  tensor.add_integer(proto::TensorType::kElemType, static_cast<int64_t>(value.dtype));
  if (value.dims) tensor.add_message(proto::TensorType::kShape, shape);
  type.add_message(proto::Type::kTensorType, tensor);
  const auto wrap = [&type](uint32_t kind) {
    Message held, outer;
    held.add_message(proto::HeldType::kElemType, type);
    outer.add_message(kind, held);
    type = std::move(outer);
  };
  if (value.is_sequence) wrap(proto::Type::kSequenceType);
  if (value.is_optional) wrap(proto::Type::kOptionalType);
  out.add_text(proto::ValueInfo::kName, value.name);
  out.add_message(proto::ValueInfo::kType, type);
  return out;
}

Message encode(const NodeDef& node) {
  Message out;
  for (const std::string& input : node.inputs) out.add_text(proto::Node::kInput, input);
  for (const std::string& output : node.outputs) out.add_text(proto::Node::kOutput, output);
  if (!node.name.empty()) out.add_text(proto::Node::kName, node.name);
  out.add_text(proto::Node::kOpType, node.op_type);
  for (const Attribute& attribute : node.attributes) {
    Message one;
    one.add_text(proto::Attribute::kName, attribute.name);
    std::visit(AttributeWriter{one}, attribute.value);
    out.add_message(proto::Node::kAttribute, one);
  }
  if (!node.domain.empty()) out.add_text(proto::Node::kDomain, node.domain);
  return out;
}

Message encode_property(std::string_view key, std::string_view value) {
  Message out;
  out.add_text(proto::StringStringEntry::kKey, key);
  out.add_text(proto::StringStringEntry::kValue, value);
  return out;
}

}  // namespace onnx

bool writes_values(DType dtype) {
  const bool real = dtype == DType::float32 || dtype == DType::float64;
  return real || dtype == DType::boolean || (is_integer(dtype) && !is_packed(dtype));
}

StoredTensor stored_values(std::string name, DType dtype, Dims dims, ConstData values) {
  return {.name = std::move(name),
          .dtype = dtype,
          .dims = std::move(dims),
          .payload = {},
          .value = std::make_shared<const ConstData>(std::move(values))};
}

StoredTensor stored_integers(std::string name, Dims dims, std::vector<int64_t> values) {
  return stored_values(std::move(name), DType::int64, std::move(dims),
                       ConstData(std::move(values)));
}

StoredTensor stored_reals(std::string name, Dims dims, std::vector<double> values) {
  return stored_values(std::move(name), DType::float32, std::move(dims),
                       ConstData(std::move(values)));
}

ValueDef stated_value(std::string name, DType dtype, const Dims& dims) {
  ValueDef out{std::move(name), dtype, std::vector<DimDef>{}, true};
  for (const int64_t dim : dims) out.dims->push_back({dim, ""});
  return out;
}

std::string write_model(const ModelDef& model) {
  using onnx::encode;
  namespace proto = onnx::proto;
  onnx::Message graph, out;
  for (const NodeDef& node : model.graph.nodes)
    graph.add_message(proto::Graph::kNode, encode(node));
  graph.add_text(proto::Graph::kName, model.graph.name);
  for (const StoredTensor& tensor : model.graph.initializers)
    graph.add_message(proto::Graph::kInitializer, encode(tensor));
  for (const ValueDef& value : model.graph.inputs)
    graph.add_message(proto::Graph::kInput, encode(value));
  for (const ValueDef& value : model.graph.outputs)
    graph.add_message(proto::Graph::kOutput, encode(value));
  for (const ValueDef& value : model.graph.value_infos)
    graph.add_message(proto::Graph::kValueInfo, encode(value));
  out.add_integer(proto::Model::kIrVersion, model.ir_version);
  out.add_text(proto::Model::kProducerName, model.producer);
  out.add_message(proto::Model::kGraph, graph);
  for (const auto& [domain, version] : model.opsets) {
    onnx::Message opset;
    opset.add_text(proto::OperatorSetId::kDomain, domain);
    opset.add_integer(proto::OperatorSetId::kVersion, version);
    out.add_message(proto::Model::kOpsetImport, opset);
  }
  return out.take_bytes();
}

}  // namespace accsim::sim
