#pragma once
#include <filesystem>

namespace accsim::hw {

/// Writes the hash of a file beside it, and both to the disk: what is_intact() asks for. False when
/// that can't be done.
bool seal_file(const std::filesystem::path& file);

/// Whether the file is there, and as it was when it was sealed.
bool is_intact(const std::filesystem::path& file);

/// Renames a sealed file with its hash. False when that can't be done.
bool rename_sealed(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace accsim::hw
