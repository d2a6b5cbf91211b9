#pragma once
#include "sim/base/result.h"
#include "sim/elaborate/scope.h"

namespace accsim::sim {

class Expander;

// Operators of sequences, each as a ControlFlowRule. The tensors of a sequence are known one by one
// (GraphBuilder::find_sequence()), so that no graph has any of these: their lengths, positions and
// the sizes of their parts must be constant, Errc::unsupported otherwise. Optional positions count
// from the end when negative; Errc::invalid outside of the sequence.

Status construct_sequence(const NodeCall& call, Expander& expander);  ///< and SequenceEmpty
/// A Slice, or with keepdims = 0 a Gather, a part.
Status split_to_sequence(const NodeCall& call, Expander& expander);
Status sequence_at(const NodeCall& call, Expander& expander);
Status insert_in_sequence(const NodeCall& call, Expander& expander);
Status erase_from_sequence(const NodeCall& call, Expander& expander);
Status sequence_length(const NodeCall& call, Expander& expander);
/// A Concat, behind an Unsqueeze a part with new_axis = 1.
Status concat_sequence(const NodeCall& call, Expander& expander);
/// The body once for every tensor of input 0, with the tensor of each other sequence that has its
/// place. Errc::invalid when the sequences aren't equally long, Errc::capacity beyond
/// kMostIterations.
Status map_sequence(const NodeCall& call, Expander& expander);

}  // namespace accsim::sim
