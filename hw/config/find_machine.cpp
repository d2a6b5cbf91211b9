#include "hw/config/find_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "hw/config/values.h"

namespace accsim::hw {
namespace fs = std::filesystem;

namespace {

bool contains_name(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// "" has none: it stands for no folder, not for the current one.
std::string known_folder(const std::string& folder) {
  return folder.empty() ? "" : (fs::path(folder) / "known").string();
}

}  // namespace

std::vector<std::string> shipped_machines(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (auto at = fs::directory_iterator(folder, error); !error && at != fs::directory_iterator();
       at.increment(error))
    if (at->path().extension() == ".yaml") out.push_back(at->path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::string> known_machines(const std::string& folder) {
  return shipped_machines(known_folder(folder));
}

std::vector<std::string> machine_names(const std::string& folder) {
  std::vector<std::string> out = shipped_machines(folder);
  std::ranges::move(known_machines(folder), std::back_inserter(out));
  return out;
}

std::string machine_file(const std::string& given, const std::string& folder) {
  std::error_code error;
  if (given.find('/') != std::string::npos || fs::exists(given, error)) return given;
  for (const std::string& place : {folder, known_folder(folder)})
    if (contains_name(shipped_machines(place), given))
      return (fs::path(place) / (given + ".yaml")).string();
  return given;
}

bool is_missing(const std::string& path) {
  std::error_code error;
  return fs::status(path, error).type() == fs::file_type::not_found;
}

std::optional<std::string> near_file(const std::string& path) {
  const fs::path wanted(path);
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (auto at = fs::directory_iterator(folder, error);
       !error && at != fs::directory_iterator() && names.size() < 10'000; at.increment(error))
    names.push_back(at->path().filename().string());
  const auto close = nearest_word(wanted.filename().string(), names);
  if (!close) return {};
  return (wanted.parent_path() / *close).string();
}

std::string missing_machine(const std::string& given, const std::string& folder) {
  const auto near = near_file(given);
  if (given.find('/') == std::string::npos) {
    const std::vector<std::string> shipped = shipped_machines(folder);
    const std::vector<std::string> names = machine_names(folder);
    const std::string stem = fs::path(given).stem().string();  // 64x64.yaml means 64x64
    if (const auto close = contains_name(names, stem) ? stem : nearest_word(given, names))
      return fmt::format("no such file; did you mean the {} machine {}?",
                         contains_name(shipped, *close) ? "shipped" : "known", *close);
    if (given.find('.') == std::string::npos && !near && !names.empty())
      return fmt::format("no such file, and no machine has that name: shipped {}; known {}",
                         fmt::join(shipped, ", "), fmt::join(known_machines(folder), ", "));
  }
  return near ? fmt::format("no such file; did you mean {}?", *near) : "";
}

}  // namespace accsim::hw
