#include "sim/verify/vector_case.h"

#include "hw/program/cut_program.h"

namespace accsim::sim {

VectorCase vector_case(const VerifyCase& c, uint64_t seed, uint64_t index) {
  hw::ProgramWithImage made = case_program(c, seed, index);
  return {c.name, c.hw, std::move(made.program), std::move(made.image)};
}

Result<VectorCase> vector_case(const NetworkCase& c, const VerifiedLayers& layers) {
  const hw::Program& whole = c.network.program;
  const BodyRange range = body_of(layers, c.network);
  VectorCase out{whole.name, c.hw, hw::cut_program(whole, range.first, range.end), c.image};
  const hw::Program before = hw::cut_program(whole, 0, range.first);
  if (Status s = hw::run_golden(before, c.hw, out.image); !s) return s.errors();
  return out;
}

}  // namespace accsim::sim
