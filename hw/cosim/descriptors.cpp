#include "hw/cosim/descriptors.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/cosim/rtl_layout.h"
#include "hw/program/contract.h"

namespace accsim::hw {
namespace {

// What the model counts on and what the core is made of are the same numbers.
static_assert(contract::kArrayLatency == rtl::kArrayLatency);
static_assert(contract::kPostLatency == rtl::kPostLatency);
static_assert(contract::kWindowLines == rtl::kWindowLines);
static_assert(static_cast<uint32_t>(Buffer::activation) == rtl::kBufActivation);
static_assert(static_cast<uint32_t>(Buffer::weight) == rtl::kBufWeight);
static_assert(static_cast<uint32_t>(Buffer::parameter) == rtl::kBufParameter);
// What passes through the ports of hw/cosim/rtl_abi.h has room there.
static_assert(std::max({rtl::dma_cmd::kWords, rtl::gemm_cmd::kWords, rtl::post_cmd::kWords}) <=
              rtl::kWords);
static_assert(rtl::gemm_cmd::kWindow + rtl::window::kWords == rtl::gemm_cmd::kWords);
static_assert(rtl::kTensorShift < rtl::kAddrWidth && rtl::kAddrWidth <= 64 && rtl::kTagWidth <= 64);

uint32_t word(int64_t value) { return static_cast<uint32_t>(value); }

Error unsupported(std::string message) {
  return {Errc::unsupported, std::move(message), "co-simulation"};
}

bool overwrites(const std::vector<int>& first_of, bool accumulate,
                std::span<const int64_t> indices) {
  return !accumulate && std::all_of(first_of.begin(), first_of.end(), [&](int loop) {
    return indices[static_cast<size_t>(loop)] == 0;
  });
}

Result<Descriptor> transfer(const Program& p, int tensor, int64_t offset, int64_t slot_offset,
                            const Walk& walk, Buffer buffer) {
  if (walk.levels.size() > rtl::kLevels)
    return unsupported(
        fmt::format("a walk of {} levels; the core has {}", walk.levels.size(), rtl::kLevels));
  namespace at = rtl::dma_cmd;
  Descriptor d;
  const bool shared = p.tensors[static_cast<size_t>(tensor)].memory == Memory::shared;
  const int64_t address = (int64_t{tensor} << rtl::kTensorShift) + offset;
  d.words[at::kFlags] = (shared ? rtl::dma_flags::kShared : 0) +
                        (static_cast<uint32_t>(buffer) << rtl::dma_flags::kBufferShift);
  d.words[at::kAddrLo] = word(address);
  d.words[at::kAddrHi] = word(address >> 32);
  d.words[at::kSlotOffset] = word(slot_offset);
  d.words[at::kRun] = word(walk.run);
  for (size_t i = 0; i < rtl::kLevels; ++i) {  // the core counts from the innermost
    const Walk::Level level =
        i < walk.levels.size() ? walk.levels[walk.levels.size() - 1 - i] : Walk::Level{1, 0};
    d.words[at::kCount + i] = word(level.count);
    d.words[at::kStride + i] = word(level.stride);
  }
  return d;
}

/// The window as rtl/window_walk.sv wants it: everything in bytes from lane 0 of the first row.
Status window(Descriptor& d, const OperandWindow& v, int64_t k, std::span<const int64_t> indices) {
  namespace at = rtl::window;
  const int64_t line = v.tile[2] * v.pixel, plane = v.tile[1] * line;
  const int64_t offset = evaluate(v.offset, indices);
  const int64_t first_line = offset / v.line, in_line = offset % v.line;
  const int64_t z = evaluate(v.origin[0], indices);
  const int64_t y = evaluate(v.origin[1], indices) + first_line * v.line_step;
  const int64_t x = evaluate(v.origin[2], indices) * v.pixel + in_line;
  const auto seg_end = [&](size_t s) {
    return std::min(k, (static_cast<int64_t>(s) + 1) * v.line - in_line);
  };
  if (seg_end(rtl::kWindowLines - 1) < k)
    return unsupported(
        fmt::format("{} bytes of {}-byte kernel lines; the core reads {} lines a cycle", k, v.line,
                    rtl::kWindowLines));
  const auto set = [&](size_t field, int64_t value) {
    d.words[rtl::gemm_cmd::kWindow + field] = word(value);
  };
  set(at::kStartAddr, z * plane + y * line + x);
  set(at::kStartX, x);
  set(at::kStartY, y);
  set(at::kStartZ, z);
  set(at::kTileLine, line);
  set(at::kTileHeight, v.tile[1]);
  set(at::kTileDepth, v.tile[0]);
  set(at::kCountX, v.count[2]);
  set(at::kCountY, v.count[1]);
  set(at::kStepX, v.stride[2] * v.pixel);
  set(at::kStepY, v.stride[1]);
  set(at::kStepYAddr, v.stride[1] * line);
  set(at::kStepZ, v.stride[0]);
  set(at::kStepZAddr, v.stride[0] * plane);
  set(at::kSegYStep, v.line_step);
  set(at::kSegXStep, -v.line);
  set(at::kSegAddrStep, v.line_step * line - v.line);
  for (size_t s = 0; s < rtl::kWindowLines; ++s) set(at::kSegEnd + s, seg_end(s));
  set(at::kPad, v.pad_value);
  return ok();
}

struct Describe {
  const Program& program;
  std::span<const int64_t> indices;

  int64_t at(const Affine& a) const { return evaluate(a, indices); }

  Result<Descriptor> operator()(const LoadCommand& c) const {
    if (c.padded) return unsupported("explicit im2col loads are not in the core");
    return transfer(program, c.tensor, at(c.source), at(c.slot_offset), c.walk, c.buffer);
  }
  Result<Descriptor> operator()(const StoreCommand& c) const {
    return transfer(program, c.tensor, at(c.target), at(c.slot_offset), c.walk, Buffer::activation);
  }
  Result<Descriptor> operator()(const GemmCommand& c) const {
    namespace gemm = rtl::gemm_cmd;
    Descriptor d;
    if (overwrites(c.first_of, c.accumulate, indices))
      d.words[gemm::kFlags] = rtl::gemm_flags::kOverwrite;
    d.words[gemm::kM] = word(c.m);
    d.words[gemm::kK] = word(c.k);
    d.words[gemm::kN] = word(c.n);
    d.words[gemm::kAccumulatorRow] = word(at(c.accumulator_row));
    d.words[gemm::kWeightOffset] = word(at(c.weights.offset));
    d.words[gemm::kWeightPitch] = word(c.weights.pitch);
    if (Status s = window(d, c.window, c.k, indices); !s) return s.errors();
    return d;
  }
  Result<Descriptor> operator()(const PostCommand& c) const {
    if (!c.has_parameters) return unsupported("a post without parameters");
    namespace post = rtl::post_cmd;
    Descriptor d;
    d.words[post::kFlags] = c.transposed ? rtl::post_flags::kTransposed : 0;
    d.words[post::kRows] = word(c.rows);
    d.words[post::kCols] = word(c.cols);
    d.words[post::kAccumulatorRow] = word(at(c.accumulator_row));
    d.words[post::kParameterOffset] = word(at(c.parameter_offset));
    d.words[post::kSlotOffset] = word(at(c.slot_offset));
    d.words[post::kPitch] = word(c.pitch);
    d.words[post::kZero] = word(c.output_zero);
    d.words[post::kLow] = word(c.lowest());
    d.words[post::kHigh] = word(c.high);
    return d;
  }
  Result<Descriptor> operator()(const DrainCommand&) const {
    return unsupported("a drain that doesn't follow its gemm");
  }
  Result<Descriptor> operator()(const VectorCommand&) const {
    return unsupported("vector commands are not in the core");
  }
};

}  // namespace

rtl::CommandPort port_of(Queue q) {
  switch (q) {
    case Queue::load:
      return rtl::kLoad;
    case Queue::execute:
      return rtl::kGemm;
    case Queue::post:
      return rtl::kPost;
    case Queue::store:
      return rtl::kStore;
  }
  check(false, "unknown queue");
  return rtl::kLoad;
}

uint32_t Descriptor::bit(rtl::CommandPort port, Buffer b, bool signal) {
  namespace dma = rtl::dma_flags;
  namespace gemm = rtl::gemm_flags;
  namespace post = rtl::post_flags;
  if (port == rtl::kLoad || port == rtl::kStore) return signal ? dma::kSignal : dma::kWaits;
  const bool is_gemm = port == rtl::kGemm;
  switch (b) {
    case Buffer::activation:
      if (is_gemm) return signal ? gemm::kSignalActivation : gemm::kWaitActivation;
      break;
    case Buffer::weight:
      if (is_gemm) return signal ? gemm::kSignalWeight : gemm::kWaitWeight;
      break;
    case Buffer::accumulator:
      if (is_gemm) return signal ? gemm::kSignalAccumulator : gemm::kWaitAccumulator;
      return signal ? post::kSignalAccumulator : post::kWaitAccumulator;
    case Buffer::output:
      if (!is_gemm) return signal ? post::kSignalOutput : post::kWaitOutput;
      break;
    case Buffer::parameter:
      if (!is_gemm) return signal ? post::kSignalParameter : post::kWaitParameter;
      break;
  }
  check(false, "a token that this queue has no bit for");
  return 0;
}

int64_t evaluate(const Affine& a, std::span<const int64_t> indices) {
  int64_t value = a.base;
  for (const Affine::Term& t : a.terms) value += t.coeff * indices[static_cast<size_t>(t.loop)];
  return value;
}

Result<Descriptor> describe(const Program& program, const Command& command,
                            std::span<const int64_t> indices) {
  return std::visit(Describe{program, indices}, command);
}

void add_drain(Descriptor& gemm, const DrainCommand& drain, std::span<const int64_t> indices) {
  gemm.words[rtl::gemm_cmd::kFlags] |= rtl::gemm_flags::kDrain;
  if (overwrites(drain.first_of, drain.accumulate, indices))
    gemm.words[rtl::gemm_cmd::kFlags] |= rtl::gemm_flags::kDrainOverwrite;
  gemm.words[rtl::gemm_cmd::kAccumulatorRow] = word(evaluate(drain.accumulator_row, indices));
}

}  // namespace accsim::hw
