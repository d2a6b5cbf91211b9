#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "hw/golden/machine.h"
#include "hw/random/random_program.h"
#include "sim/abi/accsim.h"
#include "sim/abi/command_times.h"
#include "sim/abi/matrix.h"

namespace accsim::abi {

/// A value or a cycle of the user's that isn't golden's. row and column: -1 of a cycle.
struct Difference {
  int64_t command, row, column, mine, golden;
  std::string text;
};

/// A program, its memory, and how far golden has come with it.
class Run {
 public:
  /// Errors: what hw::can_run() and hw::verify() say.
  static Result<std::unique_ptr<accsim_run>> of_program(const hw::HwConfig& hw,
                                                        hw::ProgramWithImage program);
  Run(const hw::HwConfig& hw, hw::ProgramWithImage program);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const CommandTimes& command_times() const { return times_; }
  const hw::Program& program() const { return given_.program; }
  const hw::MemoryImage& image() const { return given_.image; }
  hw::MemoryImage& image() { return given_.image; }
  bool has_begun() const { return state_ != State::fresh; }

  /// The next command of the kind, ACCSIM_ANY of any; false at the end. An error stays.
  Result<bool> advance_to_command(int32_t kind);
  /// Is there a command? Else why not.
  Status at_command() const;

  // Of the command.
  const hw::RetiredCommand& retired_command() const { return machine_.retired(); }
  Matrix matrix_of_kind(int32_t kind) const { return matrix_of(machine_, kind); }
  int64_t ordinal_in_queue() const;  ///< commands of its queue before it
  const CommandTimes::Span& command_span() const {
    return times_.span_of(command_queue(), ordinal_in_queue());
  }
  hw::Queue command_queue() const { return hw::queue_of(*retired_command().command); }
  /// "execute command 12 of layer 'fc' at oc=1 k=0"
  const std::string& command_text() const;
  std::optional<int64_t> loop_index(std::string_view name) const;

  /// Keeps the first.
  void note_difference(Difference d);
  const std::optional<Difference>& first_difference() const { return difference_; }

 private:
  enum class State : uint8_t { fresh, at_command, over, failed };

  const hw::HwConfig hw_;
  hw::ProgramWithImage given_;
  const CommandTimes times_;
  hw::GoldenMachine machine_;
  State state_ = State::fresh;
  hw::PerQueue<int64_t> done_{};  ///< commands, by queue
  std::optional<Errors> failed_;
  mutable std::string text_;  ///< "": not asked for
  std::optional<Difference> difference_;
};

/// The command's kind, an accsim_kind.
int32_t kind_of(const hw::Command& command);
/// "gemm", of an accsim_kind but ACCSIM_ANY.
std::string_view kind_name(int32_t kind);

}  // namespace accsim::abi

/// What accsim.h calls a run.
struct accsim_run : accsim::abi::Run {
  using Run::Run;
};
