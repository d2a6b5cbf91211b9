#include "sim/abi/run.h"

#include <fmt/format.h>

#include <utility>

namespace accsim::abi {
namespace {

// Both have the commands in one order.
static_assert(std::variant_size_v<hw::Command> == ACCSIM_STAGE + 1);
template <int32_t kKind, class C>
constexpr bool kIs = std::is_same_v<std::variant_alternative_t<kKind, hw::Command>, C>;
static_assert(kIs<ACCSIM_LOAD, hw::LoadCommand> && kIs<ACCSIM_GEMM, hw::GemmCommand> &&
              kIs<ACCSIM_DRAIN, hw::DrainCommand> && kIs<ACCSIM_POST, hw::PostCommand> &&
              kIs<ACCSIM_VECTOR, hw::VectorCommand> && kIs<ACCSIM_STORE, hw::StoreCommand> &&
              kIs<ACCSIM_TABLE, hw::SetTableCommand> && kIs<ACCSIM_LANE, hw::LaneCommand> &&
              kIs<ACCSIM_ROW, hw::RowCommand> && kIs<ACCSIM_STAGE, hw::StageCommand>);

}  // namespace

int32_t kind_of(const hw::Command& command) { return static_cast<int32_t>(command.index()); }

std::string_view kind_name(int32_t kind) {
  constexpr std::array<std::string_view, ACCSIM_STAGE + 1> kNames = {
      "load", "gemm", "drain", "post", "vector", "store", "table", "lane", "row", "stage"};
  return kNames[static_cast<size_t>(kind)];
}

Result<std::unique_ptr<accsim_run>> Run::of_program(const hw::HwConfig& hw,
                                                    hw::ProgramWithImage program) {
  if (Status s = hw::can_run(program.program, hw, program.image); !s) return s.errors();
  if (Status s = hw::verify(program.program, hw); !s) return s.errors();
  return std::make_unique<accsim_run>(hw, std::move(program));
}

Run::Run(const hw::HwConfig& hw, hw::ProgramWithImage program)
    : hw_(hw),
      given_(std::move(program)),
      times_(given_.program, hw_),
      machine_(given_.program, hw_, given_.image, true) {}

Result<bool> Run::advance_to_command(int32_t kind) {
  if (failed_) return *failed_;
  if (state_ == State::failed)  // in the middle of a command, for want of memory or by a fault
    return Error{Errc::usage, "golden can't go on after accsim_next() has failed", ""};
  text_.clear();
  // Unless it gets to a command: also when a step doesn't come back.
  state_ = State::failed;
  for (;;) {
    const Result<bool> more = machine_.step();
    if (!more) {
      failed_ = more.errors();
      return *failed_;
    }
    if (!*more) {
      state_ = State::over;
      return false;
    }
    ++done_[command_queue()];
    if (kind != ACCSIM_ANY && kind != kind_of(*retired_command().command)) continue;
    state_ = State::at_command;
    return true;
  }
}

Status Run::at_command() const {
  const auto none = [](std::string why) { return Error{Errc::usage, std::move(why), ""}; };
  switch (state_) {
    case State::fresh:
      return none("there is no command yet: call accsim_next() first");
    case State::over:
      return none("there is no command any more: the program is over");
    case State::failed:
      return none("there is no command: accsim_next() has failed");
    case State::at_command:
      break;
  }
  return ok();
}

int64_t Run::ordinal_in_queue() const { return done_[command_queue()] - 1; }

const std::string& Run::command_text() const {
  if (!text_.empty()) return text_;
  std::string text = fmt::format("{} command {}", name(command_queue()), ordinal_in_queue());
  if (std::holds_alternative<hw::DrainCommand>(*retired_command().command)) text += " (drain)";
  if (const hw::LayerHead* layer = machine_.layer())
    text += fmt::format(" of layer '{}'", layer->name);
  std::string_view between = " at ";
  for (const hw::Loop* loop : machine_.nest()) {
    const auto id = static_cast<size_t>(loop->id);
    text += fmt::format("{}{}={}", between, loop->name, retired_command().loop_indices[id]);
    between = " ";
  }
  return text_ = std::move(text);
}

std::optional<int64_t> Run::loop_index(std::string_view name) const {
  // The innermost, where several have the name.
  std::optional<int64_t> found;
  for (const hw::Loop* loop : machine_.nest())
    if (loop->name == name) found = retired_command().loop_indices[static_cast<size_t>(loop->id)];
  return found;
}

void Run::note_difference(Difference d) {
  if (!difference_) difference_ = std::move(d);
}

}  // namespace accsim::abi
