#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

// They have no rules: the elaborator puts what they hold in their place, so no graph has them.
constexpr OpRow kControlOperators[] = {
    {.name = "If",
     .ports = {{"cond", PortRole::setting}},
     .attributes = {"else_branch", "then_branch"},
     .control_flow = ControlFlow::branch},
    {.name = "Loop",
     .min_inputs = 0,
     .max_inputs = kVariadic,
     .ports = {{"M", PortRole::setting}, {"cond", PortRole::setting}},
     .attributes = {"body"},
     .control_flow = ControlFlow::loop},
    {.name = "Scan",
     .since = 9,
     .max_inputs = kVariadic,
     .attributes = {"body", "num_scan_inputs", "scan_input_axes", "scan_input_directions",
                    "scan_output_axes", "scan_output_directions"},
     .control_flow = ControlFlow::scan},
};

}  // namespace

std::span<const OpRow> control_rows() { return kControlOperators; }

}  // namespace accsim::sim
