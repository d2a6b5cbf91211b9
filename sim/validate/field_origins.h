#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hw/config/fields.h"
#include "sim/base/result.h"

namespace accsim::sim {

/// What a machine's description rests on: a publication, by the tag that its fields cite it with.
struct CitedSource {
  std::string tag, title;
};

/// Where one field's value comes from, as the comment behind it says.
struct FieldOrigin {
  const hw::Field* field = nullptr;
  int line = 0;
  std::string comment;  ///< without the mark: "table 2" of "# [J] table 2"
  std::string tag;      ///< of the source that is cited; "" when the value is assumed
  /// Of an assumed value the ends of the range that it may lie in, or all words that it may be, as
  /// a file would have them. One word alone: assumed, and nothing else is thinkable.
  std::vector<std::string> range;

  bool is_assumed() const { return !range.empty(); }
};

/// A machine with the origin of every field that it has.
struct KnownMachine {
  hw::HwConfig hw;
  std::vector<CitedSource> sources;
  std::vector<FieldOrigin> origins;       ///< in the file's order; `name` has none
  std::vector<std::string> not_modelled;  ///< what the chip has and a machine file can't say
};

/// Reads a machine whose comments say where its values come from. Lines of their own are
///   # [TAG] title         a source
///   # not modelled: text  something that the chip has and the file can't say
/// each with further lines that are indented by four blanks or more. Behind every value but the
/// name stands
///   # [TAG] place         its source, or
///   # assumed LO..HI: why the range it may lie in; for words: A | B
/// The value must lie in its range. Errors: those of load_hw(); Errc::invalid with the line of
/// every field without an origin, unknown tag, or range that doesn't hold the value or breaks the
/// rules.
Result<KnownMachine> load_known_machine(const std::string& path);
/// The same for text that was read already.
Result<KnownMachine> parse_known_machine(std::string_view text, const std::string& file);

/// The machine with an assumed field set to one of its range's texts. Precondition: the text is of
/// origin.range.
hw::HwConfig with_assumed(const hw::HwConfig& hw, const FieldOrigin& origin,
                          const std::string& text);

}  // namespace accsim::sim
