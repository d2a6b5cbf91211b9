#include "sim/app/trace_options.h"

#include "sim/app/cli.h"
#include "sim/app/output.h"
#include "sim/cost/timeline.h"

namespace accsim::sim {

void TraceOptions::add_to(Command& command) {
  command.add(
      "Output",
      {{.name = "--trace",
        .to = &file_,
        .about =
            "Write a timeline of all queues and commands for Perfetto, as Chrome trace JSON (1 us "
            "= 1 cycle); - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--trace-commands",
        .to = &commands_,
        .about =
            "Most slices of a layer in the trace. A layer of more commands is summarised, to at "
            "least one slice per queue",
        .range = OptionRange{0, 10'000'000},
        .shows_default = true,
        .needs = "--trace"}});
}

int TraceOptions::write_timeline(const CostedNetwork& network) const {
  return write_pieces_of(
      [&](int64_t commands, const TextSink& sink) { return write_trace(network, commands, sink); });
}

int TraceOptions::write_pieces_of(
    const std::function<Status(int64_t, const TextSink&)>& write) const {
  if (file_.empty()) return kExitOk;
  return write_pieces(file_, [&](const TextSink& sink) { return write(commands_, sink); });
}

}  // namespace accsim::sim
