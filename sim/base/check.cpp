#include "sim/base/check.h"

#include <fmt/core.h>

#include <cstdlib>

#include "sim/base/broken.h"

namespace accsim {
namespace {

thread_local bool is_thrown = false;

}  // namespace

BrokenIsThrown::BrokenIsThrown() : before_(is_thrown) { is_thrown = true; }
BrokenIsThrown::~BrokenIsThrown() { is_thrown = before_; }

void fail_check(std::string_view what, std::source_location at) {
  if (is_thrown) throw Broken(fmt::format("{} ({}:{})", what, at.file_name(), at.line()));
  fmt::print(stderr, "accsim: internal error: {} ({}:{})\n", what, at.file_name(), at.line());
  std::abort();
}

}  // namespace accsim
