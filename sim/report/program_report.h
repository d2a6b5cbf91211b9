#pragma once
#include <string>
#include <vector>

#include "hw/energy/energy.h"
#include "hw/timing/timing.h"
#include "sim/report/trace.h"

namespace accsim::sim {

/// A program of a file on a machine at rest.
struct TimedProgram {
  std::string name;
  hw::Timing timing;
  hw::Counts counts;
  hw::Energy energy;
};

/// What `accsim program` finds out about a file's programs.
struct ProgramReport {
  std::string file;
  hw::HwConfig hw;
  std::vector<TimedProgram> programs;
};

/// Times and counts programs, each on a machine at rest. All that the verifier has against them,
/// each error with its program's name; Errc::overflow for one that does so much that 64 bits may
/// not count it.
Result<ProgramReport> time_programs(const std::vector<hw::Program>& programs,
                                    const hw::HwConfig& hw, const std::string& file);

/// For people: a paragraph a program, and a table of what its queues do and wait for. No line is
/// wider.
std::string to_text(const ProgramReport& report, size_t width);
/// Schema accsim.program/1.
std::string to_json(const ProgramReport& report);

/// Writes the programs' timelines, one behind the other, as a Chrome trace (sim/report/trace.h): a
/// program is a layer. Those of more than `limit` commands are summarised. Errors are the sink's.
Status write_trace(const ProgramReport& report, const std::vector<hw::Program>& programs,
                   int64_t limit, const TextSink& sink);

}  // namespace accsim::sim
