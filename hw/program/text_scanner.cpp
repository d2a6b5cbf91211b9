#include "hw/program/text_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "hw/program/commands.h"

namespace accsim::hw {
namespace {

constexpr size_t kMostName = 1 << 16;  ///< of a program, in bytes

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool in_word(char c) { return is_digit(c) || is_letter(c); }
constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
constexpr bool is_space(char c) { return is_blank(c) || c == '\n'; }

/// UTF-8 of a code below 0x110000.
void append_utf8(std::string& to, uint32_t code) {
  const auto tail = [&](int shift) { to += static_cast<char>(0x80U | ((code >> shift) & 0x3fU)); };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xc0U | (code >> 6));
    tail(0);
  } else if (code < 0x10000) {
    to += static_cast<char>(0xe0U | (code >> 12));
    tail(6), tail(0);
  } else {
    to += static_cast<char>(0xf0U | (code >> 18));
    tail(12), tail(6), tail(0);
  }
}

}  // namespace

std::string escape_name(std::string_view name, bool quotes) {
  std::string out;
  for (const char c : name) {
    if (c == '\\' || (quotes && c == '\''))
      out += {'\\', c};
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out += c;
  }
  return out;
}

void TextScanner::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

void TextScanner::skip_comment() {
  while (at_ < text_.size()) {
    at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1;
    size_t first = at_;
    while (first < text_.size() && is_blank(text_[first])) ++first;
    const bool goes_on = first < text_.size() &&
                         (is_digit(text_[first]) || (text_[first] >= 'A' && text_[first] <= 'Z'));
    if (!goes_on) return;
  }
}

bool TextScanner::next_line() {
  size_t begin = at_;
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      skip_comment();
      begin = at_;
    } else if (c == '\n') {
      begin = ++at_;
    } else if (is_blank(c)) {
      ++at_;
    } else {
      indent_ = at_ - begin;
      return true;
    }
  }
  return false;
}

bool TextScanner::is_line_end(size_t at) const {
  while (at < text_.size() && is_blank(text_[at])) ++at;
  return at >= text_.size() || text_[at] == '\n' || text_[at] == '#';
}

size_t TextScanner::find_at_line_end(std::string_view literal) const {
  const std::string_view near = text_.substr(0, at_ + kMostName);
  for (size_t at = near.find(literal, at_); at < near.size(); at = near.find(literal, at + 1)) {
    const size_t behind = at + literal.size();
    if (is_line_end(behind) || text_.substr(behind, 1) == ",") return at;
  }
  return std::string_view::npos;
}

void TextScanner::end_line() {
  if (!good()) return;
  while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  if (!is_line_end(at_)) fail_expected("the end of the line");
}

bool TextScanner::accept(std::string_view literal) {
  const size_t before = at_;
  for (size_t i = 0; i < literal.size();) {
    if (literal[i] == ' ') {
      ++i;
      continue;
    }
    size_t end = i + 1;
    while (in_word(literal[i]) && end < literal.size() && in_word(literal[end])) ++end;
    skip_space();
    const std::string_view part = literal.substr(i, end - i);
    const size_t behind = at_ + part.size();
    const bool longer = in_word(part.back()) && behind < text_.size() && is_letter(text_[behind]);
    if (text_.substr(at_, part.size()) != part || longer) {
      at_ = before;
      return false;
    }
    at_ = behind;
    i = end;
  }
  return true;
}

bool TextScanner::peek(std::string_view literal) {
  const size_t before = at_;
  const bool there = accept(literal);
  at_ = before;
  return there;
}

void TextScanner::expect(std::string_view literal) {
  if (!good() || accept(literal)) return;
  // As much of it as is there is told by what is missing.
  const size_t first = std::min(literal.find_first_not_of(' '), literal.size());
  const size_t last = literal.find_last_not_of(' ') + 1;
  for (size_t end = last; end > first; --end) {
    if (in_word(literal[end - 1]) && end < last && in_word(literal[end])) continue;
    if (!accept(literal.substr(first, end - first))) continue;
    while (end < last && literal[end] == ' ') ++end;
    return fail_expected(fmt::format("\"{}\"", literal.substr(end, last - end)));
  }
  fail_expected(fmt::format("\"{}\"", literal.substr(first, last - first)));
}

std::optional<int64_t> TextScanner::accept_number() {
  const size_t before = at_;
  skip_space();
  int64_t value = 0;
  const char* const end = text_.data() + text_.size();
  const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
  if (error == std::errc()) {
    at_ = static_cast<size_t>(stop - text_.data());
    return value;
  }
  if (error == std::errc::result_out_of_range)
    fail_at(at_, Errc::overflow, "the number doesn't fit into 64 bits");
  at_ = before;
  return std::nullopt;
}

bool TextScanner::peek_number() {
  const size_t before = at_;
  skip_space();
  const size_t first = at_ + (text_.substr(at_, 1) == "-" ? 1 : 0);
  at_ = before;
  return first < text_.size() && is_digit(text_[first]);
}

std::string_view TextScanner::accept_word() {
  skip_space();
  const size_t first = at_;
  while (at_ < text_.size() && in_word(text_[at_])) ++at_;
  return text_.substr(first, at_ - first);
}

std::string TextScanner::quoted_name() {
  if (!good()) return "";
  if (!accept("'")) {
    fail_expected("a name in quotes ('...')");
    return "";
  }
  const size_t first = at_;
  while (at_ < text_.size() && text_[at_] != '\'') at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size()) {
    at_ = first;
    fail_at(first - 1, Errc::parse, "the name's closing quote is missing");
    return "";
  }
  return unescape(text_.substr(first, at_++ - first), first);
}

std::string TextScanner::name_before(std::string_view behind) {
  size_t first = at_;
  while (first < text_.size() && text_[first] == ' ') ++first;
  const size_t end = std::max(first, std::min(text_.find(behind, at_), text_.size()));
  size_t last = end;
  while (last > first && is_space(text_[last - 1])) --last;
  at_ = end;
  return unescape(text_.substr(first, last - first), first);
}

std::string TextScanner::unescape(std::string_view raw, size_t from) {
  std::string out;
  for (size_t i = 0; i < raw.size();) {
    if (raw[i] == '\n') {
      while (!out.empty() && is_blank(out.back())) out.pop_back();
      while (i < raw.size() && is_space(raw[i])) ++i;
      out += ' ';
      continue;
    }
    const char kind = raw[i] == '\\' && i + 1 < raw.size() ? raw[i + 1] : '\0';
    if (kind == '\\' || kind == '\'') {
      out += kind;
      i += 2;
    } else if (kind == 'x' || kind == 'u') {
      const std::string_view digits = raw.substr(i + 2, kind == 'x' ? 2 : 4);
      uint32_t code = 0;
      const char* const end = raw.data() + i + 2 + digits.size();
      const auto [stop, error] = std::from_chars(raw.data() + i + 2, end, code, 16);
      if (error != std::errc() || stop != end || digits.size() < (kind == 'x' ? 2U : 4U)) {
        fail_at(from + i, Errc::parse, "expected two digits behind \\x, or four behind \\u");
        return "";
      }
      if (kind == 'x')
        out += static_cast<char>(code);
      else
        append_utf8(out, code);
      i += 2 + digits.size();
    } else if (raw[i] == '\\') {
      fail_at(from + i, Errc::parse, "expected \\\\, \\', \\x and two digits, or \\u and four");
      return "";
    } else {
      out += raw[i++];
    }
  }
  return out;
}

std::string TextScanner::word_at(size_t at) const {
  size_t end = at;
  while (end < text_.size() && in_word(text_[end]) && end - at < 40) ++end;
  return std::string(text_.substr(at, end - at));
}

bool TextScanner::begins_statement(size_t at) const {
  const std::string word = word_at(at);
  constexpr std::array<std::string_view, 4> kOthers = {"program", "tensor", "layer", "for"};
  if (std::ranges::find(kOthers, word) != kOthers.end()) return true;
  const auto queues = Queue::all();
  return std::ranges::any_of(queues, [&](Queue q) { return name(q) == word; });
}

void TextScanner::fail_expected(const std::string& what) {
  if (!good()) return;
  const size_t before = at_;
  skip_space();
  const bool other_line = text_.substr(before, at_ - before).find('\n') != std::string_view::npos;
  if (at_ >= text_.size() || (other_line && begins_statement(at_)))
    return fail_at(before, Errc::parse, fmt::format("expected {}, but the line ends", what));
  std::string found = word_at(at_);
  if (found.empty()) found = escape_name(text_.substr(at_, 1), false);
  if (static_cast<unsigned char>(text_[at_]) >= 0x80) found = "a character beyond ASCII";
  fail_at(at_, Errc::parse, fmt::format("expected {}, found \"{}\"", what, found));
}

void TextScanner::fail_at(size_t position, Errc code, const std::string& message) {
  if (!good()) return;
  const std::string_view before = text_.substr(0, position);
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const auto column = std::ranges::count_if(before.substr(begin), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  });
  error_ = Error{code, message, fmt::format("{}:{}:{}", file_, line, column + 1)};
}

}  // namespace accsim::hw
