#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "hw/cosim/verilated_core.h"
#include "hw/cosim/waveform.h"
#include "hw/golden/accumulator_writes.h"
#include "hw/program/program.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// Where a core's cycles aren't the timing model's.
struct CycleDifferences {
  PerQueue<int64_t> commands{};  ///< that finish in another cycle, by queue
  std::string first;             ///< of them, as the core finishes them; empty: none
};

/// One program on the core, compared with the golden (values: what is stored and what the
/// accumulators take) and the timing model (cycles).
struct CosimResult {
  int64_t commands = 0;
  int64_t rtl_cycles = 0, model_cycles = 0;
  bool values_equal = false;
  bool cycles_equal = false;  ///< of every command and in total
  CycleDifferences cycles;
  std::string broken;            ///< what no core may do, at whatever pace; empty: nothing
  std::string first_difference;  ///< the first wrong command with its loops; empty when equal
  std::string wrong_layer;       ///< of that command, in a program with layers
  Waveform waveform;
  bool all_equal() const { return values_equal && broken.empty() && cycles_equal; }
};

/// What cosim() does besides running the core.
struct CosimOptions {
  WaveformOptions waveform;  ///< needs a variant built for them
  bool check_golden = true;  ///< false: `image` is only written
  /// What golden makes of the program; null: it is run.
  const GoldenRun* golden = nullptr;
  /// Now and then, with the cycle and about how many there are; the end when it says false.
  std::function<bool(int64_t cycle, int64_t of)> progress = nullptr;
};

/// Runs a verified program on the core. `image` is the memory: read by loads, written by stores;
/// not of tensors that have an address, which lie in a memory of their own.
/// Errors: what the core can't do (Errc::unsupported) and a hung core (Errc::invalid).
Result<CosimResult> cosim(const Program& program, const HwConfig& hw, const VerilatedCore& variant,
                          MemoryImage& image, const CosimOptions& options = {});

}  // namespace accsim::hw
