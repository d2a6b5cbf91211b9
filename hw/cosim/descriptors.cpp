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
static_assert(contract::kVectorLatency == rtl::kVectorLatency);
static_assert(contract::kTableBeat == rtl::kTableBeat);
static_assert(contract::kGatherLatency == rtl::kGatherLatency);
static_assert(Gather::kIndexBytes == rtl::kIndexBytes);
static_assert(SetTableCommand::kBytes == rtl::kTableBytes);
static_assert(PostCommand::kGroupBytes == rtl::kGroupBytes);
static_assert(static_cast<uint32_t>(LaneOp::max) == rtl::kLaneMax);
static_assert(static_cast<uint32_t>(TapOp::max) == rtl::kTapMax);
static_assert(contract::kRowStep == rtl::kRowStep);
static_assert(contract::kRowTableBeat == rtl::kRowTableBeat);
static_assert(RowCommand::kTableBytes == rtl::kRowTableBytes);
static_assert(contract::row_passes(RowOp::softmax).sum == rtl::kRowSumPass);
static_assert(contract::row_passes(RowOp::softmax).write == rtl::kRowSoftmaxWrite);
static_assert(contract::row_passes(RowOp::layer_norm).write == rtl::kRowNormWrite);
static_assert(kLaneLevels == rtl::kRowLevels && kTapLevels == rtl::kTapLevels);
static_assert(contract::kWindowLines == rtl::kWindowLines);
static_assert(static_cast<uint32_t>(Buffer::activation) == rtl::kBufActivation);
static_assert(static_cast<uint32_t>(Buffer::weight) == rtl::kBufWeight);
static_assert(static_cast<uint32_t>(Buffer::parameter) == rtl::kBufParameter);
// What passes through the ports of hw/cosim/rtl_abi.h has room there.
static_assert(std::max({rtl::dma_cmd::kWords, rtl::gemm_cmd::kWords, rtl::post_cmd::kWords,
                        rtl::vector_cmd::kWords, rtl::row_cmd::kWords, rtl::stage_cmd::kWords}) <=
              rtl::kWords);
static_assert(rtl::gemm_cmd::kWindow + rtl::window::kWords == rtl::gemm_cmd::kBlocks);
static_assert(rtl::gemm_cmd::kBlocks + rtl::blocks::kWords == rtl::gemm_cmd::kWords);
static_assert(rtl::kTensorShift < rtl::kAddrWidth && rtl::kAddrWidth <= 64);
static_assert(rtl::kTagWidth == 8 * sizeof(rtl::Tag));

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

uint32_t buffer_number(Buffer b) {
  return b == Buffer::output ? rtl::kBufOutput : static_cast<uint32_t>(b);
}

/// Two numbers of 16 bits, or four of 8, lowest first.
uint32_t halves(int64_t low, int64_t high) { return (word(low) & 0xffff) | word(high) << 16; }
uint32_t bytes(int64_t a, int64_t b, int64_t c, int64_t d) {
  return (word(a) & 0xff) | (word(b) & 0xff) << 8 | (word(c) & 0xff) << 16 | word(d) << 24;
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
                        (buffer_number(buffer) << rtl::dma_flags::kBufferShift);
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

/// The items of the walk are the core's outermost level, however many there are.
void gathered(Descriptor& d, const Walk& walk, const Gather& g, int64_t index_offset) {
  namespace at = rtl::dma_cmd;
  const size_t items = walk.levels.size() - 1, outermost = rtl::kLevels - 1;
  d.words[at::kFlags] |= rtl::dma_flags::kGather;
  d.words[at::kCount + items] = 1;
  d.words[at::kStride + items] = 0;
  d.words[at::kCount + outermost] = word(walk.levels[0].count);
  d.words[at::kStride + outermost] = word(g.pitch);
  d.words[at::kIndexOffset] = word(index_offset);
  d.words[at::kLastRow] = word(g.limit - 1);
}

/// The window as rtl/window_walk.sv wants it: everything in bytes, of lane 0.
Status window(Descriptor& d, const OperandWindow& v, int64_t k, std::span<const int64_t> indices) {
  namespace at = rtl::window;
  const int64_t line = v.tile[2] * v.pixel, plane = v.tile[1] * line;
  const int64_t offset = evaluate(v.offset, indices);
  const int64_t first_line = offset / v.line, in_line = offset % v.line;
  const int64_t first = evaluate(v.first, indices), lines = first / v.count[2];
  const int64_t z = evaluate(v.origin[0], indices) + lines / v.count[1] * v.stride[0];
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
  const int64_t step_x = v.stride[2] * v.pixel, step_y = v.stride[1];
  const int64_t width = (v.count[2] - 1) * step_x, height = (v.count[1] - 1) * step_y;
  const int64_t first_x = x + first % v.count[2] * step_x;
  const int64_t first_y = y + lines % v.count[1] * step_y;
  set(at::kStartAddr, z * plane + first_y * line + first_x);
  set(at::kFirstX, first_x);
  set(at::kFirstY, first_y);
  set(at::kStartX, x);
  set(at::kStartY, y);
  set(at::kStartZ, z);
  set(at::kTileLine, line);
  set(at::kTileHeight, v.tile[1]);
  set(at::kTileDepth, v.tile[0]);
  set(at::kLastX, x + width);
  set(at::kLastY, y + height);
  set(at::kStepX, step_x);
  set(at::kStepY, step_y);
  set(at::kStepYAddr, step_y * line - width);
  set(at::kStepZ, v.stride[0]);
  set(at::kStepZAddr, v.stride[0] * plane - height * line - width);
  set(at::kSegYStep, v.line_step);
  set(at::kSegXStep, -v.line);
  set(at::kSegAddrStep, v.line_step * line - v.line);
  for (size_t s = 0; s < rtl::kWindowLines; ++s) set(at::kSegEnd + s, seg_end(s));
  set(at::kPad, v.pad_value);
  return ok();
}

/// Counts and strides, which the core has innermost first.
template <size_t N>
void reversed(Descriptor& d, size_t field, const std::array<int64_t, N>& values) {
  for (size_t i = 0; i < N; ++i) d.words[field + i] = word(values[N - 1 - i]);
}

/// The blocks as rtl/weight_walk.sv wants them: where in which block the first row lies, and for
/// input stationary, whose rows begin at R = 0, how far into a row the first of them is.
void blocks(Descriptor& d, const WeightTile& t, int64_t first_k, bool turned) {
  namespace at = rtl::blocks;
  const int64_t round = t.groups * t.group_k;
  const auto set = [&](size_t field, int64_t value) {
    d.words[rtl::gemm_cmd::kBlocks + field] = word(value);
  };
  set(at::kGroups, t.groups);
  set(at::kGroupK, t.group_k);
  set(at::kGroupN, t.group_n);
  set(at::kFirstGroup, first_k / t.group_k % t.groups);
  set(at::kFirstInGroup, first_k % t.group_k);
  set(at::kRowsBefore, turned ? first_k % round : 0);
  if (turned) d.words[rtl::gemm_cmd::kWeightOffset] += word(first_k / round * t.group_k);
}

struct Describe {
  const Program& program;
  const HwConfig& hw;
  std::span<const int64_t> indices;
  Dataflow dataflow;

  int64_t at(const Affine& a) const { return evaluate(a, indices); }

  Result<Descriptor> operator()(const LoadCommand& c) const {
    if (c.padded) return unsupported("explicit im2col loads are not in the core");
    if (c.buffer == Buffer::accumulator) return unsupported("a load into accumulators");
    if (c.transposed > 1) return unsupported("transposed loads of more than single bytes");
    auto d = transfer(program, c.tensor, at(c.source), at(c.slot_offset), c.walk, c.buffer);
    if (d && c.gather) gathered(*d, c.walk, *c.gather, at(c.gather->index_offset));
    if (d && c.transposed > 0) d->words[rtl::dma_cmd::kFlags] |= rtl::dma_flags::kTransposed;
    return d;
  }
  Result<Descriptor> operator()(const StoreCommand& c) const {
    return transfer(program, c.tensor, at(c.target), at(c.slot_offset), c.walk, Buffer::activation);
  }
  Result<Descriptor> operator()(const StageCommand& c) const {
    const bool out = program.tensors[static_cast<size_t>(c.to)].memory == Memory::dram;
    auto d = transfer(program, out ? c.to : c.from, at(out ? c.target : c.source), 0, c.walk,
                      Buffer::activation);
    if (!d) return d;
    static_assert(rtl::stage_cmd::kWalk == 0);
    if (out) d->words[rtl::dma_cmd::kFlags] |= rtl::dma_flags::kShared;
    const int64_t far =
        (int64_t{out ? c.from : c.to} << rtl::kTensorShift) + at(out ? c.source : c.target);
    d->words[rtl::stage_cmd::kFarLo] = word(far);
    d->words[rtl::stage_cmd::kFarHi] = word(far >> 32);
    return d;
  }
  Result<Descriptor> operator()(const GemmCommand& c) const {
    namespace gemm = rtl::gemm_cmd;
    const bool turned = dataflow == Dataflow::input_stationary;
    Descriptor d;
    if (overwrites(c.first_of, c.accumulate, indices))
      d.words[gemm::kFlags] = rtl::gemm_flags::kOverwrite;
    d.words[gemm::kM] = word(c.m);
    d.words[gemm::kK] = word(c.k);
    d.words[gemm::kN] = word(c.n);
    d.words[gemm::kAccumulatorRow] = word(at(c.accumulator_row));
    d.words[gemm::kWeightOffset] = word(at(c.weights.offset));
    d.words[gemm::kWeightPitch] = word(c.weights.pitch);
    if (c.weights.bits == 4) d.words[gemm::kFlags] |= rtl::gemm_flags::kNarrowWeights;
    if (c.weights.groups > 1) blocks(d, c.weights, at(c.weights.first_k), turned);
    if (turned) d.words[gemm::kFlags] |= rtl::gemm_flags::kInputStationary;
    if (Status s = window(d, c.window, c.k, indices); !s) return s.errors();
    return d;
  }
  Result<Descriptor> operator()(const PostCommand& c) const {
    if (!c.has_parameters) return unsupported("a post without parameters");
    namespace post = rtl::post_cmd;
    Descriptor d;
    d.words[post::kFlags] = (c.transposed ? rtl::post_flags::kTransposed : 0) |
                            (c.table ? rtl::post_flags::kTableOn : 0) |
                            (c.residual ? rtl::post_flags::kResidual : 0);
    const Residual r = c.residual.value_or(Residual{});
    d.words[post::kResidual] = bytes(r.zero, r.shift, 0, 0) | word(r.multiplier) << 16;
    d.words[post::kSumLimits] = bytes(r.low, r.high, 0, 0);
    d.words[post::kRows] = word(c.rows);
    d.words[post::kCols] = word(c.cols);
    d.words[post::kAccumulatorRow] = word(at(c.accumulator_row));
    d.words[post::kParameterOffset] = word(at(c.parameter_offset));
    d.words[post::kSlotOffset] = word(at(c.slot_offset));
    d.words[post::kPitch] = word(c.pitch);
    d.words[post::kZero] = word(c.output_zero);
    d.words[post::kLow] = word(c.lowest());
    d.words[post::kHigh] = word(c.high);
    d.words[post::kGroups] = word(c.groups);
    d.words[post::kGroupRows] = word(c.group_rows);
    d.words[post::kGroupOffset] = word(at(c.group_offset));
    return d;
  }
  Result<Descriptor> operator()(const DrainCommand&) const {
    return unsupported("a drain that doesn't follow its gemm");
  }
  Result<Descriptor> operator()(const VectorCommand&) const {
    return unsupported("vector commands of operations are not in the core");
  }
  Result<Descriptor> operator()(const SetTableCommand& c) const {
    Descriptor d;
    if (c.unit == Queue::post) {
      d.words[rtl::post_cmd::kFlags] = rtl::post_flags::kSetTable;
      d.words[rtl::post_cmd::kParameterOffset] = word(at(c.parameter_offset));
    } else {
      d.words[rtl::vector_cmd::kMode] = rtl::lane_mode::kSetTable;
      d.words[rtl::vector_cmd::kBOffset] = word(at(c.parameter_offset));
    }
    return d;
  }
  Result<Descriptor> operator()(const RowCommand& c) const {
    namespace row = rtl::row_cmd;
    namespace mode = rtl::lane_mode;
    Descriptor d;
    const bool norm = c.op != RowOp::softmax;
    const int64_t beat = contract::row_beat(c, hw), beats = ceil_div(c.stretch(), beat);
    d.words[row::kMode] = mode::kRows | (norm ? mode::kRowNorm : 0) |
                          (c.op == RowOp::layer_norm ? mode::kRowCentred : 0) |
                          (norm && c.per_channel > 1 ? mode::kRowSplat : 0) |
                          (c.mask ? mode::kRowMask : 0);
    d.words[row::kBeat] = word(beat);
    d.words[row::kBeats] = word(beats);
    d.words[row::kTail] = word(c.stretch() - (beats - 1) * beat);
    d.words[row::kStretch] = word(c.stretch());
    d.words[row::kStretches] = word(c.run / c.stretch());
    d.words[row::kPieces] = word(c.pieces);
    reversed(d, row::kRows, c.rows);
    d.words[row::kCount] = word(c.row_count());
    d.words[row::kLength] = word(c.length());
    d.words[row::kInOffset] = word(at(c.in.offset));
    d.words[row::kInPiece] = word(c.in.piece_stride);
    reversed(d, row::kInStride, c.in.row_stride);
    d.words[row::kOutOffset] = word(at(c.out.offset));
    d.words[row::kOutPiece] = word(c.out.piece_stride);
    reversed(d, row::kOutStride, c.out.row_stride);
    d.words[row::kParameterOffset] = word(at(c.parameter_offset));
    if (c.mask) {
      d.words[row::kMaskOffset] = word(at(c.mask->offset));
      d.words[row::kMaskPiece] = word(c.mask->piece_stride);
    }
    reversed(d, row::kSecondStride, c.mask ? c.mask->row_stride : c.parameter_stride);
    d.words[row::kFactors] = halves(c.row_multiplier, c.mask_multiplier);
    d.words[row::kZeros] = bytes(c.input_zero, c.output_zero, c.low, c.high);
    d.words[row::kShifts] = bytes(c.difference_shift, c.exponent, c.unit_bits, 0);
    d.words[row::kEpsilonLo] = norm ? word(c.epsilon) : word(c.numerator);
    d.words[row::kEpsilonHi] = norm ? word(c.epsilon >> 32) : 0;
    return d;
  }
  Result<Descriptor> operator()(const LaneCommand& c) const {
    namespace vec = rtl::vector_cmd;
    namespace mode = rtl::lane_mode;
    Descriptor d;
    const LaneOperand b = c.b.value_or(LaneOperand{});
    const int64_t beat = contract::lane_beat(c, hw), beats = ceil_div(c.run, beat);
    d.words[vec::kMode] =
        static_cast<uint32_t>(c.op) << mode::kOpShift |
        static_cast<uint32_t>(c.tap_op) << mode::kTapOpShift | (c.b ? mode::kBOn : 0) |
        (b.buffer == Buffer::parameter ? mode::kBParameter : 0) | (b.splat ? mode::kBSplat : 0) |
        (c.across ? mode::kAcross : 0) | (c.table ? mode::kTableOn : 0);
    d.words[vec::kBeat] = word(beat);
    d.words[vec::kBeats] = word(beats);
    d.words[vec::kTail] = word(c.run - (beats - 1) * beat);
    reversed(d, vec::kTaps, c.taps);
    reversed(d, vec::kRows, c.rows);
    d.words[vec::kAOffset] = word(at(c.a.offset));
    reversed(d, vec::kTapStride, c.tap_stride);
    reversed(d, vec::kAStride, c.a.row_stride);
    d.words[vec::kBOffset] = word(at(b.offset));
    reversed(d, vec::kBStride, b.row_stride);
    d.words[vec::kOutOffset] = word(at(c.slot_offset));
    reversed(d, vec::kOutStride, c.out_stride);
    d.words[vec::kFactors] = halves(c.a.multiplier, b.multiplier);
    d.words[vec::kZeros] = bytes(c.a.zero, b.zero, 0, 0) | word(c.output_zero) << 16;
    d.words[vec::kLimits] = bytes(c.low, c.high, c.shift, 0);
    return d;
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
    case Queue::vector:
      return rtl::kVector;
    case Queue::store:
      return rtl::kStore;
    case Queue::stage:
      return rtl::kStage;
  }
  check(false, "unknown queue");
  return rtl::kLoad;
}

namespace {

using rtl::CommandPort;

/// The bit of word 0 for a wait (false) or signal (true) of a buffer's token.
uint32_t flag(CommandPort port, Buffer b, bool signal) {
  namespace dma = rtl::dma_flags;
  namespace gemm = rtl::gemm_flags;
  namespace post = rtl::post_flags;
  namespace vec = rtl::vector_flags;
  if (port == rtl::kLoad || port == rtl::kStore) return signal ? dma::kSignal : dma::kWaits;
  struct Flags {
    CommandPort port;
    Buffer buffer;
    uint32_t wait, signal;
  };
  constexpr std::array kFlags = {
      Flags{rtl::kGemm, Buffer::activation, gemm::kWaitActivation, gemm::kSignalActivation},
      Flags{rtl::kGemm, Buffer::weight, gemm::kWaitWeight, gemm::kSignalWeight},
      Flags{rtl::kGemm, Buffer::accumulator, gemm::kWaitAccumulator, gemm::kSignalAccumulator},
      Flags{rtl::kPost, Buffer::accumulator, post::kWaitAccumulator, post::kSignalAccumulator},
      Flags{rtl::kPost, Buffer::output, post::kWaitOutput, post::kSignalOutput},
      Flags{rtl::kPost, Buffer::parameter, post::kWaitParameter, post::kSignalParameter},
      Flags{rtl::kVector, Buffer::activation, vec::kWaitActivation, vec::kSignalActivation},
      Flags{rtl::kVector, Buffer::output, vec::kWaitOutput, vec::kSignalOutput},
      Flags{rtl::kVector, Buffer::parameter, vec::kWaitParameter, vec::kSignalParameter}};
  for (const Flags& f : kFlags)
    if (f.port == port && f.buffer == b) return signal ? f.signal : f.wait;
  check(false, "a token that this queue has no bit for");
  return 0;
}

uint32_t filler(std::optional<Queue> q) {
  return q == Queue::post     ? rtl::kByPost
         : q == Queue::vector ? rtl::kByVector
                              : rtl::kByLoad;  // nobody takes it: whichever
}

}  // namespace

void Descriptor::wait(CommandPort port, const Token& t) {
  if (t.kind == SyncKind::wait_primed) {
    words[0] |= rtl::post_flags::kWaitPrimed;
    return;
  }
  if (port == rtl::kLoad && t.kind == SyncKind::wait_full) {
    words[0] |= rtl::dma_flags::kWaitParameter;
    return;
  }
  words[0] |= flag(port, t.buffer, false);
  const bool initial = t.kind == SyncKind::wait_free && !t.other;
  if (port == rtl::kLoad && !initial)
    words[0] |= (t.other == Queue::vector ? rtl::kFromVector
                 : t.other == Queue::load ? rtl::kFromLoad
                                          : rtl::kFromMain)
                << rtl::dma_flags::kFromShift;
  if (port == rtl::kStore) words[0] |= filler(t.other) << rtl::dma_flags::kFromShift;
  if (port == rtl::kPost && initial) words[0] |= rtl::post_flags::kWaitInitial;
  if (port == rtl::kVector && initial) words[0] |= rtl::vector_flags::kWaitInitial;
}

void Descriptor::signal(CommandPort port, const Token& t) {
  if (port == rtl::kLoad && t.kind == SyncKind::signal_free) {
    words[0] |= rtl::dma_flags::kSignalParameter;
    return;
  }
  words[0] |= flag(port, t.buffer, true);
  if (port == rtl::kLoad) {
    const bool other = t.kind == SyncKind::signal_primed || t.other == Queue::vector;
    words[0] |= (other                    ? rtl::kToOther
                 : t.other == Queue::load ? rtl::kToLoad
                                          : rtl::kToMain)
                << rtl::dma_flags::kToShift;
  }
  if (port == rtl::kStore) words[0] |= filler(t.other) << rtl::dma_flags::kToShift;
}

void Descriptor::use(CommandPort port, const std::array<int64_t, kBuffers>& slots) {
  const auto slot = [&](Buffer b, uint32_t shift) {
    words[0] |= static_cast<uint32_t>(slots[static_cast<size_t>(b)]) << shift;
  };
  namespace vec = rtl::vector_flags;
  switch (port) {
    case rtl::kLoad:
      slot(Buffer::output, rtl::dma_flags::kSlotShift);
      slot(Buffer::parameter, rtl::dma_flags::kParameterSlotShift);
      break;
    case rtl::kGemm:
      slot(Buffer::activation, rtl::gemm_flags::kActivationSlotShift);
      break;
    case rtl::kPost:
      slot(Buffer::parameter, rtl::post_flags::kParameterSlotShift);
      slot(Buffer::output, rtl::post_flags::kOutputSlotShift);
      break;
    case rtl::kVector:
      slot(Buffer::activation, vec::kActivationSlotShift);
      slot(Buffer::parameter, vec::kParameterSlotShift);
      slot(Buffer::output, vec::kOutputSlotShift);
      break;
    default:
      break;
  }
}

int64_t evaluate(const Affine& a, std::span<const int64_t> indices) {
  int64_t value = a.base;
  for (const Affine::Term& t : a.terms) value += t.coeff * indices[static_cast<size_t>(t.loop)];
  return value;
}

Result<Descriptor> describe(const Program& program, const HwConfig& hw, const Command& command,
                            std::span<const int64_t> indices, std::optional<Dataflow> layer) {
  return std::visit(Describe{program, hw, indices, layer.value_or(program.dataflow)}, command);
}

void add_drain(Descriptor& gemm, const DrainCommand& drain, std::span<const int64_t> indices) {
  gemm.words[rtl::gemm_cmd::kFlags] |= rtl::gemm_flags::kDrain;
  if (overwrites(drain.first_of, drain.accumulate, indices))
    gemm.words[rtl::gemm_cmd::kFlags] |= rtl::gemm_flags::kDrainOverwrite;
  gemm.words[rtl::gemm_cmd::kAccumulatorRow] = word(evaluate(drain.accumulator_row, indices));
}

}  // namespace accsim::hw
