#include "sim/app/verified_cores.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "sim/app/build_progress.h"
#include "sim/app/cli.h"
#include "sim/app/interrupt.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"

namespace accsim::sim {

Result<hw::VerilatedCoreOptions> core_variant(const std::string& source, const std::string& cache) {
  const Result<std::filesystem::path> tree =
      source.empty() ? data_folder() : std::filesystem::path(source);
  const Result<std::filesystem::path> kept =
      cache.empty() ? core_cache() : std::filesystem::path(cache);
  if (!tree) return tree.errors();
  if (!kept) return kept.errors();
  hw::VerilatedCoreOptions out;
  out.source_dir = *tree;
  out.cache_dir = *kept;
  out.compiler = ACCSIM_RTL_COMPILER;
  out.stop = &InterruptGuard::requested();
  out.building = [show = std::make_shared<BuildProgress>()](const hw::BuildStep& step) {
    (*show)(step);
  };
  return out;
}

int exit_code_of(const VerifyReport& report) {
  if (report.all_passed()) return kExitOk;
  if (report.interrupted || !report.only_lacks_cores()) return kExitFailed;
  for (const VerifyRow& row : report.rows) {  // all for one reason
    if (row.error.empty()) continue;
    print_err(fmt::format("accsim: error: {}\n", row.error));
    break;
  }
  return kExitResources;
}

}  // namespace accsim::sim
