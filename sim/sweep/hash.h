#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace accsim::sim {

/// 128 bits of a text, as 32 hexadecimal digits: names machines and specs in stores. Not for
/// secrets.
std::string hash_text(std::string_view text);

/// 64 well-mixed bits of a number (the finaliser of MurmurHash3).
constexpr uint64_t mix(uint64_t v) {
  v ^= v >> 33;
  v *= 0xff51afd7ed558ccdULL;
  v ^= v >> 33;
  v *= 0xc4ceb9fe1a85ec53ULL;
  v ^= v >> 33;
  return v;
}

}  // namespace accsim::sim
