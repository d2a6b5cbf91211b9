#include "sim/onnx/weights.h"

#include <filesystem>
#include <fstream>

#include "sim/onnx/decode.h"

namespace accsim {
namespace {

std::optional<std::vector<uint8_t>> external_bytes(const Graph& graph, const Payload& p,
                                                   size_t size) {
  const auto path = std::filesystem::path(graph.file).parent_path() / p.external_file;
  std::ifstream in(path, std::ios::binary);
  std::vector<uint8_t> bytes(size);
  if (!in.seekg(p.external_offset) ||
      !in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size)))
    return std::nullopt;
  return bytes;
}

std::vector<double> as_doubles(const ConstData& data) {
  std::vector<double> out(data.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = data.as_double(i);
  return out;
}

}  // namespace

std::optional<std::vector<double>> read_weights(const Graph& graph, const Tensor& t) {
  if (t.value) return as_doubles(*t.value);
  if (!is_float(t.dtype) && !is_integer(t.dtype)) return std::nullopt;
  const int64_t count = elements(t.dims);
  const auto size = static_cast<size_t>(storage_bytes(t.dtype, count));
  ConstPtr data;
  if (t.payload.kind == Payload::Kind::raw && t.payload.size == size) {
    data = onnx::decode_elements(t.dtype, static_cast<size_t>(count), {t.payload.data, size});
  } else if (t.payload.kind == Payload::Kind::external) {
    const auto bytes = external_bytes(graph, t.payload, size);
    if (bytes) data = onnx::decode_elements(t.dtype, static_cast<size_t>(count), {bytes->data(), size});
  }
  if (!data) return std::nullopt;
  return as_doubles(*data);
}

}  // namespace accsim
