#pragma once
#include "hw/config/hw_config.h"
#include "sim/run/run.h"

namespace accsim::sim {

/// run_network() with each product that has a program run in int8 on the bit-exact machine.
/// Activations have one symmetric scale per tensor, from a float run. Weights have one scale per
/// output channel. All else computes in float on the products' results. `layerwise`: every product
/// reads the float run's values instead, so errors don't add up. Programs are value_machine()'s.
Result<RunSummary> run_quantised_network(const PreparedRun& prepared, const RunRequest& request,
                                         const hw::HwConfig& machine, bool layerwise);

/// The network in int8 from end to end: its one program on the bit-exact machine, each result
/// compared with the integer reference, for RunRequest::count inputs. Writes the outputs, of
/// several inputs with an axis more in front. Scales and zero points are from float runs
/// (TensorScales).
/// What value_machine() has no commands of true values for the host computes in float
/// (Int8Network).
Result<RunSummary> run_int8_network(const PreparedRun& prepared, const RunRequest& request,
                                    const hw::HwConfig& machine);

}  // namespace accsim::sim
