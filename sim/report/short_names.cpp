#include "sim/report/short_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <map>
#include <set>

#include "sim/report/format.h"

namespace accsim::sim {
namespace {

using Parts = std::vector<std::string>;

/// What a name's parts lie between: the first of these that it has behind its first character.
char separator_of(const std::string& name) {
  for (const char c : {'/', '.'})
    if (name.find(c, 1) != std::string::npos) return c;
  return '_';
}

Parts split_name(const std::string& name, char at) {
  Parts out;
  for (size_t from = 0; from <= name.size();) {
    const size_t end = std::min(name.find(at, from), name.size());
    if (end > from) out.push_back(name.substr(from, end - from));
    from = end + 1;
  }
  if (out.empty()) out.push_back(name);
  return out;
}

std::string join_parts(const Parts& parts, char with) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : std::string(1, with)) + part;
  return out;
}

/// "features.10" -> "f.10", "self_attn" -> "sa": first letters of words; digits and points stay.
std::string initials_of(const std::string& part) {
  std::string out;
  bool in_word = false;
  for (size_t at = 0; at < part.size();) {
    const Character c = character_at(part, at);
    const bool ascii = c.code < 0x80;
    const bool letter = !ascii || std::isalpha(static_cast<int>(c.code)) != 0;
    const bool kept = ascii && (std::isdigit(static_cast<int>(c.code)) != 0 || c.code == '.');
    if ((letter && !in_word) || kept) out += part.substr(at, c.bytes);
    in_word = letter;
    at += c.bytes;
  }
  return out.empty() ? std::string(leading_part(part, 1)) : out;
}

/// A name that is too long, in the forms that it can take.
class LongName {
 public:
  LongName(std::string name, size_t common)
      : name_(std::move(name)),
        separator_(separator_of(name_)),
        parts_(split_name(name_, separator_)) {
    parts_.erase(parts_.begin(), parts_.begin() + static_cast<std::ptrdiff_t>(common));
    for (size_t i = 0; i + 1 < parts_.size();) {
      const bool repeated =
          parts_[i + 1] == parts_[i] || parts_[i + 1].starts_with(parts_[i] + ".");
      if (repeated)
        parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(i));
      else
        ++i;
    }
  }

  const std::string& name() const { return name_; }
  std::string whole_text() const { return "~" + join_parts(parts_, separator_); }
  /// With as many parts in initials, from the left, as the width asks for; never the last one.
  std::string abbreviated_text(size_t width) const {
    Parts parts = parts_;
    std::string out = whole_text();
    for (size_t i = 0; i + 1 < parts.size() && display_width(out) > width; ++i) {
      parts[i] = initials_of(parts[i]);
      out = "~" + join_parts(parts, separator_);
    }
    return out;
  }
  static std::string end_of(const std::string& text, size_t width) {
    if (display_width(text) <= width) return text;
    return "~" + std::string(trailing_part(text, width - 1));
  }

 private:
  std::string name_;
  char separator_;
  Parts parts_;
};

/// Leading parts that all names have, each keeping one of its own.
size_t common_parts(const std::vector<std::string>& names) {
  if (names.size() < 2) return 0;
  const Parts first = split_name(names[0], separator_of(names[0]));
  size_t common = first.size() - 1;
  for (const std::string& name : names) {
    const Parts parts = split_name(name, separator_of(name));
    common = std::min(common, parts.size() - 1);
    const auto end = first.begin() + static_cast<std::ptrdiff_t>(common);
    common =
        static_cast<size_t>(std::mismatch(first.begin(), end, parts.begin()).first - first.begin());
  }
  return common;
}

/// Finds every long name a text that fits and that no other has.
class Shortener {
 public:
  Shortener(const std::vector<std::string>& names, size_t width) : width_(width) {
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      const bool fits = display_width(name) <= width;
      if (!texts_.emplace(name, fits ? name : "").second) continue;
      if (fits)
        taken_.insert(name);
      else
        longer.push_back(name);
    }
    const size_t common = common_parts(longer);
    for (std::string& name : longer) pending_.emplace_back(std::move(name), common);
  }

  std::map<std::string, std::string> shorten_all() {
    const size_t width = width_;
    assign_texts([](const LongName& n) { return n.whole_text(); });
    assign_texts([width](const LongName& n) { return n.abbreviated_text(width); });
    assign_texts(
        [width](const LongName& n) { return LongName::end_of(n.abbreviated_text(width), width); });
    assign_texts([width](const LongName& n) { return LongName::end_of(n.whole_text(), width); });
    if (width >= 5)
      assign_texts([width](const LongName& n) { return shorten_middle(n.name(), width); });
    number_rest();
    return std::move(texts_);
  }

 private:
  /// Gives this form to those names for which it fits and is theirs alone.
  void assign_texts(const std::function<std::string(const LongName&)>& form) {
    std::map<std::string, int> seen;
    for (const LongName& name : pending_) ++seen[form(name)];
    std::erase_if(pending_, [&](const LongName& name) {
      const std::string text = form(name);
      if (display_width(text) > width_ || seen[text] > 1 || taken_.contains(text)) return false;
      texts_[name.name()] = text;
      return true;
    });
    for (const auto& [text, count] : seen)
      if (count == 1 && display_width(text) <= width_) taken_.insert(text);
  }

  void number_rest() {
    size_t next = 1;
    for (const LongName& name : pending_) {
      std::string text;
      bool room = true;
      do {
        const std::string mark = fmt::format("#{}", next++);
        room = mark.size() < width_;
        text = room ? LongName::end_of(name.whole_text(), width_ - mark.size()) + mark
                    : mark.substr(0, width_);
      } while (room && taken_.contains(text));
      taken_.insert(text);
      texts_[name.name()] = text;
    }
  }

  const size_t width_;
  std::map<std::string, std::string> texts_;  ///< by name
  std::set<std::string> taken_;
  std::vector<LongName> pending_;
};

}  // namespace

std::vector<std::string> shorten_names(const std::vector<std::string>& names, size_t width) {
  const std::map<std::string, std::string> texts = Shortener(names, width).shorten_all();
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(texts.at(name));
  return out;
}

}  // namespace accsim::sim
