#pragma once
#include <array>
#include <concepts>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "hw/program/text_scanner.h"
#include "hw/program/text_words.h"

namespace accsim::hw {

/// The steps of hw/program/text_form.h for who reads. Behind an error they do nothing.
class FormReader {
 public:
  /// A loop around the line.
  struct OpenLoop {
    std::string word;
    int id;
  };

  /// Both must live as long as this.
  FormReader(TextScanner& scanner, const std::vector<OpenLoop>& loops)
      : scanner_(scanner), loops_(loops) {}
  /// Those that tensor() may name.
  void set_tensors(size_t count) { tensors_ = count; }

  void text(std::string_view literal) { scanner_.expect(literal); }
  bool option(bool, std::string_view literal) {
    return scanner_.good() && scanner_.accept(literal);
  }
  bool peeks(bool, std::string_view literal) { return scanner_.good() && scanner_.peek(literal); }
  void quoted(std::string& name) { name = scanner_.quoted_name(); }
  void tensor(int& index);
  void sum(Affine& to);
  void walk(Walk& to);
  void overwrites(std::vector<int>& loops, bool& accumulate);
  void part(OperandWindow& window, int64_t m);

  template <std::integral N>
  void number(N& to) {
    const int64_t value =
        whole_number(std::numeric_limits<N>::min(), std::numeric_limits<N>::max());
    to = static_cast<N>(value);
  }
  template <class N, size_t kSize>
  void list(std::array<N, kSize>& to, std::string_view separator) {
    for (size_t i = 0; i < kSize; ++i) {
      if (i > 0) text(separator);
      number(to[i]);
    }
  }
  template <class E>
  void choice(E& to) {
    if (!scanner_.good()) return;
    std::string words;
    const bool found = find_value<E>([&](E v) {
      words += (words.empty() ? "" : ", ") + std::string(word_of(v));
      if (!accept_whole(word_of(v))) return false;
      to = v;
      return true;
    });
    if (!found) scanner_.fail_expected("one of " + words);
  }
  template <std::integral N>
  bool counted(bool, std::string_view before, N& to, std::string_view behind) {
    const size_t begin = scanner_.position();
    if (!scanner_.good() || !scanner_.accept(before)) return false;
    const auto value = scanner_.accept_number();
    if (value && std::in_range<N>(*value) && scanner_.accept(behind)) {
      to = static_cast<N>(*value);
      return true;
    }
    scanner_.go_back(begin);
    return false;
  }

 private:
  /// A word with nothing of a word behind it.
  bool accept_whole(std::string_view word);
  int64_t whole_number(int64_t least, int64_t most);
  /// The next number or product of a sum; false behind an error.
  bool add_term(Affine& to, bool minus);
  /// A loop's id; -1 with an error where none is around.
  int loop_named();

  TextScanner& scanner_;
  const std::vector<OpenLoop>& loops_;
  size_t tensors_ = 0;
};

}  // namespace accsim::hw
