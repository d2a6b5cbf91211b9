#include "hw/cosim/descriptors.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/cosim/bench_memory.h"
#include "hw/cosim/descriptor_words.h"
#include "hw/cosim/gemm_operands.h"
#include "hw/cosim/rtl_layout.h"
#include "hw/program/contract.h"
#include "hw/program/reach.h"

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
static_assert(std::ranges::equal(kLaneOpRows, rtl::kLaneOpNames, {}, &LaneOpRow::name));
static_assert(LaneCommand::kChannelBytes == rtl::kParameterBytes);
static_assert(static_cast<uint32_t>(TapOp::max) == rtl::kTapMax);
static_assert(contract::kRowStep == rtl::kRowStep);
static_assert(contract::kRowTableBeat == rtl::kRowTableBeat);
static_assert(RowCommand::kTableBytes == rtl::kRowTableBytes);
static_assert(RowCommand::kChannelBytes == rtl::kRowChannelBytes);
static_assert(contract::row_passes(RowOp::softmax).sum == rtl::kRowSumPass);
static_assert(contract::row_passes(RowOp::softmax).write == rtl::kRowSoftmaxWrite);
static_assert(contract::row_passes(RowOp::layer_norm).write == rtl::kRowNormWrite);
static_assert(LaneCommand::kMostColumns == rtl::kMostColumns);
static_assert(kLaneLevels == rtl::kRowLevels && kTapLevels == rtl::kTapLevels);
static_assert(kWalkLevels == rtl::kLevels);
static_assert(static_cast<uint32_t>(Buffer::activation) == rtl::kBufActivation);
static_assert(static_cast<uint32_t>(Buffer::weight) == rtl::kBufWeight);
static_assert(static_cast<uint32_t>(Buffer::parameter) == rtl::kBufParameter);
// What passes through the ports of hw/cosim/rtl_abi.h has room there.
static_assert(std::max({rtl::dma_cmd::kWords, rtl::gemm_cmd::kWords, rtl::post_cmd::kWords,
                        rtl::vector_cmd::kWords, rtl::row_cmd::kWords, rtl::stage_cmd::kWords}) <=
              rtl::kWords);
static_assert(rtl::kTensorShift < rtl::kAddrWidth && rtl::kAddrWidth <= 64);
static_assert(rtl::kTagWidth == 8 * sizeof(rtl::Tag));

bool overwrites_sums(const std::vector<int>& first_of, bool accumulate,
                     std::span<const int64_t> indices) {
  return !accumulate && std::all_of(first_of.begin(), first_of.end(), [&](int loop) {
    return indices[static_cast<size_t>(loop)] == 0;
  });
}

uint32_t buffer_number(Buffer b) {
  return b == Buffer::output ? rtl::kBufOutput : static_cast<uint32_t>(b);
}

const ProgramTensor& tensor_of(const Program& p, int tensor) {
  return p.tensors[static_cast<size_t>(tensor)];
}

void put_tensor_address(DescriptorWords& d, size_t low, size_t high, const Program& p, int tensor,
                        int64_t offset) {
  const ProgramTensor& t = tensor_of(p, tensor);
  const int64_t from = memory_offset(t);
  d.put_address(low, high, memory_number(p, tensor), from + t.bytes, from + offset);
}

void put_transfer(DescriptorWords& d, const Program& p, int tensor, int64_t offset,
                  const Walk& walk) {
  namespace at = rtl::dma_cmd;
  if (walk.levels.size() > rtl::kLevels)
    return d.refuse(
        fmt::format("a walk of {} levels; the core has {}", walk.levels.size(), rtl::kLevels));
  const ProgramTensor& t = tensor_of(p, tensor);
  if (t.memory == MemoryId::shared) d.put_flags(at::kFlags, rtl::dma_flags::kShared);
  put_tensor_address(d, at::kAddrLo, at::kAddrHi, p, tensor, offset);
  d.put_count(at::kRun, walk.run, "run");
  for (size_t i = 0; i < rtl::kLevels; ++i) {  // the core counts from the innermost
    const Walk::Level level =
        i < walk.levels.size() ? walk.levels[walk.levels.size() - 1 - i] : Walk::Level{1, 0};
    d.put_count(at::kCount + i, level.count, "count");
    d.put_stride(at::kStride + i, level.count, level.stride, "stride");
  }
}

/// The items of the walk are the core's outermost level, however many there are.
void put_gather(DescriptorWords& d, const Walk& walk, const Gather& g, int64_t index_offset) {
  namespace at = rtl::dma_cmd;
  const size_t items = walk.levels.size() - 1, outermost = rtl::kLevels - 1;
  d.put_flags(at::kFlags, rtl::dma_flags::kGather);
  d.put_count(at::kCount + items, 1, "count");
  d.put_count(at::kStride + items, 0, "stride");
  d.put_count(at::kCount + outermost, walk.levels[0].count, "count");
  d.put_count(at::kStride + outermost, g.pitch, "pitch");
  d.put_count(at::kIndexOffset, index_offset, "index offset");
  d.put_count(at::kLastRow, g.limit - 1, "limit");
}

/// Two factors, a word: of lanes with a sign, of rows without.
void put_factors(DescriptorWords& d, size_t field, int64_t a, int64_t b, bool of_rows) {
  for (const auto& [shift, value] : {std::pair{0U, a}, std::pair{16U, b}}) {
    if (of_rows)
      d.put_part(field, shift, 16, value, "multiplier");
    else
      d.signed_part(field, shift, 16, value, "multiplier");
  }
}

struct Describe {
  const Program& program;
  const HwConfig& hw;
  std::span<const int64_t> indices;
  Dataflow dataflow;

  int64_t affine_value(const Affine& a) const { return evaluate(a, indices); }
  static Result<Descriptor> refused_command(std::string why) {
    DescriptorWords d("");
    d.refuse(std::move(why));
    return d.checked_descriptor();
  }

  Result<Descriptor> operator()(const LoadCommand& c) const {
    namespace dma = rtl::dma_cmd;
    if (c.padded) return refused_command("explicit im2col loads are not in the core");
    if (c.buffer == Buffer::accumulator) return refused_command("a load into accumulators");
    if (c.transposed > 1) return refused_command("transposed loads of more than single bytes");
    DescriptorWords d("load");
    d.put_flags(dma::kFlags, buffer_number(c.buffer) << rtl::dma_flags::kBufferShift);
    d.put_count(dma::kSlotOffset, affine_value(c.slot_offset), "slot offset");
    put_transfer(d, program, c.tensor, affine_value(c.source), c.walk);
    if (c.gather) put_gather(d, c.walk, *c.gather, affine_value(c.gather->index_offset));
    if (c.transposed > 0) d.put_flags(dma::kFlags, rtl::dma_flags::kTransposed);
    return d.checked_descriptor();
  }
  Result<Descriptor> operator()(const StoreCommand& c) const {
    DescriptorWords d("store");
    d.put_count(rtl::dma_cmd::kSlotOffset, affine_value(c.slot_offset), "slot offset");
    put_transfer(d, program, c.tensor, affine_value(c.target), c.walk);
    return d.checked_descriptor();
  }
  Result<Descriptor> operator()(const StageCommand& c) const {
    namespace stage = rtl::stage_cmd;
    static_assert(stage::kWalk == 0);
    DescriptorWords d("stage");
    const bool out = tensor_of(program, c.to).memory == MemoryId::dram;
    const int near = out ? c.to : c.from, far = out ? c.from : c.to;
    put_transfer(d, program, near, affine_value(out ? c.target : c.source), c.walk);
    if (out) d.put_flags(rtl::dma_cmd::kFlags, rtl::dma_flags::kShared);
    put_tensor_address(d, stage::kFarLo, stage::kFarHi, program, far,
                       affine_value(out ? c.source : c.target));
    return d.checked_descriptor();
  }
  Result<Descriptor> operator()(const GemmCommand& c) const {
    namespace gemm = rtl::gemm_cmd;
    DescriptorWords d("gemm");
    const bool turned = dataflow == Dataflow::input_stationary;
    if (overwrites_sums(c.first_of, c.accumulate, indices))
      d.put_flags(gemm::kFlags, rtl::gemm_flags::kOverwrite);
    d.put_count(gemm::kM, c.m, "m");
    d.put_count(gemm::kK, c.k, "k");
    d.put_count(gemm::kN, c.n, "n");
    const bool stays = dataflow == Dataflow::output_stationary;  // the drain says which row
    d.put_count(gemm::kAccumulatorRow, stays ? 0 : affine_value(c.accumulator_row),
                "accumulator row");
    d.put_count(gemm::kWeightPitch, c.weights.pitch, "pitch of the weights");
    if (c.weights.encoding.is_packed()) d.put_flags(gemm::kFlags, rtl::gemm_flags::kNarrowWeights);
    int64_t behind = 0;
    if (c.weights.groups > 1)
      behind = put_blocks(d, c.weights, affine_value(c.weights.first_k), turned);
    if (turned) d.put_flags(gemm::kFlags, rtl::gemm_flags::kInputStationary);
    d.put_count(gemm::kWeightOffset, affine_value(c.weights.offset) + behind,
                "offset of the weights");
    put_window(d, c.window, c.k, indices);
    return d.checked_descriptor();
  }
  Result<Descriptor> operator()(const PostCommand& c) const {
    if (!c.has_parameters) return refused_command("a post without parameters");
    namespace post = rtl::post_cmd;
    DescriptorWords d("post");
    d.put_flags(post::kFlags, (c.transposed ? rtl::post_flags::kTransposed : 0) |
                                  (c.epilogue.table ? rtl::post_flags::kTableOn : 0) |
                                  (c.epilogue.residual ? rtl::post_flags::kResidual : 0));
    const Residual r = c.epilogue.residual.value_or(Residual{});
    d.signed_part(post::kResidual, 0, 8, r.zero, "zero point of the residual");
    d.put_part(post::kResidual, 8, 8, r.shift, "shift of the residual");
    d.signed_part(post::kResidual, 16, 16, r.multiplier, "multiplier of the residual");
    d.signed_part(post::kSumLimits, 0, 8, r.low, "limit of the sum");
    d.signed_part(post::kSumLimits, 8, 8, r.high, "limit of the sum");
    d.put_count(post::kRows, c.rows, "rows");
    d.put_count(post::kCols, c.cols, "columns");
    d.put_count(post::kAccumulatorRow, affine_value(c.accumulator_row), "accumulator row");
    d.put_count(post::kParameterOffset, affine_value(c.parameter_offset), "parameter offset");
    d.put_count(post::kSlotOffset, affine_value(c.slot_offset), "slot offset");
    d.put_count(post::kPitch, c.pitch, "pitch");
    d.put_number(post::kZero, c.epilogue.zero, "zero point");
    d.put_number(post::kLow, c.epilogue.lowest_result(), "limit");
    d.put_number(post::kHigh, c.epilogue.high, "limit");
    d.put_count(post::kGroups, c.groups, "groups");
    d.put_count(post::kGroupRows, c.group_rows, "rows of a group");
    d.put_count(post::kGroupOffset, c.groups > 1 ? affine_value(c.group_offset) : 0,
                "offset of the groups");
    return d.checked_descriptor();
  }
  Result<Descriptor> operator()(const DrainCommand&) const {
    return refused_command("a drain that doesn't follow its gemm");
  }
  Result<Descriptor> operator()(const VectorCommand&) const {
    return refused_command("vector commands of operations are not in the core");
  }
  Result<Descriptor> operator()(const SetTableCommand& c) const {
    DescriptorWords d("table");
    if (c.unit == Queue::post) {
      d.put_flags(rtl::post_cmd::kFlags, rtl::post_flags::kSetTable);
      d.put_count(rtl::post_cmd::kParameterOffset, affine_value(c.parameter_offset), "offset");
    } else {
      d.put_flags(rtl::vector_cmd::kMode, rtl::lane_mode::kSetTable);
      d.put_count(rtl::vector_cmd::kBOffset, affine_value(c.parameter_offset), "offset");
    }
    return d.checked_descriptor();
  }

  void put_row_shape(DescriptorWords& d, const RowCommand& c) const {
    namespace row = rtl::row_cmd;
    const auto beats = [&](int64_t beat, size_t bytes, size_t number, size_t tail) {
      const int64_t n = ceil_div(c.contiguous_elements(), beat);
      d.put_count(bytes, beat, "beat");
      d.put_count(number, n, "beats");
      d.put_count(tail, c.contiguous_elements() - (n - 1) * beat, "last beat");
    };
    beats(contract::row_beat(c, hw), row::kBeat, row::kBeats, row::kTail);
    beats(contract::row_late_beat(c, hw), row::kLateBeat, row::kLateBeats, row::kLateTail);
    d.put_count(row::kStretch, c.contiguous_elements(), "stretch");
    d.put_count(row::kStretches, c.run / c.contiguous_elements(), "stretches");
    d.put_count(row::kPieces, c.pieces, "pieces");
    d.put_counts(row::kRows, c.rows, "rows");
    d.put_count(row::kLength, c.length(), "length");
  }
  void put_row_constants(DescriptorWords& d, const RowCommand& c, bool norm) const {
    namespace row = rtl::row_cmd;
    put_factors(d, row::kFactors, c.row_multiplier, c.mask_multiplier, true);
    d.signed_part(row::kZeros, 0, 8, c.input_zero, "zero point");
    d.signed_part(row::kZeros, 8, 8, c.epilogue.zero, "zero point");
    d.signed_part(row::kZeros, 16, 8, c.epilogue.low, "limit");
    d.signed_part(row::kZeros, 24, 8, c.epilogue.high, "limit");
    d.put_part(row::kShifts, 0, 8, c.difference_shift, "difference shift");
    d.put_part(row::kShifts, 8, 8, c.exponent, "exponent");
    d.put_part(row::kShifts, 16, 8, c.unit_bits, "unit bits");
    d.put_part(row::kShifts, 24, 8, contract::row_group(c, hw), "rows of a step");
    d.put_wide(row::kEpsilonLo, row::kEpsilonHi, norm ? c.epsilon : c.numerator);
  }
  void put_row_logarithm(DescriptorWords& d, const RowLogarithm& l) const {
    namespace row = rtl::row_cmd;
    d.put_count(row::kLogOffset, affine_value(l.offset), "offset of the logarithms");
    d.put_count(row::kLogRow, l.row_multiplier, "logarithm's multiplier of the rows");
    d.put_count(row::kLogSum, l.sum_multiplier, "logarithm's multiplier of the sum");
    d.put_count(row::kLogShift, l.shift, "logarithm's shift");
    d.put_wide(row::kLogAddendLo, row::kLogAddendHi, l.addend);
  }
  Result<Descriptor> operator()(const RowCommand& c) const {
    namespace row = rtl::row_cmd;
    namespace mode = rtl::lane_mode;
    DescriptorWords d("row command");
    const bool norm = c.op != RowOp::softmax;
    d.put_flags(row::kMode, mode::kRows | (norm ? mode::kRowNorm : 0) |
                                (c.op == RowOp::layer_norm ? mode::kRowCentred : 0) |
                                (norm && c.per_channel > 1 ? mode::kRowSplat : 0) |
                                (c.mask ? mode::kRowMask : 0) | (c.logarithm ? mode::kRowLog : 0));
    put_row_shape(d, c);
    d.put_count(row::kInOffset, affine_value(c.in.offset), "offset");
    d.put_stride(row::kInPiece, c.pieces, c.in.piece_stride, "stride of pieces");
    d.put_strides(row::kInStride, c.rows, c.in.row_stride, "stride");
    d.put_count(row::kOutOffset, affine_value(c.out.offset), "offset of the output");
    d.put_stride(row::kOutPiece, c.pieces, c.out.piece_stride, "stride of the output's pieces");
    d.put_strides(row::kOutStride, c.rows, c.out.row_stride, "stride of the output");
    d.put_count(row::kParameterOffset, affine_value(c.parameter_offset), "parameter offset");
    if (c.mask) {
      d.put_count(row::kMaskOffset, affine_value(c.mask->offset), "offset of the mask");
      d.put_stride(row::kMaskPiece, c.pieces, c.mask->piece_stride, "stride of the mask's pieces");
    }
    if (c.mask || norm)
      d.put_strides(row::kSecondStride, c.rows, c.mask ? c.mask->row_stride : c.parameter_stride,
                    c.mask ? "stride of the mask" : "stride of the channels");
    put_row_constants(d, c, norm);
    if (c.logarithm) put_row_logarithm(d, *c.logarithm);
    return d.checked_descriptor();
  }
  /// Bits of the mode of rows that slide.
  static uint32_t slide_bits(const LaneCommand& c) {
    namespace mode = rtl::lane_mode;
    if (c.slide == 0) return 0;
    return static_cast<uint32_t>(c.slide) << mode::kSlideShift |
           static_cast<uint32_t>(c.taps[0] - 1) << mode::kKeptShift;
  }
  Result<Descriptor> operator()(const LaneCommand& c) const {
    namespace vec = rtl::vector_cmd;
    namespace mode = rtl::lane_mode;
    DescriptorWords d("lane command");
    const LaneOperand b = c.b.value_or(LaneOperand{});
    const int64_t beat = contract::lane_beat(c, hw), beats = ceil_div(c.run, beat);
    d.put_flags(vec::kMode, static_cast<uint32_t>(c.op) << mode::kOpShift |
                                static_cast<uint32_t>(c.tap_op) << mode::kTapOpShift |
                                (c.b ? mode::kBOn : 0) |
                                (b.buffer == Buffer::parameter ? mode::kBParameter : 0) |
                                (b.splat ? mode::kBSplat : 0) | (c.across ? mode::kAcross : 0) |
                                (c.epilogue.table ? mode::kTableOn : 0) | slide_bits(c));
    d.put_count(vec::kBeat, beat, "beat");
    d.put_count(vec::kBeats, beats, "beats");
    d.put_count(vec::kTail, c.run - (beats - 1) * beat, "last beat");
    // A row's columns but the first are taken one behind the other: there are so many in a line.
    auto rows = c.rows;
    auto taps = c.taps;
    if (c.slide > 0) taps[0] += (std::exchange(rows.back(), 1) - 1) * c.slide;
    d.put_counts(vec::kTaps, taps, "taps");
    d.put_counts(vec::kRows, rows, "rows");
    d.put_count(vec::kAOffset, affine_value(c.a.offset), "offset");
    d.put_strides(vec::kTapStride, taps, c.tap_stride, "stride of the taps");
    d.put_strides(vec::kAStride, rows, c.a.row_stride, "stride");
    d.put_count(vec::kBOffset, affine_value(b.offset), "offset of the second operand");
    d.put_strides(vec::kBStride, c.rows, b.row_stride, "stride of the second operand");
    if (c.weighs()) {
      d.put_strides(vec::kWeightStride, c.taps, c.weight_stride, "stride of the weights");
      d.put_count(vec::kChannelOffset, affine_value(c.channel_offset), "offset of the channels");
    }
    d.put_count(vec::kOutOffset, affine_value(c.slot_offset), "offset of the output");
    d.put_strides(vec::kOutStride, c.rows, c.out_stride, "stride of the output");
    put_factors(d, vec::kFactors, c.a.multiplier, b.multiplier, false);
    d.signed_part(vec::kZeros, 0, 8, c.a.zero, "zero point");
    d.signed_part(vec::kZeros, 8, 8, b.zero, "zero point");
    d.signed_part(vec::kZeros, 16, 16, c.epilogue.zero, "zero point of the output");
    d.signed_part(vec::kLimits, 0, 8, c.epilogue.low, "limit");
    d.signed_part(vec::kLimits, 8, 8, c.epilogue.high, "limit");
    d.put_part(vec::kLimits, 16, 8, c.shift, "shift");
    return d.checked_descriptor();
  }
};

}  // namespace

int64_t evaluate(const Affine& a, std::span<const int64_t> indices) {
  int64_t value = a.base;
  for (const Affine::Term& t : a.terms) value += t.coeff * indices[static_cast<size_t>(t.loop)];
  return value;
}

Result<Descriptor> describe_command(const Program& program, const HwConfig& hw,
                                    const Command& command, std::span<const int64_t> indices,
                                    std::optional<Dataflow> layer) {
  return std::visit(Describe{program, hw, indices, layer.value_or(program.dataflow)}, command);
}

void add_drain(Descriptor& gemm, const DrainCommand& drain, std::span<const int64_t> indices) {
  gemm.words[rtl::gemm_cmd::kFlags] |= rtl::gemm_flags::kDrain;
  if (overwrites_sums(drain.first_of, drain.accumulate, indices))
    gemm.words[rtl::gemm_cmd::kFlags] |= rtl::gemm_flags::kDrainOverwrite;
  // Within an accumulator slot, of less than 2^30 rows.
  gemm.words[rtl::gemm_cmd::kAccumulatorRow] =
      static_cast<uint32_t>(evaluate(drain.accumulator_row, indices));
}

}  // namespace accsim::hw
