#pragma once
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/cosim/rtl_abi.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// Where and with what variants of the core are built.
struct VerilatedCoreOptions {
  std::filesystem::path source_dir;  ///< the tree: rtl/ and hw/cosim/ lie in it
  std::filesystem::path cache_dir;   ///< built variants, by the hash of all that went into them,
                                     ///< the processor among it
  std::string verilator = "verilator";
  std::string compiler = "clang++";
  bool trace = false;       ///< can write waveforms; slower
  bool pe_modules = false;  ///< PEs as modules, what synthesis takes; slower
  bool assertions = false;  ///< those of rtl/ are checked, registers begin random; slower
  const std::atomic<bool>* stop = nullptr;   ///< ends a build that is under way
  std::function<void()> building = nullptr;  ///< before a variant is built, which takes a while
};

/// Parameters of rtl/accsim_core.sv for a machine, as NAME=VALUE: for synthesis and lint.
/// Errc::unsupported for a machine that rtl/ can't describe: other types, a port of more bytes than
/// a beat counts.
Result<std::vector<std::string>> rtl_parameters(const HwConfig& hw, Dataflow dataflow);

/// The same for a core that co-simulation can build. Errc::unsupported also when a port is wider
/// than rtl::kMaxPort, what a cycle of rtl_abi.h carries.
Result<std::vector<std::string>> core_parameters(const HwConfig& hw, Dataflow dataflow);

/// A Verilated core, loaded. The library stays loaded as long as this lives.
class VerilatedCore {
 public:
  /// Loads the variant from the cache, builds it before if it isn't there, or damaged. Errors:
  /// Errc::io with the log of the failed step.
  static Result<std::shared_ptr<const VerilatedCore>> load(const HwConfig& hw, Dataflow dataflow,
                                                           const VerilatedCoreOptions& options);
  VerilatedCore(const VerilatedCore&) = delete;
  VerilatedCore& operator=(const VerilatedCore&) = delete;
  ~VerilatedCore();

  struct Closer {
    rtl::DestroyFunction* destroy;
    void operator()(void* model) const { destroy(model); }
  };
  using Core = std::unique_ptr<void, Closer>;
  /// Makes the calling thread ready to create and run cores, as load() does; false when memory is
  /// short. A thread that hasn't done so gets ready with its first core, and then the C library
  /// ends the program where there is no memory. While it runs, no other thread may take any.
  bool begin_thread() const;
  /// A core in reset. `trace`: file for waveforms, empty for none; `traced`: they have the reset.
  Core create(const std::filesystem::path& trace, bool traced) const;
  void cycle(const Core& core, rtl::Cycle& c) const { cycle_(core.get(), &c); }

 private:
  VerilatedCore() = default;
  Status open(const std::filesystem::path& library);

  void* handle_ = nullptr;
  rtl::BeginThreadFunction* begin_thread_ = nullptr;
  rtl::CreateFunction* create_ = nullptr;
  rtl::CycleFunction* cycle_ = nullptr;
  rtl::DestroyFunction* destroy_ = nullptr;
};

}  // namespace accsim::hw
