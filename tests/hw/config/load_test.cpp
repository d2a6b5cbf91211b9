#include "hw/config/load.h"

#include <filesystem>
#include <fstream>

#include "config_fixture.h"
#include "tests/support/temp_path.h"

namespace accsim::hw {
namespace {

using test::expect_one_error;
using test::good;
using test::line_of;
using test::replaced;
using test::small_machine;

/// Changes one piece of the small machine; the error must be on the line of `anchor`.
void expect_broken(const std::string& from, const std::string& to, const std::string& anchor,
                   const std::vector<std::string>& parts) {
  const std::string text = replaced(small_machine(), from, to);
  expect_one_error(text, line_of(text, anchor), parts);
}

TEST(Load, DoesEveryKeyReachItsMember) {
  const HwConfig hw = good(small_machine());
  EXPECT_EQ(hw.name, "small");
  EXPECT_EQ(hw.file, "m.yaml");
  EXPECT_EQ(hw.clock_mhz, 500);
  EXPECT_EQ(hw.array.rows, 8);
  EXPECT_EQ(hw.array.cols, 8);
  EXPECT_EQ(hw.array.fill_rows, 3);
  EXPECT_EQ(hw.array.dataflows,
            (std::vector{Dataflow::weight_stationary, Dataflow::input_stationary}));
  EXPECT_EQ(hw.types.activation, DType::int8);
  EXPECT_EQ(hw.types.weight, DType::int8);
  EXPECT_EQ(hw.types.accumulator, DType::int32);
  const std::array<int64_t, kBuffers> widths = {8, 9, 10, 0, 11};
  for (size_t i = 0; i < kBuffers; ++i) {
    EXPECT_EQ(hw.buffers[i].kib, static_cast<int64_t>(4 + i));
    EXPECT_EQ(hw.buffers[i].slots, 2);
    EXPECT_EQ(hw.buffers[i].width, widths[i]);
    EXPECT_DOUBLE_EQ(hw.energy.buffer_byte[i], 0.33 + 0.01 * static_cast<double>(i));
  }
  EXPECT_EQ(hw.shared.kib, 64);
  EXPECT_EQ(hw.shared.channel.read.milli, 16000);
  EXPECT_EQ(hw.shared.channel.write.milli, 17000);
  EXPECT_EQ(hw.shared.channel.latency, 12);
  EXPECT_EQ(hw.dram.read.milli, 12800);
  EXPECT_EQ(hw.dram.write.milli, 6400);
  EXPECT_EQ(hw.dram.latency, 37);
  for (size_t i = 0; i < kLaneClasses; ++i)
    EXPECT_EQ(hw.vector.lanes[i], static_cast<int64_t>(21 + i));
  EXPECT_EQ(hw.vector.mac_lanes, 28);
  EXPECT_EQ(hw.energy.mac, 0.31);
  EXPECT_EQ(hw.energy.vector_op, 0.32);
  EXPECT_EQ(hw.energy.shared_byte, 0.38);
  EXPECT_EQ(hw.energy.dram_read_byte, 0.39);
  EXPECT_EQ(hw.energy.dram_write_byte, 0.4);
  EXPECT_EQ(hw.energy.static_per_cycle, 0.41);
  EXPECT_EQ(hw.energy.zeros, 0.42);
  EXPECT_EQ(hw.energy.zero_saves, 0.43);
}

std::string banked_machine() {
  return replaced(replaced(small_machine(), test::kIdealDram, test::kBankedDram),
                  "shared:\n    kib: 64", "shared:\n    kib: 0");
}

TEST(Load, DoesABankedDramReachItsMembersAndGivePeakRates) {
  const HwConfig hw = good(banked_machine());
  EXPECT_EQ(hw.dram_model, DramModel::banked);
  EXPECT_EQ(hw.banked.preset, DramPreset::ddr4_2400);
  EXPECT_EQ(hw.banked.channels, 2);
  EXPECT_EQ(hw.banked.map, DramMap::bank_group_high);
  EXPECT_EQ(hw.dram.read.milli, 76800) << "either direction alone has the whole bus";
  EXPECT_EQ(hw.dram.write.milli, 76800);
  EXPECT_EQ(hw.dram.latency, 22);  // ceil((16 + 16 + 16 + 4) x 500 / 1200)
  EXPECT_EQ(good(small_machine()).dram_model, DramModel::ideal);
}

TEST(Load, DoKeysOfOneDramModelStayOutOfTheOther) {
  const auto broken = [](const std::string& text, const std::string& anchor,
                         const std::vector<std::string>& parts) {
    expect_one_error(text, line_of(text, anchor), parts);
  };
  broken(replaced(small_machine(), "latency: 37", "latency: 37\n  preset: HBM2"), "preset",
         {"dram.preset is only for dram.model: banked; remove it"});
  broken(replaced(banked_machine(), "channels: 2", "channels: 2\n  latency: 3"), "latency: 3",
         {"dram.latency is only for dram.model: ideal"});
  broken(replaced(banked_machine(), "  channels: 2\n", ""),
         "dram:", {"missing key \"channels\" in dram"});
  broken(replaced(banked_machine(), "DDR4-2400", "DDR4-2401"),
         "preset:", {"did you mean \"DDR4-2400\"?", "HBM2"});
  broken(replaced(banked_machine(), "channels: 2", "channels: 2\n  read_share: 0.75"), "read_share",
         {"unknown key \"read_share\" in dram", "share one bus", "remove it"});
  broken(replaced(banked_machine(), "channels: 2", "channels: 129"), "channels", {"1..128"});
  // The model's own error is the only one: which of the other keys are right isn't known then.
  broken(replaced(banked_machine(), "model: banked", "model: none"), "model", {"dram.model"});
}

TEST(Load, DoesTheOrderOfDramKeysNotMatter) {
  const std::string text =
      replaced(replaced(banked_machine(), "  model: banked\n", ""), "map: bank_group_high\n",
               "map: bank_group_high\n  model: banked\n");
  EXPECT_EQ(good(text).banked, good(banked_machine()).banked);
}

TEST(Load, DoesABankedDramWithoutAClockGiveTheClocksErrorOnly) {
  const std::string text = replaced(banked_machine(), "clock_mhz: 500", "clock_mhz: none");
  expect_one_error(text, line_of(text, "clock_mhz"), {"clock_mhz is \"none\""});
}

TEST(Load, AreRatesExactThousandths) {
  const auto read_rate = [](const std::string& value) {
    return good(replaced(replaced(small_machine(), "12.8", value), "read_bytes_per_cycle: 16",
                         "read_bytes_per_cycle: 1000000"))
        .dram.read.milli;
  };
  EXPECT_EQ(read_rate("0.001"), 1);
  EXPECT_EQ(read_rate("102.4"), 102400);
  EXPECT_EQ(read_rate("0.29"), 290);  // 0.29 * 1000 is 289.99... in binary
  EXPECT_EQ(read_rate("319.149"), 319149);
  EXPECT_EQ(read_rate("1000000"), 1000000000);
  for (const char* inexact : {"1.2345", "1.0000"}) {
    expect_broken("12.8", inexact, inexact, {"dram.read_bytes_per_cycle", "at most 3 decimals"});
  }
}

TEST(Load, AreTypeAliasesTheSameTypes) {
  std::string text = replaced(small_machine(), "activation: int8", "activation: fp16");
  text = replaced(text, "weight: int8", "weight: bf16");
  text = replaced(text, "accumulator: int32", "accumulator: fp32");
  const HwConfig hw = good(text);
  EXPECT_EQ(hw.types.activation, DType::float16);
  EXPECT_EQ(hw.types.weight, DType::bfloat16);
  EXPECT_EQ(hw.types.accumulator, DType::float32);
}

TEST(Load, MayNamesBeQuotedNumbers) {
  EXPECT_EQ(good(replaced(small_machine(), "name: small", "name: '64'")).name, "64");
}

TEST(Load, DoesAnUnknownKeyNameTheNearest) {
  expect_broken("  latency: 37", "  latency: 37\n  latencey: 4", "latencey",
                {"unknown key \"latencey\" in dram", "did you mean \"latency\"?"});
  expect_broken("dram:", "drum: 1\ndram:", "drum", {"in the file", "did you mean \"dram\"?"});
}

TEST(Load, DoesAnUnknownKeySayWhereItBelongsOrWhatIsValid) {
  expect_broken("array:", "rows: 8\narray:", "rows: 8", {"this key belongs at array.rows"});
  expect_broken(
      "  rows: 8", "  rows: 8\n  banana_split: 8", "banana_split",
      {"valid here: template, rows, cols, fill_rows, dataflows (more with template: dot_product)"});
  expect_broken("  rows: 8", "  <<: 8\n  rows: 8", "<<", {"unknown key \"<<\""});
}

TEST(Load, DoesAnErrorGiveTheColumn) {
  const auto result =
      parse_hw(replaced(small_machine(), "  rows: 8", "  rows: 8\n  rowz: 8"), "m.yaml");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.errors().front().where, "m.yaml:5:3");
}

TEST(Load, IsAMissingKeyReportedAtItsSection) {
  expect_broken("  rows: 8\n", "",
                "array:", {"missing key \"rows\" in array", "whole number, 1..1024"});
  expect_broken("    read_bytes_per_cycle: 16\n", "", "shared:",
                {"missing key \"read_bytes_per_cycle\" in buffers.shared", "bytes/cycle"});
  expect_broken("clock_mhz: 500\n", "", "name:", {"missing key \"clock_mhz\" in the file"});
}

TEST(Load, IsAMissingSectionOneError) {
  expect_broken(
      "dram:\n  model: ideal\n  read_bytes_per_cycle: 12.8\n  write_bytes_per_cycle: 6.4\n"
      "  latency: 37\n",
      "", "name:", {"missing key \"dram\"", "a section with the keys model"});
}

TEST(Load, IsADuplicateKeyAnError) {
  expect_broken("  rows: 8", "  rows: 8\n  \"rows\": 16", "\"rows\": 16",
                {"duplicate key \"rows\" in array", "the first is on line 4"});
  expect_broken("energy:", "dram: {}\nenergy:", "dram: {}", {"duplicate key \"dram\""});
}

TEST(Load, IsAWrongTypeAnError) {
  const std::vector<std::string> not_whole = {"sixty", "8.0",   "8.5", "0x10", "1_0", "010", "1e2",
                                              "true",  "\"8\"", "+8",  "8 8",  ".5",  "5."};
  for (const std::string& value : not_whole) {
    expect_broken("rows: 8", "rows: " + value, "rows:", {"array.rows is", "whole number"});
  }
  expect_broken("rows: 8", "rows:", "rows:", {"array.rows has no value"});
  expect_broken("rows: 8", "rows: [8]", "rows:", {"array.rows is a list"});
  expect_broken("rows: 8", "rows: {a: 8}", "rows:", {"array.rows is a section"});
  for (const std::string value : {".inf", ".nan", "nan", "1,5", "'0.3'"}) {
    expect_broken("mac_pj: 0.31", "mac_pj: " + value, "mac_pj", {"energy.mac_pj", "number"});
  }
  expect_broken("cycle: 12.8", "cycle: 1e1", "cycle: 1e1", {"dram.read_bytes_per_cycle is"});
  expect_broken("[weight_stationary, input_stationary]", "weight_stationary", "dataflows",
                {"array.dataflows is", "list of words"});
}

TEST(Load, MustASectionHoldKeys) {
  expect_one_error("- 1\n- 2\n", 1, {"the file must be a section with the keys name, clock_mhz"});
  expect_one_error("64\n", 1, {"the file must be a section"});
  const std::string text = replaced(small_machine(),
                                    "types:\n  activation: int8\n  weight: int8\n"
                                    "  accumulator: int32\n",
                                    "types: int8\n");
  expect_one_error(text, line_of(text, "types:"),
                   {"types must be a section with the keys activation, weight, accumulator"});
}

TEST(Load, IsAValueOutOfRangeAnError) {
  struct Case {
    std::string from, to, range;
  };
  const std::vector<Case> cases = {
      {"clock_mhz: 500", "clock_mhz: 0", "0.001..100000"},
      {"clock_mhz: 500", "clock_mhz: 100001", "0.001..100000"},
      {"rows: 8", "rows: 0", "1..1024"},
      {"rows: 8", "rows: -1", "1..1024"},
      {"cols: 8", "cols: 1025", "1..1024"},
      {"kib: 4", "kib: 0", "1..1048576"},
      {"kib: 4", "kib: 1048577", "1..1048576"},
      {"slots: 2", "slots: 17", "1..16"},
      {"width: 8", "width: 65537", "1..65536"},
      {"kib: 64", "kib: -1", "0..1048576"},
      {"cycle: 12.8", "cycle: 0", "0.001..1000000"},
      {"cycle: 12.8", "cycle: 0.000", "0.001..1000000"},
      {"cycle: 12.8", "cycle: -1", "0.001..1000000"},
      {"cycle: 12.8", "cycle: 1000000.001", "0.001..1000000"},
      {"cycle: 12.8", "cycle: 99999999999999999999", "0.001..1000000"},
      {"latency: 37", "latency: 1000001", "0..1000000"},
      {"latency: 37", "latency: -1", "0..1000000"},
      {"latency: 37", "latency: 99999999999999999999", "0..1000000"},
      {"special: 22", "special: 0", "1..65536"},
      {"mac_pj: 0.31", "mac_pj: -0.1", "0..1000000000"},
      {"mac_pj: 0.31", "mac_pj: 1e999", "0..1000000000"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.to);
    expect_broken(c.from, c.to, c.to, {"out of range", c.range});
  }
}

TEST(Load, AreTheEndsOfARangeLegal) {
  good(replaced(small_machine(), "clock_mhz: 500", "clock_mhz: 0.001"));
  good(replaced(small_machine(), "clock_mhz: 500", "clock_mhz: 100000"));
  good(replaced(small_machine(), "width: 8", "width: 65536"));
  good(replaced(small_machine(), "mac_pj: 0.31", "mac_pj: 0"));
  good(replaced(small_machine(), "slots: 2", "slots: 16"));
}

TEST(Load, IsAWrongWordAnError) {
  expect_broken("activation: int8", "activation: int7", "activation: int7",
                {"types.activation is \"int7\"", "did you mean \"int8\"?", "bfloat16"});
  expect_broken("model: ideal", "model: bankd",
                "model:", {"dram.model", "did you mean \"banked\"?", "valid: ideal, banked"});
  expect_broken("[weight_stationary", "[weight_stationery", "dataflows",
                {"did you mean \"weight_stationary\"?"});
  expect_broken("[weight_stationary", "[[weight_stationary]", "dataflows", {"is a list"});
}

TEST(Load, IsANameLimited) {
  expect_broken("name: small", "name: 64", "name:", {"name is \"64\"", "put it in quotes"});
  expect_broken("name: small", "name: True", "name:", {"put it in quotes"});
  expect_broken("name: small", "name: a/b", "name:", {"letters, digits"});
  expect_broken("name: small", "name: ''", "name:", {"letters, digits"});
  expect_broken("name: small", "name: \"a\\nb\"", "name:", {"\"a?b\""});
  expect_broken("name: small", "name: " + std::string(65, 'a'), "name:", {"1..64"});
}

TEST(Load, AreAllErrorsReportedAtOnceInFileOrder) {
  std::string text = replaced(small_machine(), "clock_mhz: 500", "clock_mhz: fast");
  text = replaced(text, "  rows: 8", "  rowz: 8");
  text = replaced(text, "accumulator: int32", "accumulator: float32");  // a rule, amid the others
  text = replaced(text, "kib: 6", "kib: 0");
  text = replaced(text, "latency: 37", "latency: 37\n  latency: 38");
  text = replaced(text, "mac_pj: 0.31", "mac_pj: -1");
  const auto result = parse_hw(text, "m.yaml");
  ASSERT_FALSE(result.ok());
  const Errors& errors = result.errors();
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"clock_mhz:", "clock_mhz is \"fast\""},
      {"array:", "missing key \"rows\""},
      {"rowz:", "unknown key \"rowz\""},
      {"accumulator: float32", "use int32"},
      {"kib: 0", "out of range"},
      {"latency: 38", "duplicate key"},
      {"mac_pj: -1", "out of range"}};
  ASSERT_EQ(errors.size(), wanted.size()) << test::all_text(errors);
  for (size_t i = 0; i < wanted.size(); ++i) {
    const auto line = std::to_string(line_of(text, wanted[i].first));
    EXPECT_EQ(errors[i].where.rfind("m.yaml:" + line + ":", 0), 0u) << errors[i].text();
    EXPECT_NE(errors[i].message.find(wanted[i].second), std::string::npos) << errors[i].text();
    EXPECT_EQ(errors[i].code, Errc::invalid);
  }
}

TEST(LoadFile, IsAFileThatCannotBeReadAnIoError) {
  const test::TempFolder folder;
  const std::string& dir = folder.path();
  for (const std::string& path : {dir + "/no-such-machine.yaml", dir}) {
    const auto result = load_hw(path);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.errors().front().code, Errc::io);
    EXPECT_EQ(result.errors().front().where, path);
  }
  EXPECT_NE(load_hw(dir).errors().front().message.find("directory"), std::string::npos);
  EXPECT_NE(load_hw("").errors().front().message.find("no such file"), std::string::npos);
}

TEST(LoadFile, AreEmptyAndHugeFilesRefused) {
  const std::string path = test::temp_path("machine.yaml");
  const auto error_for = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    const auto result = load_hw(path);
    EXPECT_FALSE(result.ok());
    return result.ok() ? std::string() : result.errors().front().text();
  };
  EXPECT_NE(error_for("").find("empty"), std::string::npos);
  EXPECT_NE(error_for("# only a comment\n").find("empty"), std::string::npos);
  EXPECT_NE(error_for(std::string((1 << 20) + 1, ' ')).find("larger than"), std::string::npos);
  std::ofstream(path, std::ios::binary) << small_machine();
  const auto result = load_hw(path);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->file, path);
  std::filesystem::remove(path);
}

TEST(LoadFile, IsAnEndlessFileRefused) {
  if (!std::filesystem::exists("/dev/zero")) GTEST_SKIP() << "no /dev/zero here";
  const auto result = load_hw("/dev/zero");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.errors().front().message.find("larger than"), std::string::npos);
}

}  // namespace
}  // namespace accsim::hw
