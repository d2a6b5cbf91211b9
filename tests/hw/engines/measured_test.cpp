#include "tests/hw/engines/measured.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>

namespace accsim::hw {
namespace {

/// Nothing in the machine is fitted: every row is predicted.
TEST(EnginesMeasured, AreCyclesOfAllRowsExact) {
  const std::vector<MeasuredRow> rows = measured_rows("vta_rtl.csv");
  EXPECT_EQ(rows.size(), 133U);
  for (const MeasuredRow& row : rows) {
    const EngineProgram program =
        make_tiled_program(measured_layer(row), measured_machine(row))->commands;
    const Result<Cycles> cycles = time_engine_program(program, measured_machine(row));
    ASSERT_TRUE(cycles) << row.at("id") << ": " << cycles.errors().front().text();
    EXPECT_EQ(cycles->count(), number(row, "total_cycles")) << row.at("id");
  }
}

/// Busy cycles by kind, and first and last cycles, as the RTL's states have them.
TEST(EnginesMeasured, AreEventsWhereTheyWereSeen) {
  using namespace tiled;
  const std::map<std::string, std::set<int64_t>> busy{
      {"load_uop", {kUop}},        {"load_acc", {kAcc}}, {"load_inp", {kInp}},
      {"load_wgt", {kWgt}},        {"gemm", {kGemm}},    {"gemm_reset", {kGemmReset}},
      {"alu", {kAluImm, kAluReg}}, {"store", {kStore}}};
  for (const MeasuredRow& row : measured_rows("vta_rtl.csv")) {
    const EngineProgram program =
        make_tiled_program(measured_layer(row), measured_machine(row))->commands;
    const std::vector<CommandSpan> times = *time_commands(program, measured_machine(row));
    std::map<int64_t, int64_t> cycles, first, last;
    for (size_t i = 0; i < program.size(); ++i) {
      const int64_t kind = program[i].kind == kWgt ? kInp : program[i].kind;
      first.try_emplace(kind, times[i].start);
      last[kind] = times[i].end;
      cycles[program[i].kind] += times[i].end - times[i].start + 1;
    }
    for (const auto& one : busy) {
      int64_t sum = 0;
      for (const int64_t kind : one.second) sum += cycles[kind];
      EXPECT_EQ(sum, number(row, "busy_" + one.first)) << row.at("id") << " " << one.first;
    }
    EXPECT_EQ(first[kInp], number(row, "first_load_start")) << row.at("id");
    EXPECT_EQ(last[kInp], number(row, "last_load_end")) << row.at("id");
    EXPECT_EQ(first[kGemm], number(row, "first_gemm_start")) << row.at("id");
    EXPECT_EQ(last[kGemm], number(row, "last_gemm_end")) << row.at("id");
    EXPECT_EQ(last[kStore] - number(row, "mem_latency"), number(row, "last_write_cycle"))
        << row.at("id");
  }
}

/// Commands, items, requests and bytes as they were counted at the port.
TEST(EnginesMeasured, AreProgramsThoseOfTheTable) {
  constexpr std::array kNames{"load_uop", "load_inp",   "load_wgt",    "load_acc",
                              "gemm",     "gemm_reset", "alu_imm",     "alu_reg",
                              "store",    "nop_load",   "nop_compute", "finish"};
  const std::map<std::string, int64_t> transfers{{"uop", tiled::kUop},
                                                 {"inp", tiled::kInp},
                                                 {"wgt", tiled::kWgt},
                                                 {"acc", tiled::kAcc},
                                                 {"out", tiled::kStore}};
  for (const MeasuredRow& row : measured_rows("vta_rtl.csv")) {
    const TiledProgram program = *make_tiled_program(measured_layer(row), measured_machine(row));
    const EngineMachine machine = measured_machine(row);
    EXPECT_EQ(program.micro_operations, number(row, "n_uops")) << row.at("id");
    std::map<int64_t, int64_t> commands, items, requests, beats;
    for (const EngineCommand& command : program.commands) {
      ++commands[command.kind];
      items[command.kind] += command.items;
      for (RowPieces pieces(command, machine); !pieces.done(); pieces.next()) {
        ++requests[command.kind];
        beats[command.kind] += pieces.beats();
      }
    }
    for (size_t kind = 0; kind < kNames.size(); ++kind)
      EXPECT_EQ(commands[static_cast<int64_t>(kind)], number(row, std::string("n_") + kNames[kind]))
          << row.at("id") << " " << kNames[kind];
    EXPECT_EQ(items[tiled::kGemm], number(row, "gemm_ops")) << row.at("id");
    EXPECT_EQ(items[tiled::kGemmReset], number(row, "reset_ops")) << row.at("id");
    EXPECT_EQ(items[tiled::kAluImm], number(row, "alu_imm_ops")) << row.at("id");
    EXPECT_EQ(items[tiled::kAluReg], number(row, "alu_reg_ops")) << row.at("id");
    for (const auto& one : transfers) {
      EXPECT_EQ(requests[one.second], number(row, "req_" + one.first)) << row.at("id");
      EXPECT_EQ(beats[one.second] * machine.port_bytes, number(row, "bytes_" + one.first))
          << row.at("id");
    }
  }
}

}  // namespace
}  // namespace accsim::hw
