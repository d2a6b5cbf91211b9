#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/cosim/cosim.h"
#include "hw/random/random_program.h"
#include "sim/cost/cost.h"
#include "sim/program/network_range.h"
#include "sim/report/verify.h"

namespace accsim::sim {

/// A product, or a random program, that shall run on RTL, golden and timing model.
struct VerifyCase {
  std::string name, shape;
  std::vector<std::string> same;  ///< other layers with this program
  hw::HwConfig hw;
  GemmProblem problem;
  ProductTiling tiling;
  std::string cut;
  std::vector<int8_t> weights;  ///< as GemmOperands::weights; empty: random ones
  bool scattered = false;       ///< loads come from both memories (hw/random/scatter_loads.h)
  /// Instead of a product: a program of all commands.
  std::shared_ptr<const hw::ProgramWithImage> mixed = nullptr;

  /// Of its gemms; those without any have the array at rest.
  hw::Dataflow dataflow() const {
    if (mixed) return mixed->program.dataflow;
    const auto* array = std::get_if<Tiling>(&tiling);
    return array ? array->dataflow : hw::Dataflow::weight_stationary;
  }
};

/// "8x 1x1x56x56x64 * 3x3 -> 64 /2": images, input, kernel, outputs, stride; or "100x200x300".
std::string shape_text(const GemmOp& op);

/// Every distinct program of the network's gemm-fated layers, in order, with the weights that the
/// file has for the first layer of each.
std::vector<VerifyCase> network_cases(const Graph& graph, const CostedNetwork& network,
                                      const hw::HwConfig& hw);

/// The best mapping of one product.
Result<VerifyCase> product_case(const GemmOp& op, const std::string& name, const hw::HwConfig& hw,
                                const MapOptions& options);

/// Which random cases come next.
struct RandomSeries {
  uint64_t seed = 1, next = 0;
};

/// The next `count` of a series: random products and convolutions in random tilings and random
/// programs of all commands, by turns, on machines whose memory rates and latencies are random. The
/// same seed gives the same series.
std::vector<VerifyCase> random_cases(int64_t count, RandomSeries& series, const hw::HwConfig& hw,
                                     const MapOptions& options);

/// The case's program and the memory that it begins with: random operands, but for the weights that
/// the case has. `number`: of the case among those that are run with this seed.
hw::ProgramWithImage case_program(const VerifyCase& c, uint64_t seed, uint64_t number);

/// Halves the case's op until its program takes `most` cycles or fewer by the timing model; `cut`
/// and `shape` then say so. Nothing when most <= 0.
void cut_case(VerifyCase& c, int64_t most);

/// How verify_cases() runs its cases, and verify_network() a network.
struct VerifyOptions {
  hw::VerilatedCoreOptions variant;
  std::string trace;                ///< waveform file; with several cases, of the last one
  int64_t trace_bytes = INT64_MAX;  ///< about how large it becomes
  bool signals = false;             ///< the row says which signals it has
  VerifiedLayers layers;            ///< of a network
  bool any_cycles = false;          ///< other cycles than the model's are reported, no fault
  int64_t max_cycles = 0;           ///< longer programs are cut to fewer outputs; 0: never
  uint64_t seed = 1;                ///< of the operands
  uint64_t first = 0;               ///< cases before these, which have their seeds
  int jobs = 1;
  const std::atomic<bool>* stop = nullptr;  ///< set from outside: no new case is begun
  /// After each case: how many are done, model cycles done and in all.
  std::function<void(int64_t done, int64_t cycles_done, int64_t cycles_all)> progress;
};

/// Notes in a program's row what its co-simulation came to.
void note_result(const hw::CosimResult& result, const VerifyOptions& options, VerifyRow& row);

/// Runs the cases; one row a case, in order. Cases that the core can't run have their error in the
/// row.
std::vector<VerifyRow> verify_cases(std::vector<VerifyCase> cases, const VerifyOptions& options);

}  // namespace accsim::sim
