#include "hw/cosim/module_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <span>
#include <string_view>

namespace accsim::hw {
namespace {

using Tokens = std::span<const std::string>;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool begins_name(const std::string& token) {
  return is_word(token[0]) && std::isdigit(static_cast<unsigned char>(token[0])) == 0;
}

/// Where a comment or string that begins at `i` ends; `i` when none does.
size_t behind_text(const std::string& text, size_t i) {
  const auto behind = [&](std::string_view end, size_t from) {
    const size_t at = text.find(end, from);
    return at == std::string::npos ? text.size() : at + end.size();
  };
  if (text.compare(i, 2, "//") == 0) return behind("\n", i);
  if (text.compare(i, 2, "/*") == 0) return behind("*/", i + 2);
  if (text[i] != '"') return i;
  for (++i; i < text.size() && text[i] != '"'; ++i)
    if (text[i] == '\\') ++i;
  return std::min(i + 1, text.size());
}

/// Words with their `, and single signs; no comments, strings or blanks.
std::vector<std::string> split_tokens(const std::string& text) {
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size();) {
    const size_t next = behind_text(text, i);
    if (next != i) {
      i = next;
      continue;
    }
    const size_t begin = i++;
    if (is_word(text[begin]) || text[begin] == '`' || text[begin] == '$')
      while (i < text.size() && (is_word(text[i]) || text[i] == '$')) ++i;
    else if (std::isspace(static_cast<unsigned char>(text[begin])) != 0)
      continue;
    out.push_back(text.substr(begin, i - begin));
  }
  return out;
}

bool opens_bracket(const std::string& t) { return t == "(" || t == "[" || t == "{"; }
bool closes_bracket(const std::string& t) { return t == ")" || t == "]" || t == "}"; }

/// What stands between the bracket that `tokens` begin with and the one that closes it.
Tokens in_brackets(Tokens tokens) {
  int depth = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    depth += opens_bracket(tokens[i]) ? 1 : closes_bracket(tokens[i]) ? -1 : 0;
    if (depth == 0) return tokens.subspan(1, i - 1);
  }
  return tokens.subspan(1);
}

/// Parted at the commas outside brackets.
std::vector<Tokens> items_of(Tokens tokens) {
  std::vector<Tokens> out;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    depth += opens_bracket(tokens[i]) ? 1 : closes_bracket(tokens[i]) ? -1 : 0;
    if (depth != 0 || tokens[i] != ",") continue;
    out.push_back(tokens.subspan(begin, i - begin));
    begin = i + 1;
  }
  if (begin < tokens.size()) out.push_back(tokens.subspan(begin));
  return out;
}

/// The last name outside brackets and before a default; and whether there is a default.
std::pair<std::string, bool> declared_name(Tokens item) {
  std::pair<std::string, bool> out;
  int depth = 0;
  for (const std::string& token : item) {
    depth += opens_bracket(token) ? 1 : closes_bracket(token) ? -1 : 0;
    if (depth == 0 && token == "=") out.second = true;
    if (depth == 0 && !out.second && begins_name(token)) out.first = token;
  }
  return out;
}

void add_parameters(Tokens list, ModuleHeader& to) {
  bool own = false;  // a localparam
  for (const Tokens item : items_of(list)) {
    if (item.empty()) continue;
    if (item[0] == "localparam" || item[0] == "parameter") own = item[0] == "localparam";
    const auto [name, has_default] = declared_name(item);
    if (!own) to.parameters.emplace_back(name, !has_default);
  }
}

/// False when a port has no direction.
bool add_ports(Tokens list, ModuleHeader& to) {
  constexpr std::array<std::string_view, 4> kDirections = {"input", "output", "inout", "ref"};
  std::string direction;
  for (const Tokens item : items_of(list)) {
    if (item.empty()) continue;
    if (std::ranges::find(kDirections, item[0]) != kDirections.end()) direction = item[0];
    if (direction.empty()) return false;
    to.ports.emplace_back(declared_name(item).first, direction);
  }
  return true;
}

/// What stands behind "module NAME" and the packages that it imports.
std::optional<Tokens> behind_name(Tokens tokens, const std::string& name) {
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i] != "module") continue;
    size_t at = i + 1;
    if (tokens[at] == "automatic" || tokens[at] == "static") ++at;
    if (at >= tokens.size() || tokens[at] != name) continue;
    ++at;
    while (at < tokens.size() && tokens[at] == "import") {
      while (at < tokens.size() && tokens[at] != ";") ++at;
      at = std::min(at + 1, tokens.size());
    }
    return tokens.subspan(at);
  }
  return std::nullopt;
}

}  // namespace

Result<ModuleHeader> read_header(const std::string& text, const std::string& name,
                                 const std::string& file) {
  const std::vector<std::string> all = split_tokens(text);
  std::optional<Tokens> rest = behind_name(all, name);
  if (!rest) return Error{Errc::parse, fmt::format("there is no module '{}' in it", name), file};
  const auto end = std::ranges::find(*rest, ";");
  if (std::any_of(rest->begin(), end, [](const std::string& t) { return t[0] == '`'; }))
    return Error{
        Errc::parse,
        fmt::format("the header of '{}' has a word of the preprocessor; write it out", name), file};
  ModuleHeader out{.name = name, .parameters = {}, .ports = {}};
  if (rest->size() > 1 && rest->front() == "#") {
    const Tokens list = in_brackets(rest->subspan(1));
    add_parameters(list, out);
    rest = rest->subspan(std::min(list.size() + 3, rest->size()));
  }
  if (!rest->empty() && rest->front() == "(" && !add_ports(in_brackets(*rest), out))
    return Error{Errc::parse,
                 fmt::format("the header of '{}' must say each port's direction", name), file};
  return out;
}

std::vector<std::string> header_differences(const ModuleHeader& own, const ModuleHeader& other) {
  std::vector<std::string> out;
  const auto find = [](const auto& list, const std::string& name) {
    return std::ranges::find_if(list, [&](const auto& one) { return one.first == name; });
  };
  for (const auto& [name, needed] : own.parameters)
    if (find(other.parameters, name) == other.parameters.end())
      out.push_back(fmt::format("it has no parameter '{}'", name));
  for (const auto& [name, needed] : other.parameters)
    if (needed && find(own.parameters, name) == own.parameters.end())
      out.push_back(fmt::format("the core sets no parameter '{}': give it a default", name));
  for (const auto& [name, direction] : own.ports) {
    const auto at = find(other.ports, name);
    if (at == other.ports.end())
      out.push_back(fmt::format("it has no port '{}' ({})", name, direction));
    else if (at->second != direction)
      out.push_back(fmt::format("port '{}' is {}; the core's is {}", name, at->second, direction));
  }
  for (const auto& [name, direction] : other.ports)
    if (find(own.ports, name) == own.ports.end())
      out.push_back(fmt::format("the core has no port '{}' ({})", name, direction));
  return out;
}

}  // namespace accsim::hw
