#include "sim/sweep/hash.h"

#include <fmt/format.h>

namespace accsim::sim {

std::string hash_text(std::string_view text) {
  // FNV-1a, and the same with another start and another odd multiplier.
  uint64_t a = 0xcbf29ce484222325ULL, b = 0x9e3779b97f4a7c15ULL;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    a = (a ^ byte) * 0x100000001b3ULL;
    b = (b ^ byte) * 0xd6e8feb86659fd93ULL;
    b ^= b >> 32;
  }
  return fmt::format("{:016x}{:016x}", mix(a), mix(b ^ text.size()));
}

}  // namespace accsim::sim
