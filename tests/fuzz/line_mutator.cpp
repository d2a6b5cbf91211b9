// Mutations of text that is made of lines and words: a line or a word leaves, comes twice, or takes
// another one's place; numbers become others.
#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "tests/fuzz/target.h"

namespace accsim::test {
namespace {

class LineMutator {
 public:
  LineMutator(std::string_view text, unsigned seed) : random_(seed) {
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      lines_.emplace_back(text.substr(at, end - at));
      at = end;
    }
    if (lines_.empty()) lines_.emplace_back("\n");
  }

  std::string run() {
    for (size_t times = 1 + below(3); times > 0; --times) change();
    std::string out;
    for (const std::string& line : lines_) out += line;
    return out;
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  static bool in_word(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '.';
  }

  void change() {
    const size_t at = below(lines_.size()), to = below(lines_.size());
    switch (below(8)) {
      case 0:
        if (lines_.size() > 1) lines_.erase(lines_.begin() + static_cast<ptrdiff_t>(at));
        return;
      case 1:
        lines_.insert(lines_.begin() + static_cast<ptrdiff_t>(to), std::string(lines_[at]));
        return;
      case 2:
        return std::swap(lines_[at], lines_[to]);
      default:
        return change_word(lines_[at], lines_[to]);
    }
  }

  struct Span {
    size_t at, size;
  };
  static std::vector<Span> words(const std::string& line) {
    std::vector<Span> out;
    for (size_t at = 0; at < line.size(); ++at) {
      if (!in_word(line[at])) continue;
      const size_t first = at;
      while (at < line.size() && in_word(line[at])) ++at;
      out.push_back({first, at - first});
    }
    return out;
  }
  void change_word(std::string& line, const std::string& other) {
    constexpr std::array<const char*, 22> kWords{"0",      "1",
                                                 "-1",     "2",
                                                 "0.5",    "1e300",
                                                 "1e-300", "1e15",
                                                 "3",      "2147483648",
                                                 "nan",    "inf",
                                                 "null",   "[]",
                                                 "{}",     "''",
                                                 "true",   "64",
                                                 "x",      "1024",
                                                 "int4",   "9223372036854775807"};
    const std::vector<Span> here = words(line), there = words(other);
    if (here.empty()) return;
    const Span word = here[below(here.size())];
    std::string with = kWords[below(kWords.size())];
    if (!there.empty() && below(2) == 0) {
      const Span taken = there[below(there.size())];
      with = other.substr(taken.at, taken.size);
    }
    if (below(8) == 0) with = "";
    line.replace(word.at, word.size, with);
  }

  std::mt19937 random_;
  std::vector<std::string> lines_;
};

}  // namespace
}  // namespace accsim::test

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  const std::string_view text = accsim::test::text_of(data, size);
  const bool is_text = text.find('\0') == std::string_view::npos;
  if (!is_text || seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string changed = accsim::test::LineMutator(text, seed / 2).run();
  if (changed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(changed.begin(), changed.end(), data);
  return changed.size();
}
