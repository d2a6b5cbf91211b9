#pragma once
#include <string>

#include "sim/program/network_numbers.h"

namespace accsim::sim {

/// What comparing a network's tensors with the integer reference (sim/ref/integer_*.h) found.
struct ReferenceResult {
  int64_t compared = 0;            ///< results of parts
  std::vector<std::string> taken;  ///< layers whose moves only say how much: golden's results
  std::string difference;          ///< the first one; empty when all are equal
};

/// Computes the network tensor by tensor from the contents of `image` at the start. It goes by the
/// numbers of the parts and the meaning of their work, never by their programs. It compares each
/// part's result with what `golden` holds in the end.
ReferenceResult compare_with_reference(const CostedNetwork& network, const NetworkProgram& program,
                                       const std::vector<PartNumbers>& numbers,
                                       const hw::MemoryImage& image, const hw::MemoryImage& golden);

}  // namespace accsim::sim
