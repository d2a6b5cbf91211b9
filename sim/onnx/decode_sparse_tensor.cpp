#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/onnx/decode.h"
#include "sim/onnx/field_numbers.h"
#include "sim/onnx/weights.h"

namespace accsim::sim::onnx {
namespace {

/// What a SparseTensorProto says: a list of values, and where in `dims` each of them lies.
struct Parts {
  StoredTensor values, indices;
  Dims dims;

  int64_t value_count() const { return values.dims.empty() ? 0 : values.dims[0]; }
};

bool decode_parts(Decoder& decoder, ByteSpan message, Parts& out) {
  using proto::SparseTensor;
  const auto tensor = [&](uint32_t number, StoredTensor& to) {
    return held_by(number, [&](ByteSpan span) { decoder.decode_tensor(span, to); });
  };
  return read_fields(message, decoder.fault, tensor(SparseTensor::kValues, out.values),
                     tensor(SparseTensor::kIndices, out.indices),
                     into(SparseTensor::kDims, out.dims));
}

/// ONNX has indices in int64; ONNX Runtime reads narrower ones, too.
bool can_index(DType dtype) { return is_signed_integer(dtype) && !is_packed(dtype); }

/// What is wrong with the parts' types and dims; "" for nothing.
std::string problem_of(const Parts& parts) {
  const StoredTensor &values = parts.values, &indices = parts.indices;
  for (const int64_t dim : parts.dims)
    if (dim < 0) return fmt::format("has the dim {}", dim);
  if (values.dtype == DType::undefined) return "is sparse and has no values";
  if (values.dims.size() != 1)
    return fmt::format("is sparse and has values of shape {}; they must be a list",
                       to_string(values.dims));
  const int64_t count = parts.value_count();
  const std::optional<int64_t> all = checked_elements(parts.dims);
  if (all && count > *all)
    return fmt::format("is sparse and has {} values where its shape {} has {} elements", count,
                       to_string(parts.dims), *all);
  if (count == 0) return "";
  if (!can_index(indices.dtype))
    return fmt::format("is sparse and has indices of type {}; they must be int64",
                       name(indices.dtype));
  const Dims linear{count}, by_axis{count, static_cast<int64_t>(parts.dims.size())};
  if (indices.dims == linear || indices.dims == by_axis) return "";
  return fmt::format("is sparse and has indices of shape {}; {} or {} goes with its values",
                     to_string(indices.dims), to_string(linear), to_string(by_axis));
}

/// The row-major place of each value in the dense tensor; nullopt when an index can't be read or
/// lies outside.
std::optional<std::vector<int64_t>> value_places(const std::string& file, const Parts& parts) {
  const auto count = static_cast<size_t>(parts.value_count());
  const std::optional<int64_t> all = checked_elements(parts.dims);
  if (!all) return std::nullopt;
  if (count == 0) return std::vector<int64_t>{};
  const StoredTensor& stored = parts.indices;
  const auto raw = raw_elements(file, stored.dtype, stored.dims, stored.payload);
  if (!raw) return std::nullopt;
  const auto per_value = static_cast<size_t>(elements(stored.dims)) / count;
  const ConstPtr indices = decode_elements(stored.dtype, count * per_value, {raw->data, raw->size});
  const bool linear = stored.dims.size() == 1;
  std::vector<int64_t> out(count, 0);
  for (size_t i = 0; i < count; ++i)
    for (size_t d = 0; d < per_value; ++d) {
      const int64_t index = indices->integers()[i * per_value + d];
      const int64_t length = linear ? *all : parts.dims[d];
      if (index < 0 || index >= length) return std::nullopt;
      out[i] = out[i] * length + index;
    }
  return out;
}

/// Element i of `from` becomes element `place` of `to`, which may share bytes with others.
void copy_element(const RawElements& from, size_t i, size_t width, size_t place,
                  std::vector<uint8_t>& to) {
  if (width % 8 == 0) {
    std::copy_n(from.data + i * (width / 8), width / 8,
                to.begin() + static_cast<ptrdiff_t>(place * (width / 8)));
    return;
  }
  for (size_t bit = 0; bit < width; ++bit) {
    const size_t source = i * width + bit, target = place * width + bit;
    const auto mask = static_cast<uint8_t>(1U << target % 8);
    const bool set = (from.data[source / 8] >> source % 8 & 1) != 0;
    to[target / 8] = static_cast<uint8_t>(set ? to[target / 8] | mask : to[target / 8] & ~mask);
  }
}

}  // namespace

std::optional<std::vector<uint8_t>> dense_elements(const std::string& model_file, ByteSpan message,
                                                   DType dtype, const Dims& dims) {
  Fault fault{message.data, {}, 0};
  Decoder decoder{fault, model_file};
  Parts parts;
  if (!decode_parts(decoder, message, parts) || !problem_of(parts).empty()) return std::nullopt;
  const std::optional<int64_t> count = checked_elements(dims);
  if (!count || *count > kMostDenseBytes) return std::nullopt;
  const int64_t bytes = storage_bytes(dtype, *count);
  const auto values = raw_elements(model_file, dtype, parts.values.dims, parts.values.payload);
  const auto at = value_places(model_file, parts);
  if (bytes > kMostDenseBytes || !values || !at) return std::nullopt;
  std::vector<uint8_t> out(static_cast<size_t>(bytes), 0);
  for (size_t i = 0; i < at->size(); ++i)
    copy_element(*values, i, static_cast<size_t>(bits(dtype)), static_cast<size_t>((*at)[i]), out);
  return out;
}

bool Decoder::sparse_tensor(ByteSpan message, StoredTensor& out) {
  Parts parts;
  if (!decode_parts(*this, message, parts)) return false;
  const auto wrong = [&](std::string_view what) {
    return fault.set_problem(message.data, fmt::format("tensor '{}' {}", parts.values.name, what));
  };
  if (const std::string problem = problem_of(parts); !problem.empty()) return wrong(problem);
  const Payload &values = parts.values.payload, &indices = parts.indices.payload;
  if (!values.external_file.empty() && !indices.external_file.empty() &&
      values.external_file != indices.external_file)
    return wrong("is sparse and has its values and its indices in two files; store them in one");
  // Costing works without weights, so only what is in this file can be wrong.
  if (indices.kind != Payload::Kind::none && indices.kind != Payload::Kind::external &&
      !value_places(file, parts))
    return wrong(fmt::format("is sparse and has an index outside of its shape {}, or too few",
                             to_string(parts.dims)));
  out.name = std::move(parts.values.name);
  out.dtype = parts.values.dtype;
  out.dims = std::move(parts.dims);  // those of `values` only count the stored elements
  out.sparse = true;
  out.payload = {Payload::Kind::sparse, message.data, message.size, 0, {}, 0};
  out.payload.external_file =
      values.external_file.empty() ? indices.external_file : values.external_file;
  if (alone && !out.payload.external_file.empty()) {
    out.payload.kind = Payload::Kind::none;
    return true;
  }
  const std::optional<int64_t> count = checked_elements(out.dims);
  if (!count || !is_small(out.dtype, *count)) return true;
  if (const auto dense = dense_elements(file, message, out.dtype, out.dims))
    out.value =
        decode_elements(out.dtype, static_cast<size_t>(*count), {dense->data(), dense->size()});
  return true;
}

}  // namespace accsim::sim::onnx
