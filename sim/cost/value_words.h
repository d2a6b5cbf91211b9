#pragma once
#include <string>

#include "sim/base/result.h"
#include "sim/graph/given_value.h"

namespace accsim::sim {

/// What the text behind "TENSOR=" states: numbers (parse_value()), or a file of them, .npy or
/// .json. Errors without a `where`: Errc::usage, or what is wrong with the file, which they name.
Result<GivenValue> value_of_words(const std::string& text);

}  // namespace accsim::sim
