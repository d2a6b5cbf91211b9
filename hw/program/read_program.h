#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hw/program/program.h"

namespace accsim::hw {

/// What a file of programs may have at most.
inline constexpr size_t kMostProgramBytes = size_t{32} << 20;
inline constexpr size_t kMostProgramItems = size_t{1} << 19;  ///< lines of one's text
inline constexpr size_t kMostLoopDepth = 16;                  ///< loops in one another
inline constexpr int kMostLoopId = 1 << 20;                   ///< ids are below
inline constexpr size_t kMostProgramTensors = size_t{1} << 16;

/// The programs of a text as program_text() writes it, one behind the other, at least one. They
/// are those that were written, apart from what changes nothing: terms of factor 0 in sums, and
/// first loops of gemms and drains that accumulate anyway. Lines may be wrapped, end in CR LF, be
/// empty or begin with # (docs/program-file.md says it all). Nothing is checked against a machine:
/// verify() does it. The first error has the line and column: `file`:3:17.
Result<std::vector<Program>> parse_programs(std::string_view text, const std::string& file);
/// The same of a file; errors of reading it are Errc::io.
Result<std::vector<Program>> read_programs(const std::string& path);

}  // namespace accsim::hw
