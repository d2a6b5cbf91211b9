#include "python/src/costing_keywords.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "hw/config/values.h"
#include "python/src/errors.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

std::string text_of(nb::handle value) { return nb::cast<std::string>(nb::str(value)); }

/// Of an int, or what stands for one, as numpy's do.
std::string whole_text(nb::handle value, const sim::CostingOption& option) {
  const nb::object number = nb::steal(PyNumber_Index(value.ptr()));
  if (number.is_valid()) return text_of(number);
  PyErr_Clear();
  throw nb::type_error(fmt::format("{} takes a whole number", option.option).c_str());
}

/// A number, a list, an array as JSON has it; a text or path as it is.
std::string value_text(nb::handle value) {
  if (nb::isinstance<nb::str>(value) || nb::hasattr(value, "__fspath__")) return text_of(value);
  nb::object plain = nb::borrow(value);
  if (nb::hasattr(value, "tolist")) plain = value.attr("tolist")();
  return text_of(nb::module_::import_("json").attr("dumps")(plain));
}

/// What comes behind the name: a size, a branch, dims, or elements.
std::string assigned_text(nb::handle value, const sim::CostingOption& option) {
  if (option.metavar.ends_with("=N")) return whole_text(value, option);
  if (option.metavar.ends_with("=VALUE")) return value_text(value);
  if (!option.metavar.ends_with("=DIMS")) return text_of(value);
  std::string out;
  for (const nb::handle dim : nb::iter(value))
    out += (out.empty() ? "" : "x") + whole_text(dim, option);
  return out.empty() ? accsim::to_string(Dims()) : out;
}

/// The value as the words that a command line has for it.
std::vector<std::string> words_of(nb::handle value, const sim::CostingOption& option) {
  if (option.is_number()) return {whole_text(value, option)};
  if (option.is_flag() && nb::isinstance<nb::bool_>(value))
    return {nb::cast<bool>(value) ? "true" : "false"};
  if (!option.repeatable || nb::isinstance<nb::str>(value)) return {text_of(value)};
  std::vector<std::string> out;
  if (!option.is_assignment()) {
    for (const nb::handle word : nb::iter(value)) out.push_back(text_of(word));
    return out;
  }
  const nb::object dict = nb::module_::import_("builtins").attr("dict")(value);  // any mapping
  for (const auto [name, to] : nb::cast<nb::dict>(dict))
    out.push_back(text_of(name) + "=" + assigned_text(to, option));
  return out;
}

[[noreturn]] void refuse(const std::string& name, uint32_t use) {
  const auto close = hw::nearest_word(name, sim::option_keys(use));
  throw nb::type_error(fmt::format("'{}' is no option{}", name,
                                   close ? fmt::format("; did you mean {}?", *close) : "")
                           .c_str());
}

/// "None", "False", "'cycles'".
std::string default_text(const sim::CostingOption& option) {
  if (option.annotation.ends_with("None")) return "None";
  return option.is_flag() ? "False" : "'" + option.standard + "'";
}

}  // namespace

sim::CostingOptions costing_options(const nb::dict& keywords, uint32_t use) {
  sim::CostingOptions out;
  Errors errors;
  for (const auto [key, value] : keywords) {
    const auto name = nb::cast<std::string>(key);
    const sim::CostingOption* const option = sim::find_option(name, use);
    if (option == nullptr) refuse(name, use);
    if (value.is_none()) continue;
    for (Error& error : take_option(*option, words_of(value, *option), out))
      errors.push_back(std::move(error));
  }
  if (errors.empty()) errors = check_together(out);
  if (!errors.empty()) throw RaisedErrors(std::move(errors));
  return out;
}

std::string keyword_signature(uint32_t use) {
  std::string out;
  for (const sim::CostingOption* option : sim::options_for(use))
    out += fmt::format("{}{}: {} = {}", out.empty() ? "" : ", ", option->key(), option->annotation,
                       default_text(*option));
  return out;
}

}  // namespace accsim::python
