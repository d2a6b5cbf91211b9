#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "sim/base/result.h"

namespace accsim::sim {

/// Words of --key-blocks beside a number.
inline constexpr const char *kBestBlocks = "auto", *kNoBlocks = "off";

/// ElaborateOptions::key_blocks as --key-blocks words it: kBestBlocks, kNoBlocks, or a number of
/// keys from 1 on. Other words are an Errc::usage about the option.
Result<std::optional<int64_t>> key_blocks_of(const std::string& word);

}  // namespace accsim::sim
