#include "sim/program/network_range.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/config/values.h"
#include "sim/base/parse_number.h"

namespace accsim::sim {
namespace {

/// Items of the body at which parts begin, and its end.
std::vector<size_t> heads_of(const NetworkProgram& program) {
  const std::vector<hw::Item>& body = program.program.body;
  std::vector<size_t> out;
  for (size_t i = 0; i < body.size(); ++i)
    if (std::holds_alternative<hw::LayerHead>(body[i].node)) out.push_back(i);
  check(out.size() == program.parts.size(), "a network's program with a head for each part");
  out.push_back(body.size());
  return out;
}

class Finder {
 public:
  Finder(const CostedNetwork& network, const NetworkProgram& program)
      : layers_(network.lowered.layers), program_(program) {}

  /// Nothing for no word.
  Result<std::optional<size_t>> find_layer(const std::string& word,
                                           const std::string& option) const {
    if (word.empty()) return std::optional<size_t>();
    const std::optional<size_t> layer = number_of(word);
    if (!layer) return Error{Errc::usage, unknown_layer_message(word), option};
    if (has_commands(*layer)) return layer;
    return Error{Errc::usage,
                 fmt::format("layer '{}' has no commands of its own in the network's program{}",
                             layers_[*layer].name, next_with_commands(*layer)),
                 option};
  }

 private:
  std::optional<size_t> number_of(const std::string& word) const {
    for (size_t i = 0; i < layers_.size(); ++i)
      if (layers_[i].name == word) return i;
    const auto number = parse_number<size_t>(word);
    return number && *number < layers_.size() ? number : std::nullopt;
  }
  std::string unknown_layer_message(const std::string& word) const {
    std::vector<std::string> names;
    for (const NetworkPart& part : program_.parts) names.push_back(layers_[part.layer].name);
    const auto close = hw::nearest_word(word, names);
    return fmt::format(
        "there is no layer '{}'{}", word,
        close ? fmt::format("; did you mean '{}'?", *close)
              : fmt::format("; layers have names and numbers, 0 to {}", layers_.size() - 1));
  }
  bool has_commands(size_t layer) const {
    return std::ranges::any_of(program_.parts,
                               [&](const NetworkPart& part) { return part.layer == layer; });
  }
  std::string next_with_commands(size_t layer) const {
    while (++layer < layers_.size())
      if (has_commands(layer))
        return fmt::format("; the next that has some is '{}'", layers_[layer].name);
    return "";
  }

  const std::vector<Layer>& layers_;
  const NetworkProgram& program_;
};

}  // namespace

Result<VerifiedLayers> find_layers(const LayerWords& words, const CostedNetwork& network,
                                   const NetworkProgram& program) {
  const Finder finder(network, program);
  VerifiedLayers out;
  for (const auto& [word, option, to] :
       {std::tuple(&words.from, words.from_option, &out.from),
        std::tuple(&words.until, words.until_option, &out.until),
        std::tuple(&words.traced, std::string("--trace-layer"), &out.traced)}) {
    const Result<std::optional<size_t>> found = finder.find_layer(*word, option);
    if (!found) return found.errors();
    *to = *found;
  }
  const BodyRange run = body_of(out, program);
  if (run.first >= run.end)
    return Error{Errc::usage, "'" + words.until + "' ends before '" + words.from + "' begins",
                 words.until_option};
  const BodyRange traced = out.traced ? body_of(*out.traced, program) : run;
  if (traced.first < run.first || traced.end > run.end)
    return Error{Errc::usage, "'" + words.traced + "' isn't among the layers that run on RTL",
                 "--trace-layer"};
  return out;
}

BodyRange body_of(size_t layer, const NetworkProgram& program) {
  const std::vector<size_t> heads = heads_of(program);
  BodyRange out{program.program.body.size(), 0};
  for (size_t i = 0; i < program.parts.size(); ++i) {
    if (program.parts[i].layer != layer) continue;
    out.first = std::min(out.first, heads[i]);
    out.end = heads[i + 1];
  }
  check(out.first < out.end, "a layer with commands");
  return out;
}

BodyRange body_of(const VerifiedLayers& layers, const NetworkProgram& program) {
  return {layers.from ? body_of(*layers.from, program).first : 0,
          layers.until ? body_of(*layers.until, program).end : program.program.body.size()};
}

}  // namespace accsim::sim
