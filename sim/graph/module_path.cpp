#include "sim/graph/module_path.h"

#include <vector>

namespace accsim::sim {
namespace {

/// The strings of a Python list, as repr() writes it; what isn't such a list ends it.
std::vector<std::string> python_strings(std::string_view text) {
  std::vector<std::string> out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char quote = text[i];
    if (quote != '\'' && quote != '"') continue;
    std::string& word = out.emplace_back();
    for (++i; i < text.size() && text[i] != quote; ++i) {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      word += text[i];
    }
  }
  return out;
}

/// Of "NAME: class/NAME: class/.../node: operator" the name before the last.
std::string module_from_namespace(std::string_view text) {
  const size_t last = text.rfind('/');
  if (last == std::string_view::npos) return "";
  text = text.substr(0, last);
  if (const size_t before = text.rfind('/'); before != std::string_view::npos)
    text.remove_prefix(before + 1);
  return std::string(text.substr(0, text.find(": ")));
}

}  // namespace

std::string module_from_notes(const std::map<std::string, std::string>& notes) {
  if (const auto scopes = notes.find("pkg.torch.onnx.name_scopes"); scopes != notes.end()) {
    const std::vector<std::string> names = python_strings(scopes->second);
    return names.size() < 2 ? "" : names[names.size() - 2];
  }
  if (const auto space = notes.find("namespace"); space != notes.end())
    return module_from_namespace(space->second);
  return "";
}

std::string module_from_name(std::string_view name) {
  std::string out, before;
  for (size_t at = 0; at < name.size();) {
    const size_t end = name.find('/', at);
    if (end == std::string_view::npos) break;  // the node itself
    const std::string_view scope = name.substr(at, end - at);
    at = end + 1;
    if (scope.empty()) continue;
    if (!before.empty() && scope.starts_with(before + "."))
      out.resize(out.size() - before.size());
    else if (!out.empty())
      out += '.';
    out += scope;
    before = scope;
  }
  return out;
}

}  // namespace accsim::sim
