#include "hw/config/machine_edits.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "hw/config/fields.h"
#include "hw/config/load.h"
#include "hw/config/values.h"

namespace accsim::hw {
namespace {

/// Words of the field table are plain; anything else would be YAML.
bool is_plain(const std::string& word) {
  return !word.empty() && word.size() <= 64 && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

/// The value as YAML; nothing when it is of a kind that no field takes.
std::optional<std::string> yaml_text(const Field& field, const FieldText& value) {
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* word = std::get_if<std::string>(&value)) {
    if (!std::holds_alternative<Member<std::string>>(field.target))
      return is_plain(*word) ? std::optional(*word) : std::nullopt;
    const bool quotable =
        word->size() <= kNameMax && word->find_first_of("\"\\\n\r") == std::string::npos;
    return quotable ? std::optional("\"" + *word + "\"") : std::nullopt;
  }
  const auto* words = std::get_if<std::vector<std::string>>(&value);
  if (words == nullptr || words->size() > 16 || !std::ranges::all_of(*words, is_plain))
    return std::nullopt;
  return fmt::format("[{}]", fmt::join(*words, ", "));
}

/// The machine's file line by line, with the edits; which field each line holds.
class EditedFile {
 public:
  EditedFile(const HwConfig& hw, const MachineEdits& edits, std::vector<FieldError>& errors)
      : hw_(hw), edits_(edits), errors_(errors) {
    for (const auto& [path, value] : edits) {
      const Field* const field = find_field(path);
      if (field == nullptr)
        errors_.push_back({"", unknown_field_text(printable_part(path))});
      else if (field->section_there != nullptr && !field->section_there(hw_))
        errors_.push_back({path, fmt::format("is only there in a machine that has the section {}",
                                             path.substr(0, path.rfind('.')))});
      else if (!is_there(*field))
        errors_.push_back({path, fmt::format("is only there when {} is {}", field->only->path,
                                             field->only->word)});
      else if (auto text = yaml_text(*field, value))
        texts_[path] = std::move(*text);
      else
        errors_.push_back({path, "is neither a number nor a known word"});
    }
    append_section(key_tree(), 0);
  }

  const std::string& text() const { return text_; }
  /// The field of a line of the text, from 1; "" for a section's.
  std::string path_of_line(size_t line) const {
    return line >= 1 && line <= paths_.size() ? paths_[line - 1] : "";
  }

 private:
  static std::string unknown_field_text(const std::string& path) {
    std::vector<std::string> paths;
    for (const Field& field : fields()) paths.push_back(field.path);
    const auto close = nearest_word(path, paths);
    return fmt::format("'{}' is no field of a machine{}", path,
                       close ? fmt::format("; did you mean \"{}\"?", *close) : "");
  }
  static std::string printable_part(const std::string& path) {
    std::string out = path.substr(0, 60);
    for (char& c : out)
      if (c < ' ' || c > '~' || c == '"' || c == '\\') c = '?';
    return out;
  }

  /// Some fields are there while another has a word: the edited one, where it is edited.
  bool is_there(const Field& field) const {
    if (!field.only) return true;
    const auto edited =
        std::ranges::find(edits_, field.only->path, [](const auto& edit) { return edit.first; });
    if (edited == edits_.end()) return field.only->holds(hw_);
    const auto* word = std::get_if<std::string>(&edited->second);
    return word != nullptr && *word == field.only->word;
  }

  void append_line(const std::string& path, size_t indent, const std::string& text) {
    text_ += std::string(indent, ' ') + text + "\n";
    paths_.push_back(path);
  }
  void append_section(const KeyNode& node, size_t indent) {
    for (const KeyNode& child : node.children) {
      if (is_missing(child, hw_)) continue;
      if (child.field == nullptr) {
        append_line("", indent, child.key + ":");
        append_section(child, indent + 2);
      } else if ((is_absent(*child.field, hw_) || is_derived(*child.field, hw_)) &&
                 !texts_.contains(child.path)) {
        continue;
      } else if (is_there(*child.field)) {
        const auto edited = texts_.find(child.path);
        append_line(child.path, indent,
                    child.key + ": " +
                        (edited == texts_.end() ? print_value(*child.field, hw_) : edited->second));
      }
    }
  }

  HwConfig hw_;  ///< print_value() takes no const one
  const MachineEdits& edits_;
  std::map<std::string, std::string> texts_;
  std::string text_;
  std::vector<std::string> paths_;
  std::vector<FieldError>& errors_;
};

/// The line of "machine:LINE:COLUMN"; 0 for none.
size_t line_of(const std::string& where) {
  const size_t colon = where.find(':');
  size_t line = 0;
  if (colon != std::string::npos)
    std::from_chars(where.data() + colon + 1, where.data() + where.size(), line);
  return line;
}

}  // namespace

EditedMachine edit_machine(const HwConfig& base, const MachineEdits& edits) {
  EditedMachine out{base, {}};
  const EditedFile file(out.hw, edits, out.errors);
  const Result<HwConfig> parsed = parse_hw(file.text(), "machine");
  if (!parsed)
    for (const Error& e : parsed.errors())
      out.errors.push_back({file.path_of_line(line_of(e.where)), e.message});
  if (parsed) {
    out.hw = *parsed;
    out.hw.file = base.file;
  }
  return out;
}

}  // namespace accsim::hw
