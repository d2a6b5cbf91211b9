#include "sim/sweep/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hw/config/values.h"
#include "sim/sweep/axis_values.h"
#include "sim/sweep/store_columns.h"

namespace accsim::sim {
namespace {

bool is_rate(const hw::Field& f) {
  return std::holds_alternative<hw::Member<hw::ByteRate>>(f.target);
}
bool is_whole(const hw::Field& f) { return std::holds_alternative<hw::Member<int64_t>>(f.target); }
bool is_numeric(const hw::Field& f) {
  return is_rate(f) || is_whole(f) || std::holds_alternative<hw::Member<double>>(f.target) ||
         std::holds_alternative<hw::Member<hw::DerivableNumber>>(f.target);
}

hw::YamlNode scalar_node(std::string text, hw::TextPosition at) {
  hw::YamlNode node;
  node.kind = hw::YamlNode::Kind::scalar;
  node.text = std::move(text);
  node.at = at;
  return node;
}

std::string number_text(double v) {
  return std::abs(v) < 1e15 && v == std::floor(v) ? fmt::format("{:.0f}", v) : fmt::format("{}", v);
}
/// A number as the field's type writes it: rates to a thousandth.
std::string number_text(const hw::Field& field, double v) {
  return number_text(is_rate(field) ? std::round(v * 1000) / 1000 : v);
}

std::string text_of(const hw::YamlNode& node) {
  std::string out;
  if (node.kind == hw::YamlNode::Kind::map)
    for (const hw::YamlEntry& e : node.entries) out += (out.empty() ? "" : " ") + e.value.text;
  if (node.kind == hw::YamlNode::Kind::map) return out;
  if (node.kind != hw::YamlNode::Kind::sequence) return node.text;
  for (const hw::YamlNode& item : node.items) out += (out.empty() ? "" : "+") + text_of(item);
  return out;
}

/// Reads one axis of fields.
class AxisReader {
 public:
  AxisReader(const hw::YamlEntry& entry, const hw::HwConfig& base, SpecErrors& errors)
      : entry_(entry), scratch_(base), errors_(entry.key, errors), values_(entry.at, errors_) {
    out_.name = entry.key;
    out_.at = entry.at;
  }

  std::optional<Axis> read_axis() {
    read_section(entry_.value, entry_.at, fmt::format("axis {}", out_.name),
                 {"field", "fields", "values", "range", "powers_of_two"}, errors_.all(),
                 [this](const hw::YamlEntry& e) { take_key(e); });
    if (!errors_.none() || entry_.value.kind != hw::YamlNode::Kind::map) return std::nullopt;
    if ((field_ != nullptr) == (fields_ != nullptr))
      return errors_.fail(
          entry_.at, "needs either field (one path) or fields (paths with expressions or lists)");
    if (values_.count() != 1 && (field_ != nullptr || values_.count() > 0))
      return errors_.fail(entry_.at, "needs one of values, range and powers_of_two");
    if (field_ != nullptr ? !read_single() : !read_linked()) return std::nullopt;
    if (out_.steps.empty()) return errors_.fail(entry_.at, "has no values; give at least one");
    refuse_twins();
    if (!errors_.none()) return std::nullopt;
    tell_apart();
    return std::move(out_);
  }

 private:
  void take_key(const hw::YamlEntry& e) {
    if (e.key == "field") field_ = &e;
    if (e.key == "fields") fields_ = &e;
    values_.take_key(e);
  }

  bool add_field(const std::string& path, hw::TextPosition at) {
    const hw::Field* f = hw::find_field(path);
    if (f == nullptr) {
      std::vector<std::string> paths;
      for (const hw::Field& known : hw::fields()) paths.push_back(known.path);
      const auto close = hw::nearest_word(path, paths);
      errors_.fail(at, fmt::format("{} is no field of a machine{}; accsim hw fields lists them",
                                   hw::quoted_text(path),
                                   close ? fmt::format(" (did you mean \"{}\"?)", *close) : ""));
      return false;
    }
    if (!f->not_swept.empty()) {
      errors_.fail(at, fmt::format("{} {}", path, f->not_swept));
      return false;
    }
    if (!has_field(scratch_, *f)) {
      errors_.fail(at, fmt::format("{} is only of machines with {} {}, which the base isn't", path,
                                   f->only->path, f->only->word));
      return false;
    }
    if (std::find(out_.fields.begin(), out_.fields.end(), f) != out_.fields.end()) {
      errors_.fail(at, fmt::format("{} is set twice; remove one", path));
      return false;
    }
    out_.fields.push_back(f);
    return true;
  }

  /// The step's value of the field that was added last.
  void add_setting(AxisStep& step, const hw::Field& field, const hw::YamlNode& value) {
    if (auto problem = hw::read_value(field, value, scratch_)) errors_.fail(value.at, *problem);
    step.fields.push_back(field_setting(field, scratch_));
  }

  AxisStep& add_step(double value, std::string label) {
    out_.steps.push_back({value, std::move(label), {}});
    return out_.steps.back();
  }

  /// field: one path, values as they are.
  bool read_single() {
    if (!add_field(field_->value.text, field_->at)) return false;
    const hw::Field& f = *out_.fields.front();
    out_.words = !is_numeric(f);
    if (!out_.words) {
      const std::vector<double> values = values_.read();
      for (size_t i = 0; errors_.none() && i < values.size(); ++i) {
        const double v = values[i];
        add_setting(add_step(v, number_text(f, v)), f,
                    scalar_node(number_text(f, v), values_.place()));
      }
      return errors_.none();
    }
    if (values_.list() == nullptr || values_.list()->value.kind != hw::YamlNode::Kind::sequence) {
      errors_.fail(entry_.at, "its field is a word; give values as a list");
      return false;
    }
    for (const hw::YamlNode& node : values_.list()->value.items)
      add_setting(add_step(static_cast<double>(out_.steps.size()), text_of(node)), f, node);
    return errors_.none();
  }

  /// fields: each an expression of the axis's own value, or a list as long as the others.
  bool read_linked() {
    if (fields_->value.kind != hw::YamlNode::Kind::map || fields_->value.entries.empty()) {
      errors_.fail(fields_->at, "fields must be a section of paths with expressions or lists");
      return false;
    }
    std::vector<double> values = values_.read();
    if (!errors_.none()) return false;
    if (values_.count() == 0 && !values_from_first_list(values)) return false;
    for (const double v : values) add_step(v, number_text(v));
    for (const hw::YamlEntry& e : fields_->value.entries) {
      if (!add_field(e.key, e.at)) continue;
      if (e.value.kind == hw::YamlNode::Kind::sequence)
        set_list(*out_.fields.back(), e);
      else
        set_expression(*out_.fields.back(), e);
    }
    return errors_.none();
  }

  /// Without values the axis stands for its first field's.
  bool values_from_first_list(std::vector<double>& values) {
    const hw::YamlEntry& first = fields_->value.entries.front();
    if (first.value.kind != hw::YamlNode::Kind::sequence) {
      errors_.fail(first.at,
                   "needs one of values, range and powers_of_two, or a list for its first field");
      return false;
    }
    for (const hw::YamlNode& node : first.value.items)
      values.push_back(errors_.number(node, "a value of axis " + out_.name).value_or(0));
    return errors_.none();
  }

  void set_list(const hw::Field& field, const hw::YamlEntry& e) {
    if (e.value.items.size() != out_.steps.size()) {
      errors_.fail(e.at,
                   fmt::format("{} has {} values, the axis has {}; linked lists are of one length",
                               e.key, e.value.items.size(), out_.steps.size()));
      return;
    }
    for (size_t i = 0; i < out_.steps.size(); ++i)
      add_setting(out_.steps[i], field, e.value.items[i]);
  }

  void set_expression(const hw::Field& field, const hw::YamlEntry& e) {
    if (e.value.kind != hw::YamlNode::Kind::scalar || !is_numeric(field)) {
      errors_.fail(e.at, is_numeric(field) ? e.key + " must be an expression or a list"
                                           : e.key + " is a word; give a list of values");
      return;
    }
    const auto expression =
        Expression::parse(e.value.text,
                          [this](std::string_view n) {
                            return n == out_.name ? std::optional<size_t>(0) : std::nullopt;
                          },
                          {out_.name});
    if (!expression) {
      errors_.fail(e.value.at,
                   expression.errors().front().message + "; only the axis's own name may occur");
      return;
    }
    for (AxisStep& step : out_.steps) {
      const double v = expression->value({&step.value, 1});
      if (!std::isfinite(v)) {
        errors_.fail(e.value.at, fmt::format("{} isn't a number for {}", e.key, step.label));
        return;
      }
      add_setting(step, field, scalar_node(number_text(field, v), e.value.at));
    }
  }

  /// Two steps that make the same machine would be one point with two numbers.
  void refuse_twins() {
    std::map<std::string, std::string> seen;
    for (const AxisStep& step : out_.steps) {
      std::string key;
      for (size_t k = 0; k < out_.fields.size(); ++k) {
        set_field(*out_.fields[k], step.fields[k], scratch_);
        key += hw::print_value(*out_.fields[k], scratch_) + "|";
      }
      const auto [first, fresh] = seen.emplace(key, step.label);
      if (fresh) continue;
      errors_.fail(values_.place(), fmt::format("{} and {} make the same machine; remove one",
                                                first->second, step.label));
      return;
    }
  }

  /// Steps are known by their labels: where two have one value of the axis, all are named after the
  /// values of their fields, "128x256".
  void tell_apart() {
    std::set<std::string> labels;
    for (const AxisStep& step : out_.steps) labels.insert(step.label);
    if (labels.size() == out_.steps.size()) return;
    for (AxisStep& step : out_.steps) {
      step.label.clear();
      for (size_t k = 0; k < out_.fields.size(); ++k) {
        set_field(*out_.fields[k], step.fields[k], scratch_);
        step.label += (k > 0 ? "x" : "") + hw::print_value(*out_.fields[k], scratch_);
      }
    }
  }

  const hw::YamlEntry& entry_;
  hw::HwConfig scratch_;  ///< the base, and values that are being read
  AxisErrors errors_;
  AxisValues values_;
  Axis out_;
  const hw::YamlEntry *field_ = nullptr, *fields_ = nullptr;
};

bool is_axis_name(std::string_view s) {
  return !s.empty() && s.size() <= 40 && s[0] >= 'a' && s[0] <= 'z' &&
         std::all_of(s.begin(), s.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

/// An axis of sizes: a list, or a section that says one.
std::optional<Axis> read_size_axis(const hw::YamlEntry& e, SpecErrors& all) {
  constexpr double kMostSize = 1e12;
  AxisErrors errors(e.key, all);
  AxisValues values(e.at, errors);
  if (e.value.kind == hw::YamlNode::Kind::sequence)
    values.take_list(e);
  else
    read_section(e.value, e.at, fmt::format("bind.{}", e.key), AxisValues::kKeys, all,
                 [&](const hw::YamlEntry& key) { values.take_key(key); });
  if (values.list() == nullptr && e.value.kind != hw::YamlNode::Kind::map) return std::nullopt;
  if (values.count() != 1) return errors.fail(e.at, "needs one of values, range and powers_of_two");
  Axis out;
  out.name = e.key;
  out.at = e.at;
  std::set<double> seen;
  for (const double v : values.read()) {
    if (v != std::floor(v) || v < 0 || v > kMostSize)
      return errors.fail(values.place(),
                         fmt::format("{} is no size; give whole numbers from 0", v));
    if (!seen.insert(v).second)
      return errors.fail(values.place(), fmt::format("{} is there twice", v));
    out.steps.push_back({v, fmt::format("{:.0f}", v), {}});
  }
  if (!errors.none() || out.steps.empty()) return std::nullopt;
  return out;
}

/// Whether an axis may have this name, which no axis of `names` has; reported if not.
bool take_name(const hw::YamlEntry& e, std::set<std::string>& names, SpecErrors& errors) {
  if (!is_axis_name(e.key) || is_store_column(e.key) || hw::find_field(e.key) != nullptr)
    errors.fail(e.at,
                fmt::format("{} can't name an axis: use lower-case letters, digits and _, and "
                            "no name of a field or of a column of the store",
                            hw::quoted_text(e.key)));
  else if (!names.insert(e.key).second)
    errors.fail(e.at, fmt::format("two axes are named {}", e.key));
  else
    return true;
  return false;
}

}  // namespace

std::vector<Axis> read_bind_axes(const hw::YamlEntry& section, SpecErrors& errors) {
  std::vector<Axis> out;
  if (section.value.kind != hw::YamlNode::Kind::map || section.value.entries.empty()) {
    errors.fail(section.at, "bind must be a section of symbols, each with a list of sizes");
    return out;
  }
  std::set<std::string> names;
  for (const hw::YamlEntry& e : section.value.entries) {
    if (!take_name(e, names, errors)) continue;
    if (auto axis = read_size_axis(e, errors)) out.push_back(std::move(*axis));
  }
  return out;
}

std::vector<Axis> read_axes(const hw::YamlEntry& section, const hw::HwConfig& base,
                            SpecErrors& errors) {
  std::vector<Axis> out;
  if (section.value.kind != hw::YamlNode::Kind::map || section.value.entries.empty()) {
    errors.fail(section.at,
                "axes must be a section of at least one axis, each with field and values");
    return out;
  }
  std::map<std::string, std::string> owner;
  std::set<std::string> names;
  for (const hw::YamlEntry& e : section.value.entries) {
    if (!take_name(e, names, errors)) continue;
    auto axis = AxisReader(e, base, errors).read_axis();
    if (!axis) continue;
    for (const hw::Field* f : axis->fields) {
      const auto [first, fresh] = owner.emplace(f->path, e.key);
      if (!fresh)
        errors.fail(e.at, fmt::format("{} is set by the axes {} and {}; link them into one",
                                      f->path, first->second, e.key));
    }
    out.push_back(std::move(*axis));
  }
  return out;
}

}  // namespace accsim::sim
