#pragma once
#include "hw/engines/engine_program.h"

namespace accsim::hw {

/// What programs of tiled layers are made of. A machine that runs them has these kinds of commands
/// by these names, and the token queues between their engines.
namespace tiled {

/// Kinds of commands.
enum Kind : int64_t {
  kUop,        ///< reads micro-operations
  kInp,        ///< reads features
  kWgt,        ///< reads weights
  kAcc,        ///< reads sums to add: biases
  kGemm,       ///< multiplies: an item per micro-operation
  kGemmReset,  ///< clears sums
  kAluImm,     ///< computes with sums and a constant
  kAluReg,     ///< computes with sums and sums
  kStore,      ///< writes results
  kNopLoad,    ///< hands tokens on, in the engine that reads
  kNopCore,    ///< the same in the one that computes
  kFinish      ///< ends the program
};

/// Token queues, as bits of EngineCommand.
enum Tokens : uint32_t {
  kLoaded = 1,  ///< from the engine of inp to that of gemm
  kFreed = 2,   ///< back
  kDone = 4,    ///< from the engine of gemm to that of store
  kStored = 8   ///< back
};

}  // namespace tiled

/// Writes a program whose kinds and tokens are those of `tiled` in the numbers of a machine, which
/// must have passed check_engine_machine(). Errc::unsupported: it lacks a kind or a token queue, a
/// kind has another work, or two kinds that take turns in one engine are in two.
Status bind_tiled_program(EngineProgram& program, const EngineMachine& machine);

/// The machine's kind of that name. It must be one that bind_tiled_program() takes.
const CommandKind& tiled_kind(const EngineMachine& machine, tiled::Kind kind);

}  // namespace accsim::hw
