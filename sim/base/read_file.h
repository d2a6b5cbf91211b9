#pragma once
#include <string>

#include "sim/base/result.h"

namespace accsim {

/// All of a regular file; `kind` is what errors call it: "a .npy file".
Result<std::string> read_bytes(const std::string& file, const char* kind);

}  // namespace accsim
