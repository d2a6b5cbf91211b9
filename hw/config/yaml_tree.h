#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/result.h"

namespace accsim::hw {

/// A place in a text, counted from 1.
struct TextPosition {
  int line = 1;
  int column = 1;
};

/// "file:line:column", as compilers print it.
std::string where_text(const std::string& file, TextPosition at);

struct YamlEntry;

/// A YAML value as written: duplicate keys are kept, in file order.
struct YamlNode {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  TextPosition at;
  std::string text;     ///< of a scalar
  bool quoted = false;  ///< a scalar in quotes or a block scalar
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;
};

/// A key of a YAML map with its value and the place of the key.
struct YamlEntry {
  std::string key;
  TextPosition at;
  YamlNode value;
};

inline constexpr size_t kYamlBytesMax = size_t{1} << 20;
inline constexpr size_t kYamlDepthMax = 8;

/// The one document in `text`. Only the plain part of YAML is taken: no anchors, aliases or tags
/// (so no alias bombs), keys are words, nesting is at most kYamlDepthMax, size at most
/// kYamlBytesMax, UTF-8 without control characters. Everything else is one Errc::parse error.
Result<YamlNode> parse_yaml(std::string_view text, const std::string& file);

/// `text` in double quotes for an error message: shortened, control characters replaced.
std::string quoted_text(std::string_view text);

}  // namespace accsim::hw
