#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/base/result.h"
#include "sim/map/units/unit_work.h"

namespace accsim::sim {

/// What the user pins of a Tiling, its fields' names and units; an empty field is left to the
/// search. Sizes that aren't among the search's candidates are added to them, cut to the op's own
/// size.
struct MappingPin {
  std::string text;    ///< as it was given
  std::string layers;  ///< glob over layer names; "" or "*": every layer
  std::vector<hw::Dataflow> dataflow;
  std::vector<int64_t> lines, pixels, images, outputs, channels, groups, staged;
  std::vector<int64_t> banks;  ///< of an engine of dot products: for features, for weights
  std::vector<bool> outputs_outer;
  bool im2col = false;
  bool rereads = false;  ///< of such an engine: each part of a layer reads its weights
  std::optional<UnitPin> unit = std::nullopt;  ///< of the units beside it; not of the user's
  int64_t chunks = 0;  ///< of rows in the vector unit, where that fits; not of the user's

  /// Does it leave everything to the search?
  bool is_free() const {
    return dataflow.empty() && lines.empty() && pixels.empty() && images.empty() &&
           outputs.empty() && channels.empty() && groups.empty() && outputs_outer.empty() &&
           staged.empty() && banks.empty() && !im2col && !rereads && !unit;
  }
  /// Does its glob match the layer's name?
  bool applies_to(const std::string& layer) const;
};

/// Parses one --mapping argument: "[GLOB=]TOKENS", tokens as to_string(Tiling) prints them, each
/// optional: "ws|is|os", "[IMAGESx]LINESxPIXELS", "nOUTPUTS", "kCHANNELS", "gGROUPS", "mnk|nmk",
/// "im2col", "sOUTPUTS" of staged weights, "bFEATURESxWEIGHTS" of an engine's banks,
/// "reread" of its weights.
/// Errors: usage, naming the word that is none of these, or that there is no word.
Result<MappingPin> parse_pin(const std::string& text);

/// Is it about an option that the machine has no use for, whatever the layer?
inline bool is_of_machine(const Error& e) {
  return e.code == Errc::usage && e.where.starts_with("--");
}

}  // namespace accsim::sim
