#include "sim/map/pin.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <sstream>

#include "sim/base/parse_number.h"

namespace accsim::sim {
namespace {

/// How many of its fields are pinned.
int pinned_fields(const MappingPin& p) {
  int out = (p.im2col ? 1 : 0) + (p.rereads ? 1 : 0);
  for (const bool empty : {p.dataflow.empty(), p.lines.empty(), p.images.empty(), p.outputs.empty(),
                           p.channels.empty(), p.groups.empty(), p.staged.empty(),
                           p.outputs_outer.empty(), p.banks.empty()})
    out += empty ? 0 : 1;
  return out;
}

/// Writes what one word pins; false when it is none.
bool parse_token(const std::string& token, MappingPin& pin) {
  if (token == "ws") return pin.dataflow = {hw::Dataflow::weight_stationary}, true;
  if (token == "is") return pin.dataflow = {hw::Dataflow::input_stationary}, true;
  if (token == "os") return pin.dataflow = {hw::Dataflow::output_stationary}, true;
  if (token == "mnk" || token == "nmk") return pin.outputs_outer = {token == "nmk"}, true;
  if (token == "im2col") return pin.im2col = true;
  if (token == "reread") return pin.rereads = true;
  if (token[0] == 'n' || token[0] == 'k' || token[0] == 'g' || token[0] == 's') {
    auto size = parse_numbers(std::string_view(token).substr(1), 'x', 1);
    if (!size || size->size() != 1) return false;
    (token[0] == 'n'   ? pin.outputs
     : token[0] == 'k' ? pin.channels
     : token[0] == 'g' ? pin.groups
                       : pin.staged) = std::move(*size);
    return true;
  }
  if (token[0] == 'b') {
    auto banks = parse_numbers(std::string_view(token).substr(1), 'x', 1);
    if (!banks || banks->size() != 2) return false;
    pin.banks = std::move(*banks);
    return true;
  }
  const auto sizes = parse_numbers(token, 'x', 1);
  if (!sizes || sizes->size() < 2 || sizes->size() > 3) return false;
  if (sizes->size() == 3) pin.images = {sizes->front()};
  pin.lines = {sizes->at(sizes->size() - 2)};
  pin.pixels = {sizes->back()};
  return true;
}

}  // namespace

bool MappingPin::applies_to(const std::string& layer) const {
  return layers.empty() || fnmatch(layers.c_str(), layer.c_str(), 0) == 0;
}

Result<MappingPin> parse_pin(const std::string& text) {
  MappingPin pin;
  pin.text = text;
  const size_t equals = text.find('=');
  if (equals != std::string::npos) pin.layers = text.substr(0, equals);
  std::istringstream tokens(equals == std::string::npos ? text : text.substr(equals + 1));
  std::string token;
  bool any = false;
  while (tokens >> token) {
    any = true;
    const int before = pinned_fields(pin);
    if (!parse_token(token, pin))
      return Error{Errc::usage,
                   fmt::format("'{}' is not a mapping token; use ws|is|os, LINESxPIXELS, "
                               "nOUTPUTS, kCHANNELS, gGROUPS, sOUTPUTS, mnk|nmk, im2col, "
                               "bFEATURESxWEIGHTS, reread, e.g. "
                               "\"conv*=ws 7x56 n64 k256 mnk\"",
                               token),
                   "--mapping"};
    if (pinned_fields(pin) == before)
      return Error{Errc::usage,
                   fmt::format("'{}' in '{}' pins what a word before it has pinned", token, text),
                   "--mapping"};
  }
  if (!any) return Error{Errc::usage, "no mapping given in '" + text + "'", "--mapping"};
  return pin;
}

}  // namespace accsim::sim
