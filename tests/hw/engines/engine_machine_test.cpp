#include "hw/engines/engine_machine.h"

#include <gtest/gtest.h>

#include "tests/hw/engines/measured.h"

namespace accsim::hw {
namespace {

bool is_refused(const EngineMachine& machine, const std::string& where) {
  const Status status = check_engine_machine(machine);
  return !status && status.errors().front().where == where;
}

TEST(EngineMachine, AreFieldsOutOfRangeNamed) {
  for (const EngineMachineField& field : engine_machine_fields()) {
    for (const int64_t value : {field.least - 1, field.most + 1}) {
      EngineMachine machine = vta_machine();
      machine.*field.member = value;
      EXPECT_TRUE(is_refused(machine, std::string(field.name))) << field.name;
    }
  }
}

TEST(EngineMachine, AreFieldsOfKindsAndQueuesOutOfRangeNamed) {
  for (const CommandKindField& field : command_kind_fields()) {
    EngineMachine machine = vta_machine();
    machine.kinds.front().work = field.work;
    EXPECT_FALSE(is_refused(machine, std::string(field.name))) << field.name;
    machine.kinds.front().*field.member = field.least - 1;
    EXPECT_TRUE(is_refused(machine, std::string(field.name))) << field.name;
  }
  EngineMachine machine = vta_machine();
  machine.queues.front().depth = 0;
  EXPECT_TRUE(is_refused(machine, "depth"));
}

TEST(EngineMachine, AreEnginesThatDoNotExistRefused) {
  EngineMachine machine = vta_machine();
  machine.kinds.front().engine = 3;
  EXPECT_TRUE(is_refused(machine, "kinds[0]"));
  machine = vta_machine();
  machine.token_queues[1].to = -1;
  EXPECT_TRUE(is_refused(machine, "token_queues[1]"));
  machine = vta_machine();
  machine.queues.clear();
  EXPECT_TRUE(is_refused(machine, "queues"));
  machine = vta_machine();
  machine.kinds.resize(kMostEngineParts + 1, machine.kinds.front());
  EXPECT_TRUE(is_refused(machine, "kinds"));
}

TEST(EngineMachine, DoesOneEngineAloneWrite) {
  EngineMachine machine = vta_machine();
  machine.kinds.push_back(machine.kinds[tiled::kStore]);
  EXPECT_TRUE(check_engine_machine(machine));
  machine.kinds.back().engine = machine.kinds[tiled::kInp].engine;
  EXPECT_TRUE(is_refused(machine, "kinds[12]"));
}

TEST(EngineMachine, AreBeatsAndPagesWhole) {
  EngineMachine machine = vta_machine();
  machine.command_bytes = 12;
  EXPECT_TRUE(is_refused(machine, "command_bytes"));
  machine = vta_machine();
  machine.kinds[tiled::kStore].item_bytes = 12;
  EXPECT_TRUE(is_refused(machine, "kinds[8]"));
}

TEST(EngineMachine, AreNamesThatTwoHaveFound) {
  EngineMachine machine = vta_machine();
  EXPECT_TRUE(doubled_engine_names(machine).empty());
  machine.queues[2].name = machine.queues[0].name;
  machine.kinds[3].name = machine.kinds[1].name;
  const Errors errors = doubled_engine_names(machine);
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].where, "queues[2]");
  EXPECT_EQ(errors[1].where, "kinds[3]");
}

}  // namespace
}  // namespace accsim::hw
