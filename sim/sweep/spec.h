#pragma once
#include <string>
#include <vector>

#include "hw/config/fields.h"
#include "hw/config/yaml_tree.h"
#include "sim/cost/costing_options.h"
#include "sim/graph/graph.h"
#include "sim/sweep/expression.h"
#include "sim/sweep/field_setting.h"
#include "sim/sweep/phases.h"
#include "sim/sweep/totals.h"

namespace accsim::sim {

/// One setting of an axis: the value its name stands for, and what it writes into a machine.
struct AxisStep {
  double value = 0;                  ///< for axes of words: the position, from 0
  std::string label;                 ///< the value as written
  std::vector<FieldSetting> fields;  ///< what each of the axis's fields becomes
};

/// A dimension of the space. The steps differ from one another in at least one field, or, of an
/// axis of the spec's section `bind`, in their values: sizes that symbolic dims of the networks
/// have.
struct Axis {
  std::string name;
  std::vector<const hw::Field*> fields;  ///< no other axis has them; none: an axis of `bind`
  std::vector<AxisStep> steps;
  bool words = false;  ///< element types or dataflows rather than numbers
  hw::TextPosition at;

  bool is_bind_axis() const { return fields.empty(); }
};

/// A size of a symbolic dim that axes of `bind` decide.
struct BoundSize {
  std::string symbol;
  Expression size;  ///< over the values of those axes, in order
};

/// A network of the mix; `weight` says how often it runs.
struct SweepModel {
  std::string file;  ///< as found from the working directory
  std::string name;  ///< as the spec has it
  int64_t weight = 1;
  CostingOptions options;        ///< by kModelKeys; what a file may ask for changes no cost
  std::vector<BoundSize> bound;  ///< and those symbols that axes bind
  Phase phase = Phase::none;
  std::optional<Expression> tokens;  ///< over the values of axes of `bind`; else the symbol batch
  Graph graph;                       ///< with the first sizes of the axes

  /// The network's graph for these values of the axes of `bind`. Errors say which symbol can't have
  /// its size, why there is no such graph, or, unless `skip_unknown`, which symbol it doesn't have.
  Result<Graph> graph_of(const std::vector<double>& sizes, bool skip_unknown = false) const;
  /// Tokens that a run of that graph gives; 0: it is a part of other networks' runs.
  /// Errc::invalid when they are no whole number from 0.
  Result<int64_t> tokens_of(const Graph& bound, const std::vector<double>& sizes) const;
};

/// Which points of the space are costed: all, `count` drawn at random, or those that may be on
/// the front.
enum class Strategy : uint8_t { grid, random, pareto };
/// As the spec spells it: "grid", "random", "pareto".
std::string_view name(Strategy s);

/// What `accsim sweep` reads: docs/sweep-spec.md.
struct SweepSpec {
  std::string file;
  std::string base_file;
  hw::HwConfig base;
  std::vector<Axis> axes;               ///< those of `bind` first
  std::vector<Expression> constraints;  ///< over constraint_names()
  std::vector<SweepModel> models;
  std::vector<Metric> objectives = {Metric::cycles, Metric::energy};  ///< of the front
  Strategy strategy = Strategy::grid;
  uint64_t seed = 1;
  int64_t count = 0;    ///< points of a random sweep
  MapOptions mapping;   ///< by kSpecKeys; no slack of a pareto sweep
  bool layers = false;  ///< store a row a layer too
  std::string hash;     ///< of everything above that results depend on
};

/// Most points that a grid or a pareto sweep may have; random ones draw from any space.
inline constexpr int64_t kMostPoints = 20'000'000;

/// Nodes that the networks of a spec may have together, unless it says otherwise; one alone is
/// bounded by its limits. Each takes up to 10 KB while the sweep runs.
inline constexpr int64_t kMostTotalNodes = 50'000;

/// Reads the spec, the machine and the networks it names (paths are relative to the spec's folder).
/// Everything that is wrong with the spec is reported at once with file:line:column.
Result<SweepSpec> load_sweep(const std::string& path);

/// How many axes bind sizes: the first ones.
size_t bind_axes(const SweepSpec& spec);

/// The fields of such machines that are numbers, in the order of fields().
std::vector<const hw::Field*> numeric_fields(const hw::HwConfig& hw);
/// Names that constraints may use: the axes, then the base's numeric fields.
std::vector<std::string> constraint_names(const std::vector<Axis>& axes, const hw::HwConfig& base);

}  // namespace accsim::sim
