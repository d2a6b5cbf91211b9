#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/report/format.h"

namespace accsim::sim {

/// Collects the lines of a text for people and keeps them within the width.
class Page {
 public:
  static constexpr int kMinWidth = 60;

  /// `width` of the terminal: less than kMinWidth counts as that. `colour`: with escape codes.
  Page(int width, bool colour);

  size_t width() const { return width_; }
  bool colour() const { return colour_; }

  void add_line(std::string_view text) { out_.append(text).append("\n"); }
  void add_lines(const std::vector<std::string>& lines);
  /// "label   text", the text in a column of its own.
  void add_item(std::string_view label, std::string_view text, Ink ink = Ink::plain);
  /// The label stands before the first of the texts.
  void add_items(std::string_view label, const std::vector<std::string>& texts);
  /// Blocks of lines side by side while they fit, the others below.
  void add_blocks(const std::vector<std::vector<std::string>>& blocks);
  std::string take_text() { return std::move(out_); }

 private:
  void add_side_by_side(const std::vector<const std::vector<std::string>*>& blocks);

  size_t width_;
  bool colour_;
  std::string out_;
};

}  // namespace accsim::sim
