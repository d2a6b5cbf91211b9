#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/base/inline_vector.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// The tile program: the narrow waist between the mapper, which writes it, and timing, energy,
/// golden and RTL, which only read it. A program is a loop nest over commands and token operations.
/// Its text order is a valid sequential execution; the six queues below run it decoupled, each in
/// order, and meet only at tokens. Addresses are affine in the loop indices, durations don't depend
/// on them.

/// Which of the six decoupled engines runs a command: load, array, post unit, vector unit, store,
/// or what copies between DRAM and the shared buffer.
enum class Queue : uint8_t { load, execute, post, vector, store, stage };
inline constexpr size_t kQueues = 6;
/// As printed programs and reports spell it: "load", "execute", "post", "vector", "store", "stage".
std::string_view name(Queue q);

/// base + sum of coeff * index over the enclosing loops.
struct Affine {
  struct Term {
    int loop;  ///< Loop::id
    int64_t coeff;
    friend bool operator==(const Term&, const Term&) = default;
  };
  int64_t base = 0;
  std::vector<Term> terms;

  Affine() = default;
  Affine(int64_t constant) : base(constant) {}
  /// Adds coeff * index of a loop that the sum doesn't have yet.
  void add_term(int loop, int64_t coeff) { terms.push_back({loop, coeff}); }
  Affine& operator+=(const Affine& other);
  friend Affine operator+(Affine a, const Affine& b) { return a += b; }
  friend Affine operator*(Affine a, int64_t factor);
  friend bool operator==(const Affine&, const Affine&) = default;
};

/// Where a tensor lives outside the slots.
enum class Memory : uint8_t { dram, shared };
/// As printed programs and reports spell it: "dram", "shared".
std::string_view name(Memory m);

/// A tensor of the program. `bytes` is its full extent in memory. With `slots` it is a region: a
/// ring of that many equal parts with tokens of its own. One queue (stage or store) fills the parts
/// in turn, one (load or stage) reads them; addresses of theirs count from the part's first byte.
/// With an `address` (no region, in the shared buffer) it may have bytes that other tensors with
/// one have, too: from its first command on, a write, they are its own, and those are gone. One
/// that is `given` has them when the program begins, and what they hold.
struct ProgramTensor {
  std::string name;
  Memory memory = Memory::dram;
  int64_t bytes = 0;
  int64_t slots = 0;     ///< 0: not a region
  int64_t address = -1;  ///< of its first byte, among those with one; -1: bytes of its own
  bool given = false;    ///< with an address: as if written when the program begins
  int64_t pitch = 0;     ///< of rows of which queues use parts at the same time; 0: they don't

  bool is_placed() const { return address >= 0; }
  int64_t slot_bytes() const { return slots > 0 ? bytes / slots : bytes; }
};
/// Of a tensor, at most: the core's addresses have so many bits.
inline constexpr int64_t kMostTensorBytes = int64_t{1} << 48;
inline constexpr size_t kMostRegions = 8;        ///< of a program
inline constexpr int64_t kMostRegionSlots = 16;  ///< of a region

/// A strided walk over a tensor: nested counts and byte strides, outermost first, around contiguous
/// runs. The slot side is dense: runs follow one another without gaps.
struct Walk {
  struct Level {
    int64_t count;
    int64_t stride;  ///< bytes
    friend bool operator==(const Level&, const Level&) = default;
  };
  InlineVector<Level, 8> levels;
  int64_t run = 0;  ///< bytes of one contiguous piece

  int64_t run_count() const;
  int64_t bytes() const { return run_count() * run; }
  /// Folds levels whose stride continues the run into it, and drops levels of count 1.
  Walk& merge();
  friend bool operator==(const Walk&, const Walk&) = default;
};

/// Which bytes of a load lie outside the tensor (explicit im2col). The load's bytes are, in the
/// order in which its walk visits them, [image][z][y][x] output positions of [z][y][x] kernel taps
/// of `tap` bytes; output o and kernel tap k of a dimension read the tensor's coordinate
/// origin + o * stride + k * dilation, which is padding outside [0, extent).
struct PaddedWindow {
  std::array<int64_t, 3> extent{1, 1, 1};  ///< depth, height, width of the tensor, in pixels
  std::array<int64_t, 3> count{1, 1, 1};   ///< output positions
  std::array<int64_t, 3> kernel{1, 1, 1};  ///< kernel taps
  std::array<int64_t, 3> stride{1, 1, 1};
  std::array<int64_t, 3> dilation{1, 1, 1};
  std::array<Affine, 3> origin;           ///< tensor coordinate of the first tap, maybe < 0
  std::array<int64_t, 3> pitch{0, 0, 0};  ///< bytes from one plane, line, pixel to the next
  int64_t images = 1;
  int64_t image_pitch = 0;  ///< bytes from one image to the next
  int64_t tap = 0;          ///< bytes of one kernel tap
  int32_t pad_value = 0;    ///< what padded bytes are written as

  int64_t bytes() const;
};

/// Which rows of a tensor a load reads (embeddings, KV pages). Item i of the walk's outermost level
/// (of stride 0) begins at the load's source + index[i] * pitch. index[i] is a little-endian uint32
/// of the parameter slot that the load queue holds. An index of `limit` or more reads row limit -
/// 1.
struct Gather {
  static constexpr int64_t kIndexBytes = 4;
  Affine index_offset;  ///< byte offset in the parameter slot of the first index
  int64_t pitch = 0;    ///< bytes from one row of the tensor to the next; less than 2^32
  int64_t limit = 1;    ///< rows of the tensor; at most 2^32
};

/// Memory -> slot. When `padded` is set, the walk reads a padded window: it may leave the tensor,
/// but only at positions that `padded` names. Those are written as its pad_value without being
/// fetched, but are counted as bytes moved.
/// When `transposed` is set, the walk's innermost level with its run is a matrix, rows of `run`
/// bytes, that is written to the slot turned: element j of row i is element i of row j there. The
/// matrices of the outer levels follow one another in the slot without gaps.
/// When `gather` is set, indices say where the items of the outermost level lie; such a load is
/// neither padded nor transposed.
struct LoadCommand {
  Buffer buffer = Buffer::activation;
  int tensor = 0;      ///< index into Program::tensors
  Affine source;       ///< byte offset of the first run
  Affine slot_offset;  ///< byte offset in the slot
  Walk walk;
  std::optional<PaddedWindow> padded = std::nullopt;
  int64_t transposed = 0;  ///< bytes of an element of the matrices; 0: not transposed
  std::optional<Gather> gather = std::nullopt;
};

/// The walk of the activation operand through the tile in its slot: a dense [depth][height][width]
/// tile of `pixel`-byte pixels. The window has a box of `count` positions (z, y, x), flattened with
/// x innermost. A gemm's m rows are the positions first .. first + m - 1 of it: they may begin in
/// the middle of a line and end in the middle of another. Position (z, y, x) reads the tile from
/// pixel origin + (z, y, x) * stride: `k` elements whose flat index runs over (kernel line, bytes
/// of one kernel line); `line` bytes of a kernel line are contiguous in the tile, the next kernel
/// line is `line_step` tile lines further down. Bytes outside the tile read as `pad_value`.
struct OperandWindow {
  std::array<int64_t, 3> tile{1, 1, 1};    ///< depth, height, width of the tile, in pixels
  int64_t pixel = 0;                       ///< bytes of one pixel in the tile
  std::array<int64_t, 3> count{1, 1, 1};   ///< positions along z, y, x
  std::array<int64_t, 3> stride{1, 1, 1};  ///< pixels between positions
  std::array<Affine, 3> origin;            ///< tile coordinate of position 0; may be negative
  Affine first;                            ///< position of the first streamed row
  int64_t line = 0;                        ///< bytes of one kernel line
  int64_t line_step = 1;                   ///< tile lines between kernel lines
  Affine offset;                           ///< flat byte index of the first of the k elements
  int32_t pad_value = 0;                   ///< zero point of the activations

  int64_t position_count() const { return count[0] * count[1] * count[2]; }
};

/// One weight tile in its slot: k rows of n elements, or for input stationary n rows of k elements.
/// Packed groups (`groups` > 1) are block-diagonal, and the slot holds their blocks only. Row r of
/// the tile's k belongs to group R / group_k % groups, where R = first_k + r, and column c of its n
/// to group c / group_n; where the two differ the weight is 0. The slot has k rows of group_n
/// elements, element c % group_n at column c; or for input stationary n rows, each with the
/// elements of its group for all R from 0 on: R / (groups * group_k) * group_k + R % group_k at R.
struct WeightTile {
  Affine offset;      ///< byte offset in the slot (input stationary, packed: of R = 0)
  int64_t pitch = 0;  ///< bytes from one row to the next
  int64_t groups = 1;
  int64_t group_k = 0, group_n = 0;  ///< of packed groups: rows and columns of a block
  Affine first_k{};                  ///< of packed groups: R of the tile's first row
  /// Of an element; 8: an element as the machine has them. 4: signed, two in a byte, the first in
  /// its low half, each row from a whole byte on (not input stationary packed groups).
  int bits = 8;
};
/// Bytes of `elements` of a row of weights of 4 bits, or of `whole` bytes each.
constexpr int64_t weight_row_bytes(int64_t elements, int bits, int64_t whole) {
  return bits == 4 ? (elements + 1) / 2 : elements * whole;
}

/// One pass of the array. Weight stationary: k x n weights held, m activation rows streamed. Input
/// stationary: k x m activations held, n weight columns streamed. Output stationary: k streamed,
/// the m x n sums stay in the array until a DrainCommand.
struct GemmCommand {
  int64_t m = 0, k = 0, n = 0;
  int64_t useful_macs = 0;  ///< m*k*n less the zero blocks of packed groups
  OperandWindow window;
  WeightTile weights;
  Affine accumulator_row;  ///< first of the accumulator rows written (not output stationary)
  /// Overwrites instead of accumulating when every one of these loops is at index 0 (output
  /// stationary: clears the sums in the array). `accumulate` set: never overwrites.
  std::vector<int> first_of;
  bool accumulate = false;
};

/// Output stationary only: moves m rows of n sums from the array to the accumulator.
struct DrainCommand {
  int64_t m = 0, n = 0;
  Affine accumulator_row;
  std::vector<int> first_of;  ///< as in GemmCommand, for the accumulator rows
  bool accumulate = false;
};

/// What a post adds. r is the int8 that its output slot holds at the place of y. Loads have put it
/// there before the slot was primed. y = clip(v + round((r - zero) * multiplier / 2^shift), low,
/// high).
struct Residual {
  int32_t zero = 0;        ///< -128 .. 127
  int32_t multiplier = 1;  ///< -32768 .. 32767
  int32_t shift = 0;       ///< 0 .. 31
  int32_t low = -128, high = 127;
  friend bool operator==(const Residual&, const Residual&) = default;
};

/// Accumulator rows -> output slot: bias, scale, clip, narrow. Row r of `rows` is written at
/// slot_offset + r * pitch. When `transposed` (input stationary) the accumulator holds one output
/// channel a row and the unit writes them as columns.
/// On an integer machine each output channel has 12 bytes of parameters, little-endian int32 bias,
/// multiplier and shift (0 .. 62), and v = clip(round((acc + bias) * multiplier / 2^shift) +
/// output_zero, low, high), where acc + bias wraps at 32 bits, the product has 64 bits and round()
/// takes halves away from zero. With `table`, v = table[v] of the unit's table (SetTableCommand).
/// y is v, or what Residual says.
struct PostCommand {
  int64_t rows = 0, cols = 0;
  Affine accumulator_row;
  Affine parameter_offset;  ///< byte offset in the parameter slot of the first channel
  Affine slot_offset;
  int64_t pitch = 0;  ///< bytes between output pixels in the slot
  bool transposed = false;
  bool has_parameters = false;
  bool relu = false;               ///< clips at output_zero too, if that is more than `low`
  int32_t output_zero = 0;         ///< zero point of the outputs
  int32_t low = -128, high = 127;  ///< within int8; within int16 when a residual comes at once
  bool table = false;
  std::optional<Residual> residual = std::nullopt;
  /// Groups along k with a scale each (4-bit weights): a result is put together from `groups` sums
  /// (1 .. kMostGroups), of accumulator rows `group_rows` apart. To (acc + bias) * multiplier of
  /// the first group comes acc * m of each other one, before rounding; m is int16, at group_offset
  /// + 2 * ((g - 1) * channels of the post + channel) in the parameter slot for group g = 1 ..
  /// groups - 1.
  static constexpr int64_t kMostGroups = 1 << 15;
  static constexpr int64_t kGroupBytes = 2;  ///< of a group's multiplier
  int64_t groups = 1;
  int64_t group_rows = 0;
  Affine group_offset{};

  int64_t channels() const { return transposed ? rows : cols; }
  int32_t lowest_result() const { return relu && output_zero > low ? output_zero : low; }
};

/// Parameter slot -> table of the post or vector unit: 256 bytes, entry v + 128 for the int8 v.
/// Commands of its queue behind it use it, those before it don't.
struct SetTableCommand {
  static constexpr int64_t kBytes = 256;
  Queue unit = Queue::post;  ///< or vector
  Affine parameter_offset;   ///< byte offset in the parameter slot
};

/// What a LaneCommand does with its two operands; copy has one.
enum class LaneOp : uint8_t { copy, add, sub, mul, min, max };
inline constexpr size_t kLaneOps = 6;
/// As printed programs spell it: "copy", "add", ...
std::string_view name(LaneOp op);
/// How a LaneCommand puts the taps of its first operand together.
enum class TapOp : uint8_t { sum, min, max };
inline constexpr size_t kTapOps = 3;
/// As printed programs spell it: "sum", "min", "max".
std::string_view name(TapOp op);

inline constexpr size_t kLaneLevels = 4;  ///< of the rows of a LaneCommand
inline constexpr size_t kTapLevels = 2;   ///< of its taps

/// Where an operand of a LaneCommand lies in its slot, and what its int8 values mean.
struct LaneOperand {
  Buffer buffer = Buffer::activation;             ///< or parameter, of the second operand
  Affine offset;                                  ///< byte offset in the slot of the first row
  std::array<int64_t, kLaneLevels> row_stride{};  ///< bytes; 0: the same again (broadcast)
  bool splat = false;      ///< one byte for all of a run (broadcast along it)
  int32_t zero = 0;        ///< -128 .. 127
  int32_t multiplier = 1;  ///< -32768 .. 32767
};

/// Slots -> vector unit -> output slot, int8 by int8: table, arithmetic, pooling and reduction. A
/// row (of a nest of counts, outermost first) is a run of `run` bytes; each of its elements is put
/// together from the taps of `a`, bytes at `tap_stride` from one another:
///   A = sum, min or max over the taps of (a - a.zero)      (32 bits, `across`: over the run too)
///   B = b - b.zero
///   s = A * a.multiplier                                   copy
///       A * a.multiplier +- B * b.multiplier               add, sub
///       A * B * a.multiplier                               mul
///       min, max (A * a.multiplier, B * b.multiplier)      min, max
///   y = clip(round(s / 2^shift) + output_zero, low, high), then table[y] with `table`
/// in 64 bits, halves away from zero. Row i goes to slot_offset + sum of index * out_stride,
/// `across`: as one byte.
///
/// Rows whose windows overlap may be walked column by column (`slide`): a column is the inner taps
/// at an outer one; a row of the innermost level begins `slide` columns behind the one before it,
/// keeps the columns that both have, and takes but the others. It is a copy with 2 .. kMostColumns
/// outer taps, more than `slide`, of at most kMostKept taps in all, not across, and
/// a.row_stride[3] = slide * tap_stride[0]. Values are those of the same command without it.
struct LaneCommand {
  static constexpr int64_t kMostColumns = 8;
  static constexpr int64_t kMostKept = 2048;
  LaneOp op = LaneOp::copy;
  std::array<int64_t, kLaneLevels> rows{1, 1, 1, 1};
  int64_t run = 0;  ///< bytes of a row
  TapOp tap_op = TapOp::sum;
  std::array<int64_t, kTapLevels> taps{1, 1};    ///< outer, inner; at most 2^20 (with the run)
  std::array<int64_t, kTapLevels> tap_stride{};  ///< bytes
  bool across = false;                           ///< reduces the run: one byte a row
  int64_t slide = 0;  ///< columns that a row doesn't share with the one before; 0: takes all taps
  LaneOperand a;
  std::optional<LaneOperand> b = std::nullopt;
  Affine slot_offset;                             ///< in the output slot
  std::array<int64_t, kLaneLevels> out_stride{};  ///< bytes
  int32_t shift = 0;                              ///< 0 .. 62
  int32_t output_zero = 0;
  int32_t low = -128, high = 127;
  bool table = false;

  int64_t row_count() const { return rows[0] * rows[1] * rows[2] * rows[3]; }
  int64_t tap_count() const { return taps[0] * taps[1]; }
  /// Taps that are taken for all rows, each of `run` bytes.
  int64_t taps_taken() const {
    if (slide == 0) return row_count() * tap_count();
    return row_count() / rows[3] * (taps[0] + (rows[3] - 1) * slide) * taps[1];
  }
  /// Times that a column of a row is put together with the columns before it.
  int64_t columns_joined() const { return slide == 0 ? 0 : taps_taken() / taps[1] * (taps[0] - 1); }
  /// Is `slide` 0, or as it has to be?
  bool slides_well() const;
  int64_t out_bytes() const { return across ? row_count() : row_count() * run; }
};
/// The class of lanes that a LaneCommand takes, an index of kLaneClassNames: elementwise, pool with
/// taps, reduce across.
size_t lane_class(const LaneCommand& c);

/// What a RowCommand does with a row.
enum class RowOp : uint8_t { softmax, layer_norm, rms_norm };
inline constexpr size_t kRowOps = 3;
/// As printed programs spell it: "softmax", "layer_norm", "rms_norm".
std::string_view name(RowOp op);

/// Where the rows of a RowCommand, or of its mask, lie in the activation slot.
struct RowOperand {
  Affine offset;                                  ///< byte offset of the first row
  std::array<int64_t, kLaneLevels> row_stride{};  ///< bytes; 0: the same again
  int64_t piece_stride = 0;                       ///< bytes from a piece of a row to the next
};

/// The second result of a softmax: the logarithm of each row's sum of exponentials, an element.
struct RowLogarithm {
  Affine offset;  ///< in the output slot; row i, in the order of its nest, has byte i from there on
  // The constants mu, ml, shift and add of docs/vector-arithmetic.md.
  int32_t row_multiplier = 0, sum_multiplier = 0;  ///< 0 .. 2^31 - 1
  int32_t shift = 0;                               ///< 0 .. 62
  int64_t addend = 0;                              ///< -2^60 .. 2^60
};

/// Softmax or normalisation of int8 rows: activation slot -> vector unit -> output slot, by the
/// arithmetic of docs/vector-arithmetic.md. A row (of a nest of counts, outermost first) is
/// `pieces` pieces of `run` contiguous bytes each, one behind the other as elements; at most
/// kElements. A softmax' tables lie in the parameter slot, kTableBytes from parameter_offset on: 64
/// words coarse, 64 words fine, little-endian int32, each 0 .. 2^30 and the first of both 2^30. A
/// normalisation has kChannelBytes of parameters a channel: two words, beta, and above a multiplier
/// of 26 bits with a sign a shift of 6; element e of every piece is of channel e / per_channel,
/// channels of a row at parameter_offset + the row's index times parameter_stride. run is a
/// multiple of per_channel.
struct RowCommand {
  static constexpr int64_t kElements = 65536;  ///< the longest row
  static constexpr int64_t kTableBytes = 512;  ///< of a softmax
  static constexpr int64_t kChannelBytes = 8;  ///< of a normalisation
  RowOp op = RowOp::softmax;
  std::array<int64_t, kLaneLevels> rows{1, 1, 1, 1};
  int64_t pieces = 1;
  int64_t run = 0;
  RowOperand in;
  std::optional<RowOperand> mask = std::nullopt;  ///< softmax: an addend of its own scale
  Affine parameter_offset;
  std::array<int64_t, kLaneLevels> parameter_stride{};
  int64_t per_channel = 1;
  RowOperand out;  ///< in the output slot
  // Softmax: SoftmaxTables' constants of these names.
  int32_t row_multiplier = 1, mask_multiplier = 0, difference_shift = 0, numerator = 0;
  int32_t exponent = 0;
  std::optional<RowLogarithm> logarithm = std::nullopt;
  // Normalisation: NormConstants' constants of these names.
  int32_t input_zero = 0, unit_bits = 22;
  int64_t epsilon = 0;
  int32_t output_zero = 0, low = -128, high = 127;

  int64_t row_count() const { return rows[0] * rows[1] * rows[2] * rows[3]; }
  int64_t length() const { return pieces * run; }  ///< elements of a row
  /// Channels of a piece; a softmax has none.
  int64_t channels() const { return op == RowOp::softmax ? 0 : run / per_channel; }
  /// Elements that follow one another in memory and, where a channel has several, are of one.
  int64_t contiguous_elements() const {
    return op != RowOp::softmax && per_channel > 1 ? per_channel : run;
  }
};

/// Activation slot -> vector unit -> output slot, in operations only: what no other command covers.
/// Costed; golden and RTL don't know it.
struct VectorCommand {
  std::array<int64_t, kLaneClasses> ops{};  ///< lane operations by class
  int64_t in_bytes = 0, out_bytes = 0;
};

/// Output slot -> memory.
struct StoreCommand {
  int tensor = 0;
  Affine target;  ///< byte offset of the first run
  Affine slot_offset;
  Walk walk;
};

/// Copies between DRAM and the shared buffer, either way, beside what the other queues do. The
/// bytes lie densely in the shared buffer, in the order of the walk.
struct StageCommand {
  int from = 0, to = 0;   ///< tensors; one in DRAM, one in the shared buffer
  Affine source, target;  ///< byte offset of the first byte there
  Walk walk;              ///< of the one in DRAM
};

/// One thing for a queue to do. GemmCommand and DrainCommand are the array's, LaneCommand,
/// RowCommand and VectorCommand the vector unit's.
using Command = std::variant<LoadCommand, GemmCommand, DrainCommand, PostCommand, VectorCommand,
                             StoreCommand, SetTableCommand, LaneCommand, RowCommand, StageCommand>;
/// The queue that runs the command.
Queue queue_of(const Command& command);

/// Token operations. Each buffer has a ring of slots. A "free" token (at the start as many as
/// slots) lets a producer fill the next slot, and a "full" token lets a consumer read it. A
/// "primed" one hands an output slot that loads have filled to the post that adds to it. A wait
/// applies to the queue's next command. A signal fires when the queue's previous command is done
/// with the slot. A region has free and full tokens like a buffer. Its waits are for the queue's
/// next command, and the command before a signal has used that region.
enum class SyncKind : uint8_t {
  wait_free,
  signal_full,
  wait_full,
  signal_free,
  signal_primed,
  wait_primed
};
inline constexpr size_t kSyncKinds = 6;
/// Does the queue's next command wait for it?
constexpr bool is_wait(SyncKind k) {
  return k == SyncKind::wait_free || k == SyncKind::wait_full || k == SyncKind::wait_primed;
}
/// As printed programs spell it: "wait_free", "signal_full", ...
std::string_view name(SyncKind k);

/// A token operation in a queue's text, on a buffer or a region.
struct Sync {
  SyncKind kind;
  Queue queue;
  Buffer buffer;
  int region = -1;  ///< index into Program::tensors; -1: the buffer
  friend bool operator==(const Sync&, const Sync&) = default;
};

struct Item;

/// `count` iterations of the body, one after the other; its index appears in addresses by `id`.
struct Loop {
  int id = 0;        ///< unique in the program
  std::string name;  ///< what it runs over, for people: "oh", "n", "k", ...
  int64_t count = 1;
  std::vector<Item> body;
};

/// Marks order what queues do with a tensor in memory that isn't a region. The load, store or stage
/// queue sets one outside of loops, behind its last command on the tensor; it is reached when the
/// queue's command before it is done. A wait, of another queue or the same, holds its queue's next
/// command back until all of the tensor's marks before it in the text are reached. Marks aren't
/// used up.
struct Mark {
  bool waits = false;
  Queue queue = Queue::load;
  int tensor = 0;  ///< index into Program::tensors
  friend bool operator==(const Mark&, const Mark&) = default;
};

/// The head of a network's layer, outside of loops: what follows, up to the next one, is its text.
struct LayerHead {
  std::string name;
  Dataflow dataflow = Dataflow::weight_stationary;  ///< of its gemms
};

/// One line of a program's text: a loop, a command, a token operation, a mark, a layer's head.
struct Item {
  std::variant<Loop, Command, Sync, Mark, LayerHead> node;
};

/// A whole program: what a layer, a part of it, or a network does on one machine.
struct Program {
  std::string name;
  Dataflow dataflow = Dataflow::weight_stationary;  ///< of the gemms before the first LayerHead
  std::vector<ProgramTensor> tensors;
  std::vector<Item> body;
  int loops = 0;  ///< ids are 0 .. loops-1
};

/// The number among the program's regions of each of its tensors; -1 where it isn't one.
std::vector<int> region_numbers(const Program& program);

/// Checks a program against a machine. Every address lies within its tensor or slot at the extremes
/// of the loops. Array and accumulator limits hold. Every slot is read only while it is held.
/// Tensors in the shared buffer fit. Tokens are balanced in every loop, and nothing can block for
/// ever. Errors name the command and its loops.
Status verify(const Program& program, const HwConfig& hw);

/// The program as indented text, one command a line.
std::string program_text(const Program& program);

/// What a program does, whatever the time: exact sums over all iterations.
struct Counts {
  Macs macs;                               ///< useful ones
  Macs array_macs;                         ///< with the zero blocks of packed groups
  std::array<Bytes, 2> read{}, written{};  ///< by Memory
  Bytes staged;                            ///< of both, those copied from one to the other
  std::array<Bytes, kBuffers> buffer_read{}, buffer_written{};
  std::array<int64_t, kLaneClasses> vector_ops{};
  int64_t joined = 0;     ///< columns that lane commands put together with those before, by element
  int64_t divisions = 0;  ///< of rows, with roots and logarithms: they take no lanes
  int64_t commands = 0;
  int64_t gemms = 0;
  int64_t preload_cycles = 0;  ///< in which stationary operands go into the array

  Counts& operator+=(const Counts& other);
  friend bool operator==(const Counts&, const Counts&) = default;
};
/// Sums up a verified program. Takes time in the length of its text, not in its iterations.
Counts count_program(const Program& program, const HwConfig& hw);

}  // namespace accsim::hw
