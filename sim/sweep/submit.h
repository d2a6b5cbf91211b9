#pragma once
#include <string>

#include "sim/base/result.h"

namespace accsim::sim {

/// Where the program, the spec and the results are, and what Slurm is asked for.
struct SubmitOptions {
  std::string accsim;  ///< path of the program, as the nodes see it
  std::string spec;
  std::string out;              ///< the merged store
  std::string folder;           ///< where scripts, logs and the shards' stores go
  int64_t nodes = 1;            ///< shards
  int threads = 0;              ///< a task; 0: as many as Slurm gives it
  std::string partition, time;  ///< empty: Slurm's defaults
};

/// The two batch scripts of a sweep on Slurm: an array with a task a shard, and the merge that runs
/// when all of them have ended well. Requeued tasks go on where they were stopped.
struct SubmitScripts {
  std::string array, merge;
};
/// The scripts' text; nothing is written or run.
SubmitScripts submit_scripts(const SubmitOptions& options);

}  // namespace accsim::sim
