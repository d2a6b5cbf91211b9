#include "hw/config/engine_lists.h"

#include "config_fixture.h"
#include "hw/config/machine_edits.h"

namespace accsim::hw {
namespace {

using test::expect_one_error;
using test::good;
using test::line_of;
using test::replaced;

std::string vta() { return test::read_file(test::config_path("known/vta-16x16.yaml")); }

/// VTA's file with a part replaced has one error, on the line of `anchor`.
void expect_error(const std::string& from, const std::string& to, const std::string& anchor,
                  const std::vector<std::string>& parts) {
  SCOPED_TRACE(to);
  const std::string text = replaced(vta(), from, to);
  expect_one_error(text, line_of(text, anchor), parts);
}

/// Facts V1 to V9 of docs/engines.md, by its tables.
TEST(EngineLists, IsVtaWhatItsFileSays) {
  const EngineMachine machine = good(vta()).engines;
  EXPECT_EQ(machine.port_bytes, 8);
  EXPECT_EQ(machine.token_limit, 255);
  EXPECT_EQ(machine.queues, (std::vector<EngineQueue>{{"load"}, {"compute"}, {"store"}}));
  ASSERT_EQ(machine.kinds.size(), 12U);
  EXPECT_EQ(machine.kinds[0], (CommandKind{.name = "uop",
                                           .engine = 1,
                                           .work = CommandWork::read,
                                           .start_to_pad = 0,
                                           .beat_to_write = 1}));
  EXPECT_EQ(machine.kinds[7],
            (CommandKind{.name = "alu_reg", .engine = 1, .item_cycles = 2, .pipeline_cycles = 6}));
  EXPECT_EQ(machine.token_queues, (std::vector<TokenQueue>{{0, 1}, {1, 0}, {1, 2}, {2, 1}}));
}

TEST(EngineLists, AreMachinesPrintedAndReadBack) {
  for (const char* file : {"known/vta-16x16.yaml", "known/vta-16x16-wide.yaml"}) {
    const HwConfig hw = *load_hw(test::config_path(file));
    EXPECT_TRUE(hw.has_engines());
    EXPECT_EQ(good(print_hw(hw)).engines, hw.engines) << file;
  }
}

TEST(EngineLists, AreNamesTextWhateverTheyLookLike) {
  std::string text = replaced(vta(), "{name: load, depth", "{name: \"1e3\", depth");
  for (int i = 0; i < 3; ++i) text = replaced(text, "engine: load", "engine: \"1e3\"");
  text = replaced(replaced(text, "from: load", "from: \"1e3\""), "to: load", "to: \"1e3\"");
  const HwConfig hw = good(text);
  EXPECT_EQ(good(print_hw(hw)).engines, hw.engines);
}

TEST(EngineLists, HasAMachineWithoutThemNone) {
  const HwConfig hw = good(test::small_machine());
  EXPECT_FALSE(hw.has_engines());
  EXPECT_EQ(print_hw(hw).find("engines"), std::string::npos);
  for (const Field& field : fields()) {
    if (field.path.starts_with("engines.")) {
      EXPECT_TRUE(is_absent(field, hw)) << field.path;
    }
  }
}

TEST(EngineLists, IsTheOrderOfKeysFree) {
  std::string text = vta();
  const size_t kinds = text.find("  kinds:"), tokens = text.find("  token_queues:"),
               queues = text.find("  queues:");
  const std::string before = text.substr(0, queues), list = text.substr(queues, kinds - queues),
                    rest = text.substr(kinds, tokens - kinds), after = text.substr(tokens);
  EXPECT_EQ(good(before + rest + list + after).engines, good(text).engines);
}

TEST(EngineLists, IsWhatIsWrongToldWhereItStands) {
  expect_error("  outstanding: 16 ", "  # ",
               "engines:", {"missing key \"outstanding\" in engines", "requests"});
  expect_error("  outstanding: 16 ", "  outstanding: 0 ", "outstanding: 0",
               {"engines.outstanding is 0, out of range; it must be 1..1048576 requests"});
  expect_error("depth: 512}", "depht: 512, depth: 1}", "depht",
               {"unknown key \"depht\" in engines.queues[0]; did you mean \"depth\"?"});
  expect_error("depth: 512}", "depth: 512, depth: 1}", "depth: 1}",
               {"duplicate key \"depth\" in engines.queues[0]"});
  expect_error("{name: load, depth: 512}", "{name: load}", "{name: load}",
               {"missing key \"depth\" in engines.queues[0]", "commands"});
  expect_error("{name: gemm, engine: compute", "{name: gemm, engine: computer", "computer",
               {"engines.kinds[4].engine is \"computer\"; valid: load, compute, store"});
  expect_error("{name: gemm, engine: compute, work: compute",
               "{name: gemm, engine: compute, work: add", "work: add",
               {"engines.kinds[4].work is \"add\"; valid: compute, read, write"});
  expect_error("item_gap: 1}", "item_gap: 1, item_cycles: 1}", "item_gap: 1, item_cycles",
               {"engines.kinds[8].item_cycles is only for work: compute; remove it"});
  expect_error("{from: load, to: compute}", "[load, compute]", "[load, compute]",
               {"engines.token_queues[0] must have from, to"});
}

TEST(EngineLists, AreListsThatAreNoneRefused) {
  std::string text = vta();
  const size_t begin = text.find("  queues:"), end = text.find("  kinds:");
  const std::string empty = text.substr(0, begin) + "  queues: []\n" + text.substr(end);
  expect_one_error(empty, line_of(empty, "queues: []"), {"engines.queues is empty"});
  const std::string word = text.substr(0, begin) + "  queues: load\n" + text.substr(end);
  expect_one_error(word, line_of(word, "queues: load"),
                   {"engines.queues must be a list; each entry has name, depth"});
}

TEST(EngineLists, AreNumbersEditedWhereThereIsTheSection) {
  const EditedMachine faster = edit_machine(good(vta()), {{"engines.latency", FieldText(8.0)}});
  ASSERT_TRUE(faster.errors.empty()) << faster.errors.front().message;
  EXPECT_EQ(faster.hw.engines.latency, 8);
  EXPECT_EQ(faster.hw.engines.kinds, good(vta()).engines.kinds);
  const EditedMachine none =
      edit_machine(good(test::small_machine()), {{"engines.latency", FieldText(8.0)}});
  ASSERT_EQ(none.errors.size(), 1U);
  EXPECT_EQ(none.errors.front().message, "is only there in a machine that has the section engines");
}

/// What sweeps copy by the hundred thousand stays small where there are no engines.
TEST(EngineLists, TakesAMachineWithoutThemNoMemory) {
  const HwConfig hw = good(test::small_machine());
  EXPECT_EQ(hw.engines.queues.capacity() + hw.engines.kinds.capacity(), 0U);
}

}  // namespace
}  // namespace accsim::hw
