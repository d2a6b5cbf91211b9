#include "sim/validate/row_pattern.h"

#include <algorithm>

namespace accsim::sim {
namespace {

constexpr std::string_view kBraces = "{}";

}  // namespace

std::string RowPattern::fill(const std::vector<std::string_view>& cells) const {
  if (std::ranges::all_of(cells, &std::string_view::empty)) return "";
  std::string out;
  for (size_t i = 0; i < pieces.size(); ++i) out.append(pieces[i].before).append(cells[i]);
  return out + rest;
}

Result<RowPattern> parse_row_pattern(std::string_view text) {
  RowPattern out;
  if (text.find_first_of(kBraces) == std::string_view::npos) {
    out.pieces.push_back({"", std::string(text)});
    return out;
  }
  while (!text.empty()) {
    const size_t open = text.find_first_of(kBraces);
    if (open == std::string_view::npos) break;
    const size_t close = text.find_first_of(kBraces, open + 1);
    if (text[open] != '{' || close == std::string_view::npos || text[close] != '}')
      return Error{Errc::invalid, "a brace lacks its other one; a column is named as {column}", ""};
    out.pieces.push_back(
        {std::string(text.substr(0, open)), std::string(text.substr(open + 1, close - open - 1))});
    text.remove_prefix(close + 1);
  }
  out.rest = text;
  return out;
}

}  // namespace accsim::sim
