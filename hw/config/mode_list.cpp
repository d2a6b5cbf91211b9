#include "hw/config/mode_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hw/config/values.h"

namespace accsim::hw {
namespace {

constexpr double kRateMin = 0.001, kRateMax = 64;  ///< rows are 1..1024

template <class T, class Get>
Member<T> of_mode(Get get) {
  return {[get](HwConfig& hw) -> T& { return get(hw.types.modes.back()); }};
}

std::vector<Field> make_mode_fields() {
  const std::vector<std::string> activations = {"int8",    "int16",    "float8e4m3fn", "float8e5m2",
                                                "float16", "bfloat16", "float32"};
  std::vector<std::string> weights = activations;
  weights.insert(weights.begin(), "int4");
  std::vector<Field> out;
  out.push_back({"activation", "", 0, 0, activations,
                 "element type of activations, inputs and outputs alike",
                 of_mode<DType>([](TypeMode & m) -> auto& { return m.activation; })});
  out.push_back({"weight", "", 0, 0, weights, "element type of weights",
                 of_mode<DType>([](TypeMode & m) -> auto& { return m.weight; })});
  out.push_back({"rate",
                 "MACs",
                 kRateMin,
                 kRateMax,
                 {},
                 "multiply-accumulates per processing element and cycle",
                 of_mode<double>([](TypeMode & m) -> auto& { return m.rate; })});
  out.push_back({"mac_pj", "pJ", 0, 1e9, {}, "one multiply-accumulate", of_mode<DerivableNumber>([
                 ](TypeMode & m) -> auto& { return m.mac; })});
  out.push_back({"group",
                 "channels",
                 0,
                 65536,
                 {},
                 "input channels that share a scale; 0 = all channels of an output channel",
                 of_mode<int64_t>([](TypeMode & m) -> auto& { return m.group; })});
  out.back().only = Condition{
      "weight", "int4", [](const HwConfig& hw) { return is_packed(hw.types.modes.back().weight); }};
  return out;
}

std::vector<std::string> mode_keys() {
  std::vector<std::string> out;
  for (const Field& f : mode_fields()) out.push_back(f.path);
  return out;
}

/// Reads one entry.
class ModeReader {
 public:
  ModeReader(std::string path, ModeList& out) : path_(std::move(path)), out_(out) {
    scratch_.types.modes.emplace_back();
  }

  void read_mode(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::map)
      return add_error(node.at, fmt::format("{} must have the keys {}", path_, kModeKeys));
    for (const YamlEntry& entry : node.entries) read_entry(entry);
    const bool narrow = is_packed(scratch_.types.modes.back().weight);
    for (const Field& f : mode_fields()) {
      const bool there = seen_.contains(f.path);
      if (!there && (!f.only || narrow)) {
        auto& errors = is_derived(f, scratch_) ? out_.without_energy : out_.errors;
        errors.push_back({node.at, fmt::format("missing key \"{}\" in {} ({}, {}{}{}: {})", f.path,
                                               path_, type_text(f), range_text(f),
                                               f.unit.empty() ? "" : " ", f.unit, f.description)});
      }
      if (there && f.only && !narrow && read_.contains("weight"))
        add_error(node.at, fmt::format("{}.{} is only for weight: {}; remove it", path_, f.path,
                                       f.only->word));
    }
    out_.modes.push_back(scratch_.types.modes.back());
    out_.at.push_back(node.at);
  }

 private:
  void add_error(TextPosition at, std::string message) {
    out_.errors.push_back({at, std::move(message)});
  }

  void read_entry(const YamlEntry& entry) {
    const auto& all = mode_fields();
    const auto found = std::ranges::find(all, entry.key, &Field::path);
    if (found == all.end()) {
      const auto close = nearest_word(entry.key, mode_keys());
      return add_error(
          entry.at,
          fmt::format("unknown key {} in {}; {}", quoted_text(entry.key), path_,
                      close ? fmt::format("did you mean \"{}\"?", *close)
                            : fmt::format("valid here: {}", fmt::join(mode_keys(), ", "))));
    }
    if (!seen_.insert(entry.key).second)
      return add_error(entry.at,
                       fmt::format("duplicate key {} in {}", quoted_text(entry.key), path_));
    Field field = *found;
    field.path = path_ + "." + entry.key;
    if (auto problem = read_value(field, entry.value, scratch_))
      return add_error(entry.at, std::move(*problem));
    read_.insert(entry.key);
  }

  const std::string path_;
  ModeList& out_;
  HwConfig scratch_;
  std::set<std::string> seen_, read_;
};

}  // namespace

const std::vector<Field>& mode_fields() {
  static const std::vector<Field> all = make_mode_fields();
  return all;
}

ModeList read_mode_list(const std::string& path, const YamlNode& node) {
  ModeList out;
  if (node.kind != YamlNode::Kind::sequence) {
    out.errors.push_back(
        {node.at, fmt::format("{} must be a list of modes ({})", path, kModeKeys)});
    return out;
  }
  for (size_t i = 0; i < node.items.size(); ++i)
    ModeReader(mode_path(i), out).read_mode(node.items[i]);
  return out;
}

std::string print_modes(const std::vector<TypeMode>& modes) {
  std::vector<std::string> out;
  HwConfig scratch;
  for (const TypeMode& mode : modes) {
    scratch.types.modes = {mode};
    std::vector<std::string> keys;
    for (const Field& f : mode_fields())
      if ((!f.only || f.only->holds(scratch)) && !is_derived(f, scratch))
        keys.push_back(fmt::format("{}: {}", f.path, print_value(f, scratch)));
    out.push_back(fmt::format("{{{}}}", fmt::join(keys, ", ")));
  }
  return fmt::format("[{}]", fmt::join(out, ", "));
}

std::string mode_path(size_t index) { return fmt::format("types.modes[{}]", index); }

}  // namespace accsim::hw
