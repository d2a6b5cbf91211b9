#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "sim/program/network_program.h"

namespace accsim::sim {

/// The layers of a network that run on RTL, by their numbers in the report.
struct VerifiedLayers {
  /// The first; golden alone runs what stands before it, and RTL begins with the memory that it
  /// leaves. Nothing: the network's first.
  std::optional<size_t> from = std::nullopt;
  std::optional<size_t> until = std::nullopt;   ///< the last; nothing: the network's
  std::optional<size_t> traced = std::nullopt;  ///< that waveforms are of; nothing: of all
};
/// The same as the command line has them: names, or numbers; empty: nothing. Errors name the option
/// that the first came from.
struct LayerWords {
  std::string from = "", until = "", traced = "";
  std::string from_option = "--resume-at", until_option = "--until";
};

/// Layers by their names or, where none has that name, by their place in the report, from 0 on.
/// Errc::usage, with the option, where there is no such layer (and which is nearest), it has no
/// commands in the program, or they stand in another order.
Result<VerifiedLayers> find_layers(const LayerWords& words, const CostedNetwork& network,
                                   const NetworkProgram& program);

/// Items [first, end) of a program's body.
struct BodyRange {
  size_t first = 0, end = 0;
};
/// The range of a layer that has commands: from its first head to the end of its last part. Layers
/// that take turns with it stand between them.
BodyRange body_of(size_t layer, const NetworkProgram& program);
/// Those that RTL runs.
BodyRange body_of(const VerifiedLayers& layers, const NetworkProgram& program);

}  // namespace accsim::sim
