#pragma once
#include <string>
#include <string_view>

namespace accsim {

/// A word as one types it into a POSIX shell, quoted where it must be.
std::string shell_word(std::string_view word);

}  // namespace accsim
