#include "sim/report/page.h"

#include <fmt/format.h>

#include <algorithm>

namespace accsim::sim {
namespace {

constexpr size_t kLabel = 14;  // column of the labels
constexpr size_t kBlockGap = 4;
using Lines = std::vector<std::string>;

size_t widest_line(const Lines& lines) {
  size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, visible_width(line));
  return width;
}

}  // namespace

Page::Page(int width, bool colour)
    : width_(static_cast<size_t>(std::max(width, kMinWidth))), colour_(colour) {}

void Page::add_lines(const Lines& lines) {
  for (const std::string& text : lines) add_line(text);
}

void Page::add_item(std::string_view label, std::string_view text, Ink ink) {
  bool first = true;
  for (const std::string& part : wrap_words(printable(text), width_ - kLabel)) {
    const std::string lead = fmt::format("{:<{}}", first ? label : "", kLabel);
    add_line(paint(lead, Ink::bold, colour_ && first) + paint(part, ink, colour_));
    first = false;
  }
}

void Page::add_items(std::string_view label, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) add_item(&text == &texts.front() ? label : "", text);
}

void Page::add_side_by_side(const std::vector<const Lines*>& blocks) {
  size_t rows = 0;
  for (const Lines* block : blocks) rows = std::max(rows, block->size());
  for (size_t r = 0; r < rows; ++r) {
    std::string text;
    size_t column = 0, start = 0;
    for (const Lines* block : blocks) {
      if (r < block->size()) {
        text.append(start - column, ' ').append((*block)[r]);
        column = start + visible_width((*block)[r]);
      }
      start += widest_line(*block) + kBlockGap;
    }
    add_line(text);
  }
}

void Page::add_blocks(const std::vector<Lines>& blocks) {
  std::vector<const Lines*> row;
  size_t used = 0;
  for (const Lines& block : blocks) {
    const size_t more = widest_line(block) + (row.empty() ? 0 : kBlockGap);
    if (!row.empty() && used + more > width_) {
      add_side_by_side(row);
      add_line("");
      row.clear();
      used = 0;
    }
    used += row.empty() ? widest_line(block) : more;
    row.push_back(&block);
  }
  add_side_by_side(row);
}

}  // namespace accsim::sim
