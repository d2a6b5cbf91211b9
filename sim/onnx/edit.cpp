#include <fmt/format.h>

#include "sim/onnx/field_numbers.h"
#include "sim/onnx/mapped_file.h"
#include "sim/onnx/wire.h"
#include "sim/onnx/writer.h"

namespace accsim::sim {
namespace {

using onnx::ByteSpan;
using onnx::Cursor;
using onnx::encode;
using onnx::Fault;
using onnx::Field;
using onnx::Message;
using onnx::Piece;

/// The string in field `number` of a message; "" when it has none.
std::string text_in(ByteSpan message, uint32_t number, Fault& fault) {
  std::string out;
  onnx::read_fields(message, fault, onnx::into(number, out));
  return out;
}

/// Whether this field of a GraphProto holds ValueInfoProtos.
bool is_value_info(uint32_t number) {
  using onnx::proto::Graph;
  return number == Graph::kInput || number == Graph::kOutput || number == Graph::kValueInfo;
}

/// The name of what a field of a GraphProto holds: a tensor or a value.
std::string name_in(const Field& field, Fault& fault) {
  namespace proto = onnx::proto;
  if (field.number == proto::Graph::kInitializer)
    return text_in(field.span, proto::Tensor::kName, fault);
  if (is_value_info(field.number)) return text_in(field.span, proto::ValueInfo::kName, fault);
  Cursor sparse(field.span, fault);
  for (Field inner; sparse.next_field(inner);)
    if (inner.number == proto::SparseTensor::kValues && inner.type == Field::Type::bytes)
      return text_in(inner.span, proto::Tensor::kName, fault);
  return "";
}

/// Are the tensor that a TensorAnnotation is about, and those that it names, among these?
bool stays_annotated(ByteSpan annotation, const std::set<std::string>& tensors, Fault& fault) {
  using onnx::proto::TensorAnnotation;
  if (!tensors.contains(text_in(annotation, TensorAnnotation::kTensorName, fault))) return false;
  bool all = true;
  Cursor cursor(annotation, fault);
  for (Field field; cursor.next_field(field);)
    if (field.number == TensorAnnotation::kParameterNames && field.type == Field::Type::bytes)
      all &= tensors.contains(text_in(field.span, onnx::proto::StringStringEntry::kValue, fault));
  return all;
}

/// Does a field of a GraphProto, but for nodes, belong to what stays?
bool stays_in_part(const Field& field, const GraphPart& part, Fault& fault) {
  using onnx::proto::Graph;
  if (field.type != Field::Type::bytes) return true;
  switch (field.number) {
    case Graph::kInitializer:
    case Graph::kSparseInitializer:
      return part.stored.contains(name_in(field, fault));
    case Graph::kInput:
      return part.inputs.contains(name_in(field, fault));
    case Graph::kValueInfo:
      return part.described.contains(name_in(field, fault));
    case Graph::kQuantizationAnnotation:
      return stays_annotated(field.span, part.tensors, fault);
    case Graph::kOutput:
      return false;
    default:
      return true;
  }
}

/// Copies node `i` of a graph, or what takes its place, or nothing.
void edit_node(const Piece& piece, const ModelEdit& edit, size_t i, Message& out) {
  if (edit.part && (i >= edit.part->nodes.size() || !edit.part->nodes[i])) return;
  const auto found = edit.replaced.find(i);
  if (found == edit.replaced.end()) return out.add_encoded(piece.encoded);
  for (const NodeDef& added : found->second)
    out.add_message(onnx::proto::Graph::kNode, encode(added));
}

/// Copies a graph; `node` counts its nodes on over several messages of one graph.
Message edit_graph(ByteSpan graph, const ModelEdit& edit, size_t& node, bool add, Fault& fault) {
  Message out;
  if (!edit.part) out.reserve(graph.size);  // weights are most of it
  for (const Piece& piece : message_pieces(graph, fault)) {
    const Field& field = piece.field;
    if (field.number == onnx::proto::Graph::kNode) {
      edit_node(piece, edit, node++, out);
      continue;
    }
    if (edit.part && !stays_in_part(field, *edit.part, fault)) continue;
    if (is_value_info(field.number) && field.type == Field::Type::bytes) {
      const auto found = edit.restated.find(name_in(field, fault));
      if (found != edit.restated.end()) {
        out.add_message(field.number, encode(found->second));
        continue;
      }
    }
    out.add_encoded(piece.encoded);
  }
  if (!add) return out;
  for (const StoredTensor& tensor : edit.initializers)
    out.add_message(onnx::proto::Graph::kInitializer, encode(tensor));
  for (const ValueDef& value : edit.inputs)
    out.add_message(onnx::proto::Graph::kInput, encode(value));
  for (const ValueDef& value : edit.value_infos)
    out.add_message(onnx::proto::Graph::kValueInfo, encode(value));
  for (const ValueDef& value : edit.outputs)
    out.add_message(onnx::proto::Graph::kOutput, encode(value));
  return out;
}

}  // namespace

Result<std::string> edit_model(const std::string& path, const ModelEdit& edit) {
  const Result<onnx::MappedFile> file = onnx::map_file(path);
  if (!file) return file.errors();
  Fault fault{file->bytes.data, {}, 0};
  Message out;
  if (!edit.part) out.reserve(file->bytes.size);
  size_t node = 0;
  bool first = true;
  for (const Piece& piece : message_pieces(file->bytes, fault)) {
    const Field& field = piece.field;
    if (field.number == onnx::proto::Model::kGraph && field.type == Field::Type::bytes) {
      out.add_message(onnx::proto::Model::kGraph, edit_graph(field.span, edit, node, first, fault));
      first = false;
    } else if (field.number != onnx::proto::Model::kMetadataProps ||
               field.type != Field::Type::bytes ||
               !edit.metadata.contains(
                   text_in(field.span, onnx::proto::StringStringEntry::kKey, fault))) {
      out.add_encoded(piece.encoded);
    }
  }
  for (const auto& [key, value] : edit.metadata)
    if (!value.empty())
      out.add_message(onnx::proto::Model::kMetadataProps, onnx::encode_property(key, value));
  if (!fault.ok())
    return Error{Errc::parse, fmt::format("at byte {}: {}", fault.offset, *fault.message), path};
  return out.take_bytes();
}

}  // namespace accsim::sim
