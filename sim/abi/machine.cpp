#include "sim/abi/machine.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <variant>

#include "hw/config/fields.h"
#include "hw/config/find_machine.h"
#include "hw/config/load.h"
#include "hw/config/values.h"
#include "sim/abi/boundary.h"

namespace accsim::abi {
namespace {

namespace fs = std::filesystem;

/// Where this library's code was loaded from: the shared library, or a program with the static one.
fs::path own_folder() {
  Dl_info info{};
  std::error_code error;
  const bool known = dladdr(reinterpret_cast<const void*>(&accsim_abi_version), &info) != 0;
  const std::string file = known && info.dli_fname ? info.dli_fname : "";
  // A program's name is what it was called by.
  const fs::path path = file.find('/') == std::string::npos
                            ? fs::read_symlink("/proc/self/exe", error)
                            : fs::canonical(file, error);
  return path.parent_path();
}

/// The machines that have names: of the tree in a build folder (accsim.tree), else those that were
/// installed with the library.
std::string named_machines() {
  const fs::path folder = own_folder();
  std::string tree;
  if (std::ifstream file(folder / "accsim.tree"); std::getline(file, tree))
    return (fs::path(tree) / "configs").string();
  return (folder / ACCSIM_DATA_FOLDER / "configs").lexically_normal().string();
}

Result<hw::HwConfig> load_machine(const std::string& given) {
  const std::string folder = named_machines(), file = hw::machine_file(given, folder);
  if (hw::is_missing(file))
    if (std::string why = hw::missing_machine(given, folder); !why.empty())
      return Error{Errc::io, std::move(why), given};
  Result<hw::HwConfig> hw = hw::load_hw(file);
  if (hw && file != given) hw->file = given;
  return hw;
}

/// nullopt of what isn't a number.
std::optional<double> field_number(const hw::Field& field, const hw::HwConfig& hw) {
  using hw::Member;
  if (field.section_there != nullptr && !field.section_there(hw)) return std::nullopt;
  return std::visit(
      hw::FieldCases{
          [&](const Member<int64_t>& m) { return std::optional(static_cast<double>(m.in(hw))); },
          [&](const Member<double>& m) { return std::optional(m.in(hw)); },
          [&](const Member<hw::ByteRate>& m) { return std::optional(m.in(hw).value()); },
          [&](const Member<hw::DerivableNumber>& m) { return std::optional(m.in(hw).value); },
          [](const auto&) { return std::optional<double>(); }},
      field.target);
}

int32_t say_number(const hw::HwConfig& hw, const std::string& path, double& value) {
  std::vector<std::string> paths;
  for (const hw::Field& field : hw::fields()) {
    const auto found = field_number(field, hw);
    if (found && field.path == path) {
      value = *found;
      return ACCSIM_OK;
    }
    if (found) paths.push_back(field.path);
  }
  const auto near = hw::nearest_word(path, paths);
  return say_message(
      ACCSIM_ARGUMENT,
      fmt::format("a machine has no number '{}'{}", path,
                  near ? fmt::format("; did you mean {}?", *near)
                       : std::string("; `accsim hw fields` lists those that it has")));
}

}  // namespace
}  // namespace accsim::abi

using namespace accsim::abi;

int32_t accsim_machine_open(const char* file, accsim_machine** machine) {
  if (machine) *machine = nullptr;
  return call_guarded({{"file", file}, {"machine", machine}}, [&] {
    auto hw = load_machine(file);
    if (!hw) return say_message(hw.errors());
    *machine = new accsim_machine{*std::move(hw)};
    return int32_t{ACCSIM_OK};
  });
}

int32_t accsim_machine_number(const accsim_machine* machine, const char* path, double* value) {
  return call_guarded({{"machine", machine}, {"path", path}, {"value", value}},
                      [&] { return say_number(machine->hw, path, *value); });
}

void accsim_machine_close(accsim_machine* machine) { delete machine; }
