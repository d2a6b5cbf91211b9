#include <exception>

#include <fmt/core.h>

#include "sim/app/cli.h"

int main(int argc, char** argv) {
  try {
    return accsim::run_cli(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "accsim: internal error: {}\n", e.what());
    return accsim::kExitInternal;
  }
}
