#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/cosim/descriptors.h"
#include "hw/cosim/mark_order.h"
#include "hw/cosim/region_cursor.h"
#include "hw/cosim/token_order.h"

namespace accsim::hw {

/// The commands of one queue in order, loops unrolled one iteration at a time, with the token
/// operations folded into the command they belong to.
class QueueUnroller {
 public:
  /// The orders are of the program; all live as long as this.
  QueueUnroller(const Program& program, const HwConfig& hw, const TokenOrder& order,
                const ChannelOrder& channels, Queue queue);

  struct Entry {
    Descriptor descriptor;
    const Command* command = nullptr;
    int64_t ordinal = 0;           ///< commands of this queue before it
    bool drained = false;          ///< the command after it is a drain, folded into it
    std::vector<int64_t> indices;  ///< by Loop::id; -1: not around it
    /// Token operations and marks before it, and behind it up to the next command; of a gemm with
    /// a drain those of both.
    std::vector<Sync> waits{}, signals{};
    std::vector<Mark> waited_marks{}, marks{};
    /// Slots that it uses, by buffer; not where loads write, which go round the ring.
    std::array<int64_t, kBuffers> slots{};
  };

  /// The next command; nothing after the last.
  Result<std::optional<Entry>> next();

 private:
  struct Op {
    enum class Kind : uint8_t { loop, end, command, sync, mark, wait_marks, layer };
    Kind kind;
    const Loop* loop = nullptr;
    size_t jump = 0;  ///< loop end: first op of the body
    const Command* command = nullptr;
    const Sync* sync = nullptr;
    const Mark* mark = nullptr;
    MarkOrder::Counts marks{};                        ///< wait_marks
    Dataflow dataflow = Dataflow::weight_stationary;  ///< layer
  };
  void append_ops(MarkOrder& marks);
  void append_ops(const Mark& mark, MarkOrder& marks);
  /// Runs `op`; true when a command before it is complete.
  Result<bool> run_op(const Op& op);
  Status take_command(const Command& command);
  Status fold_sync(const Sync& sync);
  Token token_of_sync(const Sync& sync);

  const Program& program_;
  const HwConfig& hw_;
  const TokenOrder& order_;
  const Queue queue_;
  const rtl::CommandPort port_;
  std::vector<Op> ops_;
  std::vector<int64_t> indices_;
  size_t at_ = 0;
  int64_t ordinal_ = 0;
  Dataflow dataflow_;          ///< of the layer
  std::vector<Token> waits_;   ///< for the next command
  std::vector<Sync> syncs_;    ///< the same as the text has them, with those of regions
  std::vector<Mark> waited_;   ///< marks that it waits for
  MarkOrder::Counts marks_{};  ///< that the next command waits for
  RegionCursor regions_;
  /// Operations of this queue so far, by kind and buffer.
  std::array<std::array<int64_t, kBuffers>, kSyncKinds> done_syncs_{};
  std::array<int64_t, kBuffers> slots_{};  ///< that this queue uses now
  std::optional<Entry> open_, done_;
};

/// Where a command of a queue stands.
struct CommandPlace {
  std::string text;   ///< "execute command 12 of layer 'fc' at oc=1 k=0", with the loops around it
  std::string layer;  ///< empty in a program without layers
};
/// Of the queue's command `ordinal`.
CommandPlace place_of_command(const Program& program, const HwConfig& hw, Queue queue,
                              int64_t ordinal);

}  // namespace accsim::hw
