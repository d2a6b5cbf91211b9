#include <fmt/format.h>

#include <memory>
#include <utility>

#include "sim/graph/module_path.h"
#include "sim/onnx/decode.h"
#include "sim/onnx/field_numbers.h"

namespace accsim::sim::onnx {
namespace {

/// Subgraphs in subgraphs; real models have three or four, protobuf itself stops at 33.
constexpr int kMostGraphsDeep = 32;

/// Everything an AttributeProto may carry, until its type says which counts.
struct Values {
  int64_t type = proto::AttributeType::kUndefined;
  int64_t seen = proto::AttributeType::kUndefined;  ///< type of the last value field
  int64_t integer = 0;
  float real = 0;
  std::string text;
  std::vector<int64_t> integers;
  std::vector<float> reals;
  std::vector<std::string> texts;
  std::shared_ptr<StoredTensor> tensor;
  std::shared_ptr<GraphDef> graph;
};

void set_attribute_value(Values& values, Attribute& out) {
  switch (values.type != proto::AttributeType::kUndefined ? values.type : values.seen) {
    case proto::AttributeType::kFloat:
      out.value = static_cast<double>(values.real);
      break;
    case proto::AttributeType::kInt:
      out.value = values.integer;
      break;
    case proto::AttributeType::kString:
      out.value = std::move(values.text);
      break;
    case proto::AttributeType::kFloats:
      out.value = std::vector<double>(values.reals.begin(), values.reals.end());
      break;
    case proto::AttributeType::kInts:
      out.value = std::move(values.integers);
      break;
    case proto::AttributeType::kStrings:
      out.value = std::move(values.texts);
      break;
    case proto::AttributeType::kTensor:
    case proto::AttributeType::kSparseTensor:
      if (values.tensor) out.value = std::shared_ptr<const StoredTensor>(values.tensor);
      break;
    case proto::AttributeType::kGraph:
      if (values.graph) out.value = std::shared_ptr<const GraphDef>(values.graph);
      break;
    default:
      break;  // lists of tensors and graphs, types: no operator of the table reads them
  }
}

}  // namespace

bool Decoder::decode_attribute(ByteSpan message, Attribute& out) {
  Values values;
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    ByteSpan span;
    switch (field.number) {
      case proto::Attribute::kName:
        cursor.read_value(field, out.name);
        break;
      case proto::Attribute::kF:
        cursor.read_value(field, values.real), values.seen = proto::AttributeType::kFloat;
        break;
      case proto::Attribute::kI:
        cursor.read_value(field, values.integer), values.seen = proto::AttributeType::kInt;
        break;
      case proto::Attribute::kS:
        cursor.read_value(field, values.text), values.seen = proto::AttributeType::kString;
        break;
      case proto::Attribute::kT:
      case proto::Attribute::kSparseTensor:
        if (!cursor.read_value(field, span)) break;
        values.tensor = std::make_shared<StoredTensor>();
        values.seen = proto::AttributeType::kTensor;
        field.number == proto::Attribute::kT ? decode_tensor(span, *values.tensor)
                                             : sparse_tensor(span, *values.tensor);
        break;
      case proto::Attribute::kG:
        if (!cursor.read_value(field, span)) break;
        values.graph = std::make_shared<GraphDef>();
        values.seen = proto::AttributeType::kGraph;
        decode_graph(span, *values.graph);
        break;
      case proto::Attribute::kFloats:
        cursor.append_values(field, values.reals), values.seen = proto::AttributeType::kFloats;
        break;
      case proto::Attribute::kInts:
        cursor.append_values(field, values.integers), values.seen = proto::AttributeType::kInts;
        break;
      case proto::Attribute::kStrings:
        cursor.read_value(field, values.texts.emplace_back()),
            values.seen = proto::AttributeType::kStrings;
        break;
      case proto::Attribute::kType:
        cursor.read_value(field, values.type);
        break;
      case proto::Attribute::kRefAttrName:
        cursor.read_value(field, out.ref);
        break;
      default:
        break;
    }
  }
  if (fault.ok() && out.name.empty())
    return fault.set_problem(message.data, "an attribute has no name");
  set_attribute_value(values, out);
  return fault.ok();
}

bool Decoder::decode_node(ByteSpan message, NodeDef& out) {
  std::map<std::string, std::string> notes;
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    ByteSpan span;
    switch (field.number) {
      case proto::Node::kInput:
        cursor.read_value(field, out.inputs.emplace_back());
        break;
      case proto::Node::kOutput:
        cursor.read_value(field, out.outputs.emplace_back());
        break;
      case proto::Node::kName:
        cursor.read_value(field, out.name);
        break;
      case proto::Node::kOpType:
        cursor.read_value(field, out.op_type);
        break;
      case proto::Node::kAttribute:
        if (cursor.read_value(field, span)) decode_attribute(span, out.attributes.emplace_back());
        break;
      case proto::Node::kDomain:
        cursor.read_value(field, out.domain);
        out.domain = normal_domain(std::move(out.domain));
        break;
      case proto::Node::kOverload:
        cursor.read_value(field, out.overload);
        break;
      case proto::Node::kMetadataProps:
        if (cursor.read_value(field, span)) decode_property(span, notes);
        break;
      default:
        break;
    }
  }
  if (fault.ok() && out.op_type.empty())
    return fault.set_problem(message.data, "a node has no op_type");
  out.module = module_from_notes(notes);
  return fault.ok();
}

bool Decoder::decode_shape(ByteSpan message, ValueDef& out) {
  out.dims.emplace();
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    ByteSpan span;
    if (field.number != proto::TensorShape::kDim || !cursor.read_value(field, span)) continue;
    DimDef& dim = out.dims->emplace_back();
    Cursor inner(span, fault);
    for (Field part; inner.next_field(part);) {
      if (part.number == proto::Dimension::kDimValue) inner.read_value(part, dim.value);
      if (part.number == proto::Dimension::kDimParam) inner.read_value(part, dim.symbol);
    }
    if (dim.value < -1)
      return fault.set_problem(span.data,
                               fmt::format("a dim is {}; it can't be negative", dim.value));
    // Some exporters write -1 for "unknown"; a symbol and a number exclude each other.
    if (dim.value < 0 || !dim.symbol.empty()) dim.value = -1;
  }
  return fault.ok();
}

bool Decoder::tensor_type(ByteSpan message, ValueDef& out) {
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    int64_t number = 0;
    ByteSpan span;
    if (field.number == proto::TensorType::kElemType && cursor.read_value(field, number)) {
      const std::optional<DType> dtype = dtype_from_onnx(number);
      if (!dtype)
        return fault.set_problem(field.at, fmt::format("element type {} is unknown", number));
      out.dtype = *dtype;
    }
    if (field.number == proto::TensorType::kShape && cursor.read_value(field, span))
      decode_shape(span, out);
  }
  return fault.ok();
}

Decoder::TypeKind Decoder::type_kind(ByteSpan message) {
  TypeKind out;
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) switch (field.number) {
      case proto::Type::kTensorType:
      case proto::Type::kSequenceType:
      case proto::Type::kMapType:
      case proto::Type::kOpaqueType:
      case proto::Type::kSparseTensorType:
      case proto::Type::kOptionalType:
        out.number = field.number;
        cursor.read_value(field, out.message);
        break;
      default:
        break;
    }
  return out;
}

bool Decoder::decode_type(ByteSpan message, ValueDef& out) {
  TypeKind kind = type_kind(message);
  const auto take = [&](uint32_t number, bool& noted) {
    if (kind.number != number) return;
    noted = true;
    ByteSpan inside{message.data, 0};
    Cursor cursor(kind.message, fault);
    for (Field field; cursor.next_field(field);)
      if (field.number == proto::HeldType::kElemType) cursor.read_value(field, inside);
    kind = type_kind(inside);
  };
  take(proto::Type::kOptionalType, out.is_optional);
  take(proto::Type::kSequenceType, out.is_sequence);
  out.is_tensor = !out.is_sequence;
  if (kind.number == proto::Type::kTensorType) return tensor_type(kind.message, out);
  if (kind.number != 0) out.is_tensor = out.is_sequence = out.is_optional = false;
  return fault.ok();
}

bool Decoder::value_info(ByteSpan message, ValueDef& out) {
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    ByteSpan span;
    if (field.number == proto::ValueInfo::kName) cursor.read_value(field, out.name);
    if (field.number == proto::ValueInfo::kType && cursor.read_value(field, span))
      decode_type(span, out);
  }
  if (fault.ok() && out.name.empty())
    return fault.set_problem(message.data, "an input, output or value_info has no name");
  return fault.ok();
}

bool Decoder::decode_graph(ByteSpan message, GraphDef& out) {
  if (depth >= kMostGraphsDeep)
    return fault.set_problem(
        message.data, fmt::format("subgraphs are nested more than {} deep", kMostGraphsDeep));
  ++depth;
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    ByteSpan span;
    switch (field.number) {
      case proto::Graph::kNode:
        if (cursor.read_value(field, span)) decode_node(span, out.nodes.emplace_back());
        break;
      case proto::Graph::kName:
        cursor.read_value(field, out.name);
        break;
      case proto::Graph::kInitializer:
      case proto::Graph::kSparseInitializer: {
        if (!cursor.read_value(field, span)) break;
        StoredTensor& stored = out.initializers.emplace_back();
        if (field.number == proto::Graph::kInitializer ? decode_tensor(span, stored)
                                                       : sparse_tensor(span, stored))
          if (stored.name.empty()) fault.set_problem(field.at, "an initializer has no name");
        break;
      }
      case proto::Graph::kInput:
        if (cursor.read_value(field, span)) value_info(span, out.inputs.emplace_back());
        break;
      case proto::Graph::kOutput:
        if (cursor.read_value(field, span)) value_info(span, out.outputs.emplace_back());
        break;
      case proto::Graph::kValueInfo:
        if (cursor.read_value(field, span)) value_info(span, out.value_infos.emplace_back());
        break;
      default:
        break;
    }
  }
  --depth;
  return fault.ok();
}

bool Decoder::decode_opset(ByteSpan message, std::map<std::string, int64_t>& out) {
  std::string domain;
  int64_t version = 0;
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    if (field.number == proto::OperatorSetId::kDomain) cursor.read_value(field, domain);
    if (field.number == proto::OperatorSetId::kVersion) cursor.read_value(field, version);
  }
  // Nodes bind to the highest version when a domain is stated twice.
  int64_t& known = out[normal_domain(std::move(domain))];
  if (version > known) known = version;
  return fault.ok();
}

bool Decoder::decode_property(ByteSpan message, std::map<std::string, std::string>& out) {
  std::string key, value;
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    if (field.number == proto::StringStringEntry::kKey) cursor.read_value(field, key);
    if (field.number == proto::StringStringEntry::kValue) cursor.read_value(field, value);
  }
  out[std::move(key)] = std::move(value);
  return fault.ok();
}

bool Decoder::decode_function(ByteSpan message, FunctionDef& out) {
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    ByteSpan span;
    switch (field.number) {
      case proto::Function::kName:
        cursor.read_value(field, out.name);
        break;
      case proto::Function::kInput:
        cursor.read_value(field, out.inputs.emplace_back());
        break;
      case proto::Function::kOutput:
        cursor.read_value(field, out.outputs.emplace_back());
        break;
      case proto::Function::kAttribute:
        cursor.read_value(field, out.attributes.emplace_back());
        break;
      case proto::Function::kNode:
        if (cursor.read_value(field, span)) decode_node(span, out.nodes.emplace_back());
        break;
      case proto::Function::kOpsetImport:
        if (cursor.read_value(field, span)) decode_opset(span, out.opsets);
        break;
      case proto::Function::kDomain:
        cursor.read_value(field, out.domain);
        out.domain = normal_domain(std::move(out.domain));
        break;
      case proto::Function::kAttributeProto:
        if (cursor.read_value(field, span))
          decode_attribute(span, out.attribute_defaults.emplace_back());
        break;
      case proto::Function::kOverload:
        cursor.read_value(field, out.overload);
        break;
      default:
        break;
    }
  }
  if (fault.ok() && out.name.empty())
    return fault.set_problem(message.data, "a function has no name");
  return fault.ok();
}

}  // namespace accsim::sim::onnx
