#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/result.h"

namespace accsim::sim {

/// Does a file's name end as those do that torch writes (.pt, .pth)?
bool is_torch_file(std::string_view file);

/// A program of python/accsim/ that reads a file by torch. It ends with 0, with 65 where it prints
/// why the file can't be read, or with 69 where its Python has no torch.
struct TorchProgram {
  const char* script = "";  ///< "_export.py"
  const char* reads = "";   ///< "a TorchScript file"
  const char* does = "";    ///< what it ends before: "it was exported"
};

/// Calls `use` with the path of a temporary folder, which is gone when this returns; Ctrl-C
/// meanwhile removes it and ends the process. Errors: those of `use`; io where no folder can be
/// made.
Status in_torch_folder(const std::string& file,
                       const std::function<Status(const std::string&)>& use);

/// Errors about a temporary file as errors about `name`, of which it was made.
Errors renamed_errors(Errors errors, const std::string& file, const std::string& name);

/// Runs `python` ("": python3) with the program, `file`, and the further words. Python is started
/// by its arguments, no shell reads them. What it prints goes to files of `folder`. Errors: io with
/// what to install where there is no Python or no torch; invalid with what the program says.
Status run_torch_program(const TorchProgram& program, const std::string& python,
                         const std::string& file, const std::string& folder,
                         const std::vector<std::string>& words);

}  // namespace accsim::sim
