#include "sim/elaborate/key_blocks_word.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/base/limit_ranges.h"

namespace accsim::sim {

Result<std::optional<int64_t>> key_blocks_of(const std::string& word) {
  if (word == kBestBlocks) return std::optional<int64_t>();
  if (word == kNoBlocks) return std::optional<int64_t>(0);
  int64_t keys = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, keys);
  if (error == std::errc() && stop == end && keys >= 1 && keys <= kMostLimit)
    return std::optional<int64_t>(keys);
  return Error{Errc::usage,
               fmt::format("'{}' is not {}, {} or a number of keys, 1 to {}", word, kBestBlocks,
                           kNoBlocks, kMostLimit),
               "--key-blocks"};
}

}  // namespace accsim::sim
