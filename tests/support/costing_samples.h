#pragma once
#include <string>
#include <vector>

#include "sim/cost/costing_options.h"

namespace accsim::test {

/// Words that a row takes, none its default, and words that it refuses.
struct Samples {
  std::vector<std::string> good, bad;
};

inline Samples samples_of(const sim::CostingOption& row) {
  if (row.is_flag()) return {{"true"}, {"", "1", "yes"}};
  if (row.is_number())
    return {{std::to_string(row.most - 1)},
            {"", "x", "1.5", "0x1", std::to_string(row.least - 1), std::to_string(row.most + 1)}};
  if (row.metavar == "NAME=DIMS") return {{"x=1x3", "y=scalar"}, {"", "x", "x=", "x=0x1", "=1"}};
  if (row.metavar == "TENSOR=VALUE")
    return {{"a=3", "b=c=[[1,2.5]]"}, {"", "a", "a=", "a=x", "a=[1,[2]]", "=1", "a=none.npy"}};
  if (row.metavar == "NODE=then|else") return {{"a=b=then", "i=else"}, {"", "i", "i=maybe"}};
  if (row.is_assignment()) return {{"a=0", "b=c=9"}, {"", "a", "a=", "a=-1", "a=1.5", "=1"}};
  if (!row.choices.empty()) return {{row.choices.back()}, {"", "speed"}};
  if (row.option == "--slack") return {{"2.5%"}, {"", "1", "101%", "lots"}};
  if (row.option == "--key-blocks")
    return {{"64"}, {"", "0", "-1", "64k", "6.5", "None", "True", "1000000001"}};
  if (row.option == "--dataflow") return {{"weight_stationary"}, {"", "sideways"}};
  if (row.option == "--mapping") return {{"conv*=n64", "im2col"}, {"", "=z9"}};
  return {{"node"}, {}};
}

}  // namespace accsim::test
