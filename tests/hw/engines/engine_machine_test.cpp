#include "hw/engines/engine_machine.h"

#include <gtest/gtest.h>

#include "tests/hw/engines/measured.h"

namespace accsim::hw {
namespace {

EngineMachine good() { return *vta_machine({}); }

bool is_refused(const EngineMachine& machine, const std::string& where) {
  const Status status = check_engine_machine(machine);
  return !status && status.errors().front().where == where;
}

TEST(EngineMachine, AreFieldsOutOfRangeNamed) {
  for (const EngineMachineField& field : engine_machine_fields()) {
    for (const int64_t value : {field.least - 1, field.most + 1}) {
      EngineMachine machine = good();
      machine.*field.member = value;
      EXPECT_TRUE(is_refused(machine, std::string(field.name))) << field.name;
    }
  }
}

TEST(EngineMachine, AreFieldsOfKindsOutOfRangeNamed) {
  for (const CommandKindField& field : command_kind_fields()) {
    EngineMachine machine = good();
    machine.kinds.front().work = field.work;
    EXPECT_FALSE(is_refused(machine, std::string(field.name))) << field.name;
    machine.kinds.front().*field.member = field.least - 1;
    EXPECT_TRUE(is_refused(machine, std::string(field.name))) << field.name;
  }
}

TEST(EngineMachine, AreEnginesThatDoNotExistRefused) {
  EngineMachine machine = good();
  machine.kinds.front().engine = 3;
  EXPECT_TRUE(is_refused(machine, "uop"));
  machine = good();
  machine.token_queues.front().to = -1;
  EXPECT_TRUE(is_refused(machine, "token_queues"));
  machine = good();
  machine.engines.clear();
  EXPECT_TRUE(is_refused(machine, "engines"));
}

TEST(EngineMachine, DoesOneEngineAloneWrite) {
  EngineMachine machine = good();
  machine.kinds.push_back(machine.kinds[vta::kStore]);
  EXPECT_TRUE(check_engine_machine(machine));
  machine.kinds.back().engine = vta::kLoadEngine;
  EXPECT_TRUE(is_refused(machine, "store"));
}

TEST(EngineMachine, AreBeatsAndPagesWhole) {
  EngineMachine machine = good();
  machine.command_bytes = 12;
  EXPECT_TRUE(is_refused(machine, "command_bytes"));
  machine = good();
  machine.kinds[vta::kStore].item_bytes = 12;
  EXPECT_TRUE(is_refused(machine, "store"));
}

TEST(EngineMachine, HasAnotherPortNoFact) {
  const auto machine = vta_machine({.bytes = 32});
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.errors().front().code, Errc::unsupported);
}

}  // namespace
}  // namespace accsim::hw
