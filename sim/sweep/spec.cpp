#include "sim/sweep/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "hw/config/load.h"
#include "hw/config/read_yaml.h"
#include "hw/config/values.h"
#include "sim/base/limit_ranges.h"
#include "sim/base/shell_word.h"
#include "sim/sweep/axes.h"
#include "sim/sweep/spec_hash.h"
#include "sim/sweep/sqlite.h"
#include "sim/sweep/sweep_models.h"

namespace accsim::sim {
namespace {

constexpr std::array<std::string_view, 3> kStrategies = {"grid", "random", "pareto"};

class SpecReader {
 public:
  explicit SpecReader(const std::string& path) : errors_(path) { spec_.file = path; }

  Result<SweepSpec> read_spec(const hw::YamlNode& tree) {
    std::vector<std::string> keys = {"base",       "bind",     "axes", "constraints", "models",
                                     "objectives", "strategy", "seed", "count"};
    for (std::string& key : option_keys(kSpecKeys)) keys.push_back(std::move(key));
    keys.insert(keys.end(), {"layers", "max_total_nodes"});
    std::map<std::string, const hw::YamlEntry*> found;
    read_section(tree, tree.at, "the sweep", keys, errors_,
                 [&](const hw::YamlEntry& e) { found[e.key] = &e; });
    if (tree.kind != hw::YamlNode::Kind::map) return errors_.take();
    for (const char* needed : {"base", "axes", "models"})
      if (!found.contains(needed) &&
          !(found.contains("bind") && needed == std::string_view("axes")))
        errors_.fail(tree.at, fmt::format("missing key \"{}\"; a sweep needs base, axes (or bind) "
                                          "and models",
                                          needed));
    const auto with = [&](const char* key, auto read) {
      if (const auto at = found.find(key); at != found.end()) read(*at->second);
    };
    with("base", [&](const hw::YamlEntry& e) { read_base(e); });
    with("bind", [&](const hw::YamlEntry& e) { spec_.axes = read_bind_axes(e, errors_); });
    if (has_base_) with("axes", [&](const hw::YamlEntry& e) { machine_axes(e); });
    if (has_base_ && !spec_.axes.empty())
      with("constraints", [&](const hw::YamlEntry& e) { read_constraints(e); });
    with("max_total_nodes",
         [&](const hw::YamlEntry& e) { most_nodes_ = read_whole(e, 1, kMostLimit, errors_); });
    with("models", [&](const hw::YamlEntry& e) {
      const std::span<const Axis> bound(spec_.axes.data(), bind_axes(spec_));
      spec_.models = read_sweep_models(e, spec_.file, bound, most_nodes_, errors_);
    });
    with("objectives", [&](const hw::YamlEntry& e) { read_objectives(e); });
    with("strategy",
         [&](const hw::YamlEntry& e) { read_word(e, kStrategies, spec_.strategy, errors_); });
    with("seed", [&](const hw::YamlEntry& e) {
      spec_.seed = static_cast<uint64_t>(read_whole(e, 0, 1e15, errors_));
    });
    with("count",
         [&](const hw::YamlEntry& e) { spec_.count = read_whole(e, 1, kMostPoints, errors_); });
    read_mapping(found);
    with("layers", [&](const hw::YamlEntry& e) { spec_.layers = read_flag(e, errors_); });
    check_together(found, tree.at);
    if (!errors_.empty()) return errors_.take();
    spec_.hash = spec_hash(spec_);
    return std::move(spec_);
  }

 private:
  /// What depends on several keys.
  void check_together(const std::map<std::string, const hw::YamlEntry*>& found,
                      hw::TextPosition at) {
    const bool counted = found.contains("count");
    if (spec_.strategy == Strategy::pareto) {
      if (found.contains("slack") && spec_.mapping.slack > 0)
        errors_.fail(found.at("slack")->at,
                     "strategy pareto has no slack: with it more memory may cost more cycles");
      spec_.mapping.slack = 0;
    }
    if (spec_.strategy == Strategy::pareto && found.contains("bind"))
      errors_.fail(at,
                   "strategy pareto compares machines, and bind makes different work; use grid");
    if (spec_.strategy == Strategy::random && !counted)
      errors_.fail(at, "strategy random needs count, the number of points");
    if (spec_.strategy != Strategy::random)
      for (const char* key : {"count", "seed"})
        if (found.contains(key))
          errors_.fail(found.at(key)->at, fmt::format("{} is of strategy random; this is {}", key,
                                                      name(spec_.strategy)));
    double points = 1;
    for (const Axis& axis : spec_.axes) points *= static_cast<double>(axis.steps.size());
    const bool random = spec_.strategy == Strategy::random;
    if (points > (random ? 0x1p60 : static_cast<double>(kMostPoints))) {
      std::string product;
      for (const Axis& axis : spec_.axes)
        product +=
            fmt::format("{}{} {}", product.empty() ? "" : " x ", axis.steps.size(), axis.name);
      errors_.fail(
          spec_.axes.back().at,
          fmt::format("the axes make {:.4g} points ({}), more than {:.4g}; use fewer steps or "
                      "link axes{}",
                      points, product, random ? 0x1p60 : static_cast<double>(kMostPoints),
                      random ? "" : ", or \"strategy: random\" with a count"));
    }
  }

  void read_base(const hw::YamlEntry& e) {
    spec_.base_file = path_beside(spec_.file, e.value.text);
    auto hw = hw::load_hw(spec_.base_file);
    if (!hw) {
      errors_.fail(e.at, "base can't be used:");
      return errors_.add(hw.errors());
    }
    spec_.base = std::move(*hw);
    has_base_ = true;
  }

  /// Those of fields, behind those of `bind`.
  void machine_axes(const hw::YamlEntry& e) {
    for (Axis& axis : read_axes(e, spec_.base, errors_)) {
      if (std::ranges::find(spec_.axes, axis.name, &Axis::name) != spec_.axes.end())
        errors_.fail(axis.at, fmt::format("bind and axes both name {}", axis.name));
      spec_.axes.push_back(std::move(axis));
    }
  }

  void read_constraints(const hw::YamlEntry& e) {
    if (e.value.kind != hw::YamlNode::Kind::sequence)
      return errors_.fail(e.at, "constraints must be a list of expressions");
    const std::vector<std::string> names = constraint_names(spec_.axes, spec_.base);
    const auto resolve = [&](std::string_view n) -> std::optional<size_t> {
      const auto at = std::find(names.begin(), names.end(), n);
      if (at == names.end()) return std::nullopt;
      return static_cast<size_t>(at - names.begin());
    };
    for (const hw::YamlNode& node : e.value.items) {
      auto parsed = Expression::parse(node.text, resolve, names);
      if (parsed)
        spec_.constraints.push_back(std::move(*parsed));
      else
        errors_.fail(node.at, parsed.errors().front().message);
    }
  }

  /// How mappings are chosen, as on a command line.
  void read_mapping(const std::map<std::string, const hw::YamlEntry*>& found) {
    CostingOptions costing;
    for (const CostingOption* option : options_for(kSpecKeys)) {
      const auto at = found.find(option->key());
      if (at == found.end()) continue;
      const hw::YamlEntry& e = *at->second;
      if (e.key == "objective" && e.value.kind == hw::YamlNode::Kind::sequence)
        errors_.fail(e.at,
                     "objective is what mappings are chosen by, one word; what points are "
                     "compared by is objectives");
      else
        take_key(*option, e, costing, errors_);
    }
    for (const Error& error : sim::check_together(costing))
      errors_.fail(found.at("slack")->at, "slack " + error.message);
    spec_.mapping = costing.map;
  }

  /// What points are compared by.
  void read_objectives(const hw::YamlEntry& e) {
    if (e.value.kind != hw::YamlNode::Kind::sequence || e.value.items.empty())
      return errors_.fail(
          e.at, fmt::format("objectives must be a list of {}; what mappings are chosen by is "
                            "objective",
                            fmt::join(metric_names(), ", ")));
    spec_.objectives.clear();
    for (const hw::YamlNode& node : e.value.items) {
      const auto m = metric_from(node.text);
      const auto& seen = spec_.objectives;
      const auto close = hw::nearest_word(node.text, metric_names());
      if (!m)
        errors_.fail(node.at,
                     fmt::format("{} is no objective; {}valid: {}", hw::quoted_text(node.text),
                                 close ? fmt::format("did you mean \"{}\"? ", *close) : "",
                                 fmt::join(metric_names(), ", ")));
      else if (std::find(seen.begin(), seen.end(), *m) != seen.end())
        errors_.fail(node.at, node.text + " is named twice");
      else
        spec_.objectives.push_back(*m);
    }
  }

  SweepSpec spec_;
  SpecErrors errors_;
  bool has_base_ = false;
  int64_t most_nodes_ = kMostTotalNodes;
};

}  // namespace

std::string_view name(Strategy s) { return kStrategies[static_cast<size_t>(s)]; }

Result<SweepSpec> load_sweep(const std::string& path) {
  if (is_database_file(path))
    return Error{
        Errc::invalid,
        "is a store of a sweep, not its spec; to look at it: accsim sweep show " + shell_word(path),
        path};
  const auto text = hw::read_yaml(path, "sweep");
  if (!text) return text.errors();
  const auto tree = hw::parse_yaml(*text, path);
  if (!tree) return tree.errors();
  return SpecReader(path).read_spec(*tree);
}

size_t bind_axes(const SweepSpec& spec) {
  return static_cast<size_t>(std::ranges::find_if_not(spec.axes, &Axis::is_bind_axis) -
                             spec.axes.begin());
}

std::vector<const hw::Field*> numeric_fields(const hw::HwConfig& hw) {
  std::vector<const hw::Field*> out;
  hw::HwConfig copy = hw;
  for (const hw::Field& f : hw::fields())
    if (has_field(hw, f) && !is_derived(f, hw) && as_number(field_setting(f, copy)))
      out.push_back(&f);
  return out;
}

std::vector<std::string> constraint_names(const std::vector<Axis>& axes, const hw::HwConfig& base) {
  std::vector<std::string> out;
  for (const Axis& axis : axes) out.push_back(axis.name);
  for (const hw::Field* f : numeric_fields(base)) out.push_back(f->path);
  return out;
}

}  // namespace accsim::sim
