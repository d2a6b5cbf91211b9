#pragma once
#include <array>
#include <cstdint>

/// What a Verilated variant (a shared library of its own, see variant.h) and the co-simulation
/// exchange: one call a cycle. Plain data only.
namespace accsim::hw::rtl {

/// Changes whenever this file changes its meaning; checked when a library is loaded.
inline constexpr uint32_t kAbi = 10;
inline constexpr size_t kMaxPort = 512;  ///< bytes of the widest port
inline constexpr size_t kWords = 46;     ///< of the longest descriptor
inline constexpr int kTensorShift = 34;  ///< addresses: tensor index above the byte offset

/// Where the core takes commands, as indices of Cycle::command and its handshake.
enum CommandPort { kLoad, kGemm, kPost, kVector, kStore, kStage, kCommandPorts };
/// What the core reports as finished, one bit a cycle each; loads by the memory they come from.
enum RetirePort {
  kRetireLoad,
  kRetireLoadShared,
  kRetireGemm,
  kRetireDrain,
  kRetirePost,
  kRetireVector,
  kRetireStore,
  kRetireStage,
  kRetirePorts
};

/// What the core sends along with a read, and gets back with the data.
using Tag = std::array<uint32_t, 3>;

/// One beat of a load or store as it appears at the core's memory port: `bytes` bytes at
/// `address` (tensor index << kTensorShift | byte offset) of DRAM or the shared buffer. Data of
/// a read come back with its `tag`; `last` marks the last beat of a command.
struct Request {
  bool valid = false, shared = false, last = false;
  uint32_t bytes = 0;
  uint64_t address = 0;
  Tag tag{};
  friend bool operator==(const Request&, const Request&) = default;
};

/// One beat of a copy between the memories: `to_dram` from the shared buffer, else the other way.
/// Its `tag` comes back when the last beat is there.
struct Copy {
  bool valid = false, to_dram = false, last = false;
  uint32_t bytes = 0;
  uint64_t source = 0, target = 0;
  uint32_t tag = 0;
  friend bool operator==(const Copy&, const Copy&) = default;
};

/// All that goes in and out of the core in one clock cycle.
struct Cycle {
  // Set by the caller.
  bool enable = false;
  bool traced = true;  ///< into the waveforms, if there are any
  bool read_ready = false, write_ready = false, copy_ready = false;
  std::array<bool, kCommandPorts> command_valid{};
  std::array<std::array<uint32_t, kWords>, kCommandPorts> command{};
  std::array<bool, 2> data_valid{};  ///< by memory: DRAM, shared
  std::array<Tag, 2> data_tag{};
  std::array<std::array<uint8_t, kMaxPort>, 2> data{};
  std::array<bool, 2> write_done{};  ///< by memory: a store's last beat is there
  std::array<uint32_t, 2> write_done_tag{};
  bool copy_done = false;
  uint32_t copy_done_tag = 0;
  // Set by the call: what happened in this cycle ...
  std::array<bool, kRetirePorts> retired{};
  uint64_t time = 0;              ///< at which it began, in the waveforms
  const char* failure = nullptr;  ///< a failed assertion of the core, as long as the model lives
  // ... and what the core shows at the start of the next one.
  std::array<bool, kCommandPorts> command_ready{};
  Request read, write;  ///< a write's tag has one word
  Copy copy;
  std::array<uint8_t, kMaxPort> write_data{};
  /// What its accumulators take at the end of that one, as long as it lasts: of each column a bit,
  /// the row (of all slots) and the sum; the bits close together, the others in 32-bit words.
  const void *acc_write = nullptr, *acc_row = nullptr, *acc_sum = nullptr;
};

extern "C" {
/// What a variant's library exports. First: the kAbi it was built with.
using AbiFunction = uint32_t();
/// Makes the calling thread's own variables of the library, if they aren't there.
using BeginThreadFunction = void();
/// A core in reset. `trace` may be null; `traced`: the waveforms have the reset, too.
using CreateFunction = void*(const char* trace, bool traced);
/// Runs a model for one clock cycle.
using CycleFunction = void(void* model, Cycle* cycle);
/// Ends a model that CreateFunction made.
using DestroyFunction = void(void* model);
/// Tells `take` the names of the signals in waveforms whose model has ended, with their scopes and,
/// behind a blank, the range of a wide one.
using SignalsFunction = void(const char* trace, void* to, void (*take)(void* to, const char* name));
}

}  // namespace accsim::hw::rtl
