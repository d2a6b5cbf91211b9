#pragma once
#include "sim/program/network_case.h"
#include "sim/verify/verify.h"

namespace accsim::sim {

/// Runs it on golden and integer reference, and on RTL and timing model what `options.layers` says:
/// a part is a program of its own (hw/program/cut_program.h), which begins in reset with the memory
/// that golden has there. `options.progress` is told of cycles.
VerifyReport verify_network(const NetworkCase& c, const CostedNetwork& network,
                            const VerifyOptions& options);

}  // namespace accsim::sim
