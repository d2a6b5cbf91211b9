#include "sim/onnx/embed.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "sim/onnx/decode.h"
#include "sim/onnx/external_file.h"
#include "sim/onnx/field_numbers.h"
#include "sim/onnx/weights.h"
#include "sim/onnx/writer.h"

namespace accsim::sim {
namespace {

using onnx::ByteSpan;
using onnx::Field;
using onnx::Message;

/// The messages of onnx.proto in which tensors stand.
enum class Holder : uint8_t { model, graph, node, attribute, function, sparse, tensor };

/// What a field of such a message holds; nothing: no tensors.
std::optional<Holder> held_by(Holder holder, uint32_t field) {
  namespace proto = onnx::proto;
  switch (holder) {
    case Holder::model:
      if (field == proto::Model::kGraph) return Holder::graph;
      if (field == proto::Model::kFunctions) return Holder::function;
      break;
    case Holder::graph:
      if (field == proto::Graph::kNode) return Holder::node;
      if (field == proto::Graph::kInitializer) return Holder::tensor;
      if (field == proto::Graph::kSparseInitializer) return Holder::sparse;
      break;
    case Holder::function:
      if (field == proto::Function::kNode) return Holder::node;
      if (field == proto::Function::kAttributeProto) return Holder::attribute;
      break;
    case Holder::node:
      if (field == proto::Node::kAttribute) return Holder::attribute;
      break;
    case Holder::attribute:
      if (field == proto::Attribute::kT) return Holder::tensor;
      if (field == proto::Attribute::kG) return Holder::graph;
      if (field == proto::Attribute::kSparseTensor) return Holder::sparse;
      break;
    case Holder::sparse:
      if (field == proto::SparseTensor::kValues || field == proto::SparseTensor::kIndices)
        return Holder::tensor;
      break;
    case Holder::tensor:
      break;
  }
  return std::nullopt;
}

/// A message with the external tensors in it made internal. The first error ends it.
class Embedder {
 public:
  Embedder(const std::string& model_file, ByteSpan model, int64_t most)
      : file_(model_file), left_(most - static_cast<int64_t>(model.size)), most_(most) {
    fault_.base = model.data;
  }

  /// Depth is that of bodies, which reading bounds.
  Message embed_message(Holder holder, ByteSpan message) {
    if (holder == Holder::tensor) return embed_tensor(message);
    Message out;
    for (const onnx::Piece& piece : onnx::message_pieces(message, fault_)) {
      const std::optional<Holder> inner = held_by(holder, piece.field.number);
      if (errors_.empty() && inner && piece.field.type == Field::Type::bytes)
        out.add_message(piece.field.number, embed_message(*inner, piece.field.span));
      else
        out.add_encoded(piece.encoded);
    }
    return out;
  }

  Errors errors() const {
    if (errors_.empty() && !fault_.ok())
      return {{Errc::parse, fmt::format("at byte {}: {}", fault_.offset, *fault_.message), file_}};
    return errors_;
  }

 private:
  Message embed_tensor(ByteSpan message) {
    namespace proto = onnx::proto;
    Message out;
    StoredTensor stored;
    onnx::Decoder decoder{fault_, file_};
    const bool good = decoder.decode_tensor(message, stored);
    const bool external = good && stored.payload.kind == Payload::Kind::external;
    for (const onnx::Piece& piece : onnx::message_pieces(message, fault_)) {
      const uint32_t field = piece.field.number;
      if (!external || (field != proto::Tensor::kExternalData &&
                        field != proto::Tensor::kDataLocation && field != proto::Tensor::kRawData))
        out.add_encoded(piece.encoded);
    }
    if (external) add_elements(stored, out);
    return out;
  }

  void add_elements(const StoredTensor& stored, Message& out) {
    const std::optional<int64_t> count = checked_elements(stored.dims);
    const int64_t most = most_ * 8;
    left_ -= count && *count < most ? storage_bytes(stored.dtype, *count) : most;
    if (left_ < 0) {
      errors_ = {
          {Errc::capacity,
           fmt::format("with its weights it would have more than {} bytes, which is the most "
                       "that protobuf takes; leave them beside the model, or name a smaller "
                       "part",
                       most_),
           file_}};
      return;
    }
    const auto raw = raw_elements(file_, stored.dtype, stored.dims, stored.payload);
    if (raw) {
      out.add_text(onnx::proto::Tensor::kRawData,
                   {reinterpret_cast<const char*>(raw->data), raw->size});
      return;
    }
    std::string why = onnx::external_refusal(file_, stored.payload.external_file);
    if (why.empty()) why = "it is missing or has fewer bytes";
    errors_ = {{Errc::io,
                fmt::format("the elements of tensor '{}' can't be read from '{}': {}", stored.name,
                            stored.payload.external_file, why),
                file_}};
  }

  const std::string& file_;
  int64_t left_, most_;
  onnx::Fault fault_;
  Errors errors_;
};

}  // namespace

Result<std::string> embed_weights(std::string_view model, const std::string& model_file,
                                  int64_t most) {
  const ByteSpan bytes{reinterpret_cast<const uint8_t*>(model.data()), model.size()};
  Embedder embedder(model_file, bytes, most);
  Message out = embedder.embed_message(Holder::model, bytes);
  if (const Errors errors = embedder.errors(); !errors.empty()) return errors;
  if (static_cast<int64_t>(out.bytes().size()) > most)
    return Error{Errc::capacity, fmt::format("would have more than {} bytes", most), model_file};
  return out.take_bytes();
}

}  // namespace accsim::sim
