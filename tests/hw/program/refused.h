#pragma once
#include <gtest/gtest.h>

#include <string>

#include "hw/program/program.h"
#include "tests/support/machines.h"

namespace accsim::test {

/// small_machine() with a shared buffer.
inline hw::HwConfig shared_machine() {
  hw::HwConfig hw = small_machine();
  hw.shared.kib = 16;
  return hw;
}

/// What the verifier says of a program first; nothing when it accepts it.
inline std::string error(const hw::Program& p, const hw::HwConfig& hw = shared_machine()) {
  const Status s = verify(p, hw);
  return s ? "" : s.errors().front().text();
}

inline testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "said: '" << text << "', not '" << part << "'";
}

}  // namespace accsim::test
