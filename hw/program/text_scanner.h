#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace accsim::hw {

/// Reads words, numbers and signs of a program's text. Space between them may be missing where they
/// are told apart without it, and may have line ends in it: a line may be wrapped. Keeps the first
/// error, with the line and column (of characters, from 1) where it is.
class TextScanner {
 public:
  /// `file` is named in errors. The text must live as long as this.
  TextScanner(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  bool good() const { return !error_; }
  const Error& error() const { return *error_; }
  /// Of the next byte, or of what comes behind space.
  size_t position() const { return at_; }
  size_t next_position() {
    skip_space();
    return at_;
  }
  void go_back(size_t position) { at_ = position; }

  /// To the next line that has more than a comment; false at the end of the text. A line behind a
  /// comment that begins with a digit or a capital letter is the comment's.
  bool next_line();
  /// Spaces before the line's first word; next_line() has found it.
  size_t indent() const { return indent_; }
  /// What follows must be a line's end, or a comment.
  void end_line();

  /// Past the words and signs of the literal, if they are what comes next.
  bool accept(std::string_view literal);
  bool peek(std::string_view literal);
  /// The same, or it is an error.
  void expect(std::string_view literal);
  std::optional<int64_t> accept_number();
  bool peek_number();
  /// Letters, digits and underscores; empty where there are none.
  std::string_view accept_word();
  /// A name between quotes, with its escapes: \\, \', \x1b, \u202e. A line's end in it, with the
  /// spaces around it, is a space.
  std::string quoted_name();
  /// A name without quotes up to `behind`, which ends a line; the same escapes.
  std::string name_before(std::string_view behind);
  /// Where `literal` stands next at a line's end, or before a comma; npos where it doesn't.
  size_t find_at_line_end(std::string_view literal) const;

  /// "expected ..." at what comes next; at the line's end, if a line of its own follows.
  void fail_expected(const std::string& what);
  void fail_at(size_t position, Errc code, const std::string& message);

 private:
  void skip_space();
  void skip_comment();
  bool is_line_end(size_t at) const;
  bool begins_statement(size_t at) const;
  std::string word_at(size_t at) const;
  std::string unescape(std::string_view raw, size_t from);

  std::string_view text_;
  std::string file_;
  size_t at_ = 0, indent_ = 0;
  std::optional<Error> error_;
};

/// The name as text that unescape() of a scanner reads: backslashes, control characters and, with
/// `quotes`, quotes are escaped.
std::string escape_name(std::string_view name, bool quotes);

}  // namespace accsim::hw
