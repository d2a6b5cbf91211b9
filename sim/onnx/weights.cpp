#include "sim/onnx/weights.h"

#include <fmt/format.h>

#include <utility>

#include "sim/onnx/decode.h"
#include "sim/onnx/external_file.h"
#include "sim/onnx/field_numbers.h"
#include "sim/onnx/mapped_file.h"

namespace accsim::sim {
namespace {

std::optional<RawElements> owned_elements(std::optional<std::vector<uint8_t>> bytes) {
  if (!bytes) return std::nullopt;
  RawElements out;
  out.owned = std::move(*bytes);
  out.data = out.owned.data();
  out.size = out.owned.size();
  return out;
}

std::optional<RawElements> typed_raw(DType dtype, size_t count, const Payload& p, size_t size) {
  if (p.typed_field != onnx::typed_field_of(dtype)) return std::nullopt;
  onnx::Fault fault{p.data, {}, 0};
  RawElements out;
  if (!onnx::typed_elements({p.data, p.size}, p.typed_field, dtype, count, fault, out.owned) ||
      out.owned.size() < size)
    return std::nullopt;
  out.data = out.owned.data();
  out.size = size;
  return out;
}

std::vector<double> as_doubles(const ConstData& data) {
  std::vector<double> out(data.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = data.as_double(i);
  return out;
}

/// A tensor of a mapped file.
Result<TensorFile> decode_file(const std::string& path, const onnx::MappedFile& file,
                               onnx::ByteSpan message) {
  onnx::Fault fault{file.bytes.data, {}, 0};
  onnx::Decoder decoder{fault, {}};
  TensorFile out;
  if (!decoder.decode_tensor(message, out.tensor))
    return Error{Errc::parse, fmt::format("at byte {}: {}", fault.offset, *fault.message), path};
  auto raw = raw_elements(path, out.tensor.dtype, out.tensor.dims, out.tensor.payload);
  if (!raw)
    return Error{Errc::parse,
                 fmt::format("tensor '{}' ({} {}) doesn't have as many elements as its shape, or "
                             "none that can be read",
                             out.tensor.name, name(out.tensor.dtype), to_string(out.tensor.dims)),
                 path};
  out.elements = std::move(*raw);
  out.mapping = file.keep;
  return out;
}

/// What the messages have in fields of that number.
std::vector<onnx::ByteSpan> held_messages(uint32_t number,
                                          const std::vector<onnx::ByteSpan>& messages,
                                          onnx::Fault& fault) {
  std::vector<onnx::ByteSpan> out;
  for (const onnx::ByteSpan message : messages)
    onnx::read_fields(message, fault,
                      onnx::held_by(number, [&](onnx::ByteSpan span) { out.push_back(span); }));
  return out;
}

}  // namespace

std::optional<RawElements> raw_elements(const std::string& model_file, DType dtype,
                                        const Dims& dims, const Payload& payload) {
  const std::optional<int64_t> count = checked_elements(dims);
  if (bits(dtype) == 0 || !count || *count > int64_t{1} << 50) return std::nullopt;
  const auto size = static_cast<size_t>(storage_bytes(dtype, *count));
  if (size == 0) return RawElements{};
  switch (payload.kind) {
    case Payload::Kind::raw:
      if (payload.size != size) return std::nullopt;
      return RawElements{payload.data, size, {}};
    case Payload::Kind::typed:
      return typed_raw(dtype, static_cast<size_t>(*count), payload, size);
    case Payload::Kind::external:
      return owned_elements(
          onnx::read_external(model_file, payload.external_file, payload.external_offset, size));
    case Payload::Kind::sparse:
      return owned_elements(
          onnx::dense_elements(model_file, {payload.data, payload.size}, dtype, dims));
    case Payload::Kind::none:
      break;
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> read_texts(const Dims& dims, const Payload& payload) {
  std::vector<std::string> out;
  if (payload.kind == Payload::Kind::typed) {
    onnx::Fault fault{payload.data, {}, 0};
    if (!onnx::read_fields({payload.data, payload.size}, fault,
                           onnx::into(onnx::proto::Tensor::kStringData, out)))
      return std::nullopt;
  }
  if (checked_elements(dims) != static_cast<int64_t>(out.size())) return std::nullopt;
  return out;
}

std::optional<std::vector<double>> read_weights(const Graph& graph, const Tensor& t) {
  if (t.value) return as_doubles(*t.value);
  if (!is_float(t.dtype) && !is_integer(t.dtype)) return std::nullopt;
  const auto raw = raw_elements(graph.file, t.dtype, t.dims, t.payload);
  if (!raw) return std::nullopt;
  return as_doubles(*onnx::decode_elements(t.dtype, static_cast<size_t>(elements(t.dims)),
                                           {raw->data, raw->size}));
}

Result<std::vector<TensorFile>> read_value_file(const std::string& path, const ValueDef& type) {
  Result<onnx::MappedFile> file = onnx::map_file(path);
  if (!file) return file.errors();
  onnx::Fault fault{file->bytes.data, {}, 0};
  std::vector<onnx::ByteSpan> values{file->bytes};
  if (type.is_optional)
    values = held_messages(type.is_sequence ? onnx::proto::HeldValue::kSequenceValue
                                            : onnx::proto::HeldValue::kTensorValue,
                           values, fault);
  if (type.is_sequence) values = held_messages(onnx::proto::HeldValue::kTensorValue, values, fault);
  if (!fault.ok())
    return Error{Errc::parse, fmt::format("at byte {}: {}", fault.offset, *fault.message), path};
  std::vector<TensorFile> out;
  for (const onnx::ByteSpan value : values) {
    Result<TensorFile> tensor = decode_file(path, *file, value);
    if (!tensor) return tensor.errors();
    out.push_back(std::move(*tensor));
  }
  return out;
}

}  // namespace accsim::sim
