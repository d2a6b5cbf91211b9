#pragma once
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace accsim {

/// The number that all of the text is, as C++ writes it without a leading +; nothing for what is no
/// number, or none that a T holds.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The parts of a text between separators: one more than there are separators.
inline std::vector<std::string_view> split_text(std::string_view text, char separator) {
  std::vector<std::string_view> out;
  while (true) {
    const size_t at = text.find(separator);
    out.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return out;
    text.remove_prefix(at + 1);
  }
}

/// "2x7x56" as 2, 7, 56: whole numbers of `least` or more; nothing where a part is none.
inline std::optional<std::vector<int64_t>> parse_numbers(std::string_view text, char separator,
                                                         int64_t least) {
  std::vector<int64_t> out;
  for (const std::string_view part : split_text(text, separator)) {
    const auto value = parse_number<int64_t>(part);
    if (!value || *value < least) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

}  // namespace accsim
