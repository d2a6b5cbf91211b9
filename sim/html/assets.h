#pragma once
#include <string_view>
#include <vector>

namespace accsim::sim {

/// The script of web/dist as the build embeds it (scripts/embed.cmake), in parts to be joined.
const std::vector<std::string_view>& page_script();
/// The style sheet, likewise.
const std::vector<std::string_view>& page_style();
/// "sha256-..." of the script, as Content-Security-Policy has it.
const std::vector<std::string_view>& page_script_hash();

}  // namespace accsim::sim
