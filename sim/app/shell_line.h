#pragma once
#include <string>

namespace accsim::sim {

/// The command line as one types it into a POSIX shell: words quoted where they must be. The
/// program's own name comes without its folder.
std::string shell_line(int argc, char** argv);

}  // namespace accsim::sim
