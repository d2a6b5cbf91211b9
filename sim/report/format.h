#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/report/characters.h"

namespace accsim::sim {

/// Numbers and words for the terminal. Numbers are ASCII; texts are UTF-8, counted in columns
/// (sim/report/characters.h).

/// 1,234,567
std::string format_count(int64_t value);
/// `decimals` digits behind the point, thousands separated: 1,234.5. "-" for what isn't finite.
std::string format_fixed(double value, int decimals);
/// Three digits and a prefix: 0, 1, 12, 999, 1.23k, 45.6M; below 1 (when not 0) 123m, 4.56u.
/// "-" for what isn't finite.
std::string format_si(double value);
/// The same with a unit behind a space: "4.56 MB", "123 mJ", "7 B".
std::string format_si(double value, std::string_view unit);
/// Of seven significant digits at most, where there is no room for words or units: CSV, notes in a
/// model. Nobody reads more, and behind them is what binary fractions add: 0.1 + 0.2 is 0.3. Whole
/// numbers keep all their digits, and no exponent replaces those before the point. "-" as above.
std::string format_digits(double value);
/// How long the rest of a job takes at the pace so far, in whole seconds that aren't too few:
/// "3 s left"; "? s left" before anything is done.
std::string format_left(double seconds, int64_t done, int64_t of);
/// Bytes in binary units: "96 KiB", "2 MiB", "1.5 MiB".
std::string format_kib(int64_t kib);

/// A bar of at most `width` characters for a part from 0 to 1: of eighth blocks (UTF-8), or of '#'.
/// A part of 0 (or none: nan) is empty, and the least other one shows as '.' or the thinnest block.
std::string format_bar(double part, size_t width, bool unicode);

/// At most `width` (>= 5) columns; the middle makes way for a "~".
std::string shorten_middle(std::string_view text, size_t width);
/// With blanks behind it, or before it, to `width` columns.
std::string pad_right(std::string_view text, size_t width);
std::string pad_left(std::string_view text, size_t width);
/// `text` in lines of at most `width` columns, broken at spaces or, when a word is longer
/// than a line, within the word. Never empty.
std::vector<std::string> wrap_words(std::string_view text, size_t width);

/// Every line of `text` in lines of at most `width` columns as wrap_words() makes them; those
/// that go on a line stand `indent` further in. Ends with a line feed when `text` does.
std::string wrap_lines(std::string_view text, size_t width, size_t indent = 4);

/// Terminal colours, on or off.
enum class Ink : uint8_t { plain, bold, dim, red, green, yellow, blue, magenta };
/// `text` between the escape codes of an ink; unchanged without `colour`, or in plain ink.
std::string paint(std::string_view text, Ink ink, bool colour);
/// Columns of a line without its colour codes.
size_t visible_width(std::string_view line);

}  // namespace accsim::sim
