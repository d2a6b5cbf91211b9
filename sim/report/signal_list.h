#pragma once
#include <string>
#include <vector>

namespace accsim::sim {

// Of the signals of a core's waveforms those to look at first, in groups: what queues take and
// finish, tokens, the array, what the memories are asked for. `signals`: as the file has them, with
// their scopes and, where they are wide, a range: "TOP.accsim_core.read_addr_o [47:0]".

/// A save file of GTKWave that opens them; `waveforms`: their file.
std::string gtkwave_list(const std::vector<std::string>& signals, const std::string& waveforms);
/// A command file of Surfer that adds them.
std::string surfer_list(const std::vector<std::string>& signals);

}  // namespace accsim::sim
