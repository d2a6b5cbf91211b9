#include "hw/golden/accumulator_writes.h"

#include "sim/base/hash.h"

namespace accsim::hw {

uint64_t digest_of(std::span<const int32_t> sums) {
  return hash_bytes({reinterpret_cast<const char*>(sums.data()), sums.size_bytes()});
}

void AccumulatorWrites::take_command(const RetiredCommand& r) {
  if (queue_of(*r.command) != Queue::execute) return;
  ++ordinal_;
  // Sums that stay in the array are seen when they are drained.
  if (r.in_array) return;
  writes_.push_back({ordinal_, r.slot * hw_.accumulator_rows() + r.address,
                     std::ssize(r.sums) / r.row, r.row, digest_of(r.sums)});
}

Result<GoldenRun> golden_run(const Program& program, const HwConfig& hw, MemoryImage image) {
  GoldenRun out{std::move(image), {}};
  AccumulatorWrites writes(hw);
  const RetireHook hook = [&](const RetiredCommand& r) { writes.take_command(r); };
  if (Status s = run_golden(program, hw, out.image, hook); !s) return s.errors();
  out.writes = std::move(writes.writes());
  return out;
}

Result<std::vector<int32_t>> golden_sums(const Program& program, const HwConfig& hw,
                                         MemoryImage image, int64_t ordinal) {
  std::vector<int32_t> sums;
  const RetireHook hook = [&](const RetiredCommand& r) {
    if (queue_of(*r.command) == Queue::execute && ordinal-- == 0 && !r.in_array) sums = r.sums;
  };
  if (Status s = run_golden(program, hw, image, hook); !s) return s.errors();
  return sums;
}

}  // namespace accsim::hw
