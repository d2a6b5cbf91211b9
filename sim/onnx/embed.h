#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace accsim::sim {

/// The most bytes that a model's file may have: protobuf takes no message of 2 GiB.
inline constexpr int64_t kMostModelBytes = (int64_t{1} << 31) - 1;

/// The bytes of a model with the elements of its external tensors in it, wherever these stand:
/// among initializers, in attributes, bodies and functions. All else is copied as it is. The files
/// are looked for beside `model_file`. Errors: Errc::io for elements that can't be read, by the
/// tensor's name; Errc::capacity when the result would have more than `most` bytes.
Result<std::string> embed_weights(std::string_view model, const std::string& model_file,
                                  int64_t most = kMostModelBytes);

}  // namespace accsim::sim
