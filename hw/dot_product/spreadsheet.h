#pragma once
#include <cstdint>

#include "sim/base/result.h"

namespace accsim::hw {

/// Which operand NVDLA's spreadsheet reads again where both don't fit into the buffer.
enum class SpreadsheetRepeats {
  none,
  by_weights,  ///< the input where it isn't smaller than the weights, else the weights
  by_kernels,  ///< the same, but compared with the weights of 32 kernels
};

/// In what the sheets of the spreadsheet differ, beside their layers.
struct SpreadsheetRules {
  int64_t kernel_align = 16;  ///< kernels are counted in multiples, for MACs
  int64_t more_lines = 0;     ///< input lines that stay in the buffer beyond those of a kernel
  SpreadsheetRepeats repeats = SpreadsheetRepeats::none;

  bool operator==(const SpreadsheetRules&) const = default;
};
inline constexpr SpreadsheetRules kResNet50Sheet{128, 0, SpreadsheetRepeats::by_weights};
inline constexpr SpreadsheetRules kAlexNetSheet{16, 1, SpreadsheetRepeats::none};
inline constexpr SpreadsheetRules kGoogLeNetSheet{16, 1, SpreadsheetRepeats::by_kernels};

/// The machine that the spreadsheet asks for.
struct SpreadsheetMachine {
  int64_t macs = 2048;       ///< multipliers
  int64_t buffer_kib = 512;  ///< convolution buffer
  double gb_per_second = 20;
  double clock_mhz = 1000;

  bool operator==(const SpreadsheetMachine&) const = default;
};

/// A convolution or a product, at a batch of 1. Sizes are those of the input, before any padding.
struct SpreadsheetLayer {
  int64_t width = 1, height = 1, channels = 1;
  int64_t kernels = 1, kernel_width = 1, kernel_height = 1;
  int64_t stride_x = 1, stride_y = 1;
  bool padded = false;  ///< MACs are counted for each input, else where kernels fit
  int64_t out_width = 1, out_height = 1;  ///< of what is written, after any pooling
  bool addition = false;                  ///< a residual as large as the output is read
  /// Weights are read in Winograd's form, 16/9 of their bytes. MACs don't go by this: a 3x3 kernel
  /// takes 1 / 2.25 of them in any case.
  bool winograd_weights = false;

  bool operator==(const SpreadsheetLayer&) const = default;
};

/// What the spreadsheet says of a layer. Winograd's form makes fractions of bytes and cycles.
struct SpreadsheetCost {
  double input_bytes = 0, weight_bytes = 0, output_bytes = 0;
  double traffic_bytes = 0;  ///< of DRAM, with what is read again
  double dram_cycles = 0;    ///< a KiB counts as 1000 bytes
  double mac_cycles = 0;
  double cycles = 0;  ///< the larger of both

  bool operator==(const SpreadsheetCost&) const = default;
};

/// NVDLA's performance spreadsheet, cell by cell (docs/dot-product.md, section "The spreadsheet";
/// nvdla/hw, perf/NVDLA_OpenSource_Performance.xlsx). A vendor's estimate, neither silicon nor RTL.
/// Errc::invalid: a number isn't positive, or is beyond kMostSpreadsheetSize. Errc::capacity: lines
/// or kernels that are to stay fill the buffer.
Result<SpreadsheetCost> spreadsheet_cost(const SpreadsheetLayer& layer,
                                         const SpreadsheetMachine& machine,
                                         const SpreadsheetRules& rules);

/// Sizes, MACs and KiB: products of six of them are numbers that double knows to the last bit or
/// nearly so.
inline constexpr int64_t kMostSpreadsheetSize = 1 << 20;

}  // namespace accsim::hw
