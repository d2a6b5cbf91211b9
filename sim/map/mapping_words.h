#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/result.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

/// The share that "1%", "0.5%" or "0" stands for: 0 .. 1; nothing where it is no such word.
std::optional<double> slack_from(std::string_view text);
/// As reports say it: "1%".
std::string slack_text(double slack);

/// How a network is mapped, as the user writes it: on the command line and in Python.
struct MappingWords {
  std::string dataflow;  ///< weight_stationary or ws, input_stationary or is, ...; "": all
  std::vector<std::string> mappings;  ///< pins, see pin.h
  std::string objective = "cycles", effort = "search";
  std::string slack = slack_text(kDefaultSlack);  ///< of cycles
};

/// The options that these words stand for; Errc::usage with all words that mean nothing, `where`
/// being the option of the command line.
Result<MapOptions> map_options(const MappingWords& words);

}  // namespace accsim::sim
