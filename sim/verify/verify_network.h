#pragma once
#include "sim/program/network_case.h"
#include "sim/verify/verify.h"

namespace accsim::sim {

/// Runs the network on golden and integer reference. RTL and timing model run the part that
/// `options.layers` names. A part is a program of its own (hw/program/cut_program.h) and begins in
/// reset, with golden's memory. `options.progress` is told of cycles.
VerifyReport verify_network(const NetworkCase& c, const CostedNetwork& network,
                            const VerifyOptions& options);

}  // namespace accsim::sim
