#include "sim/report/characters.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace accsim::sim {
namespace {

struct Range {
  char32_t first, last;
};

// Not those of utf8proc 2.8, Debian 12's: it gives none to the vowel signs that stand beside their
// letter in Devanagari and its kin (441 of Mc), and one to each vowel and final of Hangul that is
// taken apart (232), as file names may be. Terminals and wcwidth() show both the other way round.

/// Nonspacing marks (Mn, Me) and joiners of the scripts that names are written in.
constexpr Range kMarks[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x05BF, 0x05BF}, {0x05C1, 0x05C2},
    {0x05C4, 0x05C5}, {0x0610, 0x061A}, {0x064B, 0x065F}, {0x0670, 0x0670}, {0x06D6, 0x06DC},
    {0x06DF, 0x06E4}, {0x06E7, 0x06E8}, {0x06EA, 0x06ED}, {0x0900, 0x0902}, {0x093A, 0x093A},
    {0x093C, 0x093C}, {0x0941, 0x0948}, {0x094D, 0x094D}, {0x0951, 0x0957}, {0x0962, 0x0963},
    {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E}, {0x1160, 0x11FF}, {0x1AB0, 0x1ACE},
    {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x2060, 0x2060}, {0x20D0, 0x20F0}, {0x302A, 0x302D},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF}};

/// East_Asian_Width W and F; gaps that aren't assigned are closed.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x3247},   {0x3250, 0x4DBF},   {0x4E00, 0xA4C6},   {0xA960, 0xA97C},
    {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6B},
    {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},   {0x16FE0, 0x18D08}, {0x1AFF0, 0x1B2FB},
    {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A},
    {0x1F200, 0x1F320}, {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393},
    {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4},
    {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D},
    {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596},
    {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC},
    {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6DF}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC},
    {0x1F7E0, 0x1F7F0}, {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF},
    {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

/// Controls, line separators, and what turns the direction of writing.
constexpr Range kUnsafe[] = {{0x0000, 0x001F}, {0x007F, 0x009F}, {0x061C, 0x061C},
                             {0x200E, 0x200F}, {0x2028, 0x202E}, {0x2066, 0x2069}};

template <size_t kSize>
bool in_ranges(const Range (&ranges)[kSize], char32_t code) {
  const auto* const at = std::lower_bound(std::begin(ranges), std::end(ranges), code,
                                          [](const Range& r, char32_t c) { return r.last < c; });
  return at != std::end(ranges) && at->first <= code;
}

}  // namespace

Character character_at(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const char32_t first = byte(at);
  if (first < 0x80) return {first, 1, true};
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || at + bytes > text.size()) return {first, 1, false};
  char32_t code = first & (0xFFU >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80) return {first, 1, false};
    code = (code << 6U) | (byte(at + i) & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kLeast[bytes - 2] || surrogate || code > 0x10FFFF) return {first, 1, false};
  return {code, bytes, true};
}

size_t columns_of(char32_t code) {
  if (code < 0x300) return 1;
  if (in_ranges(kMarks, code)) return 0;
  return in_ranges(kWide, code) ? 2 : 1;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    width += columns_of(c.code);
    at += c.bytes;
  }
  return width;
}

std::string_view leading_part(std::string_view text, size_t width) {
  size_t used = 0, at = 0;
  while (at < text.size()) {
    const Character c = character_at(text, at);
    used += columns_of(c.code);
    if (used > width) break;
    at += c.bytes;
  }
  return text.substr(0, at);
}

std::string_view trailing_part(std::string_view text, size_t width) {
  size_t left = display_width(text), at = 0;
  bool cut = false;
  while (at < text.size()) {
    const Character c = character_at(text, at);
    const size_t columns = columns_of(c.code);
    // A mark goes with what it was put on.
    if (left <= width && !(cut && columns == 0)) break;
    left -= columns;
    at += c.bytes;
    cut = true;
  }
  return text.substr(at);
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    const bool stays = c.code < 0x80 && kept.find(text[at]) != std::string_view::npos;
    if (stays || (c.valid && !in_ranges(kUnsafe, c.code)))
      out += text.substr(at, c.bytes);
    else if (c.valid && c.code >= 0x80)
      out += fmt::format("\\u{:04x}", static_cast<uint32_t>(c.code));
    else
      out += fmt::format("\\x{:02x}", static_cast<uint32_t>(c.code));
    at += c.bytes;
  }
  return out;
}

}  // namespace accsim::sim
