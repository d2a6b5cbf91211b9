#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "hw/config/hw_config.h"
#include "hw/cosim/rtl_abi.h"
#include "hw/program/program.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// A token that a command waits for or gives.
struct Token {
  SyncKind kind;
  Buffer buffer;
  /// Who gives it, or takes it; none: a slot that the buffer begins with, or nobody takes it.
  std::optional<Queue> other;
};

/// A command as the core takes it: the words of the structs in rtl/accsim_pkg.sv, word 0 holding
/// the flags. Loop indices are resolved; slots are counted by the core where one queue uses them.
struct Descriptor {
  std::array<uint32_t, rtl::kWords> words{};

  /// Marks a wait for or a signal of a token, on the queue of `port`.
  void add_token_wait(rtl::CommandPort port, const Token& t);
  void add_token_signal(rtl::CommandPort port, const Token& t);
  /// Names the slots that the command uses of buffers which other queues use too.
  void name_slots(rtl::CommandPort port, const std::array<int64_t, kBuffers>& slots);
};

/// The port of the core that takes a queue's commands. Loads, gemms, posts, vector commands, stores
/// and stages have one each; drains are no commands of the core.
rtl::CommandPort port_of(Queue q);

/// Value of an affine expression; `indices` by Loop::id.
int64_t evaluate(const Affine& a, std::span<const int64_t> indices);

/// The words of a command that verify() has accepted. `layer`: the dataflow of the command's layer;
/// none: the program's. Errc::unsupported for what rtl/README.md has
/// under "In the model and not in the core", and for a value that its field has no room for.
Result<Descriptor> describe_command(const Program& program, const HwConfig& hw,
                                    const Command& command, std::span<const int64_t> indices,
                                    std::optional<Dataflow> layer = std::nullopt);

/// Output stationary: a drain is part of the gemm before it.
void add_drain(Descriptor& gemm, const DrainCommand& drain, std::span<const int64_t> indices);

}  // namespace accsim::hw
