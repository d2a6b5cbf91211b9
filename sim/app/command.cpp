#include "sim/app/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

namespace accsim::sim {
namespace {

/// The text of what a target holds.
std::string text_of(const OptionTarget& to) {
  return std::visit(
      [](auto target) -> std::string {
        using Target = std::remove_pointer_t<decltype(target)>;
        if constexpr (std::is_arithmetic_v<Target> || std::is_same_v<Target, std::string>)
          return fmt::format("{}", *target);
        return "";
      },
      to);
}

}  // namespace

Command::Command(std::string name, std::string about, const Command* parent)
    : name_(std::move(name)), about_(std::move(about)), parent_(parent) {
  add({{.name = "-h,--help", .to = {}, .about = "Print this help message and exit"}});
}

Command& Command::add_command(const std::string& name, const std::string& about) {
  commands_.push_back(std::make_unique<Command>(name, about, this));
  return *commands_.back();
}

void Command::add(const std::string& group, std::vector<OptionRow> rows) {
  for (OptionRow& row : rows) {
    row.group = group;
    if (row.shows_default) row.standard = text_of(row.to);
    rows_.push_back(std::move(row));
  }
}

std::string Command::path() const {
  return parent_ == nullptr ? name_ : parent_->path() + " " + name_;
}

std::vector<const Command*> Command::commands() const {
  std::vector<const Command*> out;
  for (const auto& command : commands_) out.push_back(command.get());
  return out;
}

std::vector<Command*> Command::commands() {
  std::vector<Command*> out;
  for (const auto& command : commands_) out.push_back(command.get());
  return out;
}

const OptionRow* Command::find(std::string_view long_name) const {
  const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const OptionRow& row) {
    return row.long_name() == long_name;
  });
  return found == rows_.end() ? nullptr : &*found;
}

bool Command::is_given(std::string_view long_name) const {
  const OptionRow* const row = find(long_name);
  return row != nullptr && !row->given.empty();
}

const Command& Command::innermost_command() const {
  for (const auto& command : commands_)
    if (command->is_chosen()) return command->innermost_command();
  return *this;
}

}  // namespace accsim::sim
