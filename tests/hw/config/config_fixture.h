#pragma once
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "hw/config/load.h"
#include "tests/support/source.h"

namespace accsim::test {

using namespace hw;

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline std::string config_path(const std::string& file) { return kSource + "/configs/" + file; }

inline const std::vector<std::string> kShipped = {
    "8x8",           "16x16",      "64x64",      "128x128",
    "64x64-starved", "64x64-hbm",  "64x64-ddr4", "64x64-hbm-banked",
    "64x64-int4",    "64x64-modes"};

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << "the test's text has no " << from;
  if (at != std::string::npos) text.replace(at, from.size(), to);
  return text;
}

/// Line of the first occurrence of `part`, from 1; 0 when there is none.
inline int line_of(const std::string& text, const std::string& part) {
  const size_t at = text.find(part);
  if (at == std::string::npos) return 0;
  int line = 1;
  for (size_t i = 0; i < at; ++i) line += text[i] == '\n';
  return line;
}

inline std::string all_text(const Errors& errors) {
  std::string out;
  for (const Error& e : errors) out += e.text() + "\n";
  return out;
}

/// The machine of a text that is good.
inline HwConfig good(const std::string& text) {
  auto result = parse_hw(text, "m.yaml");
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : all_text(result.errors()));
  return result.ok() ? *result : HwConfig{};
}

/// `text` must fail with exactly one error, on `line`, whose message holds all `parts`.
inline void expect_one_error(const std::string& text, int line,
                             const std::vector<std::string>& parts) {
  const auto result = parse_hw(text, "m.yaml");
  ASSERT_FALSE(result.ok());
  ASSERT_EQ(result.errors().size(), 1u) << all_text(result.errors());
  const Error& error = result.errors().front();
  EXPECT_EQ(error.where.rfind("m.yaml:" + std::to_string(line) + ":", 0), 0u)
      << error.text() << "\nwanted line " << line;
  for (const std::string& part : parts) {
    EXPECT_NE(error.message.find(part), std::string::npos) << error.text() << "\nwanted: " << part;
  }
}

/// The small machine's DRAM section, and one of real parts to put in its place: 2 x 19.2 GB/s,
/// which are 76.8 bytes a cycle at 500 MHz, and 52 clocks at 1200 MHz, which are 21.7 cycles.
inline const std::string kIdealDram =
    "  model: ideal\n  read_bytes_per_cycle: 12.8\n  write_bytes_per_cycle: 6.4\n  latency: 37\n";
inline const std::string kBankedDram =
    "  model: banked\n  preset: DDR4-2400\n  channels: 2\n  map: bank_group_high\n";

/// A valid machine, one key a line, without comments.
// NOLINTNEXTLINE(readability-function-size): a file
inline std::string small_machine() {
  return R"(name: small
clock_mhz: 500
array:
  rows: 8
  cols: 8
  fill_rows: 3
  dataflows: [weight_stationary, input_stationary]
types:
  activation: int8
  weight: int8
  accumulator: int32
buffers:
  activation:
    kib: 4
    slots: 2
    width: 8
  weight:
    kib: 5
    slots: 2
    width: 9
  parameter:
    kib: 6
    slots: 2
    width: 10
  accumulator:
    kib: 7
    slots: 2
  output:
    kib: 8
    slots: 2
    width: 11
  shared:
    kib: 64
    read_bytes_per_cycle: 16
    write_bytes_per_cycle: 17
    latency: 12
dram:
  model: ideal
  read_bytes_per_cycle: 12.8
  write_bytes_per_cycle: 6.4
  latency: 37
vector:
  lanes:
    elementwise: 21
    special: 22
    reduce: 23
    pool: 24
    resize: 25
    convert: 26
    search: 27
  mac_lanes: 28
energy:
  mac_pj: 0.31
  vector_op_pj: 0.32
  activation_pj_per_byte: 0.33
  weight_pj_per_byte: 0.34
  parameter_pj_per_byte: 0.35
  accumulator_pj_per_byte: 0.36
  output_pj_per_byte: 0.37
  shared_pj_per_byte: 0.38
  dram_read_pj_per_byte: 0.39
  dram_write_pj_per_byte: 0.4
  static_pj_per_cycle: 0.41
  zeros: 0.42
  zero_saves: 0.43
)";
}

}  // namespace accsim::test
