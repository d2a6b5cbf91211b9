#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/numbers/encoding.h"
#include "hw/program/epilogue.h"
#include "hw/program/vector_commands.h"
#include "hw/program/walk.h"

namespace accsim::hw {

/// Which of the six decoupled engines runs a command: load, array, post unit, vector unit, store,
/// or what copies between DRAM and the shared buffer.
class Queue : public Id<Queue, 6> {
 public:
  constexpr Queue() = default;
  static const Queue load, execute, post, vector, store, stage;
};
inline constexpr Queue Queue::load = nth(0), Queue::execute = nth(1), Queue::post = nth(2),
                       Queue::vector = nth(3), Queue::store = nth(4), Queue::stage = nth(5);
/// A T for each queue.
template <class T>
using PerQueue = PerId<Queue, T>;
/// As printed programs and reports spell it: "load", "execute", "post", "vector", "store", "stage".
std::string_view name(Queue q);

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
  Encoding encoding{};  ///< the machine's weight_encoding(); input stationary groups: dense
};

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

/// Accumulator rows -> output slot: bias, scale, clip, narrow. Row r of `rows` is written at
/// slot_offset + r * pitch. When `transposed` (input stationary) the accumulator holds one output
/// channel a row and the unit writes them as columns.
/// On an integer machine each output channel has 12 bytes of parameters, little-endian int32 bias,
/// multiplier and shift (0 .. 62). round((acc + bias) * multiplier / 2^shift) goes through the
/// epilogue, where acc + bias wraps at 32 bits, the product has 64 bits and round() takes halves
/// away from zero.
struct PostCommand {
  int64_t rows = 0, cols = 0;
  Affine accumulator_row;
  Affine parameter_offset;  ///< byte offset in the parameter slot of the first channel
  Affine slot_offset;
  int64_t pitch = 0;  ///< bytes between output pixels in the slot
  bool transposed = false;
  bool has_parameters = false;
  Epilogue epilogue{};
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
};

/// Parameter slot -> table of the post or vector unit: 256 bytes, entry v + 128 for the int8 v.
/// Commands of its queue behind it use it, those before it don't.
struct SetTableCommand {
  static constexpr int64_t kBytes = 256;
  Queue unit = Queue::post;  ///< or vector
  Affine parameter_offset;   ///< byte offset in the parameter slot
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

}  // namespace accsim::hw
