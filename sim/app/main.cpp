#include <fmt/core.h>

#include <exception>

#include "sim/app/cli.h"

int main(int argc, char** argv) {
  try {
    return accsim::sim::run_cli(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "accsim: internal error: {}\n", e.what());
    return accsim::sim::kExitInternal;
  }
}
