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
  using proto::Node;
  std::map<std::string, std::string> notes;
  read_fields(
      message, fault, into(Node::kInput, out.inputs), into(Node::kOutput, out.outputs),
      into(Node::kName, out.name), into(Node::kOpType, out.op_type),
      held_by(Node::kAttribute,
              [&](ByteSpan span) { decode_attribute(span, out.attributes.emplace_back()); }),
      into(Node::kDomain, out.domain), into(Node::kOverload, out.overload),
      held_by(Node::kMetadataProps, [&](ByteSpan span) { decode_property(span, notes); }));
  out.domain = normal_domain(std::move(out.domain));
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
    read_fields(span, fault, into(proto::Dimension::kDimValue, dim.value),
                into(proto::Dimension::kDimParam, dim.symbol));
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
    read_fields(kind.message, fault, into(proto::HeldType::kElemType, inside));
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
  read_fields(message, fault, into(proto::ValueInfo::kName, out.name),
              held_by(proto::ValueInfo::kType, [&](ByteSpan span) { decode_type(span, out); }));
  if (fault.ok() && out.name.empty())
    return fault.set_problem(message.data, "an input, output or value_info has no name");
  return fault.ok();
}

bool Decoder::decode_graph(ByteSpan message, GraphDef& out) {
  if (depth >= kMostGraphsDeep)
    return fault.set_problem(
        message.data, fmt::format("subgraphs are nested more than {} deep", kMostGraphsDeep));
  ++depth;
  using proto::Graph;
  const auto initializer = [&](Cursor& cursor, const Field& field) {
    ByteSpan span;
    if (!cursor.read_value(field, span)) return;
    StoredTensor& stored = out.initializers.emplace_back();
    if (field.number == Graph::kInitializer ? decode_tensor(span, stored)
                                            : sparse_tensor(span, stored))
      if (stored.name.empty()) fault.set_problem(field.at, "an initializer has no name");
  };
  const auto values = [&](uint32_t number, std::vector<ValueDef>& list) {
    return held_by(number, [&](ByteSpan span) { value_info(span, list.emplace_back()); });
  };
  read_fields(
      message, fault,
      held_by(Graph::kNode, [&](ByteSpan span) { decode_node(span, out.nodes.emplace_back()); }),
      into(Graph::kName, out.name), FieldReader{Graph::kInitializer, initializer},
      FieldReader{Graph::kSparseInitializer, initializer}, values(Graph::kInput, out.inputs),
      values(Graph::kOutput, out.outputs), values(Graph::kValueInfo, out.value_infos));
  --depth;
  return fault.ok();
}

bool Decoder::decode_opset(ByteSpan message, std::map<std::string, int64_t>& out) {
  std::string domain;
  int64_t version = 0;
  read_fields(message, fault, into(proto::OperatorSetId::kDomain, domain),
              into(proto::OperatorSetId::kVersion, version));
  // Nodes bind to the highest version when a domain is stated twice.
  int64_t& known = out[normal_domain(std::move(domain))];
  if (version > known) known = version;
  return fault.ok();
}

bool Decoder::decode_property(ByteSpan message, std::map<std::string, std::string>& out) {
  std::string key, value;
  read_entry(message, fault, key, value);
  out[std::move(key)] = std::move(value);
  return fault.ok();
}

bool Decoder::decode_function(ByteSpan message, FunctionDef& out) {
  using proto::Function;
  read_fields(
      message, fault, into(Function::kName, out.name), into(Function::kInput, out.inputs),
      into(Function::kOutput, out.outputs), into(Function::kAttribute, out.attributes),
      held_by(Function::kNode, [&](ByteSpan span) { decode_node(span, out.nodes.emplace_back()); }),
      held_by(Function::kOpsetImport, [&](ByteSpan span) { decode_opset(span, out.opsets); }),
      into(Function::kDomain, out.domain),
      held_by(
          Function::kAttributeProto,
          [&](ByteSpan span) { decode_attribute(span, out.attribute_defaults.emplace_back()); }),
      into(Function::kOverload, out.overload));
  out.domain = normal_domain(std::move(out.domain));
  if (fault.ok() && out.name.empty())
    return fault.set_problem(message.data, "a function has no name");
  return fault.ok();
}

}  // namespace accsim::sim::onnx
