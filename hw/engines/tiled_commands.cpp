#include "hw/engines/vta_machine.h"

#include <fmt/format.h>

namespace accsim::hw {
namespace {

using vta::kComputeEngine;
using vta::kLoadEngine;
using vta::kStoreEngine;

CommandKind reads(const char* name, int64_t engine, bool wide) {
  CommandKind kind{.name = name, .engine = engine, .work = CommandWork::read};
  if (!wide) return kind;
  kind.beat_to_write = 1;  // without the pipe register of narrow reads (fact V7)
  kind.start_to_pad = 0;
  return kind;
}

CommandKind computes(const char* name, int64_t engine, int64_t item_cycles, int64_t pipeline) {
  return {.name = name,
          .engine = engine,
          .work = CommandWork::compute,
          .item_cycles = item_cycles,
          .pipeline_cycles = pipeline};
}

CommandKind stores(bool wide) {
  return {.name = "store",
          .engine = kStoreEngine,
          .work = CommandWork::write,
          .item_gap = wide ? 0 : 1};
}

}  // namespace

Result<EngineMachine> vta_machine(const EnginePort& port) {
  if (port.bytes != 8 && port.bytes != 16)
    return Error{Errc::unsupported, fmt::format("VTA's port has 8 or 16 bytes, not {}", port.bytes),
                 "port_bytes"};
  const bool wide = port.bytes == 16;
  EngineMachine machine;
  machine.port_bytes = port.bytes;
  machine.page_beats = port.burst;
  machine.latency = port.latency;
  machine.reads_overlap = port.overlaps ? 1 : 0;
  if (wide) {  // fact V2
    machine.fetch_cycles = 4;
    machine.dispatch_register = 2;
    machine.refill_cycles = 4;
  }
  machine.engines = {{"load"}, {"compute"}, {"store"}};
  machine.token_queues = {{kLoadEngine, kComputeEngine},
                          {kComputeEngine, kLoadEngine},
                          {kComputeEngine, kStoreEngine},
                          {kStoreEngine, kComputeEngine}};
  machine.kinds = {reads("uop", kComputeEngine, true),
                   reads("inp", kLoadEngine, wide),
                   reads("wgt", kLoadEngine, false),
                   reads("acc", kComputeEngine, false),
                   computes("gemm", kComputeEngine, 1, 6),
                   computes("gemm_reset", kComputeEngine, 1, 6),
                   computes("alu_imm", kComputeEngine, 1, 6),
                   computes("alu_reg", kComputeEngine, 2, 6),
                   stores(wide),
                   computes("nop_load", kLoadEngine, 0, 1),
                   computes("nop_core", kComputeEngine, 0, 1),
                   computes("finish", kComputeEngine, 0, 1)};
  if (Status fields = check_engine_machine(machine); !fields) return fields.errors();
  return machine;
}

}  // namespace accsim::hw
