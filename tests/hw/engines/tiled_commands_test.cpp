#include "hw/engines/tiled_commands.h"

#include <gtest/gtest.h>

#include "tests/hw/engines/measured.h"

namespace accsim::hw {
namespace {

const TiledLayer kLayer{TiledGemm{32, 32, 32, 16, 16, 16}};

std::string refusal(const EngineMachine& machine) {
  const auto program = make_tiled_program(kLayer, machine);
  return program ? "" : program.errors().front().text();
}

/// A machine whose parts stand in other places takes as many cycles: names say what they are.
TEST(TiledCommands, ArePartsFoundWhereverTheyStand) {
  const EngineMachine& machine = vta_machine();
  EngineMachine other = machine;
  other.queues.insert(other.queues.begin(), {"idle", 1});
  for (CommandKind& kind : other.kinds) ++kind.engine;
  for (TokenQueue& queue : other.token_queues) ++queue.from, ++queue.to;
  std::swap(other.token_queues[0], other.token_queues[3]);
  std::swap(other.kinds[tiled::kGemm], other.kinds[tiled::kFinish]);  // neither is at the port
  const auto cycles = [](const EngineMachine& m) {
    return time_engine_program(make_tiled_program(kLayer, m)->commands, m)->count();
  };
  EXPECT_EQ(cycles(other), cycles(machine));
  EXPECT_NE(make_tiled_program(kLayer, other)->commands.back().kind, tiled::kFinish);
}

TEST(TiledCommands, AreMachinesThatLackAPartRefused) {
  EngineMachine machine = vta_machine();
  machine.kinds[tiled::kAcc].name = "sums";
  EXPECT_EQ(refusal(machine),
            "engines.kinds: programs of tiled layers need a kind of command named acc");
  machine = vta_machine();
  machine.kinds[tiled::kGemm].work = CommandWork::read;
  EXPECT_EQ(refusal(machine),
            "engines.kinds: programs of tiled layers need gemm to have the work compute");
  machine = vta_machine();
  machine.kinds[tiled::kWgt].engine = 1;
  EXPECT_EQ(refusal(machine),
            "engines.kinds: programs of tiled layers need wgt and inp in one engine");
  machine = vta_machine();
  machine.token_queues.pop_back();
  EXPECT_EQ(refusal(machine),
            "engines.token_queues: programs of tiled layers need one from the engine of store to "
            "that of gemm");
}

}  // namespace
}  // namespace accsim::hw
