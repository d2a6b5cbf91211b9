#pragma once
#include <concepts>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "hw/timing/timing.h"
#include "sim/base/check.h"
#include "sim/base/variant.h"
#include "sim/map/cost_evaluator.h"
#include "sim/map/gather/gather_problem.h"
#include "sim/map/lanes/lane_problem.h"
#include "sim/map/moves/move_problem.h"
#include "sim/map/product/gemm_problem.h"
#include "sim/map/rows/row_problem.h"
#include "sim/map/stream/stream_problem.h"

namespace accsim::sim {

/// What a program was written from: a problem of some kind (kind.h) and its tiling. With it
/// operands are packed, and the program is written with other numbers. The first kind behind
/// products that knows an op and has a tiling that fits maps it.
using OpSource = Variant<std::monostate, GemmSource, RowSource, LaneSource, GatherSource,
                         MoveSource, StreamSource>;

/// Calls `f` with what a program was written from. What is said of each kind, here and elsewhere,
/// is overloads for the sources; a kind without one doesn't compile. Precondition: the source is
/// known.
template <class AnySource, class F>
auto visit_kind(AnySource& source, F f) {
  using Result = std::invoke_result_t<F&, decltype((std::get<GemmSource>(source)))>;
  return std::visit(
      [&]<class Source>(Source& s) -> Result {
        if constexpr (std::same_as<std::remove_const_t<Source>, std::monostate>)
          fail_check("a program of an unknown source", std::source_location::current());
        else
          return f(s);
      },
      source);
}

/// The chosen program with all that it costs.
struct Mapping {
  hw::Program program;  ///< empty without MapOptions::programs, as is the description
  hw::Timing timing;    ///< of the program alone; none with MapOptions::only_traces()
  OpTrace trace;        ///< the program among others
  hw::Counts counts;
  std::string description;  ///< Tiling as text, or the number of chunks
  OpSource source;          ///< none without MapOptions::programs, or of an engine
  /// Why values and cycles of the program aren't those of golden and the core: its moves only stand
  /// for the op's traffic, or hw::core_lacks(). "" where they are.
  std::string_view unverifiable = "not built";
  int64_t candidates = 0;   ///< tilings that fit
  int64_t evaluated = 0;    ///< of them, timed (the others' bounds excluded them)
  double tensor_bytes = 0;  ///< of a product, as energy_traffic() counts them
  /// Of a product that has taken its slack: the mapping of the fewest cycles, without its program.
  std::shared_ptr<const Mapping> fewest;
  /// Of a product that reads or writes some of its tensors in DRAM more than once: one that does so
  /// less, beyond its slack (kWideSlack), without its program.
  std::shared_ptr<const Mapping> in_wide_slack;

  /// Does what it costs stand for a program? An engine of dot products has none.
  bool has_program() const { return !std::holds_alternative<std::monostate>(source); }
  /// The source, where it is of this kind; else null.
  template <class Source>
  const Source* source_as() const {
    return std::get_if<Source>(&source);
  }
};

/// A mapping of this cost, for which so many others were timed and bounded.
inline Mapping mapping_of_cost(const Cost& cost, int64_t evaluated, int64_t considered) {
  Mapping m;
  m.timing = cost.timing;
  m.counts = cost.counts;
  m.evaluated = evaluated;
  m.candidates = considered;
  return m;
}

/// A tiling that wasn't timed.
template <class Problem, class Tiling>
Mapping only_traced(CostEvaluator& evaluator, const Problem& p, const Tiling& t) {
  CostEvaluator::Traced found = evaluator.traced(p, t);
  Mapping out;
  out.trace = std::move(found.trace);
  out.counts = found.counts;
  out.candidates = 1;
  return out;
}

}  // namespace accsim::sim
