#include "sim/onnx/reader.h"

#include <fmt/format.h>

#include <utility>

#include "sim/onnx/decode.h"
#include "sim/onnx/field_numbers.h"
#include "sim/onnx/mapped_file.h"

namespace accsim::sim {
namespace {

using onnx::ByteSpan;
using onnx::Cursor;
using onnx::Decoder;
using onnx::Fault;
using onnx::Field;

/// Fields of ModelProto.
bool decode_model(ByteSpan bytes, Decoder& decoder, ModelDef& out, bool& has_graph) {
  using onnx::into, onnx::held_by, onnx::proto::Model;
  const auto graph = [&](Cursor& cursor, const Field& field) {
    ByteSpan span;
    has_graph = true;
    if (cursor.read_value(field, span)) decoder.decode_graph(span, out.graph);
  };
  return onnx::read_fields(
      bytes, decoder.fault, into(Model::kIrVersion, out.ir_version),
      into(Model::kProducerName, out.producer), onnx::FieldReader{Model::kGraph, graph},
      held_by(Model::kOpsetImport, [&](ByteSpan span) { decoder.decode_opset(span, out.opsets); }),
      held_by(Model::kMetadataProps,
              [&](ByteSpan span) { decoder.decode_property(span, out.metadata); }),
      held_by(Model::kFunctions,
              [&](ByteSpan span) { decoder.decode_function(span, out.functions.emplace_back()); }));
}

Error not_a_model(const std::string& path, std::string_view kind) {
  return Error{Errc::parse,
               fmt::format("not an ONNX model, but {}; give a file made by an ONNX exporter", kind),
               path};
}

Error malformed_error(const std::string& path, const Fault& fault) {
  return Error{Errc::parse,
               fmt::format("at byte {}: {}; the file is damaged, cut short or not an ONNX model: "
                           "copy or export it again",
                           fault.offset, *fault.message),
               path};
}

/// Of a file that is called `name`; `alone`: nothing lies beside it.
Result<ModelDef> model_of(onnx::MappedFile file, const std::string& name, bool alone) {
  const ByteSpan bytes = file.bytes;
  ModelDef model;
  model.file = name;
  Fault fault{bytes.data, {}, 0};
  Decoder decoder{fault, name, alone};
  bool has_graph = false;
  const bool good = decode_model(bytes, decoder, model, has_graph);
  if (!has_graph) {
    const std::string kind = onnx::guess_kind(bytes);
    if (!kind.empty()) return not_a_model(name, kind);
    if (good) return not_a_model(name, fmt::format("{} bytes without a graph", bytes.size));
  }
  if (!good) return malformed_error(name, fault);
  model.mapping = std::move(file.keep);
  return model;
}

}  // namespace

Result<ModelDef> read_model(const std::string& path) {
  Result<onnx::MappedFile> file = onnx::map_file(path);
  if (!file) return file.errors();
  return model_of(std::move(*file), path, false);
}

Result<ModelDef> read_model_bytes(std::shared_ptr<const std::string> bytes,
                                  const std::string& name) {
  if (bytes->empty()) return onnx::empty_file(name);
  const ByteSpan span{reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size()};
  return model_of({span, std::move(bytes)}, name, true);
}

Result<StoredTensor> read_tensor(const std::string& path) {
  Result<onnx::MappedFile> file = onnx::map_file(path);
  if (!file) return file.errors();
  Fault fault{file->bytes.data, {}, 0};
  Decoder decoder{fault, path};
  StoredTensor tensor;
  if (!decoder.decode_tensor(file->bytes, tensor)) return malformed_error(path, fault);
  tensor.payload = {};
  return tensor;
}

}  // namespace accsim::sim
