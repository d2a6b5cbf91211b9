#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "sim/base/parse_number.h"
#include "sim/cost/costing_options.h"
#include "sim/cost/value_words.h"

namespace accsim::sim {
namespace {

using Words = std::vector<std::string>;

Status usage_error(std::string message) { return Error{Errc::usage, std::move(message), ""}; }

/// "NAME=VALUE"; the last '=' splits, names may hold one.
std::pair<std::string, std::string> split_assignment(const std::string& text) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) return {};
  return {text.substr(0, at), text.substr(at + 1)};
}

int64_t unit_of(const CostingOption& option) {
  return option.unit == "MiB" ? int64_t{1} << 20 : int64_t{1};
}

/// Sets an option by one of its words.
struct WordTaker {
  const CostingOption& option;
  const std::string& word;
  CostingOptions& out;

  Status operator()(bool& (*to)(CostingOptions&)) const {
    if (word != "true" && word != "false")
      return usage_error(fmt::format("{} not in {{false,true}}", word));
    to(out) = word == "true";
    return ok();
  }
  Status operator()(int64_t& (*to)(CostingOptions&)) const {
    const std::optional<int64_t> number = parse_number<int64_t>(word);
    if (!number || *number < option.least || *number > option.most)
      return usage_error(
          fmt::format("{} is not a whole number from {} to {}", word, option.least, option.most));
    to(out) = *number * unit_of(option);
    return ok();
  }
  Status operator()(std::string& (*to)(CostingOptions&)) const {
    to(out) = word;
    return ok();
  }
  Status operator()(std::map<std::string, int64_t>& (*to)(CostingOptions&)) const {
    const auto number = parse_number<int64_t>(split_assignment(word).second);
    return assign(number && *number >= 0 ? number : std::nullopt,
                  option.metavar + " with N a whole number", to(out));
  }
  Status operator()(std::map<std::string, Dims>& (*to)(CostingOptions&)) const {
    const std::string text = split_assignment(word).second;
    return assign(text == accsim::to_string(Dims()) ? Dims() : parse_dims(text),
                  "NAME=DIMS, e.g. input=1x3x224x224", to(out));
  }
  Status operator()(std::map<std::string, bool>& (*to)(CostingOptions&)) const {
    const std::string branch = split_assignment(word).second;
    const bool then = branch == kThenBranch;
    return assign(then || branch == kElseBranch ? std::optional<bool>(then) : std::nullopt,
                  "NODE=then or NODE=else", to(out));
  }
  Status operator()(std::map<std::string, GivenValue>& (*to)(CostingOptions&)) const {
    const auto [name, text] = split_assignment(word);
    if (name.empty() || text.empty()) return assign<GivenValue>({}, "TENSOR=VALUE", to(out));
    Result<GivenValue> value = value_of_words(text);
    if (!value) return value.errors();
    return assign(std::optional(std::move(*value)), "TENSOR=VALUE", to(out));
  }
  Status operator()(const OptionWord& to) const {
    const Words& choices = option.choices;
    if (!choices.empty() && std::ranges::find(choices, word) == choices.end())
      return usage_error(fmt::format("{} not in {{{}}}", word, fmt::join(choices, ",")));
    return to.take(word, out);
  }

 private:
  template <class T>
  Status assign(const std::optional<T>& value, const std::string& form,
                std::map<std::string, T>& to) const {
    const std::string name = split_assignment(word).first;
    if (name.empty() || !value) return usage_error(fmt::format("'{}' is not {}", word, form));
    if (!to.emplace(name, *value).second) return usage_error("'" + name + "' is given twice");
    return ok();
  }
};

/// The words of a value that isn't the default.
struct WordsMaker {
  const CostingOption& option;
  CostingOptions of, usual{};  // accessors want them to change

  Words operator()(bool& (*at)(CostingOptions&)) { return at(of) ? Words{"true"} : Words{}; }
  Words operator()(int64_t& (*at)(CostingOptions&)) {
    if (at(of) == at(usual)) return {};
    return {std::to_string(at(of) / unit_of(option))};
  }
  Words operator()(std::string& (*at)(CostingOptions&)) {
    return at(of).empty() ? Words{} : Words{at(of)};
  }
  template <class T>
  Words operator()(std::map<std::string, T>& (*at)(CostingOptions&)) {
    Words out;
    for (const auto& [name, value] : at(of)) out.push_back(name + "=" + value_text(value));
    return out;
  }
  Words operator()(const OptionWord& at) const { return at.words(of); }

 private:
  static std::string value_text(int64_t size) { return std::to_string(size); }
  static std::string value_text(const Dims& dims) { return accsim::to_string(dims); }
  static std::string value_text(const GivenValue& value) { return value.text; }
  static std::string value_text(bool then) { return std::string(then ? kThenBranch : kElseBranch); }
};

}  // namespace

std::optional<Dims> parse_dims(std::string_view text) { return parse_numbers(text, 'x', 1); }

Errors take_option(const CostingOption& option, const std::vector<std::string>& words,
                   CostingOptions& to) {
  Errors errors;
  for (const std::string& word : words) {
    const Status taken = std::visit(WordTaker{option, word, to}, option.to);
    if (!taken) errors.insert(errors.end(), taken.errors().begin(), taken.errors().end());
  }
  for (Error& error : errors) error.where = option.option;
  return errors;
}

Errors check_together(const CostingOptions& options) {
  const MapOptions& map = options.map;
  if (map.objective == Objective::cycles || map.slack == 0 || map.slack == kDefaultSlack) return {};
  return {
      {Errc::usage,
       fmt::format("is for the objective cycles; by {} nothing is left to it", name(map.objective)),
       "--slack"}};
}

std::vector<std::string> option_words(const CostingOption& option, const CostingOptions& of) {
  return std::visit(WordsMaker{option, of}, option.to);
}

}  // namespace accsim::sim
