#pragma once
#include <gtest/gtest.h>

#include <string>

#include "sim/sweep/store.h"
#include "sim/sweep/table_view.h"

namespace accsim::test {

/// All that a store holds, as `sweep show --dump` prints it; nothing, and a failure, where it can't
/// be read.
inline std::string dump(const std::string& path) {
  const auto store = sim::SweepStore::open_for_reading(path);
  EXPECT_TRUE(store.ok()) << store.errors().front().text();
  return store.ok() ? *dump_store(**store) : "";
}

}  // namespace accsim::test
