#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/base/check.h"

namespace accsim::hw {

/// Where a field lives in a HwConfig; its type is the field's type.
template <class T>
struct Member {
  std::function<T&(HwConfig&)> of;

  /// To read only: `of` does nothing but find the place.
  const T& in(const HwConfig& hw) const { return of(const_cast<HwConfig&>(hw)); }
};

/// A field's place in a HwConfig, by its type: integers, numbers, rates, words and choices.
using FieldTarget =
    std::variant<Member<int64_t>, Member<double>, Member<ByteRate>, Member<std::string>,
                 Member<DType>, Member<std::vector<Dataflow>>, Member<std::vector<TypeMode>>,
                 Member<ArrayForm>, Member<VectorForm>, Member<RunWeights>, Member<DramModel>,
                 Member<DramBus>, Member<DramPreset>, Member<DramMap>, Member<DerivableNumber>,
                 Member<Technology>, Member<DramKind>, Member<std::vector<EngineQueue>>,
                 Member<std::vector<CommandKind>>, Member<std::vector<TokenQueue>>>;

/// One lambda a type of FieldTarget, for std::visit.
template <class... Cases>
struct FieldCases : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
FieldCases(Cases...) -> FieldCases<Cases...>;

/// A key that exists only when another key of its section has a certain value: it must be there
/// then, and must not else.
struct Condition {
  std::string path, word;  ///< "dram.model", "banked"
  std::function<bool(const HwConfig&)> holds;
};

/// What a field can change, a set of the kinds below. Costs that are remembered are found again by
/// the fields that decide them (config_key.h), so a new field decides everything until its row says
/// less.
using Decides = unsigned;
inline constexpr Decides kDecidesNothing = 0;
inline constexpr Decides kDecidesPlaces = 1;     ///< sizes of elements, which tensors stay on chip
inline constexpr Decides kDecidesProducts = 2;   ///< cycles and bytes of products of given places
inline constexpr Decides kDecidesVectors = 4;    ///< the same of vector and memory operations
inline constexpr Decides kDecidesEnergy = 8;     ///< picojoules of given counts and cycles
inline constexpr Decides kDecidesPrograms = 16;  ///< cycles of programs of engines with tokens
inline constexpr Decides kDecidesEverything = 31;

/// Which way costs go when a field's number grows and all else stays. Bounds of sweeps may rely on
/// it, and advice goes by it to try more or less.
enum class Growth : uint8_t {
  none,     ///< no order
  memory,   ///< more tilings fit, more tensors stay on chip: never worse
  rate,     ///< never slower, same tilings
  latency,  ///< never faster
  price,    ///< energy of an event: never less
  clock,    ///< changes no count
};

/// Which prices follow from a word, so that none is known to be the least while the word varies: a
/// set of the kinds below.
using Prices = unsigned;
inline constexpr Prices kPricesNothing = 0;
inline constexpr Prices kPricesEnergies = 1;        ///< energies that aren't given
inline constexpr Prices kPricesArea = 2;            ///< square millimetres of any machine
inline constexpr Prices kPricesTechnologyArea = 4;  ///< of machines with an energy.technology

/// One key of the YAML file. Parser, range checks, printer, JSON Schema and the table in
/// configs/README.md are all driven by the list of these.
struct Field {
  std::string path;                  ///< "buffers.activation.kib"
  std::string unit;                  ///< "KiB"; empty for a plain number or word
  double min = 0, max = 0;           ///< of numbers, both ends legal
  std::vector<std::string> choices;  ///< of words: the names that are printed
  std::string description;
  FieldTarget target;
  std::optional<Condition> only = std::nullopt;
  unsigned decides = kDecidesEverything;               ///< a set of Decides
  std::optional<Condition> decides_if = std::nullopt;  ///< else nothing; empty: always
  /// A list that is empty, a word that is the first of its choices, or a number that is `left_out`,
  /// where a file leaves it out.
  /// Numbers that can follow from others are known by their type, DerivableNumber.
  bool optional = false;
  double left_out = 0;
  Growth growth = Growth::none;
  std::optional<Condition> unordered_if = std::nullopt;  ///< growth promises nothing then
  unsigned prices = kPricesNothing;                      ///< a set of Prices
  /// Why no axis of a sweep may be of it, as a sentence without its subject; empty: one may.
  std::string not_swept = {};
  /// Of a section that a file may leave out as a whole: has a machine it? All its keys are there
  /// then. Null: the section is in every file.
  bool (*section_there)(const HwConfig&) = nullptr;
};

/// Every key in file order.
const std::vector<Field>& fields();

/// The field of that path; a null pointer for none.
const Field* find_field(std::string_view path);

/// The field that lies at `place`, which is a member of `hw`: field_at(hw, hw.array.rows). So that
/// nobody spells a path to ask about a field.
template <class T>
const Field& field_at(const HwConfig& hw, const T& place) {
  for (const Field& field : fields())
    if (const auto* m = std::get_if<Member<T>>(&field.target); m && &m->in(hw) == &place)
      return field;
  check(false, "no field of the table lies there");
  return fields().front();
}

/// Is it a field of the machine's costs? Its name isn't.
inline bool changes_costs(const Field& field) { return field.decides != kDecidesNothing; }
/// What its growth does on machines like this one.
Growth growth_on(const Field& field, const HwConfig& hw);

/// The same keys as a tree: a node is a section (children) or a field.
struct KeyNode {
  std::string key;
  std::string path;
  std::string description;
  const Field* field = nullptr;
  std::vector<KeyNode> children;
  /// As Field::section_there, of a section.
  bool (*section_there)(const HwConfig&) = nullptr;
};
/// Is it a section that this machine has not?
inline bool is_missing(const KeyNode& section, const HwConfig& hw) {
  return section.section_there != nullptr && !section.section_there(hw);
}
/// The root: its children are the sections and fields at the top of the file, in file order.
const KeyNode& key_tree();

/// A second spelling of a choice: fp16 for float16.
struct Alias {
  std::string_view alias, choice;
};
inline constexpr std::array<Alias, 4> kTypeAliases = {
    {{"fp16", "float16"}, {"bf16", "bfloat16"}, {"fp32", "float32"}, {"fp8", "float8e4m3fn"}}};

/// Is it what a file that leaves it out has?
bool is_absent(const Field& field, const HwConfig& hw);
/// Is it a number that this machine's file doesn't give, as it follows from others?
bool is_derived(const Field& field, const HwConfig& hw);

/// What a machine may be called: the name goes into file names and HTML.
inline constexpr size_t kNameMax = 64;
inline constexpr std::string_view kNamePunctuation = " ._+-";

/// "1..1024", "int8 int16", ... for people; empty when anything goes.
std::string range_text(const Field& field);
/// "whole number", "word", ...
std::string_view type_text(const Field& field);

}  // namespace accsim::hw
