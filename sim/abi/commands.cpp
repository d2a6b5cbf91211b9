#include <fmt/format.h>

#include <string>

#include "hw/program/engines.h"
#include "sim/abi/boundary.h"
#include "sim/abi/run.h"

namespace accsim::abi {
namespace {

int32_t next_command(Run& run, int32_t kind) {
  if (kind < ACCSIM_ANY || kind > ACCSIM_STAGE)
    return say_range("kind", kind, ACCSIM_ANY, ACCSIM_STAGE);
  const Result<bool> more = run.advance_to_command(kind);
  if (!more) return say_message(more.errors(), ACCSIM_ORDER);
  return *more ? int32_t{ACCSIM_OK} : say_message(ACCSIM_END, "the program is over");
}

std::optional<int64_t> size_number(const hw::RetiredCommand& r, std::string_view name) {
  const auto* gemm = std::get_if<hw::GemmCommand>(r.command);
  const auto* drain = std::get_if<hw::DrainCommand>(r.command);
  if (name == "k" && gemm) return gemm->k;
  if (!gemm && !drain) return std::nullopt;
  if (name == "m") return gemm ? gemm->m : drain->m;
  if (name == "n") return gemm ? gemm->n : drain->n;
  if (name == "overwrites") return r.overwrites ? 1 : 0;
  return std::nullopt;
}

constexpr std::string_view kLoop = "loop.";

std::optional<int64_t> command_number(const Run& run, std::string_view name) {
  const hw::RetiredCommand& r = run.retired_command();
  if (name == "index") return r.ordinal;
  if (name == "ordinal") return run.ordinal_in_queue();
  if (name == "queue") return hw::engine_of(run.command_queue()).number;
  if (name == "start") return run.command_span().start;
  if (name == "finish") return run.command_span().finish;
  if (name == "slot") return r.slot;
  if (name == "address") return r.address;
  if (name == "dataflow") return static_cast<int64_t>(r.dataflow);
  if (name.starts_with(kLoop)) return run.loop_index(name.substr(kLoop.size()));
  return size_number(r, name);
}

}  // namespace
}  // namespace accsim::abi

using namespace accsim::abi;

int32_t accsim_next(accsim_run* run, int32_t kind) {
  return call_guarded({{"run", run}}, [&] { return next_command(*run, kind); });
}

int32_t accsim_command_kind(const accsim_run* run, int32_t* kind) {
  return call_guarded({{"run", run}, {"kind", kind}}, [&] {
    if (const auto at = run->at_command(); !at) return say_message(at.errors(), ACCSIM_ORDER);
    *kind = kind_of(*run->retired_command().command);
    return int32_t{ACCSIM_OK};
  });
}

int32_t accsim_command_text(const accsim_run* run, const char** text) {
  return call_guarded({{"run", run}, {"text", text}}, [&] {
    if (const auto at = run->at_command(); !at) return say_message(at.errors(), ACCSIM_ORDER);
    *text = run->command_text().c_str();
    return int32_t{ACCSIM_OK};
  });
}

int32_t accsim_command_number(const accsim_run* run, const char* name, int64_t* value) {
  return call_guarded({{"run", run}, {"name", name}, {"value", value}}, [&] {
    if (const auto at = run->at_command(); !at) return say_message(at.errors(), ACCSIM_ORDER);
    const auto found = command_number(*run, name);
    if (!found)
      return say_message(ACCSIM_ARGUMENT,
                         fmt::format("{} has no number '{}'", run->command_text(), name));
    *value = *found;
    return int32_t{ACCSIM_OK};
  });
}
