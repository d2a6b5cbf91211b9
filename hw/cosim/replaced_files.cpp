#include "hw/cosim/replaced_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "hw/config/values.h"
#include "hw/cosim/module_header.h"

namespace accsim::hw {
namespace fs = std::filesystem;
namespace {

constexpr const char* kModuleList = "accsim.f";
constexpr const char* kCheckerList = "accsim_sva.f";

Result<std::vector<std::string>> listed_files(const VerilatedCoreOptions& o, const char* list) {
  const Result<std::string> text = read_core_file(o.source_dir / "rtl" / list);
  if (!text) return text.errors();
  std::istringstream in(*text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

bool has_word(const std::vector<std::string>& words, const std::string& word) {
  return std::ranges::find(words, word) != words.end();
}

/// Files that belong to no module of their name: packages.
bool is_package(const fs::path& file) { return file.stem().string().ends_with("_pkg"); }
bool is_checker(const fs::path& file) { return file.stem().string().ends_with("_sva"); }
/// Does the file hold a module of the core?
bool is_module(const fs::path& file) { return !is_package(file) && !is_checker(file); }

Error wrong_name(const fs::path& file, std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".sv"); });
  std::string message = "no file of rtl/ has this name, so it can't stand in for one";
  const auto near = nearest_word(file.filename().string(), names);
  message += near ? fmt::format("; did you mean {}?", *near) : ".";
  message += " The files are those of rtl/accsim.f and rtl/accsim_sva.f.";
  return {Errc::invalid, std::move(message), file.string()};
}

Status same_header(const VerilatedCoreOptions& o, const fs::path& file) {
  const std::string name = file.stem().string();
  const fs::path own = o.source_dir / "rtl" / file.filename();
  const Result<std::string> mine = read_core_file(own), theirs = read_core_file(file);
  if (!mine) return mine.errors();
  if (!theirs) return theirs.errors();
  const Result<ModuleHeader> a = read_header(*mine, name, own.string());
  const Result<ModuleHeader> b = read_header(*theirs, name, file.string());
  if (!a) return a.errors();
  if (!b) return b.errors();
  Errors errors;
  for (const std::string& difference : header_differences(*a, *b))
    errors.push_back(
        {Errc::invalid, difference + " (compared with " + own.string() + ")", file.string()});
  return errors.empty() ? ok() : Status(std::move(errors));
}

/// As a word of a list.
std::string quoted_path(const fs::path& file) { return '"' + file.string() + '"'; }

/// What Verilator says of a module that is in the core.
std::string presence_text(const std::string& module) {
  return fmt::format("accsim: {} is in the core", module);
}

}  // namespace

fs::path rtl_file(const VerilatedCoreOptions& o, const std::string& name) {
  for (const fs::path& file : o.replaced)
    if (file.filename() == name) return file;
  return o.source_dir / "rtl" / name;
}

Status check_replaced(const VerilatedCoreOptions& o) {
  if (o.replaced.empty()) return ok();
  Result<std::vector<std::string>> names = listed_files(o, kModuleList);
  const Result<std::vector<std::string>> checkers = listed_files(o, kCheckerList);
  if (!names) return names.errors();
  if (!checkers) return checkers.errors();
  names->insert(names->end(), checkers->begin(), checkers->end());
  Errors errors;
  const auto add = [&](const Error& error) { errors.push_back(error); };
  for (const fs::path& file : o.replaced) {
    if (rtl_file(o, file.filename().string()) != file)
      add({Errc::usage, "another file of this name stands in for the same one", file.string()});
    else if (file.extension() != ".sv" || !has_word(*names, file.filename().string()))
      add(wrong_name(file, *names));
    else if (is_checker(file) && !o.assertions)
      add({Errc::usage, "assertions are checked with --assertions only", file.string()});
    else if (is_module(file))
      if (const Status s = same_header(o, file); !s)
        for (const Error& error : s.errors()) add(error);
  }
  return errors.empty() ? ok() : Status(std::move(errors));
}

Result<std::string> core_list(const VerilatedCoreOptions& o, const fs::path& witness) {
  std::string out;
  for (const char* list : {kModuleList, kCheckerList}) {
    if (list == kCheckerList && !o.assertions) continue;
    const Result<std::vector<std::string>> words = listed_files(o, list);
    if (!words) return words.errors();
    for (const std::string& word : *words) {
      const bool own = std::ranges::none_of(
          o.replaced, [&](const fs::path& file) { return file.filename() == word; });
      out += (own ? word : quoted_path(rtl_file(o, word))) + "\n";
    }
  }
  return out + quoted_path(witness) + "\n";
}

std::string witness_text(const VerilatedCoreOptions& o) {
  std::string out;
  for (const fs::path& file : o.replaced) {
    if (!is_module(file)) continue;
    const std::string name = file.stem().string();
    out += fmt::format(
        "module accsim_witness_{0}; $info(\"{1}\"); endmodule\n"
        "bind {0} accsim_witness_{0} u_accsim_witness ();\n",
        name, presence_text(name));
  }
  return out;
}

Status replaced_wrong(const VerilatedCoreOptions& o, const std::string& log) {
  Errors errors;
  for (const fs::path& file : o.replaced)
    if (is_module(file) && log.find(presence_text(file.stem().string())) == std::string::npos)
      errors.push_back(
          {Errc::invalid,
           "the core of this machine and dataflow has no such module (--dataflow chooses the "
           "array, --pe-modules one of PE modules), so it would check nothing",
           file.string()});
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    constexpr std::string_view kMark = "%Warning-WIDTH", kPort = " port connection '";
    const size_t place = line.find(": ");
    if (!line.starts_with(kMark) || line.find(kPort) == std::string::npos ||
        place == std::string::npos)
      continue;
    const std::string said = line.substr(place + 2);
    const bool own = std::ranges::none_of(
        o.replaced, [&](const fs::path& file) { return said.starts_with(file.string() + ":"); });
    if (own)
      errors.push_back(
          {Errc::invalid, "a replaced module's port has another width: " + said, "rtl"});
  }
  return errors.empty() ? ok() : Status(std::move(errors));
}

}  // namespace accsim::hw
