#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "hw/golden/golden.h"
#include "hw/golden/slots.h"
#include "hw/program/reach.h"

namespace accsim::hw {

/// An offset or count as the index of an element.
inline size_t index(int64_t i) { return static_cast<size_t>(i); }

/// Can golden run it? Else its error: of the machine's types, or of the image.
Status can_run(const Program& program, const HwConfig& hw, const MemoryImage& image);

/// The state of run_golden() and one function a command. The first error ends the run.
class GoldenMachine {
 public:
  /// All of it lives as long as this, and can_run(). `records`: retired() has the values, too.
  GoldenMachine(const Program& program, const HwConfig& hw, MemoryImage& image, bool records);
  GoldenMachine(const Program&, const HwConfig&&, MemoryImage&, bool) = delete;  // it is kept
  GoldenMachine(const Program&&, const HwConfig&, MemoryImage&, bool) = delete;

  /// Runs on, up to and with the next command, which is retired() then; false when there is none.
  Result<bool> step();
  /// Until the next step.
  const RetiredCommand& retired() const { return retired_; }
  /// The loops around it, outermost first.
  std::span<const Loop* const> nest() const { return nest_; }
  /// The head of its layer; nullptr where there is none.
  const LayerHead* layer() const { return layer_; }
  /// The sums of the latest gemm alone, m x n.
  std::span<const uint32_t> products() const { return products_; }

 private:
  /// A line of the program's text, or an end of a loop: one of the four.
  struct Op {
    const Loop* loop = nullptr;
    const Sync* sync = nullptr;
    const LayerHead* head = nullptr;
    const Command* command = nullptr;
    bool ends = false;  ///< the loop
    size_t jump = 0;    ///< of a loop: its end; of an end: the loop
  };
  void flatten_program();
  /// Executes the op at at_ and goes on to the next; true when it was a command.
  bool execute_op();

  bool has_failed() const { return error_.has_value(); }
  void fail(Errc code, std::string message);

  void enter_loop(const Op& op);
  void finish_iteration(const Op& op);
  void visit(const Sync& sync);
  void visit(const Command& command);

  void execute(const LoadCommand& c);
  void load_transposed(const LoadCommand& c);
  void load_gathered(const LoadCommand& c);
  void execute(const GemmCommand& c);
  void execute(const DrainCommand& c);
  void execute(const PostCommand& c);
  void execute(const VectorCommand& c);
  void execute(const StoreCommand& c);
  void execute(const SetTableCommand& c);
  void execute(const LaneCommand& c);
  void execute(const RowCommand& c);
  void execute(const StageCommand& c);

  int64_t affine_value(const Affine& a);
  /// Whether [first, first + bytes) lies in [0, limit); fails when not.
  bool check_inside(int64_t first, int64_t bytes, int64_t limit, std::string_view what);
  /// The same of what `bytes` from `first` + all of `reach` on reaches in a slot of the ring.
  bool inside(int64_t first, const Reach& reach, int64_t bytes, const SlotRing& ring,
              std::string_view what) {
    const int64_t begin = add_far(first, reach.low), end = add_far(first, reach.high);
    if (begin < 0) return check_inside(begin, 0, ring.slot_bytes(), what);
    return check_inside(begin, add_far(end - begin, bytes), ring.slot_bytes(), what);
  }
  std::vector<uint8_t>* tensor_bytes(int index);
  /// The bytes of a tensor that commands reach: of a region the slot that is being filled, or read.
  /// Fails when there is none.
  std::span<uint8_t> reachable_bytes(int index, bool fills);
  bool apply_to_region(const Sync& s);
  SlotRing& slot_ring(Buffer b) { return rings_[static_cast<size_t>(b)]; }
  bool overwrites_sums(const std::vector<int>& first_of, bool accumulate) const;

  /// Sum of a row and column of the accumulator slot being filled or read.
  uint32_t read_sum(std::span<const uint8_t> slot, int64_t row, int64_t col) const;
  void put_sum(std::span<uint8_t> slot, int64_t row, int64_t col, uint32_t sum) const;
  /// Where a sum begins in its slot.
  int64_t sum_at(int64_t row, int64_t col = 0) const { return (row * hw_.array.cols + col) * 4; }

  bool gather_operands(const GemmCommand& c);
  bool gather_rows(const GemmCommand& c);
  bool gather_weights(const GemmCommand& c);
  bool gather_blocks(const GemmCommand& c);
  void products(const GemmCommand& c);
  using Table = std::array<int8_t, SetTableCommand::kBytes>;
  Table& unit_table(Queue unit) { return unit == Queue::post ? post_table_ : vector_table_; }
  struct LaneSlots;
  bool operands(const LaneCommand& c, LaneSlots& s);
  int8_t compute_result(const LaneCommand& c, const LaneSlots& s, const std::array<int64_t, 4>& row,
                        int64_t element) const;
  std::optional<int8_t> weighed(const LaneCommand& c, const LaneSlots& s,
                                const std::array<int64_t, 4>& row, int64_t element);
  struct RowSlots;
  bool operands(const RowCommand& c, RowSlots& s);
  /// A row's elements, and behind them its logarithm, if it has one.
  std::optional<std::vector<int8_t>> compute_result(const RowCommand& c, const RowSlots& s,
                                                    const std::array<int64_t, 4>& row);
  bool check_numbers(const PostCommand& c);
  /// `r` with bias, multiplier and shift of a channel, the first one's at byte `first`.
  std::optional<Requantise> channel_parameters(std::string_view what, std::span<const uint8_t> slot,
                                               int64_t first, int64_t channel);

  const Program& program_;
  const HwConfig& hw_;
  MemoryImage& image_;
  const bool records_;
  std::vector<Op> ops_;
  size_t at_ = 0;  ///< the next of them
  const LayerHead* layer_ = nullptr;
  Dataflow dataflow_;  ///< of the layer
  Poison poison_;
  std::array<SlotRing, kBuffers> rings_;
  /// Slots of a region that have been filled and read so far, and whether one is in work.
  struct Region {
    int64_t filled = 0, read = 0;
    bool filling = false, held = false;
  };
  std::vector<Region> regions_;  ///< by tensor
  std::vector<int64_t> index_;   ///< by loop id; -1 outside the loop
  std::vector<const Loop*> nest_;
  std::optional<Error> error_;
  RetiredCommand retired_;
  Table post_table_, vector_table_;
  std::vector<int8_t> a_, w_;              ///< operands of the current gemm: m x k and k x n
  std::vector<int16_t> wide_a_, columns_;  ///< the same as they are multiplied: m x k and n x k
  std::vector<uint32_t> products_;         ///< m x n sums of the current gemm alone
  std::vector<uint32_t> array_;            ///< output stationary sums in the array, rows x cols
};

}  // namespace accsim::hw
