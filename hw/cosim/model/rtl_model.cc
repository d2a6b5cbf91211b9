// Compiled together with the Verilated core into the shared library of one variant.
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "Vaccsim_core.h"
#include "hw/cosim/rtl_abi.h"
#include "verilated.h"
#if VM_TRACE
#include "gtkwave/fstapi.h"
#include "verilated_fst_c.h"
#endif

namespace {

using accsim::hw::rtl::Cycle;

constexpr int kTagBits = 5;  ///< of region_tag_t

/// A port of any width, as 32-bit words in memory order.
template <class Port>
void put_words(Port& port, const void* from, size_t bytes) {
  std::memcpy(&port, from, bytes < sizeof(Port) ? bytes : sizeof(Port));
}
template <class Port>
void get_words(void* to, const Port& port, size_t bytes) {
  std::memcpy(to, &port, bytes < sizeof(Port) ? bytes : sizeof(Port));
}

/// Where the assertion stands that has failed; of the model that this thread evaluates.
thread_local std::string failure;

struct Model {
  VerilatedContext context;
  std::string failed;
  std::unique_ptr<Vaccsim_core> top;
#if VM_TRACE
  std::unique_ptr<VerilatedFstC> trace;
#endif
  bool traced = true;

  void eval(bool clock) {
    top->clk_i = clock;
    top->eval();
    if (!failure.empty()) failed = std::exchange(failure, {});
#if VM_TRACE
    if (trace && traced) trace->dump(context.time());
#endif
    context.timeInc(1);
  }

  void inputs(const Cycle& c) {
    using namespace accsim::hw::rtl;
    Vaccsim_core& t = *top;
    t.enable_i = c.enable;
    t.read_ready_i = c.read_ready;
    t.write_ready_i = c.write_ready;
    t.load_valid_i = c.command_valid[kLoad];
    t.gemm_valid_i = c.command_valid[kGemm];
    t.post_valid_i = c.command_valid[kPost];
    t.vector_valid_i = c.command_valid[kVector];
    t.store_valid_i = c.command_valid[kStore];
    t.stage_valid_i = c.command_valid[kStage];
    constexpr size_t kAll = sizeof c.command[0];
    if (c.command_valid[kLoad]) put_words(t.load_i, c.command[kLoad].data(), kAll);
    if (c.command_valid[kGemm]) put_words(t.gemm_i, c.command[kGemm].data(), kAll);
    if (c.command_valid[kPost]) put_words(t.post_i, c.command[kPost].data(), kAll);
    if (c.command_valid[kVector]) put_words(t.vector_i, c.command[kVector].data(), kAll);
    if (c.command_valid[kStore]) put_words(t.store_i, c.command[kStore].data(), kAll);
    if (c.command_valid[kStage]) put_words(t.stage_i, c.command[kStage].data(), kAll);
    t.write_done_i = static_cast<CData>(c.write_done[0] | c.write_done[1] << 1);
    t.write_done_tag_i = static_cast<SData>(c.write_done_tag[0] | c.write_done_tag[1] << kTagBits);
    t.copy_ready_i = c.copy_ready;
    t.copy_done_i = c.copy_done;
    t.copy_done_tag_i = static_cast<CData>(c.copy_done_tag);
    t.data_valid_i = static_cast<CData>(c.data_valid[0] | c.data_valid[1] << 1);
    put_words(t.data_tag_i, c.data_tag.data(), sizeof c.data_tag);
    put_words(t.data0_i, c.data[0].data(), c.data_valid[0] ? kMaxPort : 0);
    put_words(t.data1_i, c.data[1].data(), c.data_valid[1] ? kMaxPort : 0);
  }

  void retired(Cycle& c) const {
    using namespace accsim::hw::rtl;
    const Vaccsim_core& t = *top;
    c.retired[kRetireLoad] = t.retire_load_o & 1;
    c.retired[kRetireLoadShared] = t.retire_load_o & 2;
    c.retired[kRetireGemm] = t.retire_gemm_o;
    c.retired[kRetireDrain] = t.retire_drain_o;
    c.retired[kRetirePost] = t.retire_post_o;
    c.retired[kRetireVector] = t.retire_vector_o;
    c.retired[kRetireStore] = t.retire_store_o;
    c.retired[kRetireStage] = t.retire_stage_o;
  }

  void outputs(Cycle& c) const {
    using namespace accsim::hw::rtl;
    const Vaccsim_core& t = *top;
    c.command_ready = {t.load_ready_o != 0,   t.gemm_ready_o != 0,  t.post_ready_o != 0,
                       t.vector_ready_o != 0, t.store_ready_o != 0, t.stage_ready_o != 0};
    c.read = {t.read_valid_o != 0, t.read_shared_o != 0, t.read_last_o != 0,
              t.read_bytes_o,      t.read_addr_o,        {}};
    get_words(c.read.tag.data(), t.read_tag_o, sizeof c.read.tag);
    c.write = {t.write_valid_o != 0, t.write_shared_o != 0, t.write_last_o != 0,
               t.write_bytes_o,      t.write_addr_o,        {t.write_tag_o}};
    c.copy = {t.copy_valid_o != 0, t.copy_shared_o != 0, t.copy_last_o != 0, t.copy_bytes_o,
              t.copy_source_o,     t.copy_target_o,      t.copy_tag_o};
    if (c.write.valid) get_words(c.write_data.data(), t.write_data_o, kMaxPort);
    c.acc_write = &t.acc_write_o;
    c.acc_row = &t.acc_write_row_o;
    c.acc_sum = &t.acc_write_sum_o;
  }
};

}  // namespace

/// Called by a failed assertion instead of ending the program.
void vl_stop(const char* file, int line, const char* module) {
  if (!failure.empty()) return;
  failure = std::string(file) + ":" + std::to_string(line);
  if (module && *module) failure += std::string(" in ") + module;
}

#pragma GCC visibility push(default)
extern "C" {

uint32_t accsim_rtl_abi() { return accsim::hw::rtl::kAbi; }

// All of them are one block, and this one's end is noted with its first use.
void accsim_rtl_begin_thread() { failure.clear(); }

void* accsim_rtl_create([[maybe_unused]] const char* trace, bool traced) {
  auto* m = new Model;
  m->traced = traced;
  m->context.randReset(2);  // only where a variant asks for it
  m->context.randSeed(1);
  m->context.threads(1);  // else the runtime starts one for each other processor, for nothing
  m->top = std::make_unique<Vaccsim_core>(&m->context);
#if VM_TRACE
  if (trace) {
    m->context.traceEverOn(true);
    m->trace = std::make_unique<VerilatedFstC>();
    m->top->trace(m->trace.get(), 99);
    m->trace->open(trace);
  }
#endif
  m->inputs(Cycle{});
  m->top->rst_ni = 1;
  m->eval(false);
  m->top->rst_ni = 0;
  // The array has no reset of its own: pulses run out of it while its inputs are at rest.
  for (int i = 0; i < ACCSIM_RESET_CYCLES; ++i) {
    m->eval(false);
    m->eval(true);
  }
  m->eval(false);
  m->top->rst_ni = 1;
  return m;
}

void accsim_rtl_cycle(void* model, Cycle* cycle) {
  auto* m = static_cast<Model*>(model);
  m->inputs(*cycle);
  m->traced = cycle->traced;
  cycle->time = m->context.time();
  m->eval(false);
  m->retired(*cycle);
  m->eval(true);
  m->outputs(*cycle);
  cycle->failure = m->failed.empty() ? nullptr : m->failed.c_str();
}

void accsim_rtl_destroy(void* model) {
  auto* m = static_cast<Model*>(model);
#if VM_TRACE
  if (m->trace) m->trace->close();
#endif
  m->top->final();
  delete m;
}

void accsim_rtl_signals([[maybe_unused]] const char* trace, [[maybe_unused]] void* to,
                        [[maybe_unused]] void (*take)(void* to, const char* name)) {
#if VM_TRACE
  void* const reader = fstReaderOpen(trace);
  if (!reader) return;
  std::string scopes;  // with their dots
  fstReaderIterateHierRewind(reader);
  while (const fstHier* const h = fstReaderIterateHier(reader)) {
    if (h->htyp == FST_HT_SCOPE) scopes += std::string(h->u.scope.name) + ".";
    if (h->htyp == FST_HT_UPSCOPE) {
      scopes.pop_back();
      scopes.resize(scopes.rfind('.') + 1);  // nothing is left of the outermost
    }
    if (h->htyp == FST_HT_VAR) take(to, (scopes + h->u.var.name).c_str());
  }
  fstReaderClose(reader);
#endif
}
}
#pragma GCC visibility pop
