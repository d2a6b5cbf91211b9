#include "sim/sweep/submit.h"

#include <fmt/format.h>

#include "sim/base/shell_word.h"

namespace accsim::sim {
namespace {

std::string script_head(const SubmitOptions& o, const std::string& name) {
  std::string out = fmt::format(
      "#!/bin/bash\n#SBATCH --job-name={}\n#SBATCH --nodes=1\n"
      "#SBATCH --ntasks=1\n",
      name);
  if (!o.partition.empty()) out += fmt::format("#SBATCH --partition={}\n", o.partition);
  if (!o.time.empty()) out += fmt::format("#SBATCH --time={}\n", o.time);
  return out;
}

}  // namespace

SubmitScripts submit_scripts(const SubmitOptions& o) {
  SubmitScripts out;
  const std::string cpus =
      o.threads > 0 ? fmt::format("#SBATCH --cpus-per-task={}\n", o.threads) : "";
  // exec: signals reach the program itself, which commits what it has and ends.
  out.array = script_head(o, "accsim-sweep") + cpus +
              fmt::format(
                  "#SBATCH --array=1-{}\n#SBATCH --requeue\n#SBATCH --open-mode=append\n"
                  "#SBATCH --output=shard-%a.log\n"
                  "exec {} sweep {} --shard \"$SLURM_ARRAY_TASK_ID/{}\" \\\n"
                  "  --store \"shard-$SLURM_ARRAY_TASK_ID.sqlite\" "
                  "--threads \"${{SLURM_CPUS_PER_TASK:-1}}\"\n",
                  o.nodes, shell_word(o.accsim), shell_word(o.spec), o.nodes);
  out.merge = script_head(o, "accsim-merge") +
              fmt::format(
                  "#SBATCH --requeue\n#SBATCH --open-mode=append\n#SBATCH --output=merge.log\n"
                  "shards=()\nfor ((i = 1; i <= {}; i++)); do shards+=(\"shard-$i.sqlite\"); done\n"
                  "exec {} sweep merge {} \"${{shards[@]}}\"\n",
                  o.nodes, shell_word(o.accsim), shell_word(o.out));
  return out;
}

}  // namespace accsim::sim
