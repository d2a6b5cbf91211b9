#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/graph/model_def.h"

namespace accsim::sim::ref {

/// One input of a node under test. Its elements are random unless something is said of them.
struct NodeInput {
  bool present = true;
  DType dtype = DType::float32;
  Dims dims;
  std::vector<int64_t> values =
      {};                         ///< a constant of integers (a scalar or a vector), if not empty
  std::vector<double> data = {};  ///< elements in order, from the front again when there are more
};

/// A node under test, alone in its model.
struct NodeCase {
  std::string op, domain;
  int64_t opset = 13;
  std::vector<NodeInput> inputs;
  std::vector<bool> outputs;  ///< is it named?
  std::vector<Attribute> attributes;
};

}  // namespace accsim::sim::ref
