#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "sim/app/cli.h"
#include "sim/app/last_words.h"
#include "sim/app/output.h"

int main(int argc, char** argv) {
  try {
    return accsim::sim::run_cli(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs(accsim::sim::kNoMemory, stderr);  // fmt may want some
    return accsim::sim::kExitResources;
  } catch (const std::system_error& e) {
    accsim::sim::print_err(fmt::format("accsim: error: {}\n", e.what()));
    return accsim::sim::kExitResources;
  } catch (const std::exception& e) {
    accsim::sim::print_err(fmt::format(
        "accsim: internal error: {}; this is a bug in accsim, please report it with the "
        "command line\n",
        e.what()));
    return accsim::sim::kExitBug;
  }
}
