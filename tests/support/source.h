#pragma once
#include <string>

namespace accsim {

/// The root of the tree, where configs/ and models/ are.
inline const std::string kSource = ACCSIM_SOURCE_DIR;

}  // namespace accsim
