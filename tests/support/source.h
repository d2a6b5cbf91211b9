#pragma once
#include <string>

namespace accsim {

/// As the build knows it: this alone is compiled anew where the tree lies somewhere else.
const char* source_folder();

/// The root of the tree, where configs/ and models/ are.
inline const std::string kSource = source_folder();

}  // namespace accsim
