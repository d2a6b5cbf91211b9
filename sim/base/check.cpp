#include "sim/base/check.h"

#include <fmt/core.h>

#include <cstdlib>

namespace accsim {

void broken(std::string_view what, std::source_location at) {
  fmt::print(stderr, "accsim: internal error: {} ({}:{})\n", what, at.file_name(), at.line());
  std::abort();
}

}  // namespace accsim
