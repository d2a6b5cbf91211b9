#pragma once
#include <cstdint>
#include <string_view>

namespace accsim::sim::ref {

/// The last opset of ai.onnx whose definitions the kernels follow.
inline constexpr int64_t kNewestOpset = 28;

/// Whether an operator of ai.onnx has an attribute of this name in one of the opsets up to that. An
/// attribute that no kernel knows of could mean anything, so its node isn't computed.
bool known_attribute(std::string_view op, std::string_view name);

}  // namespace accsim::sim::ref
