#include "sim/sweep/sweep_models.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "hw/config/values.h"
#include "sim/base/limit_ranges.h"
#include "sim/cost/load_graph.h"

namespace accsim::sim {
namespace {

constexpr double kMostWeight = 1e6;

/// Reads the networks of a spec.
class ModelsReader {
 public:
  ModelsReader(const std::string& spec, std::span<const Axis> axes, int64_t most_nodes,
               SpecErrors& errors)
      : spec_(spec), axes_(axes), most_nodes_(most_nodes), errors_(errors) {}

  std::vector<SweepModel> read_models(const hw::YamlEntry& e) && {
    if (e.value.kind != hw::YamlNode::Kind::sequence || e.value.items.empty())
      return errors_.fail(e.at, "models must be a list of at least one, each with file"), models_;
    for (const hw::YamlNode& node : e.value.items) {
      read_sweep_model(node);
      if (has_too_many_nodes()) return errors_.fail(node.at, too_many_nodes()), models_;
    }
    for (size_t a = 0; a < axes_.size() && errors_.empty(); ++a) {
      const auto reads = [a](const BoundSize& b) {
        return std::ranges::find(b.size.variables(), a) != b.size.variables().end();
      };
      if (std::ranges::none_of(
              models_, [&](const SweepModel& m) { return std::ranges::any_of(m.bound, reads); }))
        errors_.fail(axes_[a].at, fmt::format("{} is no symbol of any model, and no size of "
                                              "their bind goes by it",
                                              axes_[a].name));
    }
    return std::move(models_);
  }

 private:
  /// A network alone has limits of its own; a short spec may name thousands.
  bool has_too_many_nodes() const { return models_.size() > 1 && nodes_ > most_nodes_; }
  std::string too_many_nodes() const {
    return fmt::format(
        "the first {} models have {} nodes together, at most {} are taken; "
        "max_total_nodes: N takes N",
        models_.size(), nodes_, most_nodes_);
  }

  void read_sweep_model(const hw::YamlNode& node) {
    SweepModel m;
    std::vector<std::string> keys = {"file", "weight", "phase", "tokens"};
    for (std::string& key : option_keys(kModelKeys)) keys.push_back(std::move(key));
    read_section(node, node.at, "a model", keys, errors_, [&](const hw::YamlEntry& e) {
      if (e.key == "phase") read_word(e, kPhases, m.phase, errors_);
      if (e.key == "tokens") read_tokens(e, m);
      if (e.key == "file") m.name = e.value.text;
      if (e.key == "weight") m.weight = read_whole(e, 1, kMostWeight, errors_);
      const CostingOption* const option = find_option(e.key, kModelKeys);
      if (option != nullptr && option->is_assignment())
        read_bindings(*option, e, m);
      else if (option != nullptr)
        take_key(*option, e, m.options, errors_);
    });
    if (node.kind != hw::YamlNode::Kind::map) return;
    if (m.name.empty())
      return errors_.fail(node.at, "a model needs file, the path of an ONNX file");
    if (m.tokens && m.phase == Phase::none)
      return errors_.fail(node.at, "tokens are of a model with a phase, prefill or decode");
    m.file = path_beside(spec_, m.name);
    auto graph = first_graph(m);
    if (!graph) {
      errors_.fail(node.at, fmt::format("this model can't be used{}:",
                                        key_for(graph.errors().front().code)));
      return errors_.add(graph.errors());
    }
    m.graph = std::move(*graph);
    nodes_ += std::ssize(m.graph.nodes);
    models_.push_back(std::move(m));
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
    for (size_t a = 0; a < axes_.size(); ++a) {
      const Axis& axis = axes_[a];
      first.push_back(axis.steps.front().value);
      const bool free = !m.options.elaborate.bindings.contains(axis.name) &&
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
    for (size_t a = 0; a < axes_.size(); ++a) names.push_back(axes_[a].name);
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

  /// Sizes, or what they are by the axes.
  void read_bindings(const CostingOption& bind, const hw::YamlEntry& e, SweepModel& m) {
    if (e.value.kind != hw::YamlNode::Kind::map)
      return errors_.fail(e.at, "bind must be a section of symbols and sizes");
    std::set<std::string> seen;
    for (const hw::YamlEntry& symbol : e.value.entries) {
      if (!seen.insert(symbol.key).second) {
        errors_.fail(symbol.at, fmt::format("{} is bound twice", hw::quoted_text(symbol.key)));
        continue;
      }
      const std::string& text = symbol.value.text;
      const bool number = text.find_first_not_of("0123456789.eE+-") == std::string::npos;
      if (number || axes_.empty())
        take_key(bind, symbol, m.options, errors_);
      else if (auto size = size_expression(text))
        m.bound.push_back({symbol.key, std::move(*size)});
      else
        errors_.fail(symbol.value.at, size.errors().front().message);
    }
  }

  const std::string& spec_;
  const std::span<const Axis> axes_;
  const int64_t most_nodes_;  ///< of all networks
  SpecErrors& errors_;
  std::vector<SweepModel> models_;
  int64_t nodes_ = 0;
};

}  // namespace

std::vector<SweepModel> read_sweep_models(const hw::YamlEntry& section, const std::string& spec,
                                          std::span<const Axis> axes, int64_t most_nodes,
                                          SpecErrors& errors) {
  return ModelsReader(spec, axes, most_nodes, errors).read_models(section);
}

Result<Graph> SweepModel::graph_of(const std::vector<double>& sizes, bool skip_unknown) const {
  ElaborateOptions read = options.elaborate;
  read.skip_unknown = skip_unknown;
  for (const BoundSize& b : bound) {
    const double size = b.size.value(sizes);
    if (!(size >= 0 && size <= 1e12 && size == std::floor(size)))
      return Error{Errc::invalid,
                   fmt::format("{} = {} is {}, which is no size", b.symbol, b.size.text(), size),
                   file};
    read.bindings[b.symbol] = static_cast<int64_t>(size);
  }
  return load_graph(file, read);
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

}  // namespace accsim::sim
