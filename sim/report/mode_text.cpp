#include "sim/report/mode_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hw/config/type_modes.h"
#include "sim/report/format.h"

namespace accsim::sim {
namespace {

struct Share {
  int64_t layers = 0, macs = 0;
};
using Shares = std::map<std::string, Share>;

std::vector<std::pair<std::string, Share>> largest_first(const Shares& shares) {
  std::vector<std::pair<std::string, Share>> out(shares.begin(), shares.end());
  std::ranges::sort(out, {}, [](const auto& s) { return std::pair(-s.second.macs, s.first); });
  return out;
}

std::string layers_text(int64_t n) { return fmt::format("{} layer{}", n, n == 1 ? "" : "s"); }

}  // namespace

std::vector<std::string> mode_texts(const Report& report) {
  Shares types, notes;
  for (const LayerReport& l : report.layers) {
    const auto add = [&](Shares& to, const std::string& what) {
      if (what.empty()) return;
      ++to[what].layers;
      to[what].macs += l.costs.macs;
    };
    add(types, l.types);
    add(notes, l.types_note);
  }
  std::vector<std::string> out;
  const double all = std::max(1.0, static_cast<double>(report.totals.macs));
  const auto say = [&](const Shares& shares, std::string_view then) {
    for (const auto& [what, share] : largest_first(shares))
      out.push_back(fmt::format("{}{}{}, {} % of MACs", what, then, layers_text(share.layers),
                                format_fixed(100 * static_cast<double>(share.macs) / all, 1)));
  };
  say(types, ": ");
  say(notes, " (");
  for (size_t i = types.size(); i < out.size(); ++i) out[i] += ')';
  return out;
}

std::string machine_modes_text(const hw::HwConfig& hw) {
  std::string out;
  for (const hw::TypeMode& mode : hw.types.modes)
    out += fmt::format("{}{} at {}", out.empty() ? "also " : ", ", to_string(mode), mode.rate);
  return out.empty() ? out : out + " of that rate";
}

}  // namespace accsim::sim
