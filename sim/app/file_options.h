#pragma once
#include <string>
#include <vector>

#include "sim/app/command.h"
#include "sim/base/result.h"

namespace accsim::sim {

/// A file that an option (or something that its file names) stands for.
struct NamedFile {
  std::string option, path;
  bool store = false;  ///< SQLite's: it keeps more files beside it
};

/// Errc::usage for every written file that is one of the files read, or written twice: the same
/// device and inode, or the same place for files that don't exist yet. What is read beside a model
/// (its weights) and beside a store counts, whatever their names. Devices and pipes may be named as
/// often as you like, "-" once.
Status check_written(const std::vector<NamedFile>& written, std::vector<NamedFile> read);

struct SweepSpec;
/// check_written() for what a sweep writes and the files that its spec names.
Status check_sweep_written(const std::vector<NamedFile>& written, const SweepSpec& spec);

/// check_written() over all options of the command line that was parsed, by their kinds. Called
/// once, before any command does something.
Status check_file_options(const Command& program);

}  // namespace accsim::sim
