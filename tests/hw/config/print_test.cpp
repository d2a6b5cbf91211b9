#include <cmath>
#include <random>

#include "config_fixture.h"
#include "hw/config/fields.h"
#include "tests/support/temp_path.h"

namespace accsim::hw {
namespace {

bool same_machine(HwConfig a, HwConfig b) {
  for (const Field& field : fields()) {
    const bool same = std::visit([&](const auto& m) { return m.of(a) == m.of(b); }, field.target);
    if (!same) {
      ADD_FAILURE() << field.path << " differs";
      return false;
    }
  }
  return true;
}

TEST(Print, DoShippedMachinesComeBackTheSame) {
  for (const std::string& name : test::kShipped) {
    const auto hw = load_hw(test::config_path(name + ".yaml"));
    ASSERT_TRUE(hw.ok());
    const auto back = parse_hw(print_hw(*hw), "printed.yaml");
    ASSERT_TRUE(back.ok()) << test::all_text(back.errors());
    EXPECT_TRUE(same_machine(*hw, *back)) << name;
    EXPECT_EQ(print_hw(*back), print_hw(*hw));
  }
}

TEST(Print, DoRandomValuesComeBackTheSame) {
  auto hw = parse_hw(test::small_machine(), "m.yaml");
  ASSERT_TRUE(hw.ok());
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> exponent(-12, 9);
  for (int i = 0; i < 500; ++i) {
    hw->shared.kib = 0;  // lifts the rule between shared memory and DRAM
    hw->clock_mhz = 0.001 + static_cast<double>(random() % 99999999) / 1000;
    hw->dram.read.milli = 1 + static_cast<int64_t>(random() % 1000000000);
    hw->dram.write.milli = 1000 * (1 + static_cast<int64_t>(random() % 1000000));
    hw->energy.mac = std::pow(10, exponent(random));
    hw->energy.dram_read_byte = std::pow(10, exponent(random));
    const auto back = parse_hw(print_hw(*hw), "printed.yaml");
    ASSERT_TRUE(back.ok()) << test::all_text(back.errors());
    ASSERT_TRUE(same_machine(*hw, *back));
  }
}

TEST(Print, DoesEveryLineSayWhatItMeans) {
  const auto hw = load_hw(test::config_path("64x64.yaml"));
  ASSERT_TRUE(hw.ok());
  std::istringstream lines(print_hw(*hw));
  size_t with_value = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    EXPECT_NE(line.find("  # "), std::string::npos) << line;
    with_value += line.find(":  #") == std::string::npos;
  }
  size_t wanted = 0;
  for (const Field& field : fields())
    wanted += (!field.only || field.only->holds(*hw)) && !is_absent(field, *hw);
  EXPECT_EQ(with_value, wanted);
}

TEST(Print, IsTheTableInTheReadmeCurrent) {
  const std::string readme = test::read_file(test::config_path("README.md"));
  const std::string begin =
      "<!-- fields:begin (generated from the field table; a test compares) -->\n";
  const size_t from = readme.find(begin), to = readme.find("<!-- fields:end -->");
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  const std::string found = readme.substr(from + begin.size(), to - from - begin.size());
  if (found == "\n" + fields_markdown() + "\n") return;
  const std::string path = test::temp_path("README.md");
  std::ofstream(path) << readme.substr(0, from) << begin << "\n"
                      << fields_markdown() << "\n"
                      << readme.substr(to);
  FAIL() << "configs/README.md is stale; the current one is " << path;
}

TEST(Print, HasTheReadmeAPlaceForFigures) {
  const std::string readme = test::read_file(test::config_path("README.md"));
  EXPECT_NE(readme.find("## Reference figures\n"), std::string::npos);
}

}  // namespace
}  // namespace accsim::hw
