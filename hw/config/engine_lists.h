#pragma once
#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hw/config/fields.h"
#include "hw/config/rules.h"
#include "hw/config/yaml_tree.h"

namespace accsim::hw {

/// What the lists of a machine's engines have as entries: `queues`, `kinds` and `token_queues` of
/// EngineMachine.
template <class T>
concept EngineEntry =
    std::same_as<T, EngineQueue> || std::same_as<T, CommandKind> || std::same_as<T, TokenQueue>;

/// A key of an entry, apart from its name: a whole number, or a word whose index the entry has.
template <EngineEntry T>
struct EntryKey {
  std::string key, unit, description;
  int64_t least = 0, most = 0;
  bool is_word = false;
  std::vector<std::string> words;  ///< that it may be
  std::optional<CommandWork> of;   ///< only kinds of this work have it
  std::function<int64_t(const T&)> get;
  std::function<void(T&, int64_t)> set;
};

/// The keys of an entry on a machine, in their order. Names of engines are those of its queues.
template <EngineEntry T>
std::vector<EntryKey<T>> entry_keys(const HwConfig& hw);
/// Has an entry a name, as its first key?
template <EngineEntry T>
constexpr bool has_name() {
  return !std::same_as<T, TokenQueue>;
}

/// An entry as key and value.
using ListEntry = std::vector<std::pair<std::string, std::variant<int64_t, std::string>>>;
/// The entries of a list of a machine's engines; none where the field is no such list.
std::vector<ListEntry> engine_entries(const Field& field, const HwConfig& hw);
/// As YAML on one line, which read_engine_list() reads back.
std::string print_engine_list(const Field& field, const HwConfig& hw);

/// Is the field a list of a machine's engines?
bool is_engine_list(const Field& field);
/// What an entry of such a list says, for people.
std::string_view engine_list_keys(const Field& field);

/// What was read of a list: where its entries stand, and all that is wrong.
struct ListReading {
  std::vector<TextPosition> at;
  std::vector<PlacedError> errors;
};
/// Reads a list of engines into a machine, where nothing is wrong with it. Engines are named: their
/// queues must have been read.
ListReading read_engine_list(const Field& field, const YamlNode& node, HwConfig& hw);

/// "engines.kinds[2]": how rules call an entry.
std::string entry_path(std::string_view list, size_t index);

}  // namespace accsim::hw
