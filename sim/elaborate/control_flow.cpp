#include "sim/elaborate/control_flow.h"

#include "sim/elaborate/fused_forms.h"
#include "sim/elaborate/optionals.h"
#include "sim/elaborate/sequences.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {

ControlFlowRule find_control_flow(const NodeDef& node) {
  const OpRow* row = find_op(node.domain, node.op_type);
  switch (row == nullptr ? ControlFlow::none : row->control_flow) {
    case ControlFlow::branch:
      return expand_if;
    case ControlFlow::loop:
      return expand_loop;
    case ControlFlow::scan:
      return expand_scan;
    case ControlFlow::sequence_empty:
    case ControlFlow::sequence_construct:
      return construct_sequence;
    case ControlFlow::sequence_split:
      return split_to_sequence;
    case ControlFlow::sequence_at:
      return sequence_at;
    case ControlFlow::sequence_insert:
      return insert_in_sequence;
    case ControlFlow::sequence_erase:
      return erase_from_sequence;
    case ControlFlow::sequence_length:
      return sequence_length;
    case ControlFlow::sequence_concat:
      return concat_sequence;
    case ControlFlow::sequence_map:
      return map_sequence;
    case ControlFlow::optional_make:
      return make_optional;
    case ControlFlow::optional_element:
      return optional_element;
    case ControlFlow::optional_asked:
      return optional_has_element;
    case ControlFlow::spelled:
      return expand_spelling;
    case ControlFlow::none:
      break;
  }
  return nullptr;
}

}  // namespace accsim::sim
