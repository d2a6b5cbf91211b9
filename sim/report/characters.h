#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace accsim::sim {

/// UTF-8 as a terminal shows it. Widths are in columns, of texts without control characters.

/// A character, or a byte that is none.
struct Character {
  char32_t code = 0;   ///< of a byte that is none: the byte
  size_t bytes = 1;    ///< of the text
  bool valid = false;  ///< well-formed UTF-8
};
/// The one that begins at `at` < text.size().
Character character_at(std::string_view text, size_t at);

/// Columns that a character takes: none for marks put on the one before it, two for those that East
/// Asian Width calls wide or fullwidth and for emoji, else one. Marks of scripts that are rare
/// count as one.
size_t columns_of(char32_t code);
/// Columns of all characters of a text.
size_t display_width(std::string_view text);
/// As much of the beginning, or of the end, as fits into `width` columns.
std::string_view leading_part(std::string_view text, size_t width);
std::string_view trailing_part(std::string_view text, size_t width);

/// The text, safe to print. Control characters, characters that turn the direction of writing, and
/// bytes that aren't UTF-8 become "\x1b" or "\u202e". Those in `kept`, which are ASCII, stay.
std::string printable(std::string_view text, std::string_view kept = {});

}  // namespace accsim::sim
