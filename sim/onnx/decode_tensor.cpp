#include <fmt/format.h>

#include <bit>
#include <utility>

#include "sim/base/parse_number.h"
#include "sim/onnx/decode.h"
#include "sim/onnx/external_file.h"
#include "sim/onnx/field_numbers.h"
#include "sim/onnx/reader.h"

namespace accsim::sim::onnx {
namespace {

/// What one pass over a TensorProto leaves for the second step.
struct Pending {
  ByteSpan message;
  ByteSpan raw;
  bool external = false;
  int typed_field = 0;
};

bool has_elements(DType dtype) {
  return is_float(dtype) || is_integer(dtype) || dtype == DType::boolean;
}

void append_bytes(std::vector<uint8_t>& out, uint64_t value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
}

/// External data that states its length has the bytes that the shape needs.
bool check_length(Decoder& decoder, const Pending& pending, const StoredTensor& tensor) {
  const std::optional<int64_t> count = checked_elements(tensor.dims);
  const int64_t most = int64_t{1} << 56;
  const size_t stated = tensor.payload.size;
  if (stated == 0 || !count || *count >= most || !has_elements(tensor.dtype)) return true;
  const int64_t needed = storage_bytes(tensor.dtype, *count);
  if (stated == static_cast<size_t>(needed)) return true;
  return decoder.fault.set_problem(
      pending.message.data,
      fmt::format("tensor '{}' ({} {}) has an external length of {} bytes where its shape needs {}",
                  tensor.name, name(tensor.dtype), to_string(tensor.dims), stated, needed));
}

/// Sets payload and, for small tensors, value.
bool finish_tensor(Decoder& decoder, const Pending& pending, StoredTensor& out) {
  Payload& payload = out.payload;
  const std::optional<int64_t> count = checked_elements(out.dims);
  const bool small = count && is_small(out.dtype, *count);
  const size_t bytes = small ? static_cast<size_t>(storage_bytes(out.dtype, *count)) : 0;
  std::vector<uint8_t> copy;
  ByteSpan elements;
  if (pending.external) {
    payload.kind = decoder.alone ? Payload::Kind::none : Payload::Kind::external;
    if (!check_length(decoder, pending, out)) return false;
    // Costing works without weights: elements that can't be had are no error.
    if (small && *count > 0 && !decoder.alone)
      copy = read_external(decoder.file, payload.external_file, payload.external_offset, bytes)
                 .value_or(std::vector<uint8_t>());
    if (copy.empty() && !(small && *count == 0)) return true;
  } else if (pending.raw.size > 0) {
    payload = {Payload::Kind::raw, pending.raw.data, pending.raw.size, 0, {}, 0};
    elements = pending.raw;
    const int64_t most = int64_t{1} << 56;
    if (count && *count < most && has_elements(out.dtype) &&
        storage_bytes(out.dtype, *count) != static_cast<int64_t>(pending.raw.size))
      return decoder.fault.set_problem(
          pending.raw.data, fmt::format("tensor '{}' ({} {}) has {} bytes where its shape needs {}",
                                        out.name, name(out.dtype), to_string(out.dims),
                                        pending.raw.size, storage_bytes(out.dtype, *count)));
  } else if (pending.typed_field != 0) {
    payload = {Payload::Kind::typed,
               pending.message.data,
               pending.message.size,
               pending.typed_field,
               {},
               0};
    if (small && pending.typed_field != typed_field_of(out.dtype))
      return decoder.fault.set_problem(pending.message.data,
                                       fmt::format("tensor '{}' ({}) has its elements in field {}",
                                                   out.name, name(out.dtype), pending.typed_field));
    if (small && !typed_elements(pending.message, pending.typed_field, out.dtype,
                                 static_cast<size_t>(*count), decoder.fault, copy))
      return false;
  } else if (!count || *count != 0) {
    return true;  // weights stripped from the file
  }
  if (!small) return true;
  if (elements.data == nullptr) elements = {copy.data(), copy.size()};
  if (elements.size < bytes)
    return decoder.fault.set_problem(pending.message.data,
                                     fmt::format("tensor '{}' has fewer elements than its shape {}",
                                                 out.name, to_string(out.dims)));
  out.value = decode_elements(out.dtype, static_cast<size_t>(*count), elements);
  return true;
}

}  // namespace

bool is_small(DType dtype, int64_t count) {
  const bool shape_like = (is_integer(dtype) && !fits_byte(dtype)) || dtype == DType::boolean;
  return has_elements(dtype) && count <= (shape_like ? kMostIntegers : kMostOthers);
}

bool typed_elements(ByteSpan message, int typed_field, DType dtype, size_t most, Fault& fault,
                    std::vector<uint8_t>& out) {
  std::vector<int64_t> integers;
  std::vector<float> floats;
  std::vector<double> doubles;
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    if (static_cast<int>(field.number) != typed_field) continue;
    if (field.number == proto::Tensor::kFloatData)
      cursor.append_values(field, floats, most);
    else if (field.number == proto::Tensor::kDoubleData)
      cursor.append_values(field, doubles, most);
    else
      cursor.append_values(field, integers, most);
  }
  if (!fault.ok()) return false;
  const size_t width = static_cast<size_t>(storage_bytes(dtype, 1));
  for (float value : floats) append_bytes(out, std::bit_cast<uint32_t>(value), 4);
  for (double value : doubles) append_bytes(out, std::bit_cast<uint64_t>(value), 8);
  for (int64_t value : integers) append_bytes(out, static_cast<uint64_t>(value), width);
  return true;
}

int typed_field_of(DType dtype) {
  switch (dtype) {
    case DType::float32:
      return proto::Tensor::kFloatData;
    case DType::float64:
      return proto::Tensor::kDoubleData;
    case DType::int64:
      return proto::Tensor::kInt64Data;
    case DType::uint32:
    case DType::uint64:
      return proto::Tensor::kUint64Data;
    default:
      return proto::Tensor::kInt32Data;
  }
}

bool Decoder::decode_external(ByteSpan message, Payload& payload) {
  std::string key, value;
  read_entry(message, fault, key, value);
  if (key == "location") payload.external_file = value;
  if (key != "offset" && key != "length") return fault.ok();
  const auto number = parse_number<int64_t>(value);
  if (!number || *number < 0)
    return fault.set_problem(message.data,
                             fmt::format("external data {} '{}' is not a byte count", key, value));
  if (key == "offset")
    payload.external_offset = *number;
  else
    payload.size = static_cast<size_t>(*number);
  return fault.ok();
}

bool Decoder::decode_tensor(ByteSpan message, StoredTensor& out) {
  Pending pending{message, {}, false, 0};
  Cursor cursor(message, fault);
  for (Field field; cursor.next_field(field);) {
    int64_t number = 0;
    ByteSpan span;
    switch (field.number) {
      case proto::Tensor::kDims:
        cursor.append_values(field, out.dims);
        break;
      case proto::Tensor::kDataType: {
        cursor.read_value(field, number);
        const std::optional<DType> dtype = dtype_from_onnx(number);
        if (!dtype)
          return fault.set_problem(field.at, fmt::format("element type {} is unknown", number));
        out.dtype = *dtype;
        break;
      }
      case proto::Tensor::kFloatData:
      case proto::Tensor::kInt32Data:
      case proto::Tensor::kStringData:
      case proto::Tensor::kInt64Data:
      case proto::Tensor::kDoubleData:
      case proto::Tensor::kUint64Data:
        pending.typed_field = static_cast<int>(field.number);
        break;
      case proto::Tensor::kName:
        cursor.read_value(field, out.name);
        break;
      case proto::Tensor::kRawData:
        cursor.read_value(field, pending.raw);
        break;
      case proto::Tensor::kExternalData:
        if (cursor.read_value(field, span)) decode_external(span, out.payload);
        break;
      case proto::Tensor::kDataLocation:
        cursor.read_value(field, number);
        pending.external = number == 1;
        break;
      default:
        break;
    }
  }
  if (!fault.ok()) return false;
  for (int64_t dim : out.dims)
    if (dim < 0)
      return fault.set_problem(message.data,
                               fmt::format("tensor '{}' has the dim {}", out.name, dim));
  if (out.dtype == DType::undefined)
    return fault.set_problem(message.data,
                             fmt::format("tensor '{}' has no element type", out.name));
  return finish_tensor(*this, pending, out);
}

}  // namespace accsim::sim::onnx
