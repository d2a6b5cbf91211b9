#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/cosim/core_build.h"
#include "hw/cosim/rtl_abi.h"
#include "sim/base/result.h"

namespace accsim::hw {

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
  /// Loads the variant from the cache, builds it before if it isn't there, or damaged; where
  /// somebody else is building it, waits for that. Errors: Errc::io with the failed step's log.
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
  Core create_core(const std::filesystem::path& trace, bool traced) const;
  void run_cycle(const Core& core, rtl::Cycle& c) const { cycle_(core.get(), &c); }
  /// The signals in waveforms of a core that is no more (rtl::SignalsFunction).
  std::vector<std::string> waveform_signals(const std::filesystem::path& trace) const;

 private:
  VerilatedCore() = default;
  Status open_library(const std::filesystem::path& library);

  void* handle_ = nullptr;
  rtl::BeginThreadFunction* begin_thread_ = nullptr;
  rtl::CreateFunction* create_ = nullptr;
  rtl::CycleFunction* cycle_ = nullptr;
  rtl::DestroyFunction* destroy_ = nullptr;
  rtl::SignalsFunction* signals_ = nullptr;
};

}  // namespace accsim::hw
