#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace accsim::sim {

/// The share that "1%", "0.5%" or "0" stands for: 0 .. 1; nothing where it is no such word.
std::optional<double> slack_from(std::string_view text);
/// As reports say it: "1%".
std::string slack_text(double slack);

}  // namespace accsim::sim
