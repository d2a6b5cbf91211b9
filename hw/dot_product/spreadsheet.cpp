#include "hw/dot_product/spreadsheet.h"

#include <algorithm>
#include <cmath>

#include "sim/base/units.h"

namespace accsim::hw {
namespace {

constexpr int64_t kChannelAlign = 16;
constexpr int64_t kKernelsThatStay = 32;
constexpr double kWinogradWeights = 16.0 / 9;  // 4x4 numbers for 3x3
constexpr double kWinogradMacs = 2.25;         // fewer products of a 3x3 kernel

double aligned(int64_t count, int64_t align) {
  return static_cast<double>(ceil_div(count, align) * align);
}

double real(int64_t count) { return static_cast<double>(count); }

Status check_spreadsheet(const SpreadsheetLayer& l, const SpreadsheetMachine& m,
                         const SpreadsheetRules& rules) {
  for (const int64_t size : {l.width, l.height, l.channels, l.kernels, l.kernel_width,
                             l.kernel_height, l.stride_x, l.stride_y, l.out_width, l.out_height,
                             m.macs, m.buffer_kib, rules.kernel_align, 1 + rules.more_lines})
    if (size < 1 || size > kMostSpreadsheetSize)
      return Error{
          Errc::invalid, "sizes of a spreadsheet's layer and machine are out of range", {}};
  if (!l.padded && (l.kernel_width > l.width || l.kernel_height > l.height))
    return Error{Errc::invalid, "a kernel without padding must fit into the input", {}};
  if (!(m.gb_per_second > 0) || !(m.clock_mhz > 0) || !std::isfinite(m.gb_per_second) ||
      !std::isfinite(m.clock_mhz))
    return Error{Errc::invalid, "rates of a spreadsheet's machine must be positive", {}};
  return ok();
}

/// Strides are folded into channels: a stride of 2 by 2 makes 4 times the channels of a quarter of
/// the positions.
double folded_channels(const SpreadsheetLayer& l) {
  return aligned(l.channels * l.stride_x * l.stride_y, kChannelAlign);
}

/// Bytes that are read and written: the smaller part of input and weights is kept, the other one is
/// read again where it doesn't fit beside.
Result<double> traffic(const SpreadsheetLayer& l, const SpreadsheetCost& cost, double buffer,
                       const SpreadsheetRules& rules) {
  const double written = cost.output_bytes * (l.addition ? 2 : 1);
  const double once = cost.input_bytes + cost.weight_bytes + written;
  if (rules.repeats == SpreadsheetRepeats::none) return once;
  const Error full{Errc::capacity, "what is to stay fills the spreadsheet's buffer", {}};
  const double kernels = cost.weight_bytes / real(l.kernels) * kKernelsThatStay;
  const bool by_weights = rules.repeats == SpreadsheetRepeats::by_weights;
  if (cost.input_bytes >= (by_weights ? cost.weight_bytes : kernels)) {
    const double lines = folded_channels(l) * real(ceil_div(l.width, l.stride_x)) *
                         real(l.kernel_height + rules.more_lines);
    if (lines >= buffer) return full;
    if (cost.weight_bytes <= buffer - lines) return once;
    const double times = std::ceil(cost.weight_bytes / (buffer - lines));
    return times * cost.input_bytes + cost.weight_bytes + written;
  }
  const double room = buffer - (kernels < buffer ? kernels : buffer / 2);
  if (cost.input_bytes <= room) return once;
  return cost.input_bytes + std::ceil(cost.input_bytes / room) * cost.weight_bytes + written;
}

double mac_cycles(const SpreadsheetLayer& l, int64_t macs, const SpreadsheetRules& rules) {
  const int64_t high = l.padded ? l.height : l.height - l.kernel_height + 1;
  const int64_t wide = l.padded ? l.width : l.width - l.kernel_width + 1;
  const double positions = real(ceil_div(high, l.stride_y)) * real(ceil_div(wide, l.stride_x));
  const double taps = real(l.kernel_height) * real(l.kernel_width);
  const double all = folded_channels(l) * positions * aligned(l.kernels, rules.kernel_align) * taps;
  const double cycles = all / (real(l.stride_x) * real(l.stride_y) * real(macs));
  return l.kernel_height == 3 && l.kernel_width == 3 ? cycles / kWinogradMacs : cycles;
}

}  // namespace

Result<SpreadsheetCost> spreadsheet_cost(const SpreadsheetLayer& layer,
                                         const SpreadsheetMachine& machine,
                                         const SpreadsheetRules& rules) {
  if (Status fine = check_spreadsheet(layer, machine, rules); !fine) return fine.errors();
  SpreadsheetCost cost;
  cost.input_bytes = folded_channels(layer) * real(ceil_div(layer.height, layer.stride_y)) *
                     real(ceil_div(layer.width, layer.stride_x));
  cost.weight_bytes = folded_channels(layer) * real(ceil_div(layer.kernel_height, layer.stride_y)) *
                      real(ceil_div(layer.kernel_width, layer.stride_x)) * real(layer.kernels) *
                      (layer.winograd_weights ? kWinogradWeights : 1);
  cost.output_bytes =
      real(layer.out_height) * real(layer.out_width) * aligned(layer.kernels, kChannelAlign);
  const Result<double> bytes = traffic(layer, cost, 1024 * real(machine.buffer_kib), rules);
  if (!bytes) return bytes.errors();
  cost.traffic_bytes = *bytes;
  cost.dram_cycles =
      std::ceil(cost.traffic_bytes / 1024 / machine.gb_per_second * machine.clock_mhz);
  cost.mac_cycles = mac_cycles(layer, machine.macs, rules);
  cost.cycles = std::max(cost.dram_cycles, cost.mac_cycles);
  return cost;
}

}  // namespace accsim::hw
