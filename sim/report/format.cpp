#include "sim/report/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace accsim::sim {
namespace {

/// Puts commas between the thousands of the digits that start at `from`.
void separate_thousands(std::string& text, size_t from) {
  const size_t end = std::min(text.find('.', from), text.size());
  for (size_t at = end; at > from + 3; at -= 3) text.insert(at - 3, 1, ',');
}

}  // namespace

std::string format_count(int64_t value) {
  std::string text = fmt::format("{}", value);
  separate_thousands(text, value < 0 ? 1 : 0);
  return text;
}

std::string format_fixed(double value, int decimals) {
  if (!std::isfinite(value)) return "-";
  if (std::abs(value) >= 1e15) return fmt::format("{:.2e}", value);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find_first_not_of("-0.") == std::string::npos && text[0] == '-') text.erase(0, 1);
  separate_thousands(text, text[0] == '-' ? 1 : 0);
  return text;
}

std::string format_si(double value) {
  if (!std::isfinite(value)) return "-";
  const bool negative = value < 0;
  double size = std::abs(value);
  if (size == 0) return "0";
  constexpr std::string_view kPrefixes = "afpnum kMGTPE";  // the blank is 1
  size_t at = kPrefixes.find(' ');
  // 999.5 and more would print as four digits.
  for (; size >= 999.5 && at + 1 < kPrefixes.size(); ++at) size /= 1000;
  for (; size < 0.9995 && at > 0; --at) size *= 1000;
  if (size < 0.9995) return "0";
  if (size >= 999.5) return fmt::format("{:.2e}", value);
  const bool whole = kPrefixes[at] == ' ' && size == std::floor(size);
  const int decimals = whole || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  std::string text = fmt::format("{}{:.{}f}", negative ? "-" : "", size, decimals);
  if (kPrefixes[at] != ' ') text += kPrefixes[at];
  return text;
}

std::string format_si(double value, std::string_view unit) {
  std::string text = format_si(value);
  const bool prefixed = text.back() >= 'A';
  text.insert(text.size() - (prefixed ? 1 : 0), 1, ' ');
  text += unit;
  return text;
}

std::string format_digits(double value) {
  if (!std::isfinite(value)) return "-";
  if (value == 0) return "0";
  const double size = std::abs(value);
  std::string exact = fmt::format("{}", value);
  if (size < 1e16 && size == std::floor(size)) return exact;
  const bool long_whole = size >= 1e6 && size < 1e15;
  std::string rounded = long_whole ? fmt::format("{:.0f}", value) : fmt::format("{:.7g}", value);
  return rounded.size() < exact.size() ? rounded : exact;
}

std::string format_left(double seconds, int64_t done, int64_t of) {
  if (done >= of) return "0 s left";
  if (done <= 0) return "? s left";
  const double rest = seconds * static_cast<double>(of - done) / static_cast<double>(done);
  return fmt::format("{:.0f} s left", std::ceil(std::max(rest, 0.0)));
}

std::string format_kib(int64_t kib) {
  if (kib < 1024) return fmt::format("{} KiB", kib);
  const double mib = static_cast<double>(kib) / 1024;
  return kib % 1024 == 0 ? fmt::format("{} MiB", kib / 1024) : fmt::format("{:.1f} MiB", mib);
}

std::string format_bar(double part, size_t width, bool unicode) {
  if (!(part > 0)) return {};
  const size_t steps = unicode ? 8 : 1;  // of a character
  const double all = static_cast<double>(width * steps);
  const auto filled = static_cast<size_t>(std::lround(std::min(part, 1.0) * all));
  if (!unicode) return filled == 0 ? "." : std::string(filled, '#');
  constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  std::string out;
  for (size_t i = 0; i < filled / steps; ++i) out += "█";
  return out + kEighths[filled == 0 ? 1 : filled % steps];
}

std::string shorten_middle(std::string_view text, size_t width) {
  if (display_width(text) <= width) return std::string(text);
  // The end tells layers apart better than the start.
  const size_t head = (width - 1) / 3;
  return fmt::format("{}~{}", leading_part(text, head), trailing_part(text, width - 1 - head));
}

std::string pad_right(std::string_view text, size_t width) {
  const size_t used = visible_width(text);
  return std::string(text) + std::string(width - std::min(used, width), ' ');
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t used = visible_width(text);
  return std::string(width - std::min(used, width), ' ') + std::string(text);
}

std::vector<std::string> wrap_words(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    // Where not even a character fits, one stands alone.
    const size_t most = std::max(leading_part(text, width).size(), character_at(text, 0).bytes);
    if (most >= text.size()) break;
    size_t cut = text.rfind(' ', most);
    if (cut == std::string_view::npos || cut == 0) cut = most;
    std::string_view line = text.substr(0, cut);
    while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
    lines.emplace_back(line);
    text.remove_prefix(cut);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

std::string wrap_lines(std::string_view text, size_t width, size_t indent) {
  std::string out;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (display_width(line) > width) {
      // The first line is longer than those that follow it.
      const size_t lead = std::min(line.find_first_not_of(' '), width / 2);
      const size_t further = std::min(lead + indent, width - 1);
      const std::string first = wrap_words(line, width).front();
      line.remove_prefix(first.size());
      while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
      out += first;
      for (const std::string& part : wrap_words(line, width - further))
        out += '\n' + std::string(further, ' ') + part;
    } else {
      out += line;
    }
    if (end == std::string_view::npos) break;
    out += '\n';
    text.remove_prefix(end + 1);
  }
  return out;
}

size_t visible_width(std::string_view line) {
  size_t width = 0;
  for (size_t at = 0; at < line.size();) {
    if (line[at] == '\x1b') {
      at = std::min(line.find('m', at), line.size() - 1) + 1;
      continue;
    }
    const Character c = character_at(line, at);
    width += columns_of(c.code);
    at += c.bytes;
  }
  return width;
}

std::string paint(std::string_view text, Ink ink, bool colour) {
  if (!colour || ink == Ink::plain) return std::string(text);
  constexpr std::array<int, 8> kCodes = {0, 1, 2, 31, 32, 33, 34, 35};
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<size_t>(ink)], text);
}

}  // namespace accsim::sim
