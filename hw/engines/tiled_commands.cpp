#include "hw/engines/tiled_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace accsim::hw {
namespace {

using tiled::kGemm;
using tiled::kInp;
using tiled::kStore;

/// A kind of command of tiled layers: its name, its work, and the kind whose engine it shares.
struct KindRole {
  std::string_view name;
  CommandWork work;
  tiled::Kind beside;
};
constexpr std::array kRoles{KindRole{"uop", CommandWork::read, kGemm},
                            KindRole{"inp", CommandWork::read, kInp},
                            KindRole{"wgt", CommandWork::read, kInp},
                            KindRole{"acc", CommandWork::read, kGemm},
                            KindRole{"gemm", CommandWork::compute, kGemm},
                            KindRole{"gemm_reset", CommandWork::compute, kGemm},
                            KindRole{"alu_imm", CommandWork::compute, kGemm},
                            KindRole{"alu_reg", CommandWork::compute, kGemm},
                            KindRole{"store", CommandWork::write, kStore},
                            KindRole{"nop_load", CommandWork::compute, kInp},
                            KindRole{"nop_core", CommandWork::compute, kGemm},
                            KindRole{"finish", CommandWork::compute, kGemm}};

/// Between the engines of which kinds a token queue is, in the order of tiled::Tokens.
struct QueueRole {
  tiled::Kind from, to;
};
constexpr std::array kQueueRoles{QueueRole{kInp, kGemm}, QueueRole{kGemm, kInp},
                                 QueueRole{kGemm, kStore}, QueueRole{kStore, kGemm}};

Error lacks(std::string_view list, std::string message) {
  return {Errc::unsupported, "programs of tiled layers need " + std::move(message),
          fmt::format("engines.{}", list)};
}

/// Kinds and tokens of tiled layers in a machine's numbers.
class Binding {
 public:
  explicit Binding(const EngineMachine& machine) : machine_(machine) {}

  Status find() {
    for (const KindRole& role : kRoles) {
      const auto at = std::ranges::find(machine_.kinds, role.name, &CommandKind::name);
      if (at == machine_.kinds.end())
        return lacks("kinds", fmt::format("a kind of command named {}", role.name));
      if (at->work != role.work)
        return lacks("kinds", fmt::format("{} to have the work {}", role.name,
                                          kCommandWorks[static_cast<size_t>(role.work)]));
      kinds_.push_back(at - machine_.kinds.begin());
    }
    for (size_t i = 0; i < kRoles.size(); ++i)
      if (engine(static_cast<tiled::Kind>(i)) != engine(kRoles[i].beside))
        return lacks("kinds", fmt::format("{} and {} in one engine", kRoles[i].name,
                                          kRoles[static_cast<size_t>(kRoles[i].beside)].name));
    for (const QueueRole& role : kQueueRoles) {
      const TokenQueue wanted{engine(role.from), engine(role.to)};
      const auto at = std::ranges::find(machine_.token_queues, wanted);
      if (at == machine_.token_queues.end())
        return lacks("token_queues", fmt::format("one from the engine of {} to that of {}",
                                                 kRoles[static_cast<size_t>(role.from)].name,
                                                 kRoles[static_cast<size_t>(role.to)].name));
      queues_.push_back(at - machine_.token_queues.begin());
    }
    return ok();
  }

  void apply(EngineCommand& command) const {
    command.kind = kinds_[static_cast<size_t>(command.kind)];
    command.takes = tokens(command.takes);
    command.posts = tokens(command.posts);
  }

 private:
  int64_t engine(tiled::Kind kind) const {
    return machine_.kinds[static_cast<size_t>(kinds_[static_cast<size_t>(kind)])].engine;
  }
  uint32_t tokens(uint32_t of_layer) const {
    uint32_t out = 0;
    for (size_t q = 0; q < queues_.size(); ++q)
      if ((of_layer >> q & 1U) != 0) out |= 1U << queues_[q];
    return out;
  }

  const EngineMachine& machine_;
  std::vector<int64_t> kinds_, queues_;  // by tiled::Kind, and in the order of tiled::Tokens
};

}  // namespace

const CommandKind& tiled_kind(const EngineMachine& machine, tiled::Kind kind) {
  return *std::ranges::find(machine.kinds, kRoles[static_cast<size_t>(kind)].name,
                            &CommandKind::name);
}

Status bind_tiled_program(EngineProgram& program, const EngineMachine& machine) {
  Binding binding(machine);
  if (Status found = binding.find(); !found) return found;
  for (EngineCommand& command : program) binding.apply(command);
  return ok();
}

}  // namespace accsim::hw
