#include "sim/app/shell_line.h"

#include "sim/base/shell_word.h"

namespace accsim::sim {
std::string shell_line(int argc, char** argv) {
  std::string out = "accsim";
  for (int i = 1; i < argc; ++i) out += " " + shell_word(argv[i]);
  return out;
}

}  // namespace accsim::sim
