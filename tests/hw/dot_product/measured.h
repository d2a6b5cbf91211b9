#pragma once
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "hw/dot_product/division.h"
#include "tests/support/measured_rows.h"

namespace accsim::hw {

/// The machine of the tables.
inline constexpr DotProductEngine kSmall;

/// All rows of nvdla_nv_small_NAME.csv.
inline std::vector<MeasuredRow> measured_table(const std::string& name) {
  return measured_rows("nvdla_nv_small_" + name + ".csv");
}

/// The convolutions of a table that ran well.
inline std::vector<MeasuredRow> measured_convolutions(const std::string& name) {
  std::vector<MeasuredRow> found;
  for (const MeasuredRow& row : measured_table(name))
    if (row.at("unit") == "dc" && row.at("result") == "PASS") found.push_back(row);
  return found;
}

/// The layer of a row, with the division that it was run with.
inline DotProductLayer measured_layer(const MeasuredRow& row) {
  const auto n = [&](const char* column) { return number(row, column); };
  return {{n("W"), n("H"), n("C"), n("K"), n("S"), n("R"), n("OW"), n("OH")},
          {n("data_banks"), n("weight_banks")}};
}

/// Numbers that spaces divide.
inline std::vector<int64_t> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<int64_t> out;
  for (int64_t one = 0; in >> one;) out.push_back(one);
  return out;
}

/// The convolutions of ResNet-50 at 224x224, by its paper (table 1, stride 2 in the 3x3 layers):
/// the first, then 3, 4, 6 and 3 blocks of 1x1, 3x3, 1x1, and a shortcut of 1x1 in each first one.
inline std::vector<Convolution> resnet50() {
  const auto conv = [](int64_t in, int64_t channels, int64_t kernels, int64_t taps,
                       int64_t stride) {
    const int64_t out = in / stride;
    return Convolution{{in, in, channels, kernels, taps, taps, out, out}, stride, taps, taps / 2};
  };
  std::vector<Convolution> out{conv(224, 3, 64, 7, 2)};
  int64_t size = 56, channels = 64;
  for (int stage = 0; stage < 4; ++stage) {
    const int64_t inner = int64_t{64} << stage, outer = 4 * inner;
    for (int block = 0; block < std::array{3, 4, 6, 3}[static_cast<size_t>(stage)]; ++block) {
      const int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      out.push_back(conv(size, channels, inner, 1, 1));
      out.push_back(conv(size, inner, inner, 3, stride));
      out.push_back(conv(size / stride, inner, outer, 1, 1));
      if (block == 0) out.push_back(conv(size, channels, outer, 1, stride));
      size /= stride;
      channels = outer;
    }
  }
  return out;
}

}  // namespace accsim::hw
