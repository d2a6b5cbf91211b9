#pragma once
#include "hw/engines/engine_machine.h"

namespace accsim::hw {

/// What of VTA's machine is open: its port, and the memory behind it (docs/engines.md, "The machine
/// of the table").
struct EnginePort {
  int64_t bytes = 8;     ///< 8 or 16: other ports have other fields, which no fact says
  int64_t burst = 256;   ///< beats of the longest burst
  int64_t latency = 32;  ///< cycles
  bool overlaps = true;  ///< reads overlap

  bool operator==(const EnginePort&) const = default;
};

/// VTA as its sources have it by default: 16 x 16 multipliers, three engines. Errc::unsupported: a
/// port of neither 8 nor 16 bytes.
Result<EngineMachine> vta_machine(const EnginePort& port);

/// Names of what vta_machine() gives.
namespace vta {
/// Indices of engines.
enum Engine : int64_t { kLoadEngine, kComputeEngine, kStoreEngine };
/// Indices of kinds of commands.
enum Kind : int64_t {
  kUop,
  kInp,
  kWgt,
  kAcc,
  kGemm,
  kGemmReset,
  kAluImm,
  kAluReg,
  kStore,
  kNopLoad,
  kNopCore,
  kFinish
};
/// Token queues, as bits of EngineCommand.
enum Tokens : uint32_t {
  kLoaded = 1,  ///< from load to compute
  kFreed = 2,   ///< from compute to load
  kDone = 4,    ///< from compute to store
  kStored = 8   ///< from store to compute
};
}  // namespace vta

}  // namespace accsim::hw
