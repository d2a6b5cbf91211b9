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
    {.name = "SequenceEmpty",
     .since = 11,
     .min_inputs = 0,
     .max_inputs = 0,
     .attributes = {"dtype"},
     .control_flow = ControlFlow::sequence_empty},
    {.name = "SequenceConstruct",
     .since = 11,
     .max_inputs = kVariadic,
     .control_flow = ControlFlow::sequence_construct},
    {.name = "SplitToSequence",
     .since = 11,
     .max_inputs = 2,
     .ports = {{"input"}, {"split", PortRole::setting}},
     .attributes = {"axis", "keepdims"},
     .control_flow = ControlFlow::sequence_split},
    {.name = "SequenceAt",
     .since = 11,
     .min_inputs = 2,
     .max_inputs = 2,
     .ports = {{"input_sequence"}, {"position", PortRole::setting}},
     .control_flow = ControlFlow::sequence_at},
    {.name = "SequenceInsert",
     .since = 11,
     .min_inputs = 2,
     .max_inputs = 3,
     .ports = {{"input_sequence"}, {"tensor"}, {"position", PortRole::setting}},
     .control_flow = ControlFlow::sequence_insert},
    {.name = "SequenceErase",
     .since = 11,
     .max_inputs = 2,
     .ports = {{"input_sequence"}, {"position", PortRole::setting}},
     .control_flow = ControlFlow::sequence_erase},
    {.name = "SequenceLength", .since = 11, .control_flow = ControlFlow::sequence_length},
    {.name = "ConcatFromSequence",
     .since = 11,
     .attributes = {"axis", "new_axis"},
     .control_flow = ControlFlow::sequence_concat},
};

}  // namespace

std::span<const OpRow> control_rows() { return kControlOperators; }

}  // namespace accsim::sim
