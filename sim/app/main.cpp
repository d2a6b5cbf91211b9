#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include "sim/app/cli.h"
#include "sim/app/output.h"

int main(int argc, char** argv) {
  try {
    return accsim::sim::run_cli(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("accsim: error: not enough memory; use smaller inputs or fewer threads\n",
               stderr);  // fmt may want some
    return accsim::sim::kExitResources;
  } catch (const std::system_error& e) {
    accsim::sim::print_err(fmt::format("accsim: error: {}\n", e.what()));
    return accsim::sim::kExitResources;
  } catch (const std::exception& e) {
    accsim::sim::print_err(fmt::format("accsim: internal error: {}\n", e.what()));
    return accsim::sim::kExitResources;
  }
}
