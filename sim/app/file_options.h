#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "sim/base/result.h"

namespace accsim::sim {

/// What an option's value is, said by its type_name, which --help shows. check_file_options() goes
/// by these names; an option that takes a file or folder has one of them.
inline constexpr const char* kReadFile = "FILE";           ///< read; a stored model's weights, too
inline constexpr const char* kAwaitedFile = "STORE";       ///< read when it is there
inline constexpr const char* kMachine = "MACHINE";         ///< read; or a shipped machine's name
inline constexpr const char* kReadFolder = "FOLDER";       ///< dumps, or a tree with rtl/
inline constexpr const char* kReadSource = "NAME=SOURCE";  ///< NAME=FILE; random:SEED is no file
inline constexpr const char* kWrittenFile = "TARGET";      ///< written; - is stdout
inline constexpr const char* kWrittenFolder = "TARGET-DIR";

/// A file that an option (or something that its file names) stands for.
struct NamedFile {
  std::string option, path;
};

/// Errc::usage for every written file that is one of the files read, or written twice: the same
/// device and inode, or the same place for files that don't exist yet. Devices and pipes may be
/// named as often as you like, "-" once.
Status check_written(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read);

struct SweepSpec;
/// check_written() for what a sweep writes and the files that its spec names.
Status check_sweep_written(const std::vector<NamedFile>& written, const SweepSpec& spec);

/// check_written() over all options of the command line that was parsed, by their kinds above.
/// Called once, before any command does something.
Status check_file_options(const CLI::App& app);

}  // namespace accsim::sim
