#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// Elements as they are stored: little-endian, those under a byte packed from the low end.
struct RawElements {
  const uint8_t* data = nullptr;  ///< into the mapped file, or into `owned`; any alignment
  size_t size = 0;
  std::vector<uint8_t> owned;
};

/// The most bytes that the elements of a sparse tensor take where a dense one is made of it. The
/// size of the file says nothing of them.
inline constexpr int64_t kMostDenseBytes = int64_t{1} << 32;

/// The stored elements of a tensor with that payload: in the model file, in its typed fields, or in
/// an external file in `model_file`'s folder (paths and links that leave it aren't followed).
/// A sparse tensor is made dense.
/// nullopt when they are absent or not as many as the shape needs. With read_weights() the one
/// place that reads weights; costing never does.
std::optional<RawElements> raw_elements(const std::string& model_file, DType dtype,
                                        const Dims& dims, const Payload& payload);

/// The strings of a stored tensor of such; nullopt when they are absent or not as many as the shape
/// needs.
std::optional<std::vector<std::string>> read_texts(const Dims& dims, const Payload& payload);

/// The elements of a stored tensor, row-major; nullopt when they are absent or not plain numbers.
std::optional<std::vector<double>> read_weights(const Graph& graph, const Tensor& tensor);

/// A tensor file (ONNX's test data) with all its elements.
struct TensorFile {
  StoredTensor tensor;
  RawElements elements;
  std::shared_ptr<const void> mapping;  ///< keeps elements.data alive
};
/// The tensors of a file that holds a value of that type: itself, or those of a sequence, or what
/// is in an optional. Errors: unreadable or malformed file, elements that don't fit the shape.
Result<std::vector<TensorFile>> read_value_file(const std::string& path, const ValueDef& type);

}  // namespace accsim::sim
