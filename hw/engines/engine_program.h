#pragma once
#include <cstdint>
#include <vector>

#include "hw/engines/engine_machine.h"

namespace accsim::hw {

/// What a read writes beside what it reads: items of zeros (docs/engines.md, "Padding").
struct ReadPadding {
  int64_t rows = 0;    ///< at the top: they delay the first request
  int64_t above = 0;   ///< items that come first: at the top and at both sides
  int64_t passed = 0;  ///< cycles that pass then
  int64_t below = 0;   ///< items that come last: at the bottom

  bool operator==(const ReadPadding&) const = default;
};

/// A command of a program (docs/engines.md, "Commands").
struct EngineCommand {
  int64_t kind = 0;       ///< index of its kind
  int64_t items = 0;      ///< compute
  int64_t address = 0;    ///< read, write: byte address of the first row
  int64_t row_bytes = 0;  ///< read, write: bytes of a row
  int64_t rows = 0;       ///< read, write
  int64_t pitch = 0;      ///< read, write: bytes from a row to the next
  ReadPadding padding;    ///< read
  uint32_t takes = 0;     ///< bit q: a token of token queue q
  uint32_t posts = 0;     ///< the same

  bool operator==(const EngineCommand&) const = default;
};

/// Commands in the order of memory, from a page's first byte on.
using EngineProgram = std::vector<EngineCommand>;

/// Commands of a program, and requests of all its reads and writes: each is stepped.
inline constexpr int64_t kMostCommands = 1 << 22;
inline constexpr int64_t kMostRequests = 1 << 24;

/// Can the machine take the program (section "What a program must satisfy")? Says what the first
/// command is that it can't take. Errc::capacity: too many commands or requests. Errc::overflow:
/// cycles may leave 64 bits. The machine must have passed check_engine_machine().
Status check_engine_program(const EngineProgram& program, const EngineMachine& machine);

/// The requests of a read, or the bursts of a write, one by one (docs/engines.md, "Rows").
class RowPieces {
 public:
  RowPieces(const EngineCommand& command, const EngineMachine& machine)
      : page_(machine.page_beats * machine.port_bytes),
        beat_(machine.port_bytes),
        row_bytes_(command.row_bytes),
        pitch_(command.pitch),
        row_(command.address),
        at_(command.address),
        left_(command.rows) {}

  bool done() const { return left_ == 0; }
  /// Bytes of the piece, and the beats that they touch.
  int64_t bytes() const { return stop() - at_; }
  int64_t beats() const { return (stop() - 1) / beat_ - at_ / beat_ + 1; }
  void next() {
    at_ = stop();
    if (at_ < row_ + row_bytes_) return;
    row_ += pitch_;
    at_ = row_;
    --left_;
  }

 private:
  int64_t stop() const {
    const int64_t page_end = (at_ / page_ + 1) * page_, row_end = row_ + row_bytes_;
    return page_end < row_end ? page_end : row_end;
  }

  int64_t page_, beat_, row_bytes_, pitch_;
  int64_t row_, at_, left_;
};

}  // namespace accsim::hw
