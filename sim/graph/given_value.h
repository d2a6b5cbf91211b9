#pragma once
#include <optional>
#include <string>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/graph/const_data.h"

namespace accsim::sim {

/// The elements of a tensor that isn't constant, as the user states them.
struct GivenValue {
  std::string text{};              ///< the words that state it
  ConstPtr elements{};             ///< integers where all of them are whole numbers
  std::optional<Dims> dims{};      ///< nullopt: plain numbers, for a tensor of as many elements
  DType dtype = DType::undefined;  ///< of a file; undefined: any type that holds the numbers
};

}  // namespace accsim::sim
