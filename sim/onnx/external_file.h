#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace accsim::sim::onnx {

/// Why nothing is read from such a file, whatever it holds; "" where only the file itself counts.
std::string external_refusal(const std::string& model_file, const std::string& name);

/// `size` bytes from `offset` on of the file `name`, which lies beside `model_file`. nullopt when
/// it has fewer bytes, is no regular file, or lies elsewhere. Links are followed first. Their
/// target must lie in the folder of the model, or in that of the file to which the model is a link.
std::optional<std::vector<uint8_t>> read_external(const std::string& model_file,
                                                  const std::string& name, int64_t offset,
                                                  size_t size);

}  // namespace accsim::sim::onnx
