#include "sim/program/reference_product.h"

#include "sim/ref/integer_product.h"

namespace accsim::sim {

std::vector<int8_t> reference_product(const GemmProblem& p, const GemmOperands& operands,
                                      const ComputedOperands& computed) {
  ref::IntegerProduct r;
  r.op = p.op;
  r.op.a_transposed = p.op.a_transposed && computed.a_in_memory;
  r.a = computed.a;
  r.weights = computed.weights;
  r.a_zero = p.a_zero;
  std::vector<ref::IntegerChannel> channels;
  for (const GemmOperands::Channel& c : operands.channels)
    channels.push_back({c.bias, c.multiplier, c.shift});
  r.channels = channels;
  r.scale_group = p.scale_group;
  r.scales = operands.scales;
  r.out_zero = p.epilogue.zero;
  r.relu = p.epilogue.relu;
  if (p.epilogue.table) r.table = operands.table;
  ref::IntegerAddend addend;
  if (p.residual) {
    addend = {computed.residual, p.epilogue.residual->zero, p.epilogue.residual->multiplier,
              p.epilogue.residual->shift};
    r.addend = &addend;
    r.clips_sum = p.clips_sum;
  }
  return ref::integer_product(r);
}

std::vector<int8_t> reference_product(const GemmProblem& p, const GemmOperands& operands) {
  return reference_product(p, operands, {operands.a, false, operands.weights, operands.residual});
}

}  // namespace accsim::sim
