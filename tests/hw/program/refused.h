#pragma once
#include <gtest/gtest.h>

#include <string>

#include "hw/program/program.h"
#include "tests/support/machines.h"

namespace accsim::test {

/// What the verifier says of a program first; nothing when it accepts it.
inline std::string error(const hw::Program& p, const hw::HwConfig& hw = small_machine()) {
  const Status s = verify(p, hw);
  return s ? "" : s.errors().front().text();
}

inline testing::AssertionResult says(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "said: '" << text << "', not '" << part << "'";
}

}  // namespace accsim::test
