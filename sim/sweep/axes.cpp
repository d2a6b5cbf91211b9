#include "sim/sweep/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "hw/config/values.h"
#include "sim/sweep/store_columns.h"

namespace accsim::sim {
namespace {

constexpr size_t kMostSteps = 10'000;
constexpr double kMostSize = 1e12;
/// Keys that say the values of an axis.
const std::vector<std::string> kLists = {"values", "range", "powers_of_two"};

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

/// Reads one axis.
class AxisReader {
 public:
  AxisReader(const hw::YamlEntry& entry, const hw::HwConfig& base, SpecErrors& errors)
      : entry_(entry), scratch_(base), errors_(errors) {
    out_.name = entry.key;
    out_.at = entry.at;
  }

  /// An axis of sizes: a list, or a section that says one.
  std::optional<Axis> run_sizes() {
    if (entry_.value.kind == hw::YamlNode::Kind::sequence)
      values_ = &entry_;
    else
      read_section(entry_.value, entry_.at, fmt::format("bind.{}", out_.name), kLists, errors_,
                   [this](const hw::YamlEntry& e) { take_key(e); });
    if (values_ == nullptr && entry_.value.kind != hw::YamlNode::Kind::map) return std::nullopt;
    if (!one_list()) return fail(entry_.at, "needs one of values, range and powers_of_two");
    std::set<double> seen;
    for (const double v : read_values()) {
      if (v != std::floor(v) || v < 0 || v > kMostSize)
        return fail(values_place(), fmt::format("{} is no size; give whole numbers from 0", v));
      if (!seen.insert(v).second) return fail(values_place(), fmt::format("{} is there twice", v));
      add_step(v, fmt::format("{:.0f}", v));
    }
    if (!good_ || out_.steps.empty()) return std::nullopt;
    return std::move(out_);
  }

  std::optional<Axis> read_axis() {
    read_section(entry_.value, entry_.at, fmt::format("axis {}", out_.name),
                 {"field", "fields", "values", "range", "powers_of_two"}, errors_,
                 [this](const hw::YamlEntry& e) { take_key(e); });
    if (!good_ || entry_.value.kind != hw::YamlNode::Kind::map) return std::nullopt;
    if ((field_ != nullptr) == (fields_ != nullptr))
      return fail(entry_.at,
                  "needs either field (one path) or fields (paths with expressions or lists)");
    if (!one_list() && (field_ != nullptr || values_ || range_ || powers_))
      return fail(entry_.at, "needs one of values, range and powers_of_two");
    if (field_ != nullptr ? !read_single() : !read_linked()) return std::nullopt;
    if (out_.steps.empty()) return fail(entry_.at, "has no values; give at least one");
    refuse_twins();
    if (!good_) return std::nullopt;
    tell_apart();
    return std::move(out_);
  }

 private:
  /// Is it said once which values there are?
  bool one_list() const {
    return (values_ != nullptr) + (range_ != nullptr) + (powers_ != nullptr) == 1;
  }

  std::nullopt_t fail(hw::TextPosition at, const std::string& what) {
    errors_.fail(at, fmt::format("axis {}: {}", out_.name, what));
    good_ = false;
    return std::nullopt;
  }

  void take_key(const hw::YamlEntry& e) {
    if (e.key == "field") field_ = &e;
    if (e.key == "fields") fields_ = &e;
    if (e.key == "values") values_ = &e;
    if (e.key == "range") range_ = &e;
    if (e.key == "powers_of_two") powers_ = &e;
  }

  bool add_field(const std::string& path, hw::TextPosition at) {
    const hw::Field* f = hw::find_field(path);
    if (f == nullptr) {
      std::vector<std::string> paths;
      for (const hw::Field& known : hw::fields()) paths.push_back(known.path);
      const auto close = hw::nearest_word(path, paths);
      fail(at, fmt::format("{} is no field of a machine{}; accsim hw fields lists them",
                           hw::quoted_text(path),
                           close ? fmt::format(" (did you mean \"{}\"?)", *close) : ""));
      return false;
    }
    if (!f->not_swept.empty()) {
      fail(at, fmt::format("{} {}", path, f->not_swept));
      return false;
    }
    if (!has_field(scratch_, *f)) {
      fail(at, fmt::format("{} is only of machines with {} {}, which the base isn't", path,
                           f->only->path, f->only->word));
      return false;
    }
    if (std::find(out_.fields.begin(), out_.fields.end(), f) != out_.fields.end()) {
      fail(at, fmt::format("{} is set twice; remove one", path));
      return false;
    }
    out_.fields.push_back(f);
    return true;
  }

  /// The step's value of the field that was added last.
  void add_setting(AxisStep& step, const hw::Field& field, const hw::YamlNode& value) {
    if (auto problem = hw::read_value(field, value, scratch_)) fail(value.at, *problem);
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
      const std::vector<double> values = read_values();
      for (size_t i = 0; good_ && i < values.size(); ++i) {
        const double v = values[i];
        add_setting(add_step(v, number_text(f, v)), f,
                    scalar_node(number_text(f, v), values_place()));
      }
      return good_;
    }
    if (values_ == nullptr || values_->value.kind != hw::YamlNode::Kind::sequence) {
      fail(entry_.at, "its field is a word; give values as a list");
      return false;
    }
    for (const hw::YamlNode& node : values_->value.items)
      add_setting(add_step(static_cast<double>(out_.steps.size()), text_of(node)), f, node);
    return good_;
  }

  /// fields: each an expression of the axis's own value, or a list as long as the others.
  bool read_linked() {
    if (fields_->value.kind != hw::YamlNode::Kind::map || fields_->value.entries.empty()) {
      fail(fields_->at, "fields must be a section of paths with expressions or lists");
      return false;
    }
    std::vector<double> values = read_values();
    if (!good_) return false;
    const bool given = values_ != nullptr || range_ != nullptr || powers_ != nullptr;
    if (!given && !values_from_first_list(values)) return false;
    for (const double v : values) add_step(v, number_text(v));
    for (const hw::YamlEntry& e : fields_->value.entries) {
      if (!add_field(e.key, e.at)) continue;
      if (e.value.kind == hw::YamlNode::Kind::sequence)
        set_list(*out_.fields.back(), e);
      else
        set_expression(*out_.fields.back(), e);
    }
    return good_;
  }

  /// Without values the axis stands for its first field's.
  bool values_from_first_list(std::vector<double>& values) {
    const hw::YamlEntry& first = fields_->value.entries.front();
    if (first.value.kind != hw::YamlNode::Kind::sequence) {
      fail(first.at, "needs one of values, range and powers_of_two, or a list for its first field");
      return false;
    }
    for (const hw::YamlNode& node : first.value.items) {
      const auto v = read_number(node, "a value of axis " + out_.name, errors_);
      if (!v) good_ = false;
      values.push_back(v.value_or(0));
    }
    return good_;
  }

  void set_list(const hw::Field& field, const hw::YamlEntry& e) {
    if (e.value.items.size() != out_.steps.size()) {
      fail(e.at, fmt::format("{} has {} values, the axis has {}; linked lists are of one length",
                             e.key, e.value.items.size(), out_.steps.size()));
      return;
    }
    for (size_t i = 0; i < out_.steps.size(); ++i)
      add_setting(out_.steps[i], field, e.value.items[i]);
  }

  void set_expression(const hw::Field& field, const hw::YamlEntry& e) {
    if (e.value.kind != hw::YamlNode::Kind::scalar || !is_numeric(field)) {
      fail(e.at, is_numeric(field) ? e.key + " must be an expression or a list"
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
      fail(e.value.at,
           expression.errors().front().message + "; only the axis's own name may occur");
      return;
    }
    for (AxisStep& step : out_.steps) {
      const double v = expression->value({&step.value, 1});
      if (!std::isfinite(v)) {
        fail(e.value.at, fmt::format("{} isn't a number for {}", e.key, step.label));
        return;
      }
      add_setting(step, field, scalar_node(number_text(field, v), e.value.at));
    }
  }

  hw::TextPosition values_place() const {
    for (const hw::YamlEntry* e : {values_, range_, powers_})
      if (e != nullptr) return e->at;
    return entry_.at;
  }

  std::vector<double> read_values() {
    if (range_ != nullptr) return read_range();
    if (powers_ != nullptr) return read_powers();
    std::vector<double> out;
    if (values_ == nullptr) return out;
    if (values_->value.kind != hw::YamlNode::Kind::sequence) {
      fail(values_->at, "values must be a list, e.g. [64, 128]");
      return out;
    }
    if (values_->value.items.empty()) fail(values_->at, "has no values; give at least one");
    for (const hw::YamlNode& node : values_->value.items) {
      const auto v = read_number(node, "a value of axis " + out_.name, errors_);
      if (!v) good_ = false;
      out.push_back(v.value_or(0));
    }
    return out;
  }

  bool too_many(double steps, hw::TextPosition at) {
    if (steps <= static_cast<double>(kMostSteps)) return false;
    fail(at, fmt::format("has {:.0f} values, more than {}; take a larger step", steps, kMostSteps));
    return true;
  }

  std::vector<double> read_range() {
    std::optional<double> from, to, step;
    read_section(range_->value, range_->at, fmt::format("range of axis {}", out_.name),
                 {"from", "to", "step"}, errors_, [&](const hw::YamlEntry& e) {
                   auto& target = e.key == "from" ? from : e.key == "to" ? to : step;
                   target = read_number(e.value, e.key, errors_);
                 });
    if (!from || !to || !step)
      return fail(range_->at, "range needs numbers from, to and step"), std::vector<double>{};
    if (*step <= 0 || *from > *to)
      return fail(range_->at, "range is empty: from must not be above to, and step be above 0"),
             std::vector<double>{};
    const double steps = std::floor((*to - *from) / *step + 1e-9) + 1;
    std::vector<double> out;
    if (too_many(steps, range_->at)) return out;
    for (double i = 0; i < steps; ++i)  // to nine decimals: 0.1 + 2 x 0.1 is 0.3
      out.push_back(std::round((*from + i * *step) * 1e9) / 1e9);
    return out;
  }

  std::vector<double> read_powers() {
    const auto& items = powers_->value.items;
    const char* usage = "powers_of_two must be [from, to], both powers of two, from not above to";
    std::vector<double> out;
    if (powers_->value.kind != hw::YamlNode::Kind::sequence || items.size() != 2)
      return fail(powers_->at, usage), out;
    const auto from = read_number(items[0], "from", errors_),
               to = read_number(items[1], "to", errors_);
    if (!from || !to) return good_ = false, out;
    if (*from <= 0 || *from > *to || std::exp2(std::round(std::log2(*from))) != *from ||
        std::exp2(std::round(std::log2(*to))) != *to || *to > 0x1p40 || *from < 0x1p-10)
      return fail(powers_->at, usage), out;
    for (double v = *from; v <= *to; v *= 2) out.push_back(v);
    return out;
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
      fail(values_place(),
           fmt::format("{} and {} make the same machine; remove one", first->second, step.label));
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
  SpecErrors& errors_;
  Axis out_;
  bool good_ = true;
  const hw::YamlEntry *field_ = nullptr, *fields_ = nullptr;
  const hw::YamlEntry *values_ = nullptr, *range_ = nullptr, *powers_ = nullptr;
};

bool is_axis_name(std::string_view s) {
  return !s.empty() && s.size() <= 40 && s[0] >= 'a' && s[0] <= 'z' &&
         std::all_of(s.begin(), s.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

}  // namespace

std::optional<double> read_number(const hw::YamlNode& node, std::string_view what,
                                  SpecErrors& errors) {
  double v = 0;
  const char* end = node.text.data() + node.text.size();
  const auto [stop, error] = std::from_chars(node.text.data(), end, v);
  if (node.kind == hw::YamlNode::Kind::scalar && !node.quoted && error == std::errc() &&
      stop == end && std::isfinite(v))
    return v;
  errors.fail(node.at,
              fmt::format("{} is {}; it must be a number", what, hw::quoted_text(node.text)));
  return std::nullopt;
}

namespace {

/// What to write instead of a key that isn't known; empty when nothing is near.
std::string key_advice(const std::string& key, const std::vector<std::string>& known) {
  struct Renamed {
    std::string_view was, now;
  };
  static constexpr std::array<Renamed, 1> kRenamed = {{{"mapping", "objective"}}};
  for (const Renamed& r : kRenamed)
    if (key == r.was && std::find(known.begin(), known.end(), r.now) != known.end())
      return fmt::format("it is called \"{}\" now; ", r.now);
  const auto close = hw::nearest_word(key, known);
  return close ? fmt::format("did you mean \"{}\"? ", *close) : "";
}

}  // namespace

void read_section(const hw::YamlNode& node, hw::TextPosition at, std::string_view what,
                  const std::vector<std::string>& known, SpecErrors& errors,
                  const std::function<void(const hw::YamlEntry&)>& entry) {
  if (node.kind != hw::YamlNode::Kind::map) {
    errors.fail(at,
                fmt::format("{} must be a section with keys of {}", what, fmt::join(known, ", ")));
    return;
  }
  std::set<std::string> seen;
  for (const hw::YamlEntry& e : node.entries) {
    if (!seen.insert(e.key).second) {
      errors.fail(e.at, fmt::format("{} has the key {} twice", what, hw::quoted_text(e.key)));
    } else if (std::find(known.begin(), known.end(), e.key) == known.end()) {
      errors.fail(e.at, fmt::format("{} has no key {}; {}valid: {}", what, hw::quoted_text(e.key),
                                    key_advice(e.key, known), fmt::join(known, ", ")));
    } else {
      entry(e);
    }
  }
}

namespace {

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
  const hw::HwConfig no_machine;
  for (const hw::YamlEntry& e : section.value.entries) {
    if (!take_name(e, names, errors)) continue;
    if (auto axis = AxisReader(e, no_machine, errors).run_sizes()) out.push_back(std::move(*axis));
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
