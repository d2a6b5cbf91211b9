#pragma once
#include <optional>
#include <string>
#include <vector>

namespace accsim::hw {

/// Names of the machines of a folder, without .yaml, sorted; none where there is no such folder.
std::vector<std::string> machine_names(const std::string& folder);

/// The file that a user means by a machine: the path itself when there is one, else the machine of
/// that name in `folder`, else what was given.
std::string machine_file(const std::string& given, const std::string& folder);

/// Whether nothing is at the path.
bool is_missing(const std::string& path);

/// The file of the path's folder that has nearly its name.
std::optional<std::string> near_file(const std::string& path);

/// What is said of a machine that isn't there: the file or the machine of `folder` that was
/// probably meant, or which there are; "" when nothing is near.
std::string missing_machine(const std::string& given, const std::string& folder);

}  // namespace accsim::hw
