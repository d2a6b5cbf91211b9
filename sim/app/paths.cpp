#include "sim/app/paths.h"

#include <climits>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

#include "hw/config/find_machine.h"
#include "hw/config/load.h"

namespace accsim::sim {
namespace fs = std::filesystem;
namespace {

/// Folder of the running program; the current one where the system doesn't say.
fs::path program_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  return error ? fs::current_path() : self.parent_path();
}

fs::path tree_file() { return program_folder() / "accsim.tree"; }

/// Names that the command line has, by the files that they stand for.
std::map<std::string, std::string>& named_machines() {
  static std::map<std::string, std::string> names;
  return names;
}

}  // namespace

Result<fs::path> data_folder() {
  std::string tree;
  tree.reserve(PATH_MAX);  // getline() takes having no memory for the end of the file
  if (std::ifstream file(tree_file()); std::getline(file, tree)) return fs::path(tree);
  const fs::path installed = (program_folder() / ACCSIM_DATA_FOLDER).lexically_normal();
  std::error_code ignored;
  if (fs::is_directory(installed, ignored)) return installed;
  return Error{Errc::io,
               "the files that belong to this program are missing: neither " +
                   tree_file().string() + " nor " + installed.string() + " is there",
               "accsim"};
}

std::string machine_folder() {
  const Result<fs::path> data = data_folder();
  return data ? (*data / "configs").string() : std::string();
}

std::string find_machine(const std::string& given) {
  std::string file = hw::machine_file(given, machine_folder());
  if (file != given) named_machines()[file] = given;
  return file;
}

Result<hw::HwConfig> load_machine(const std::string& file) {
  Result<hw::HwConfig> out = hw::load_hw(file);
  if (const auto named = named_machines().find(file); out && named != named_machines().end())
    out->file = named->second;
  return out;
}

Result<fs::path> core_cache() {
  std::error_code ignored;
  if (fs::exists(tree_file(), ignored)) return program_folder() / "verilated";
  const auto folder = [](const char* variable) {
    const char* const value = std::getenv(variable);
    return fs::path(value ? value : "");
  };
  if (const fs::path cache = folder("XDG_CACHE_HOME"); cache.is_absolute())
    return cache / "accsim" / "verilated";
  if (const fs::path home = folder("HOME"); home.is_absolute())
    return home / ".cache" / "accsim" / "verilated";
  return Error{Errc::io, "there is no home folder to keep Verilated cores in; name one", "--cache"};
}

}  // namespace accsim::sim
