#include "sim/base/check.h"

#include <cstdlib>

#include <fmt/core.h>

namespace accsim {

void broken(std::string_view what, std::source_location at) {
  fmt::print(stderr, "accsim: internal error: {} ({}:{})\n", what, at.file_name(), at.line());
  std::abort();
}

}  // namespace accsim
