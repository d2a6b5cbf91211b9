#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace accsim {

/// 128 bits of a text (XXH3), as 32 hexadecimal digits; the same on every platform. Names machines,
/// specs and built cores. Not for secrets.
std::string hash_text(std::string_view text);

/// 64 bits of bytes (XXH3), for tables in memory.
uint64_t hash_bytes(std::string_view bytes);

}  // namespace accsim
