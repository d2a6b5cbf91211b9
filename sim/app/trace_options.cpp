#include "sim/app/trace_options.h"

#include "sim/app/cli.h"
#include "sim/app/file_options.h"
#include "sim/app/output.h"
#include "sim/flow/timeline.h"

namespace accsim::sim {

void TraceOptions::add_to(CLI::App& app) {
  CLI::Option* const trace =
      app.add_option("--trace", file_,
                     "Write a timeline of all queues and commands for Perfetto (Chrome trace JSON, "
                     "1 us = 1 cycle); - for stdout")
          ->type_name(kWrittenFile);
  app.add_option(
         "--trace-commands", commands_,
         "Layers of more commands are summarised to that many slices in the trace, at least "
         "one a queue")
      ->check(CLI::Range(int64_t{0}, int64_t{10'000'000}))
      ->capture_default_str()
      ->needs(trace);
}

int TraceOptions::write(const CostedNetwork& network) const {
  if (file_.empty()) return kExitOk;
  return write_pieces(file_,
                      [&](const TextSink& sink) { return write_trace(network, commands_, sink); });
}

}  // namespace accsim::sim
