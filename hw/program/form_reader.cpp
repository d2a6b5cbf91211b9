#include "hw/program/form_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/program/reach.h"

namespace accsim::hw {
namespace {

constexpr size_t kMostWalkLevels = 8;  ///< room in Walk::levels
constexpr int64_t kMostInSum = int64_t{1} << 62;

}  // namespace

bool FormReader::accept_whole(std::string_view word) {
  const size_t begin = scanner_.position();
  if (scanner_.accept_word() == word) return true;
  scanner_.go_back(begin);
  return false;
}

int64_t FormReader::whole_number(int64_t least, int64_t most) {
  if (!scanner_.good()) return 0;
  const size_t begin = scanner_.position();
  const auto value = scanner_.accept_number();
  if (!value) return scanner_.fail_expected("a whole number"), 0;
  if (*value >= least && *value <= most) return *value;
  scanner_.go_back(begin);
  scanner_.fail_expected(fmt::format("a number from {} to {}", least, most));
  return 0;
}

void FormReader::tensor(int& index) {
  text("%");
  if (!scanner_.good()) return;
  if (tensors_ == 0) return scanner_.fail_expected("no tensor: the program has none");
  index = static_cast<int>(whole_number(0, static_cast<int64_t>(tensors_) - 1));
}

int FormReader::loop_named() {
  const size_t begin = scanner_.position();
  const std::string_view word = scanner_.accept_word();
  const auto found = std::ranges::find(loops_, word, &OpenLoop::word);
  if (found != loops_.end()) return found->id;
  scanner_.go_back(begin);
  scanner_.fail_expected("a whole number or a loop around this line");
  return -1;
}

bool FormReader::add_term(Affine& to, bool minus) {
  const size_t begin = scanner_.next_position();
  const auto number = scanner_.accept_number();
  if (!scanner_.good()) return false;
  const int64_t factor = multiply_far(number.value_or(1), minus ? -1 : 1);
  if (number && !scanner_.accept("*")) {
    to.base = add_far(to.base, factor);
  } else {
    const int id = loop_named();
    if (id < 0) return false;
    if (std::ranges::find(to.terms, id, &Affine::Term::loop) != to.terms.end())
      scanner_.fail_at(begin, Errc::parse, "a loop stands once in a sum");
    to.add_term(id, factor);
  }
  if (std::min(to.base, factor) < -kMostInSum || std::max(to.base, factor) > kMostInSum)
    scanner_.fail_at(begin, Errc::overflow, "the numbers of a sum stay below 2^62");
  return scanner_.good();
}

void FormReader::sum(Affine& to) {
  to = Affine();
  if (!scanner_.good()) return;
  // A number has its own sign.
  bool minus = !scanner_.peek_number() && scanner_.accept("-");
  while (add_term(to, minus)) {
    minus = scanner_.accept("-");
    if (!minus && !scanner_.accept("+")) return;
  }
}

void FormReader::walk(Walk& to) {
  while (scanner_.good()) {
    const size_t begin = scanner_.position();
    const int64_t count = whole_number(INT64_MIN, INT64_MAX);
    if (!option(true, " (stride ")) {
      to.run = count;
      return text(" bytes");
    }
    Walk::Level level{count, 0};
    number(level.stride);
    text(") x ");
    if (!scanner_.good()) return;
    if (to.levels.size() == kMostWalkLevels) {
      scanner_.go_back(begin);
      return scanner_.fail_expected(fmt::format("at most {} levels of a walk", kMostWalkLevels));
    }
    to.levels.push_back(level);
  }
}

void FormReader::overwrites(std::vector<int>& loops, bool& accumulate) {
  accumulate = false;
  if (option(true, "=") || !scanner_.good()) return;
  if (!option(true, "+=")) return scanner_.fail_expected("\"=\" or \"+=\"");
  accumulate = !option(true, "(= at ");
  if (accumulate) return;
  do {
    const int id = loop_named();
    if (id < 0) return;
    loops.push_back(id);
    text("=0");
  } while (option(true, ","));
  text(")");
}

void FormReader::part(OperandWindow& window, int64_t m) {
  const size_t begin = scanner_.position();
  const bool is_whole = scanner_.good() && scanner_.accept_number() && scanner_.accept("x");
  scanner_.go_back(begin);
  if (is_whole) return;
  // "4+5 of" is the sum of where the rows begin and how many there are.
  sum(window.first);
  text(" of ");
  if (!scanner_.good()) return;
  if (m < 0 || m > kMostInSum || window.first.base - m < -kMostInSum)
    return scanner_.fail_at(begin, Errc::parse, "these rows are none of a gemm");
  window.first.base -= m;
}

}  // namespace accsim::hw
