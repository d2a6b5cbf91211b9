#include "sim/validate/field_origins.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "hw/config/engine_lists.h"
#include "hw/config/load.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

const std::string kKnown = kSource + "/configs/known";

std::string text_of(const std::string& name) {
  std::ifstream in(kKnown + "/" + name + ".yaml");
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

/// The text of a file with one line's part replaced.
std::string changed(const std::string& name, const std::string& from, const std::string& to) {
  std::string text = text_of(name);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

/// The first error of a text that must have one.
std::string error_of(const std::string& text) {
  const auto machine = parse_known_machine(text, "m.yaml");
  EXPECT_FALSE(machine.ok());
  return machine.ok() ? "" : machine.errors().front().text();
}

const FieldOrigin& origin(const KnownMachine& machine, const std::string& path) {
  return *std::ranges::find_if(machine.origins,
                               [&](const FieldOrigin& o) { return o.field->path == path; });
}

TEST(FieldOrigins, HasEveryFieldOfEveryShippedMachineOne) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(kKnown)) {
    SCOPED_TRACE(entry.path().filename().string());
    const auto machine = load_known_machine(entry.path().string());
    ASSERT_TRUE(machine.ok()) << machine.errors().front().text();
    EXPECT_EQ(machine->hw.name, entry.path().stem().string());
    EXPECT_FALSE(machine->sources.empty());
    EXPECT_FALSE(machine->not_modelled.empty());
    // All fields that such a machine has, but its name.
    size_t wanted = 0;
    for (const hw::Field& f : hw::fields()) {
      const bool there = f.path != "name" && (!f.only || f.only->holds(machine->hw)) &&
                         !is_absent(f, machine->hw) && !is_derived(f, machine->hw);
      if (there) wanted += is_engine_list(f) ? engine_entries(f, machine->hw).size() : 1;
    }
    EXPECT_EQ(machine->origins.size(), wanted);
    for (const FieldOrigin& o : machine->origins)
      EXPECT_NE(o.is_assumed(), !o.tag.empty()) << o.field->path;
    ++files;
  }
  EXPECT_GE(files, 15);
}

TEST(FieldOrigins, WhatIsReadOfAComment) {
  const auto machine = load_known_machine(kKnown + "/tpu-v1.yaml");
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(origin(*machine, "clock_mhz").tag, "J");
  EXPECT_EQ(origin(*machine, "clock_mhz").comment, "table 2");
  const FieldOrigin& rate = origin(*machine, "dram.read_bytes_per_cycle");
  EXPECT_EQ(rate.range, (std::vector<std::string>{"46.02", "48.571"}));
  EXPECT_EQ(with_assumed(machine->hw, rate, "46.02").dram.read.milli, 46020);
  EXPECT_EQ(origin(*machine, "buffers.output.slots").range, (std::vector<std::string>{"2", "4"}));
  const auto edge = load_known_machine(kKnown + "/edge-tpu.yaml");
  ASSERT_TRUE(edge.ok());
  const FieldOrigin& flows = origin(*edge, "array.dataflows");
  EXPECT_EQ(flows.range, (std::vector<std::string>{"[weight_stationary]", "[output_stationary]"}));
}

TEST(FieldOrigins, DoesALineThatIsIndentedGoOn) {
  const auto machine = load_known_machine(kKnown + "/gemmini-16x16.yaml");
  ASSERT_TRUE(machine.ok());
  const auto h = std::ranges::find(machine->sources, "H", &CitedSource::tag);
  ASSERT_NE(h, machine->sources.end());
  EXPECT_TRUE(h->title.ends_with("They rank, they don't predict this chip.")) << h->title;
}

TEST(FieldOrigins, IsAFieldWithoutOneRefused) {
  const std::string text = changed("tpu-v1", "# [J] table 2", "# 700 MHz");
  const auto lines =
      std::count(text.begin(), text.begin() + static_cast<int64_t>(text.find("700")), '\n');
  EXPECT_EQ(
      error_of(text),
      "m.yaml:" + std::to_string(lines + 1) +
          ":12: clock_mhz says nowhere where its value comes from; write \"# [TAG] place\" or "
          "\"# assumed LO..HI: why\" behind it");
  EXPECT_TRUE(error_of(changed("tpu-v1", "# [J] table 2", "# [Q] table 2"))
                  .ends_with("clock_mhz cites [Q]; no line \"# [Q] title\" says what that is"));
}

TEST(FieldOrigins, IsARangeRefusedThatCantBe) {
  const std::string range = "# assumed 46.02..48.571: [J]";
  const auto says = [&](const std::string& to, const std::string& end) {
    const std::string error = error_of(changed("tpu-v1", range, to));
    EXPECT_NE(error.find(end), std::string::npos) << error;
  };
  says("# assumed 50..60: [J]", "is outside of the range that is assumed for it, 50 to 60");
  says("# assumed 46.02..48.571", "is assumed; say why behind a colon");
  says("# assumed a..b: [J]", "the assumed range: ");
  // The shared memory, 256 bytes a cycle, is at least as fast as DRAM.
  says("# assumed 46..300: [J]", "dram.read_bytes_per_cycle = 300, of the assumed range, breaks");
}

TEST(FieldOrigins, HasEachEntryOfAListOfEnginesASource) {
  const auto says = [](const std::string& from, const std::string& to, const std::string& end) {
    const std::string error = error_of(changed("vta-16x16", from, to));
    EXPECT_NE(error.find(end), std::string::npos) << error;
  };
  const std::string one = "# [V] V5: a tile's results are there";
  says(one, "# results", "engines.token_queues says nowhere where its value comes from");
  says(one, "# [Q] results", "engines.token_queues cites [Q]");
  says(one, "# assumed []: so",
       "engines.token_queues has an entry that is assumed; it needs a source");
}

TEST(FieldOrigins, AreAllErrorsReported) {
  std::string text = changed("tpu-v1", "# [J] table 2", "# so");
  const size_t at = text.find("# [J] section 2: 256 x 256 MACs");
  text.replace(at, 5, "# no ");
  const auto machine = parse_known_machine(text, "m.yaml");
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.errors().size(), 2u);
  EXPECT_FALSE(load_known_machine(kKnown + "/nothing.yaml").ok());
}

}  // namespace
}  // namespace accsim::sim
