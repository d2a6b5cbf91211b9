#include "sim/sweep/spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "hw/config/load.h"
#include "hw/config/read_yaml.h"
#include "hw/config/values.h"
#include "sim/base/limit_ranges.h"
#include "sim/base/shell_word.h"
#include "sim/cost/cost.h"
#include "sim/map/mapping_words.h"
#include "sim/sweep/axes.h"
#include "sim/sweep/spec_hash.h"
#include "sim/sweep/sqlite.h"

namespace accsim::sim {
namespace {

constexpr std::array<std::string_view, 3> kStrategies = {"grid", "random", "pareto"};
constexpr double kMostWeight = 1e6;

class SpecReader {
 public:
  explicit SpecReader(const std::string& path) : errors_(path) {
    spec_.file = path;
    folder_ = std::filesystem::path(path).parent_path();
  }

  Result<SweepSpec> read_spec(const hw::YamlNode& tree) {
    const std::vector<std::string> keys = {
        "base", "bind",  "axes",   "constraints", "models", "objectives", "strategy",
        "seed", "count", "effort", "objective",   "slack",  "layers",     "max_total_nodes"};
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
         [&](const hw::YamlEntry& e) { most_nodes_ = read_whole(e, 1, kMostLimit); });
    with("models", [&](const hw::YamlEntry& e) { read_models(e); });
    with("objectives", [&](const hw::YamlEntry& e) { read_objectives(e); });
    with("strategy", [&](const hw::YamlEntry& e) { read_word(e, kStrategies, spec_.strategy); });
    with("seed", [&](const hw::YamlEntry& e) {
      spec_.seed = static_cast<uint64_t>(read_whole(e, 0, 1e15));
    });
    with("count", [&](const hw::YamlEntry& e) { spec_.count = read_whole(e, 1, kMostPoints); });
    with("effort", [&](const hw::YamlEntry& e) {
      read_word(e, std::array<std::string_view, 2>{"search", "rule"}, spec_.effort);
    });
    with("objective", [&](const hw::YamlEntry& e) { read_objective(e); });
    with("slack", [&](const hw::YamlEntry& e) { read_slack(e); });
    with("layers", [&](const hw::YamlEntry& e) { spec_.layers = read_bool(e); });
    check_together(found, tree.at);
    if (!errors_.empty()) return errors_.take();
    spec_.hash = spec_hash(spec_);
    return std::move(spec_);
  }

 private:
  std::string resolve_path(const std::string& path) const {
    return (folder_ / path).lexically_normal().string();
  }

  /// What depends on several keys.
  void check_together(const std::map<std::string, const hw::YamlEntry*>& found,
                      hw::TextPosition at) {
    const bool counted = found.contains("count");
    if (spec_.strategy == Strategy::pareto) {
      if (found.contains("slack") && spec_.slack > 0)
        errors_.fail(found.at("slack")->at,
                     "strategy pareto has no slack: with it more memory may cost more cycles");
      spec_.slack = 0;
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
    spec_.base_file = resolve_path(e.value.text);
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

  void read_models(const hw::YamlEntry& e) {
    if (e.value.kind != hw::YamlNode::Kind::sequence || e.value.items.empty())
      return errors_.fail(e.at, "models must be a list of at least one, each with file");
    for (const hw::YamlNode& node : e.value.items) {
      read_sweep_model(node);
      if (has_too_many_nodes()) return errors_.fail(node.at, too_many_nodes());
    }
    for (size_t a = 0; a < bind_axes(spec_) && errors_.empty(); ++a) {
      const auto reads = [a](const BoundSize& b) {
        return std::ranges::find(b.size.variables(), a) != b.size.variables().end();
      };
      if (std::ranges::none_of(spec_.models, [&](const SweepModel& m) {
            return std::ranges::any_of(m.bound, reads);
          }))
        errors_.fail(spec_.axes[a].at, fmt::format("{} is no symbol of any model, and no size of "
                                                   "their bind goes by it",
                                                   spec_.axes[a].name));
    }
  }

  /// A network alone has limits of its own; a short spec may name thousands.
  bool has_too_many_nodes() const { return spec_.models.size() > 1 && nodes_ > most_nodes_; }
  std::string too_many_nodes() const {
    return fmt::format(
        "the first {} models have {} nodes together, at most {} are taken; "
        "max_total_nodes: N takes N",
        spec_.models.size(), nodes_, most_nodes_);
  }

  void read_sweep_model(const hw::YamlNode& node) {
    SweepModel m;
    const std::vector<std::string> keys = {"file",    "weight", "bind",      "allow_unsupported",
                                           "phase",   "tokens", "max_nodes", "max_graph_mib",
                                           "max_rank"};
    read_section(node, node.at, "a model", keys, errors_, [&](const hw::YamlEntry& e) {
      if (e.key == "phase") read_word(e, kPhases, m.phase);
      if (e.key == "tokens") read_tokens(e, m);
      if (e.key == "allow_unsupported") m.allow_unsupported = read_bool(e);
      if (e.key == "file") m.name = e.value.text;
      if (e.key == "weight") m.weight = read_whole(e, 1, kMostWeight);
      if (e.key == "bind") read_bindings(e, m);
      if (e.key == "max_nodes") m.limits.nodes = read_whole(e, 0, kMostLimit);
      if (e.key == "max_graph_mib") m.limits.graph_bytes = read_whole(e, 1, kMostLimitMib) << 20;
      if (e.key == "max_rank") m.limits.rank = read_whole(e, 1, kMostLimit);
    });
    if (node.kind != hw::YamlNode::Kind::map) return;
    if (m.name.empty())
      return errors_.fail(node.at, "a model needs file, the path of an ONNX file");
    if (m.tokens && m.phase == Phase::none)
      return errors_.fail(node.at, "tokens are of a model with a phase, prefill or decode");
    m.file = resolve_path(m.name);
    auto graph = first_graph(m);
    if (!graph) {
      errors_.fail(node.at, fmt::format("this model can't be used{}:",
                                        key_for(graph.errors().front().code)));
      return errors_.add(graph.errors());
    }
    m.graph = std::move(*graph);
    nodes_ += std::ssize(m.graph.nodes);
    spec_.models.push_back(std::move(m));
  }

  /// What of the spec does what the message of an error says of an option.
  static std::string_view key_for(Errc code) {
    if (code == Errc::usage) return "; --bind NAME=N is bind: {NAME: N} beside its file";
    if (code == Errc::unsupported)
      return "; --allow-unsupported is allow_unsupported: true beside its file";
    if (code == Errc::capacity)
      return "; --max-nodes N is max_nodes: N beside its file, and so are max_graph_mib and "
             "max_rank";
    return "";
  }

  /// The graph with the axes' first sizes. Symbols of the names of axes are bound by them.
  Result<Graph> first_graph(SweepModel& m) {
    std::vector<double> first;
    std::vector<BoundSize> by_name;
    for (size_t a = 0; a < bind_axes(spec_); ++a) {
      const Axis& axis = spec_.axes[a];
      first.push_back(axis.steps.front().value);
      const bool free = !m.bindings.contains(axis.name) &&
                        std::ranges::find(m.bound, axis.name, &BoundSize::symbol) == m.bound.end();
      if (auto size = size_expression(axis.name); free && size)
        by_name.push_back({axis.name, std::move(*size)});
    }
    if (!by_name.empty()) {
      SweepModel all = m;
      all.bound.insert(all.bound.end(), by_name.begin(), by_name.end());
      const Result<Graph> graph = all.graph_of(first, true);
      if (!graph) return graph.errors();
      std::erase_if(by_name,
                    [&](const BoundSize& b) { return !graph->bindings.contains(b.symbol); });
      m.bound.insert(m.bound.end(), by_name.begin(), by_name.end());
    }
    return m.graph_of(first);
  }

  /// Arithmetic over the axes of `bind`.
  Result<Expression> size_expression(const std::string& text) const {
    std::vector<std::string> names;
    for (size_t a = 0; a < bind_axes(spec_); ++a) names.push_back(spec_.axes[a].name);
    const auto resolve = [&](std::string_view n) -> std::optional<size_t> {
      const auto at = std::ranges::find(names, n);
      if (at == names.end()) return std::nullopt;
      return static_cast<size_t>(at - names.begin());
    };
    return Expression::parse(text, resolve, names);
  }

  void read_tokens(const hw::YamlEntry& e, SweepModel& m) {
    if (auto count = size_expression(e.value.text))
      m.tokens = std::move(*count);
    else
      errors_.fail(e.value.at, count.errors().front().message);
  }

  bool read_bool(const hw::YamlEntry& e) {
    bool out = false;
    read_word(e, std::array<std::string_view, 2>{"false", "true"}, out);
    return out;
  }

  void read_bindings(const hw::YamlEntry& e, SweepModel& m) {
    if (e.value.kind != hw::YamlNode::Kind::map)
      return errors_.fail(e.at, "bind must be a section of symbols and sizes");
    std::set<std::string> seen;
    for (const hw::YamlEntry& symbol : e.value.entries) {
      if (!seen.insert(symbol.key).second)
        errors_.fail(symbol.at, fmt::format("{} is bound twice", hw::quoted_text(symbol.key)));
      const std::string& text = symbol.value.text;
      const bool number = text.find_first_not_of("0123456789.eE+-") == std::string::npos;
      if (number || bind_axes(spec_) == 0)
        m.bindings.emplace(symbol.key, read_whole(symbol, 0, 1e12));
      else if (auto size = size_expression(text))
        m.bound.push_back({symbol.key, std::move(*size)});
      else
        errors_.fail(symbol.value.at, size.errors().front().message);
    }
  }

  /// What mappings are chosen by, as the command line's --objective.
  void read_objective(const hw::YamlEntry& e) {
    if (e.value.kind == hw::YamlNode::Kind::sequence)
      return errors_.fail(e.at,
                          "objective is what mappings are chosen by, one word; what points are "
                          "compared by is objectives");
    std::array<std::string_view, kObjectives> words;
    for (size_t i = 0; i < kObjectives; ++i) words[i] = sim::name(static_cast<Objective>(i));
    read_word(e, words, spec_.objective);
  }

  void read_slack(const hw::YamlEntry& e) {
    if (const auto found = slack_from(e.value.text); found)
      spec_.slack = *found;
    else
      errors_.fail(e.at, "slack is 0 or a percentage up to 100%, as 1%");
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

  template <class T, size_t N>
  void read_word(const hw::YamlEntry& e, const std::array<std::string_view, N>& words, T& out) {
    const auto at = std::find(words.begin(), words.end(), e.value.text);
    if (e.value.kind != hw::YamlNode::Kind::scalar || at == words.end())
      return errors_.fail(e.value.at,
                          fmt::format("{} is {}; valid: {}", e.key, hw::quoted_text(e.value.text),
                                      fmt::join(words, ", ")));
    out = static_cast<T>(at - words.begin());
  }

  int64_t read_whole(const hw::YamlEntry& e, double min, double max) {
    const auto v = read_number(e.value, e.key, errors_);
    if (!v) return 1;
    if (*v == std::floor(*v) && *v >= min && *v <= max) return static_cast<int64_t>(*v);
    errors_.fail(e.value.at, fmt::format("{} is {}; it must be a whole number of {:.0f}..{:.0f}",
                                         e.key, e.value.text, min, max));
    return 1;
  }

  SweepSpec spec_;
  SpecErrors errors_;
  std::filesystem::path folder_;
  bool has_base_ = false;
  int64_t nodes_ = 0, most_nodes_ = kMostTotalNodes;  ///< of all networks
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

Result<Graph> SweepModel::graph_of(const std::vector<double>& sizes, bool skip_unknown) const {
  ElaborateOptions options;
  options.skip_unknown = skip_unknown;
  options.allow_unsupported = allow_unsupported;
  options.limits = limits;
  options.bindings = bindings;
  for (const BoundSize& b : bound) {
    const double size = b.size.value(sizes);
    if (!(size >= 0 && size <= 1e12 && size == std::floor(size)))
      return Error{Errc::invalid,
                   fmt::format("{} = {} is {}, which is no size", b.symbol, b.size.text(), size),
                   file};
    options.bindings[b.symbol] = static_cast<int64_t>(size);
  }
  return load_graph(file, options);
}

Result<int64_t> SweepModel::tokens_of(const Graph& bound_graph,
                                      const std::vector<double>& sizes) const {
  const auto batch = bound_graph.bindings.find("batch");
  const double count = tokens                                ? tokens->value(sizes)
                       : batch != bound_graph.bindings.end() ? static_cast<double>(batch->second)
                                                             : 1;
  if (count >= 0 && count <= 1e12 && count == std::floor(count)) return static_cast<int64_t>(count);
  return Error{Errc::invalid,
               fmt::format("tokens are {}; a run gives a whole number from 0", count), file};
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
