#include "hw/config/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "config_fixture.h"

namespace accsim::hw {
namespace {

using test::expect_one_error;
using test::line_of;
using test::replaced;
using test::small_machine;

struct Case {
  std::string rule;
  std::vector<std::pair<std::string, std::string>> edits;
  std::string anchor;  ///< the error is on the line of this text
  std::vector<std::string> parts;
  std::string machine = small_machine();
};

/// Each breaks one rule and nothing else.
// NOLINTNEXTLINE(readability-function-size): a list
std::vector<Case> cases() {
  return {
      {"operands_are_of_one_kind",
       {{"weight: int8", "weight: float16"}},
       "weight: float16",
       {"types.weight is float16 but types.activation is int8"}},
      {"accumulator_fits_operands",
       {{"accumulator: int32", "accumulator: float32"}},
       "accumulator: float32",
       {"types.accumulator is float32", "use int32"}},
      {"accumulator_fits_operands",
       {{"activation: int8", "activation: bfloat16"}, {"weight: int8", "weight: float16"}},
       "accumulator: int32",
       {"types.activation is bfloat16", "use float32"}},
      {"narrow_weights_go_with_int8",
       {{"activation: int8", "activation: int16"},
        {"weight: int8", "weight: int4\n  weight_group: 0"}},
       "weight: int4",
       {"types.weight is int4 but types.activation is int16", "use int8"}},
      {"weight_slot_holds_a_tile",  // 512 bytes a slot, 8 x ceil(129 / 2) = 520 needed
       {{"kib: 5", "kib: 1"},
        {"cols: 8", "cols: 129"},
        {"weight: int8", "weight: int4\n  weight_group: 0"},
        {"kib: 6\n", "kib: 16\n"},
        {"kib: 7\n", "kib: 16\n"}},
       "kib: 1",
       {"weight buffer is 1 KiB / 2 = 512 bytes", "takes 520 bytes", "at least 2 KiB"}},
      // Slots of 2048, 2560 and 64 bytes (two rows of 8 sums).
      {"groups_of_weights_fit",
       {{"weight: int8", "weight: int4\n  weight_group: 2049"}},
       "kib: 4",
       {"= 2048 bytes", "a group of types.weight_group channels takes 2049 bytes"}},
      {"groups_of_weights_fit",
       {{"weight: int8", "weight: int4\n  weight_group: 5121"}, {"kib: 4", "kib: 16"}},
       "kib: 5",
       {"weight buffer", "= 2560 bytes", "takes 2561 bytes"}},
      {"groups_of_weights_fit",
       {{"weight: int8", "weight: int4\n  weight_group: 1"},
        {"kib: 7\n    slots: 2", "kib: 1\n    slots: 16"},
        {"cols: 8", "cols: 9"}},
       "kib: 1",
       {"accumulator buffer", "two groups", "takes 72 bytes", "at least 2 KiB"}},
      {"dataflows_are_a_set",
       {{"[weight_stationary, input_stationary]", "[]"}},
       "dataflows",
       {"array.dataflows is empty"}},
      {"dataflows_are_a_set",
       {{"input_stationary]", "weight_stationary, weight_stationary]"}},
       "dataflows",
       {"names weight_stationary twice"}},
      {"fills_have_rows",
       {{"fill_rows: 3", "fill_rows: 9"}},
       "fill_rows: 9",
       {"array.fill_rows is 9", "array.rows is 8", "at most 8"}},
      {"fills_have_rows",
       {{"weight_stationary, input_stationary", "input_stationary"}},
       "fill_rows: 3",
       {"no weight_stationary", "use 1"}},
      {"slots_divide_buffer",
       {{"kib: 4\n    slots: 2", "kib: 4\n    slots: 3"}},
       "kib: 4",
       {"4 KiB", "buffers.activation.slots = 3", "use 3 or 6 KiB"}},
      {"slots_divide_buffer",
       {{"kib: 7\n    slots: 2", "kib: 2\n    slots: 12"}},
       "kib: 2\n    slots: 12",
       {"buffers.accumulator.slots = 12", "use 3 KiB"}},  // 12 = 3 x 4, and 4 divides 1024
      // 1 KiB in 16 slots of 64 bytes; the numbers of bytes are rows or cols times an element's.
      {"activation_slot_holds_a_vector",
       {{"kib: 4\n    slots: 2", "kib: 1\n    slots: 16"}, {"rows: 8", "rows: 65"}},
       "kib: 1",
       {"activation buffer is 1 KiB / 16 = 64 bytes", "takes 65 bytes", "at least 2 KiB"}},
      {"weight_slot_holds_a_tile",
       {{"kib: 5", "kib: 1"}, {"cols: 8", "cols: 65"}},  // 512 bytes a slot, 8 x 65 = 520 needed
       "kib: 1",
       {"weight buffer is 1 KiB / 2 = 512 bytes", "takes 520 bytes", "at least 2 KiB"}},
      {"parameter_slot_holds_a_row",
       {{"kib: 6\n    slots: 2", "kib: 1\n    slots: 16"}},  // 8 columns x 12 bytes
       "kib: 1",
       {"parameter buffer", "= 64 bytes", "takes 96 bytes", "at least 2 KiB"}},
      {"accumulator_slot_holds_a_row",
       {{"kib: 7\n    slots: 2", "kib: 1\n    slots: 16"}, {"cols: 8", "cols: 17"}},
       "kib: 1",
       {"accumulator buffer", "= 64 bytes", "takes 68 bytes"}},
      {"output_slot_holds_a_row",
       {{"kib: 8\n    slots: 2", "kib: 1\n    slots: 16"}, {"cols: 8", "cols: 65"}},
       "kib: 1",
       {"output buffer", "= 64 bytes", "takes 65 bytes"}},
      {"shared_is_not_slower_than_dram",
       {{"read_bytes_per_cycle: 16", "read_bytes_per_cycle: 12.799"}},
       "12.799",
       {"buffers.shared.read_bytes_per_cycle is 12.799 but dram.read_bytes_per_cycle is 12.8"}},
      {"shared_is_not_slower_than_dram",
       {{"write_bytes_per_cycle: 17", "write_bytes_per_cycle: 6.399"}},
       "6.399",
       {"buffers.shared.write_bytes_per_cycle"}},
      {"shared_is_not_slower_than_dram",
       {{"latency: 12", "latency: 38"}},
       "latency: 38",
       {"buffers.shared.latency is 38 but dram.latency is 37"}},
      {"shared_is_not_slower_than_dram",
       {{test::kIdealDram, test::kBankedDram},
        {"write_bytes_per_cycle: 17", "write_bytes_per_cycle: 77"}},
       "read_bytes_per_cycle: 16",
       {"read_bytes_per_cycle is 16 but the peak of the DRAM is 76.8 bytes a cycle"}},
      {"shared_is_not_slower_than_dram",
       {{test::kIdealDram, test::kBankedDram},
        {"read_bytes_per_cycle: 16", "read_bytes_per_cycle: 77"},
        {"write_bytes_per_cycle: 17", "write_bytes_per_cycle: 77"},
        {"latency: 12", "latency: 23"}},
       "latency: 23",
       {"buffers.shared.latency is 23 but the DRAM's is 22"}},
  };
}

/// nv_small, with one thing wrong.
std::vector<Case> engine_cases() {
  return {
      {"stripes_go_together",
       {{"short_stripe: 8 ", "short_stripe: 15 "}, {"  stripe: 16 ", "  stripe: 14 "}},
       "short_stripe",
       {"array.short_stripe is 15 but array.stripe is 14", "use at most 14"}},
      {"stripes_go_together",
       {{"  stripe: 16 ", "  stripe: 17 "}},
       "  stripe: 17",
       {"array.stripe is 17 but array.places is 16", "use at most 16"}},
      {"dot_products_have_one_width",
       {{"  weight: int8", "  weight: int16"}},
       "weight: int16",
       {"types.weight isn't as wide"}},
      {"dot_products_have_one_width",
       {{"  weight: int8", "  weight: int4\n  weight_group: 0"}},
       "weight: int4",
       {"types.weight isn't as wide"}},
      {"dot_products_have_one_width",
       {{"  accumulator: int32",
         "  accumulator: int32\n  modes:\n    - {activation: int16, weight: int16, rate: 1}"}},
       "modes:",
       {"has no types.modes"}},
      {"dot_products_run_from_dram",
       {{"kib: 0 ", "kib: 65 "},
        {"    read_bytes_per_cycle: 1 ", "    read_bytes_per_cycle: 4 "},
        {"    write_bytes_per_cycle: 1 ", "    write_bytes_per_cycle: 4 "}},
       "kib: 65",
       {"from DRAM to DRAM"}},
      {"dot_products_run_from_dram",
       {{"  latency: 32 ", "  bus: shared\n  latency: 32 "}},
       "bus: shared",
       {"have a channel each", "use separate"}},
      {"banks_are_the_buffers",
       {{"banks: 32", "banks: 31"}},
       "banks: 31",
       {"is 126976 bytes", "have 128 KiB together"}},
      {"outputs_are_written_in_time",  // 8 bytes
       {{"  write_bytes_per_cycle: 4 ", "  write_bytes_per_cycle: 0.8 "}},
       "write_bytes_per_cycle: 0.8",
       {"takes 10 cycles to write an output atom of 8 bytes but array.atom_cycles is 9"}},
      {"set_up_is_part_of_latencies",
       {{"lrn_set_up: 1 ", "lrn_set_up: 9 "}},
       "lrn_set_up: 9",
       {"vector.lrn_set_up is 9 but LRN's latencies are 50 and 8", "use at most 8"}},
      {"units_take_atoms_in_time",
       {{"cols: 8 ", "cols: 1024 "},
        {"activation: int8", "activation: int16"},
        {"  weight: int8", "  weight: int16"},
        {"kib: 8                        # assumed 4..32", "kib: 32  # assumed 4..32"},
        {"  write_bytes_per_cycle: 4 ", "  write_bytes_per_cycle: 300 "},
        {"  read_bytes_per_cycle: 4 ", "  read_bytes_per_cycle: 0.001 "}},
       "template: units",
       {"DRAM takes 2048000 cycles for an atom of 1024 elements", "can wait for 1048576"}},
  };
}

/// A machine of the array that other machines have, with units.
std::vector<Case> unit_cases() {
  std::string keys = "vector:\n  template: units\n";
  for (const SideUnitField& f : side_unit_fields())
    if (!f.is_derived) keys += fmt::format("  {}: {}\n", f.name, std::max<int64_t>(1, f.least));
  return {{"units_stand_beside_dot_products",
           {{"vector:\n", keys}},
           "template: units",
           {"beside array.template: dot_product; use lanes"}}};
}

/// VTA, with one thing wrong.
std::vector<Case> token_cases() {
  const std::string depth = "    - {name: load, depth: 512}";
  std::string many = "  token_queues:\n";
  for (int i = 0; i < 29; ++i) many += "    - {from: load, to: store}\n";
  return {
      {"engines_are_there",  // 4 more than 29
       {{"  token_queues:\n", many}},
       "token_queues:",
       {"engines.token_queues: must be 0 to 32, are 33"}},
      {"engines_have_names_of_their_own",
       {{depth, "    - {name: store, depth: 512}\n" + depth}},
       "    - {name: store, depth: 512}  ",
       {"engines.queues[3]: store is there twice", "another name"}},
      {"engines_have_names_of_their_own",
       {{"{name: gemm_reset,", "{name: gemm,"}},
       "- {name: gemm, engine: compute, work: compute, item_cycles: 1, pipeline_cycles: 6}  # [V] "
       "V8\n    - {name: alu_imm",
       {"engines.kinds[5]: gemm is there twice"}},
      {"engines_have_whole_beats",  // a page of 2048 bytes
       {{"command_bytes: 16", "command_bytes: 24"}},
       "command_bytes: 24",
       {"commands of 24 bytes", "beats of 8 bytes", "a page of 2048 bytes", "make them multiples"}},
      {"engines_have_whole_beats",
       {{"item_bytes: 16", "item_bytes: 12"}},
       "- {name: store, engine",
       {"engines.kinds[8]: store: items of 12 bytes aren't whole beats of 8"}},
      {"one_engine_writes",
       {{"{name: finish, engine: compute, work: compute, item_cycles: 0, pipeline_cycles: 1}",
         "{name: other, engine: compute, work: write, item_bytes: 8, start_to_beat: 2, item_gap: "
         "0}"}},
       "- {name: other",
       {"engines.kinds[11]: other is of a second engine that writes"}},
  };
}

/// The small machine, 8 x 8 of int8, with these modes, a line each.
std::pair<std::string, std::string> modes(const std::vector<std::string>& lines) {
  const std::string sums = "  accumulator: int32\n";
  std::string list = sums + "  modes:\n";
  for (const std::string& mode : lines) list += "    - {" + mode + "}\n";
  return {sums, list};
}

std::vector<Case> mode_cases() {
  const std::string narrow = "activation: int8, weight: int4, rate: 2, mac_pj: 0.2, group: 16";
  const std::string real = "activation: bfloat16, weight: bfloat16, rate: 0.25, mac_pj: 2";
  const std::string whole = "activation: int16, weight: int16, rate: 1, mac_pj: 1";
  return {
      {"modes_are_a_set",
       {modes({"activation: int8, weight: int8, rate: 1, mac_pj: 1"})},
       "- {",
       {"types.modes[0] is int8 x int8, the machine's own types", "energy.mac_pj; remove it"}},
      {"modes_are_a_set",
       {modes({narrow, real, "activation: bf16, weight: bf16, rate: 1, mac_pj: 2"})},
       "bf16",
       {"types.modes[2] is bfloat16 x bfloat16 again, as types.modes[1]; remove one"}},
      {"modes_have_types_that_go_together",
       {modes({"activation: int8, weight: bfloat16, rate: 1, mac_pj: 1"})},
       "- {",
       {"int8 by bfloat16", "integers go with weights that are"}},
      {"modes_have_types_that_go_together",
       {modes({whole, "activation: int16, weight: int4, rate: 1, mac_pj: 1, group: 0"})},
       "weight: int4",
       {"int16 by int4; use int8"}},
      {"modes_have_products_of_activations",
       {modes({narrow, "activation: bf16, weight: int8, rate: 1, mac_pj: 1"})},
       "bf16",
       {"bfloat16 activations", "attention", "a mode bfloat16 x bfloat16; add it"}},
      {"modes_have_whole_rows",  // the nearest legal rate is one row's
       {modes({"activation: int8, weight: int4, rate: 0.1, mac_pj: 1, group: 0"})},
       "- {",
       {"types.modes[0].rate is 0.1: 8 rows are 0.8", "use 0.125"}},
      {"modes_hold_what_is_multiplied",
       {{"fill_rows: 3", "fill_rows: 1"},
        {"[weight_stationary, input_stationary]", "[output_stationary]"},
        modes({narrow})},
       "- {",
       {"types.modes[0].rate is 2", "use 1, or add weight_stationary to array.dataflows"}},
      // 64 x 8 rows of 8 float32 are a tile; 512 of them are a vector of 2048 bytes, a slot.
      {"modes_fit_the_slots",
       {modes({"activation: float32, weight: float32, rate: 64, mac_pj: 1"})},
       "- {",
       {"weight buffer (2560 bytes)", "takes 16384 bytes", "at least 32 KiB"}},
      {"modes_fit_the_slots",
       {modes({"activation: int8, weight: int4, rate: 1, mac_pj: 1, group: 2049"})},
       "- {",
       {"activation buffer (2048 bytes)", "its group takes 2049 bytes"}},
  };
}

std::vector<Case> energy_cases() {
  const std::pair<std::string, std::string> node = {"energy:\n", "energy:\n  technology: 28nm\n"};
  return {
      {"energies_are_known",
       {node, {"  dram_read_pj_per_byte: 0.39\n", ""}},
       "technology: 28nm",
       {"energy.dram_read_pj_per_byte is missing", "the kind in energy.dram"}},
      {"modes_have_energies",
       {modes({"activation: int16, weight: int16, rate: 1"})},
       "- {",
       {"missing key \"mac_pj\" in types.modes[0]", "energy.technology"}},
      {"dram_has_one_kind",
       {{"energy:\n", "energy:\n  dram: hbm2\n"}},
       "dram: hbm2",
       {"energy.dram is hbm2, but without energy.technology nothing follows from it"}},
  };
}

std::vector<Case> all_cases() {
  std::vector<Case> out = cases();
  for (Case& c : energy_cases()) out.push_back(std::move(c));
  for (Case& c : unit_cases()) out.push_back(std::move(c));
  for (Case& c : mode_cases()) out.push_back(std::move(c));
  for (Case& c : token_cases()) {
    c.machine = test::read_file(test::config_path("known/vta-16x16.yaml"));
    out.push_back(std::move(c));
  }
  for (Case& c : engine_cases()) {
    c.machine = test::read_file(test::config_path("known/nvdla-nv-small.yaml"));
    out.push_back(std::move(c));
  }
  return out;
}

std::string edited(const Case& c) {
  std::string text = c.machine;
  for (const auto& [from, to] : c.edits) text = replaced(text, from, to);
  return text;
}

TEST(Rules, DoesEachRuleRefuseAtTheRightLine) {
  for (const Case& c : all_cases()) {
    SCOPED_TRACE(c.rule + " " + c.edits.front().second);
    const std::string text = edited(c);
    expect_one_error(text, line_of(text, c.anchor), c.parts);
  }
}

TEST(Rules, HasEachRuleANegativeCase) {
  std::set<std::string> tested, named;
  for (const Case& c : all_cases()) tested.insert(c.rule);
  for (const Rule& rule : config_rules()) named.emplace(rule.name);
  EXPECT_EQ(tested, named);
}

TEST(Rules, DoesTheAdviceWork) {
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"kib: 4\n    slots: 2", "kib: 3\n    slots: 3"},
           {"kib: 4\n    slots: 2", "kib: 6\n    slots: 3"},
           {"kib: 7\n    slots: 2", "kib: 3\n    slots: 12"},
           {"kib: 6\n    slots: 2", "kib: 2\n    slots: 16"}}) {
    EXPECT_TRUE(parse_hw(replaced(small_machine(), from, to), "m.yaml").ok()) << to;
  }
}

/// Atoms of 16 x 8 are more than a slot of 64 bytes, which an engine has no use for.
TEST(Rules, AreWeightsOfAnEngineInBanksNotInSlots) {
  std::string text = test::read_file(test::config_path("known/nvdla-nv-small.yaml"));
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"  rows: 8 ", "  rows: 16 "},
           {"  activation:\n    kib: 64 ", "  activation:\n    kib: 127 "},
           {"  weight:\n    kib: 64 ", "  weight:\n    kib: 1 "}})
    text = replaced(text, from, to);
  const size_t slots = text.find("slots: 2 ", text.find("  weight:\n    kib: 1 "));
  const auto hw = parse_hw(text.replace(slots, 9, "slots: 16 "), "m.yaml");
  EXPECT_TRUE(hw.ok()) << hw.errors().front().text();
}

TEST(Rules, IsExactlyOneRowOrTileEnough) {
  // 64-byte slots hold 64 rows of int8 and 16 columns of int32; 512 bytes hold 8 x 64 weights.
  EXPECT_TRUE(
      parse_hw(replaced(replaced(small_machine(), "kib: 4\n    slots: 2", "kib: 1\n    slots: 16"),
                        "rows: 8", "rows: 64"),
               "m.yaml")
          .ok());
  EXPECT_TRUE(
      parse_hw(replaced(replaced(small_machine(), "kib: 5", "kib: 1"), "cols: 8", "cols: 64"),
               "m.yaml")
          .ok());
  EXPECT_TRUE(
      parse_hw(replaced(replaced(small_machine(), "kib: 7\n    slots: 2", "kib: 1\n    slots: 16"),
                        "cols: 8", "cols: 16"),
               "m.yaml")
          .ok());
}

TEST(Rules, AreGroupsThatFitLegalAndWithoutGroupsNothingIsAsked) {
  for (const int group : {0, 1, 2048})
    EXPECT_TRUE(parse_hw(replaced(small_machine(), "weight: int8",
                                  "weight: int4\n  weight_group: " + std::to_string(group)),
                         "m.yaml")
                    .ok())
        << group;
  const std::string one_row =
      replaced(replaced(small_machine(), "kib: 7\n    slots: 2", "kib: 1\n    slots: 16"),
               "cols: 8", "cols: 16");
  EXPECT_TRUE(
      parse_hw(replaced(one_row, "weight: int8", "weight: int4\n  weight_group: 0"), "m.yaml")
          .ok());
}

TEST(Rules, IsASharedMemoryEqualToDramLegalAndAnAbsentOneFree) {
  std::string equal =
      replaced(small_machine(), "read_bytes_per_cycle: 16", "read_bytes_per_cycle: 12.8");
  equal = replaced(equal, "latency: 12", "latency: 37");
  EXPECT_TRUE(parse_hw(equal, "m.yaml").ok());
  std::string absent = replaced(small_machine(), "kib: 64", "kib: 0");
  absent = replaced(absent, "latency: 12", "latency: 1000");
  absent = replaced(absent, "read_bytes_per_cycle: 16", "read_bytes_per_cycle: 0.001");
  EXPECT_TRUE(parse_hw(absent, "m.yaml").ok());
}

TEST(Rules, IsARuleSilentAboutFieldsThatFailed) {
  const std::string text = replaced(small_machine(), "slots: 2", "slots: three");
  expect_one_error(text, line_of(text, "three"), {"buffers.activation.slots is \"three\""});
}

}  // namespace
}  // namespace accsim::hw
