#include "sim/base/check.h"

#include <gtest/gtest.h>

#include <string>

#include "sim/base/broken.h"

namespace accsim {
namespace {

TEST(Broken, IsThrownWhereItIsAskedForAndNamesTheInvariant) {
  const BrokenIsThrown thrown;
  check(true, "holds");
  std::string said;
  try {
    check(false, "water flows down");
  } catch (const Broken& e) {
    said = e.what();
  }
  EXPECT_NE(said.find("water flows down"), std::string::npos);
  EXPECT_NE(said.find("check_test.cpp:"), std::string::npos);
}

TEST(Broken, StopsTheProgramElsewhere) {
  {
    const BrokenIsThrown thrown;
    { const BrokenIsThrown once_more; }
    EXPECT_THROW(check(false, "still"), Broken);
  }
  EXPECT_DEATH(check(false, "water flows down"), "water flows down");
}

}  // namespace
}  // namespace accsim
