#include "hw/cosim/descriptors.h"
#include "hw/cosim/rtl_layout.h"

namespace accsim::hw {

rtl::CommandPort port_of(Queue q) {
  constexpr PerQueue<rtl::CommandPort> kPorts = {rtl::kLoad,   rtl::kGemm,  rtl::kPost,
                                                 rtl::kVector, rtl::kStore, rtl::kStage};
  return kPorts[q];
}

namespace {

using rtl::CommandPort;

/// The bit of word 0 for a wait (false) or signal (true) of a buffer's token.
uint32_t token_flag(CommandPort port, Buffer b, bool signal) {
  namespace dma = rtl::dma_flags;
  namespace gemm = rtl::gemm_flags;
  namespace post = rtl::post_flags;
  namespace vec = rtl::vector_flags;
  if (port == rtl::kLoad || port == rtl::kStore) return signal ? dma::kSignal : dma::kWaits;
  struct Flags {
    CommandPort port;
    Buffer buffer;
    uint32_t wait, signal;
  };
  constexpr std::array kFlags = {
      Flags{rtl::kGemm, Buffer::activation, gemm::kWaitActivation, gemm::kSignalActivation},
      Flags{rtl::kGemm, Buffer::weight, gemm::kWaitWeight, gemm::kSignalWeight},
      Flags{rtl::kGemm, Buffer::accumulator, gemm::kWaitAccumulator, gemm::kSignalAccumulator},
      Flags{rtl::kPost, Buffer::accumulator, post::kWaitAccumulator, post::kSignalAccumulator},
      Flags{rtl::kPost, Buffer::output, post::kWaitOutput, post::kSignalOutput},
      Flags{rtl::kPost, Buffer::parameter, post::kWaitParameter, post::kSignalParameter},
      Flags{rtl::kVector, Buffer::activation, vec::kWaitActivation, vec::kSignalActivation},
      Flags{rtl::kVector, Buffer::output, vec::kWaitOutput, vec::kSignalOutput},
      Flags{rtl::kVector, Buffer::parameter, vec::kWaitParameter, vec::kSignalParameter}};
  for (const Flags& f : kFlags)
    if (f.port == port && f.buffer == b) return signal ? f.signal : f.wait;
  check(false, "a token that this queue has no bit for");
  return 0;
}

uint32_t filler_code(std::optional<Queue> q) {
  return q == Queue::post     ? rtl::kByPost
         : q == Queue::vector ? rtl::kByVector
                              : rtl::kByLoad;  // nobody takes it: whichever
}

}  // namespace

void Descriptor::add_token_wait(CommandPort port, const Token& t) {
  if (t.kind == SyncKind::wait_primed) {
    words[0] |= rtl::post_flags::kWaitPrimed;
    return;
  }
  if (port == rtl::kLoad && t.kind == SyncKind::wait_full) {
    words[0] |= rtl::dma_flags::kWaitParameter;
    return;
  }
  words[0] |= token_flag(port, t.buffer, false);
  const bool initial = t.kind == SyncKind::wait_free && !t.other;
  if (port == rtl::kLoad && !initial)
    words[0] |= (t.other == Queue::vector ? rtl::kFromVector
                 : t.other == Queue::load ? rtl::kFromLoad
                                          : rtl::kFromMain)
                << rtl::dma_flags::kFromShift;
  if (port == rtl::kStore) words[0] |= filler_code(t.other) << rtl::dma_flags::kFromShift;
  if (port == rtl::kPost && initial) words[0] |= rtl::post_flags::kWaitInitial;
  if (port == rtl::kVector && initial) words[0] |= rtl::vector_flags::kWaitInitial;
}

void Descriptor::add_token_signal(CommandPort port, const Token& t) {
  if (port == rtl::kLoad && t.kind == SyncKind::signal_free) {
    words[0] |= rtl::dma_flags::kSignalParameter;
    return;
  }
  words[0] |= token_flag(port, t.buffer, true);
  if (port == rtl::kLoad) {
    const bool other = t.kind == SyncKind::signal_primed || t.other == Queue::vector;
    words[0] |= (other                    ? rtl::kToOther
                 : t.other == Queue::load ? rtl::kToLoad
                                          : rtl::kToMain)
                << rtl::dma_flags::kToShift;
  }
  if (port == rtl::kStore) words[0] |= filler_code(t.other) << rtl::dma_flags::kToShift;
}

void Descriptor::name_slots(CommandPort port, const std::array<int64_t, kBuffers>& slots) {
  const auto slot = [&](Buffer b, uint32_t shift) {
    words[0] |= static_cast<uint32_t>(slots[static_cast<size_t>(b)]) << shift;
  };
  namespace vec = rtl::vector_flags;
  switch (port) {
    case rtl::kLoad:
      slot(Buffer::output, rtl::dma_flags::kSlotShift);
      slot(Buffer::parameter, rtl::dma_flags::kParameterSlotShift);
      break;
    case rtl::kGemm:
      slot(Buffer::activation, rtl::gemm_flags::kActivationSlotShift);
      break;
    case rtl::kPost:
      slot(Buffer::parameter, rtl::post_flags::kParameterSlotShift);
      slot(Buffer::output, rtl::post_flags::kOutputSlotShift);
      break;
    case rtl::kVector:
      slot(Buffer::activation, vec::kActivationSlotShift);
      slot(Buffer::parameter, vec::kParameterSlotShift);
      slot(Buffer::output, vec::kOutputSlotShift);
      break;
    default:
      break;
  }
}

}  // namespace accsim::hw
