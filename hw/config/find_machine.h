#pragma once
#include <optional>
#include <string>
#include <vector>

namespace accsim::hw {

/// Names of the machines that come with accsim, without .yaml, sorted; none without the folder.
/// Shipped ones lie in `folder` itself.
std::vector<std::string> shipped_machines(const std::string& folder);
/// Known ones, which exist, lie in its known/.
std::vector<std::string> known_machines(const std::string& folder);
/// The names of both, shipped ones first.
std::vector<std::string> machine_names(const std::string& folder);

/// The file that a user means by a machine. It is the path itself if there is one, else the machine
/// of that name in `folder`, shipped before known, else the text as given.
std::string machine_file(const std::string& given, const std::string& folder);

/// Whether nothing is at the path.
bool is_missing(const std::string& path);

/// The file of the path's folder that has nearly its name.
std::optional<std::string> near_file(const std::string& path);

/// What is said of a machine that isn't there: the file or the machine of `folder`, shipped or
/// known, that was probably meant, or which there are; "" when nothing is near.
std::string missing_machine(const std::string& given, const std::string& folder);

}  // namespace accsim::hw
