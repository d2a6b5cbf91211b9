#include "sim/map/pin.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <charconv>
#include <sstream>

namespace accsim::sim {
namespace {

/// "2x7x56" as 2, 7, 56; false when it isn't positive whole numbers with x between them.
bool parse_sizes(std::string_view text, std::vector<int64_t>& out) {
  while (true) {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || value < 1) return false;
    out.push_back(value);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return true;
    if (text.front() != 'x') return false;
    text.remove_prefix(1);
  }
}

/// How many of its fields are pinned.
int pinned_fields(const MappingPin& p) {
  int out = p.im2col ? 1 : 0;
  for (const bool empty :
       {p.dataflow.empty(), p.lines.empty(), p.images.empty(), p.outputs.empty(),
        p.channels.empty(), p.groups.empty(), p.staged.empty(), p.outputs_outer.empty()})
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
  std::vector<int64_t> sizes;
  if (token[0] == 'n' || token[0] == 'k' || token[0] == 'g' || token[0] == 's') {
    if (!parse_sizes(std::string_view(token).substr(1), sizes) || sizes.size() != 1) return false;
    (token[0] == 'n'   ? pin.outputs
     : token[0] == 'k' ? pin.channels
     : token[0] == 'g' ? pin.groups
                       : pin.staged) = std::move(sizes);
    return true;
  }
  if (!parse_sizes(token, sizes) || sizes.size() < 2 || sizes.size() > 3) return false;
  if (sizes.size() == 3) pin.images = {sizes[0]};
  pin.lines = {sizes[sizes.size() - 2]};
  pin.pixels = {sizes.back()};
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
                               "nOUTPUTS, kCHANNELS, gGROUPS, sOUTPUTS, mnk|nmk, im2col, e.g. "
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
