#include "hw/timing/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "hw/program/visit.h"
#include "hw/timing/slice_recorder.h"

namespace accsim::hw {
namespace {

/// Bits of a CommandSet; loads have one for each buffer, here is the first.
constexpr PerMemory<int> kLoad = {0, static_cast<int>(kBuffers)};
constexpr int kGemm = kLoad[MemoryId::shared] + static_cast<int>(kBuffers), kDrain = kGemm + 1,
              kPost = kGemm + 2, kTable = kGemm + 3, kVector = kGemm + 4, kKinds = kGemm + 9;
constexpr PerMemory<int> kStore = {kGemm + 5, kGemm + 6}, kStageFrom = {kGemm + 7, kGemm + 8};

std::string kind_name(int kind) {
  if (kind < kGemm) {
    const auto b = static_cast<Buffer>(kind % static_cast<int>(kBuffers));
    const bool shared = kind >= kLoad[MemoryId::shared];
    return "load " + std::string(name(b)) + (shared ? " from shared" : "");
  }
  constexpr std::array<const char*, kKinds - kGemm> kNames = {"gemm",
                                                              "drain",
                                                              "post",
                                                              "table",
                                                              "vector",
                                                              "store",
                                                              "store to shared",
                                                              "stage from dram",
                                                              "stage to dram"};
  return kNames[static_cast<size_t>(kind - kGemm)];
}

/// Lists what the commands of a program do, in the order of the text.
class Lister {
 public:
  Lister(const Program& program, std::vector<CommandInfo>& to) : program_(program), to_(to) {}

  void list_all() {
    visit_nest(program_.body, [this](const Command& c) {
      std::visit([this](const auto& kind) { this->add_command(kind); }, c);
    });
  }

 private:
  MemoryId memory_of(int tensor) const {
    return program_.tensors[static_cast<size_t>(tensor)].memory;
  }
  void add_command(int kind) { to_.push_back({CommandSet{1} << kind, {}, {}}); }
  void add_command(const LoadCommand& c) {
    add_command(kLoad[memory_of(c.tensor)] + static_cast<int>(c.buffer));
    to_.back().read[memory_of(c.tensor)] = c.walk.bytes();
  }
  void add_command(const GemmCommand&) { add_command(kGemm); }
  void add_command(const DrainCommand&) { add_command(kDrain); }
  void add_command(const PostCommand&) { add_command(kPost); }
  void add_command(const VectorCommand&) { add_command(kVector); }
  void add_command(const SetTableCommand&) { add_command(kTable); }
  void add_command(const LaneCommand&) { add_command(kVector); }
  void add_command(const RowCommand&) { add_command(kVector); }
  void add_command(const StoreCommand& c) {
    add_command(kStore[memory_of(c.tensor)]);
    to_.back().written[memory_of(c.tensor)] = c.walk.bytes();
  }

  void add_command(const StageCommand& c) {
    add_command(kStageFrom[memory_of(c.from)]);
    to_.back().read[memory_of(c.from)] = to_.back().written[memory_of(c.to)] = c.walk.bytes();
  }

  const Program& program_;
  std::vector<CommandInfo>& to_;
};

/// By step, what its command does; loops have all queues of their body.
std::vector<CommandInfo> list_commands(const Program& program, std::span<const Step> steps) {
  std::vector<CommandInfo> commands, out(steps.size());
  Lister(program, commands).list_all();
  size_t next = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    using Kind = Step::Kind;
    const Kind k = steps[i].kind;
    if (k == Kind::loop || k == Kind::wait || k == Kind::signal || k == Kind::mark ||
        k == Kind::wait_marks)
      continue;
    if (program.body.empty()) {  // a layer of an engine, which has no program
      out[i].kind = CommandSet{1} << kGemm;
      continue;
    }
    check(next < commands.size(), "steps and text of a program have other commands");
    out[i] = commands[next++];
  }
  check(next == commands.size(), "steps and text of a program have other commands");
  return out;
}

}  // namespace

std::string command_names(CommandSet commands) {
  std::string out;
  for (; commands != 0; commands &= commands - 1)
    out += (out.empty() ? "" : " + ") + kind_name(std::countr_zero(commands));
  return out;
}

std::string token_name(int ring) {
  if (ring == kMarks) return "a tensor that another command works on";
  if (ring == kPrimedRing) return "a primed output slot";
  if (ring > static_cast<int>(kPrimedRing)) {
    const int at = ring - static_cast<int>(kPrimedRing) - 1;
    return fmt::format("a {} slot of region {}", at % 2 == 1 ? "full" : "free", at / 2);
  }
  const auto b = static_cast<Buffer>(ring / 2);
  return std::string(ring % 2 == 1 ? "a full " : "a free ") + std::string(name(b)) + " slot";
}

void Slice::append(const Slice& next) {
  if (next.count == 0) return;
  if (count == 0) {
    *this = next;
    return;
  }
  end = std::max(end, next.end);
  visible = std::max(visible, next.visible);
  busy += next.busy;
  count += next.count;
  commands |= next.commands;
  token = kNoToken;
  for (size_t w = 0; w < kWaits; ++w) waits[w] += next.waits[w];
  read += next.read;
  written += next.written;
}

Timeline ChainTimeline::next_timeline(const Program& program, std::span<const Step> steps,
                                      std::span<const int32_t> tensors, int64_t limit) {
  const std::vector<CommandInfo> commands = list_commands(program, steps);
  TimingMode mode = TimingMode::step;
  Detail detail;  // everything
  if (count_program(program, hw_).commands > limit) {
    mode = TimingMode::periodic;
    const SimulatorState before = simulator_.state();
    LoopCounter counter;
    simulator_.watch(&counter, mode);
    simulator_.go_on(steps, tensors);
    detail = counter.detail_within(limit);
    simulator_.restore(before);
  }
  SliceRecorder recorder(steps, commands, detail);
  simulator_.watch(&recorder, mode);
  const Timing timing = simulator_.go_on(steps, tensors);
  Timeline out;
  out.total = timing.total;
  for (const Queue q : Queue::all()) out.hidden[q] = timing.queues[q].hidden.count();
  out.queues = recorder.take_slices();
  for (const auto& queue : out.queues)
    for (const Slice& s : queue) out.summarised = out.summarised || s.count > 1;
  return out;
}

Timeline timeline(const Program& program, const HwConfig& hw, int64_t limit) {
  StepWriter writer;
  write_steps(program, hw, writer);
  return ChainTimeline(hw, writer.regions()).next_timeline(program, writer.steps(), {}, limit);
}

}  // namespace accsim::hw
