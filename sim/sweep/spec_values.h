#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/config/yaml_tree.h"
#include "sim/base/result.h"
#include "sim/cost/costing_options.h"

namespace accsim::sim {

/// Where the spec's reader collects what is wrong.
class SpecErrors {
 public:
  explicit SpecErrors(std::string file) : file_(std::move(file)) {}
  void fail(hw::TextPosition at, std::string message) {
    errors_.push_back({Errc::invalid, std::move(message), where_text(file_, at)});
  }
  void add(const Errors& more) { errors_.insert(errors_.end(), more.begin(), more.end()); }
  bool empty() const { return errors_.empty(); }
  Errors take() { return std::move(errors_); }

 private:
  std::string file_;
  Errors errors_;
};

/// A path that a file names, relative to its own folder, from the working directory.
std::string path_beside(const std::string& file, const std::string& path);

/// The value of a plain number; reports anything else.
std::optional<double> read_number(const hw::YamlNode& node, std::string_view what,
                                  SpecErrors& errors);
/// A whole number of min .. max; reports anything else, and is 1 then.
int64_t read_whole(const hw::YamlEntry& e, double min, double max, SpecErrors& errors);
/// Which of the words it is; reports anything else.
std::optional<size_t> read_choice(const hw::YamlEntry& e, std::span<const std::string_view> words,
                                  SpecErrors& errors);
/// The same, as an enumeration (or bool) whose values have these words; left alone when it is none.
template <class T>
void read_word(const hw::YamlEntry& e, std::span<const std::string_view> words, T& out,
               SpecErrors& errors) {
  if (const auto at = read_choice(e, words, errors)) out = static_cast<T>(*at);
}
/// Sets an option by a key of its name; reports what is wrong with the value.
void take_key(const CostingOption& option, const hw::YamlEntry& e, CostingOptions& to,
              SpecErrors& errors);
/// "true" or "false"; false when it is neither, which is reported.
bool read_flag(const hw::YamlEntry& e, SpecErrors& errors);
/// Calls `entry` for each key; reports keys that aren't in `known`, twice there, or a node that is
/// no section.
void read_section(const hw::YamlNode& node, hw::TextPosition at, std::string_view what,
                  const std::vector<std::string>& known, SpecErrors& errors,
                  const std::function<void(const hw::YamlEntry&)>& entry);

}  // namespace accsim::sim
