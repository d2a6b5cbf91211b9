#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "hw/config/hw_config.h"
#include "hw/cosim/rtl_abi.h"
#include "hw/program/program.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// A command as the core takes it: the words of the structs in rtl/accsim_pkg.sv, word 0 holding
/// the flags. Loop indices are resolved, slots are not (the core counts them).
struct Descriptor {
  std::array<uint32_t, rtl::kWords> words{};

  /// Marks a wait for or a signal of the token of a buffer, on the queue of `port`.
  void wait(rtl::CommandPort port, Buffer b) { words[0] |= bit(port, b, false); }
  void signal(rtl::CommandPort port, Buffer b) { words[0] |= bit(port, b, true); }

 private:
  static uint32_t bit(rtl::CommandPort port, Buffer b, bool signal);
};

/// The port of the core that takes a queue's commands. Loads, gemms, posts and stores have one
/// each; drains are no commands of the core.
rtl::CommandPort port_of(Queue q);

/// Value of an affine expression; `indices` by Loop::id.
int64_t evaluate(const Affine& a, std::span<const int64_t> indices);

/// Errc::unsupported for what the core can't do: vector commands, zero-padded loads, a post without
/// parameters, walks of more levels and windows of more lines than it has.
Result<Descriptor> describe(const Program& program, const Command& command,
                            std::span<const int64_t> indices);

/// Output stationary: a drain is part of the gemm before it.
void add_drain(Descriptor& gemm, const DrainCommand& drain, std::span<const int64_t> indices);

}  // namespace accsim::hw
