#include "hw/config/engine_lists.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hw/config/values.h"

namespace accsim::hw {
namespace {

std::vector<std::string> engine_names(const HwConfig& hw) {
  std::vector<std::string> out;
  for (const EngineQueue& queue : hw.engines.queues) out.push_back(queue.name);
  return out;
}

template <class T, class Get, class Set>
EntryKey<T> word_key(std::string key, std::string description, std::vector<std::string> words,
                     Get get, Set set) {
  return {std::move(key),
          "",
          std::move(description),
          0,
          0,
          true,
          std::move(words),
          std::nullopt,
          get,
          set};
}

template <class T>
EntryKey<T> number_key(const FieldOf<T>& f, std::optional<CommandWork> of = {}) {
  return {std::string(f.name),
          std::string(f.unit),
          std::string(f.meaning),
          f.least,
          f.most,
          false,
          {},
          of,
          [m = f.member](const T& entry) { return entry.*m; },
          [m = f.member](T& entry, int64_t value) { entry.*m = value; }};
}

template <class T>
EntryKey<T> engine_key(const char* key, const char* description, int64_t T::*member,
                       const HwConfig& hw) {
  return word_key<T>(
      key, description, engine_names(hw), [member](const T& entry) { return entry.*member; },
      [member](T& entry, int64_t value) { entry.*member = value; });
}

/// Reads the entries of a list.
template <EngineEntry T>
class ListReader {
 public:
  ListReader(std::string path, const HwConfig& hw, ListReading& out)
      : path_(std::move(path)), keys_(entry_keys<T>(hw)), out_(out) {}

  std::vector<T> read(const YamlNode& node, std::string_view keys) {
    std::vector<T> entries;
    if (node.kind != YamlNode::Kind::sequence) {
      add_error(node.at, fmt::format("{} must be a list; each entry has {}", path_, keys));
      return entries;
    }
    if (node.items.empty() && has_name<T>())
      add_error(node.at, fmt::format("{} is empty; it needs at least one entry", path_));
    for (const YamlNode& item : node.items) {
      where_ = entry_path(path_, entries.size());
      entries.emplace_back();
      out_.at.push_back(item.at);
      if (item.kind == YamlNode::Kind::map)
        read_entry(item, entries.back());
      else
        add_error(item.at, fmt::format("{} must have {}", where_, keys));
    }
    return entries;
  }

 private:
  void add_error(TextPosition at, std::string message) {
    out_.errors.push_back({at, std::move(message)});
  }

  std::vector<std::string> key_names() const {
    std::vector<std::string> out;
    if constexpr (has_name<T>()) out.emplace_back("name");
    for (const EntryKey<T>& key : keys_) out.push_back(key.key);
    return out;
  }

  void read_entry(const YamlNode& item, T& entry) {
    std::map<std::string, const YamlEntry*> found;
    const std::vector<std::string> names = key_names();
    for (const YamlEntry& e : item.entries) {
      if (std::ranges::find(names, e.key) == names.end()) {
        const auto close = nearest_word(e.key, names);
        add_error(e.at, fmt::format("unknown key {} in {}; {}", quoted_text(e.key), where_,
                                    close ? fmt::format("did you mean \"{}\"?", *close)
                                          : fmt::format("valid here: {}", fmt::join(names, ", "))));
      } else if (!found.emplace(e.key, &e).second) {
        add_error(e.at, fmt::format("duplicate key {} in {}", quoted_text(e.key), where_));
      }
    }
    if constexpr (has_name<T>()) read_name(item, found, entry);
    for (const EntryKey<T>& key : keys_) read_key(item, found, key, entry);
  }

  void read_name(const YamlNode& item, const std::map<std::string, const YamlEntry*>& found,
                 T& entry) {
    const auto at = found.find("name");
    if (at == found.end())
      return add_error(item.at,
                       fmt::format("missing key \"name\" in {} (text: what it is called)", where_));
    HwConfig none;
    const Field field{
        where_ + ".name", "", 0, 0, {}, "", Member<std::string>{[&](HwConfig&) -> std::string& {
          return entry.name;
        }}};
    if (auto problem = read_value(field, at->second->value, none))
      add_error(at->second->at, std::move(*problem));
  }

  void read_key(const YamlNode& item, const std::map<std::string, const YamlEntry*>& found,
                const EntryKey<T>& key, T& entry) {
    const auto at = found.find(key.key);
    if constexpr (std::same_as<T, CommandKind>)
      if (key.of && *key.of != entry.work) {
        if (at != found.end())
          add_error(at->second->at,
                    fmt::format("{}.{} is only for work: {}; remove it", where_, key.key,
                                kCommandWorks[static_cast<size_t>(*key.of)]));
        return;
      }
    if (at == found.end())
      return add_error(item.at,
                       fmt::format("missing key \"{}\" in {} ({}{}{})", key.key, where_, key.unit,
                                   key.unit.empty() ? "" : ": ", key.description));
    int64_t value = 0;
    if (!key.is_word ? read_number(key, *at->second, value) : read_word(key, *at->second, value))
      key.set(entry, value);
  }

  bool read_number(const EntryKey<T>& key, const YamlEntry& e, int64_t& value) {
    HwConfig none;
    const Field field{where_ + "." + key.key,
                      key.unit,
                      static_cast<double>(key.least),
                      static_cast<double>(key.most),
                      {},
                      "",
                      Member<int64_t>{[&](HwConfig&) -> int64_t& { return value; }}};
    auto problem = read_value(field, e.value, none);
    if (problem) add_error(e.at, std::move(*problem));
    return !problem;
  }

  bool read_word(const EntryKey<T>& key, const YamlEntry& e, int64_t& value) {
    const auto at = std::ranges::find(key.words, e.value.text);
    if (e.value.kind == YamlNode::Kind::scalar && at != key.words.end()) {
      value = at - key.words.begin();
      return true;
    }
    if (key.words.empty()) return false;  // no engine could be read, and that was said
    add_error(e.at, fmt::format("{}.{} is {}; valid: {}", where_, key.key,
                                quoted_text(e.value.text), fmt::join(key.words, ", ")));
    return false;
  }

  std::string path_, where_;
  std::vector<EntryKey<T>> keys_;
  ListReading& out_;
};

template <EngineEntry T>
ListEntry entry_of(const T& entry, const std::vector<EntryKey<T>>& keys) {
  ListEntry out;
  if constexpr (has_name<T>()) out.emplace_back("name", entry.name);
  for (const EntryKey<T>& key : keys) {
    if constexpr (std::same_as<T, CommandKind>)
      if (key.of && *key.of != entry.work) continue;
    const int64_t value = key.get(entry);
    const bool named = value >= 0 && value < static_cast<int64_t>(key.words.size());
    if (named)
      out.emplace_back(key.key, key.words[static_cast<size_t>(value)]);
    else
      out.emplace_back(key.key, value);
  }
  return out;
}

}  // namespace

template <>
std::vector<EntryKey<EngineQueue>> entry_keys<EngineQueue>(const HwConfig&) {
  std::vector<EntryKey<EngineQueue>> out;
  for (const EngineQueueField& f : engine_queue_fields()) out.push_back(number_key(f));
  return out;
}

template <>
std::vector<EntryKey<CommandKind>> entry_keys<CommandKind>(const HwConfig& hw) {
  std::vector<EntryKey<CommandKind>> out;
  out.push_back(
      engine_key("engine", "name of the engine that executes it", &CommandKind::engine, hw));
  out.push_back(word_key<CommandKind>(
      "work", "reads memory, writes it, or computes", {kCommandWorks.begin(), kCommandWorks.end()},
      [](const CommandKind& kind) { return static_cast<int64_t>(kind.work); },
      [](CommandKind& kind, int64_t value) { kind.work = static_cast<CommandWork>(value); }));
  for (const CommandKindField& f : command_kind_fields())
    out.push_back(number_key<CommandKind>(f, f.work));
  return out;
}

template <>
std::vector<EntryKey<TokenQueue>> entry_keys<TokenQueue>(const HwConfig& hw) {
  return {engine_key("from", "name of the engine that posts", &TokenQueue::from, hw),
          engine_key("to", "name of the engine that takes", &TokenQueue::to, hw)};
}

bool is_engine_list(const Field& field) {
  return std::visit(FieldCases{[]<EngineEntry T>(const Member<std::vector<T>>&) { return true; },
                               [](const auto&) { return false; }},
                    field.target);
}

std::string_view engine_list_keys(const Field& field) {
  return std::visit(
      FieldCases{
          [](const Member<std::vector<EngineQueue>>&) -> std::string_view { return "name, depth"; },
          [](const Member<std::vector<CommandKind>>&) -> std::string_view {
            return "name, engine, work and the numbers of this work";
          },
          [](const Member<std::vector<TokenQueue>>&) -> std::string_view { return "from, to"; },
          [](const auto&) -> std::string_view { return ""; }},
      field.target);
}

std::vector<ListEntry> engine_entries(const Field& field, const HwConfig& hw) {
  std::vector<ListEntry> out;
  std::visit(FieldCases{[&]<EngineEntry T>(const Member<std::vector<T>>& m) {
                          const auto keys = entry_keys<T>(hw);
                          for (const T& entry : m.in(hw)) out.push_back(entry_of(entry, keys));
                        },
                        [](const auto&) {}},
             field.target);
  return out;
}

std::string print_engine_list(const Field& field, const HwConfig& hw) {
  std::vector<std::string> entries;
  for (const ListEntry& entry : engine_entries(field, hw)) {
    std::vector<std::string> keys;
    for (const auto& one : entry)
      keys.push_back(std::visit(
          [&]<class V>(const V& v) {
            if constexpr (std::is_same_v<V, std::string>)
              return fmt::format("{}: \"{}\"", one.first, v);
            else
              return fmt::format("{}: {}", one.first, v);
          },
          one.second));
    entries.push_back(fmt::format("{{{}}}", fmt::join(keys, ", ")));
  }
  return fmt::format("[{}]", fmt::join(entries, ", "));
}

ListReading read_engine_list(const Field& field, const YamlNode& node, HwConfig& hw) {
  ListReading out;
  std::visit(
      FieldCases{[&]<EngineEntry T>(const Member<std::vector<T>>& m) {
                   auto entries =
                       ListReader<T>(field.path, hw, out).read(node, engine_list_keys(field));
                   if (out.errors.empty()) m.of(hw) = std::move(entries);
                 },
                 [](const auto&) {}},
      field.target);
  return out;
}

std::string entry_path(std::string_view list, size_t index) {
  return fmt::format("{}[{}]", list, index);
}

}  // namespace accsim::hw
