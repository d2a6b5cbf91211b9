#include "sim/compare/compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/base/check.h"
#include "sim/base/parse_number.h"
#include "sim/report/format.h"

namespace accsim::sim {
namespace {

using Partners = std::vector<std::optional<size_t>>;  // by layer of A: that of B

/// Pairs the n-th layer without a partner of a key with the other side's n-th of that key.
template <class Key>
void pair_by(const Comparison& c, Key key, Match how, Partners& of_a, std::vector<bool>& taken,
             std::vector<Match>& match) {
  std::map<std::string, std::pair<std::vector<size_t>, size_t>> waiting;  // of B; next to be given
  for (size_t b = 0; b < c.b.layers.size(); ++b)
    if (!taken[b]) waiting[key(c.b.layers[b])].first.push_back(b);
  for (size_t a = 0; a < c.a.layers.size(); ++a) {
    if (of_a[a]) continue;
    const auto found = waiting.find(key(c.a.layers[a]));
    if (found == waiting.end() || found->second.second == found->second.first.size()) continue;
    auto& [layers, next] = found->second;
    of_a[a] = layers[next++];
    taken[*of_a[a]] = true;
    match[a] = how;
  }
}

LayerDifference layer_difference(const Comparison& c, std::optional<size_t> a,
                                 std::optional<size_t> b, Match how) {
  LayerDifference out{a, b, how};
  if (how == Match::only_a) {
    cycles_by(out.causes, Cause::only_a) = -c.a.layers[*a].cycles;
  } else if (how == Match::only_b) {
    cycles_by(out.causes, Cause::only_b) = c.b.layers[*b].cycles;
  } else {
    for (size_t i = 0; i < kLayerCauses; ++i)
      out.causes[i] = c.b.layers[*b].causes[i] - c.a.layers[*a].causes[i];
  }
  out.difference = sum_causes(out.causes);
  const int64_t cycles = (b ? c.b.layers[*b].cycles : 0) - (a ? c.a.layers[*a].cycles : 0);
  check(out.difference == cycles, "a layer's causes don't add up to its difference");
  return out;
}

/// A's order; a layer only in B stands behind the one that it follows in B, wherever that went.
void add_layers(Comparison& c) {
  Partners of_a(c.a.layers.size());
  std::vector<bool> taken(c.b.layers.size());
  std::vector<Match> match(c.a.layers.size(), Match::only_a);
  pair_by(
      c, [](const SideLayer& l) { return l.name; }, Match::name, of_a, taken, match);
  pair_by(
      c, [](const SideLayer& l) { return l.op_type; }, Match::order, of_a, taken, match);
  const auto followers = [&](size_t b) {
    for (; b < c.b.layers.size() && !taken[b]; ++b)
      c.layers.push_back(layer_difference(c, std::nullopt, b, Match::only_b));
  };
  followers(0);
  for (size_t a = 0; a < c.a.layers.size(); ++a) {
    c.layers.push_back(layer_difference(c, a, of_a[a], match[a]));
    if (of_a[a]) followers(*of_a[a] + 1);
  }
}

void add_sums(Comparison& c) {
  cycles_by(c.cycles_a, Cause::overlap) = c.a.cycles;
  cycles_by(c.cycles_b, Cause::overlap) = c.b.cycles;
  const auto add = [](const SideLayer& layer, std::optional<Cause> all_to, CauseCycles& to) {
    if (all_to)
      cycles_by(to, *all_to) += layer.cycles;
    else
      for (size_t i = 0; i < kLayerCauses; ++i) to[i] += layer.causes[i];
    cycles_by(to, Cause::overlap) -= layer.cycles;
  };
  const auto only = [](const LayerDifference& l, Match m, Cause cause) {
    return l.match == m ? std::optional(cause) : std::nullopt;
  };
  CauseCycles of_layers{};
  for (const LayerDifference& l : c.layers) {
    if (l.a) add(c.a.layers[*l.a], only(l, Match::only_a, Cause::only_a), c.cycles_a);
    if (l.b) add(c.b.layers[*l.b], only(l, Match::only_b, Cause::only_b), c.cycles_b);
    for (size_t i = 0; i < kCauses; ++i) of_layers[i] += l.causes[i];
  }
  for (size_t i = 0; i < kCauses; ++i) c.difference[i] = c.cycles_b[i] - c.cycles_a[i];
  cycles_by(of_layers, Cause::overlap) = cycles_by(c.difference, Cause::overlap);
  check(of_layers == c.difference, "the layers' causes aren't the network's");
  check(sum_causes(c.cycles_a) == c.a.cycles && sum_causes(c.cycles_b) == c.b.cycles,
        "a run's causes don't add up to its cycles");
  check(sum_causes(c.difference) == c.b.cycles - c.a.cycles, "the waterfall doesn't add up");
}

/// Of a number as many digits as people read; other words as they are.
std::string read_text(const std::string& text) {
  const auto value = parse_number<double>(text);
  return value && std::isfinite(*value) ? format_digits(*value) : text;
}

ChangedField changed_field(const std::string& path, const std::string& a, const std::string& b) {
  std::string short_a = read_text(a), short_b = read_text(b);
  if (short_a == short_b) return {path, a, b};
  return {path, std::move(short_a), std::move(short_b)};
}

void add_changed(Comparison& c) {
  const auto value = [](const RunSide& side, const std::string& path) -> std::string {
    const auto found = std::ranges::find(side.machine, path, [](const auto& f) { return f.first; });
    return found == side.machine.end() ? "-" : found->second;
  };
  for (const auto& [path, of_a] : c.a.machine)
    if (std::string of_b = value(c.b, path); of_a != of_b)
      c.changed.push_back(changed_field(path, of_a, of_b));
  for (const auto& [path, of_b] : c.b.machine)
    if (value(c.a, path) == "-") c.changed.push_back(changed_field(path, "-", of_b));
}

}  // namespace

std::string_view name(Match m) {
  constexpr std::array<std::string_view, 4> kNames = {"name", "order", "only_a", "only_b"};
  return kNames[static_cast<size_t>(m)];
}

namespace {

void join_weight_load(RunSide& side) {
  for (SideLayer& l : side.layers)
    cycles_by(l.causes, Cause::array_fill) +=
        std::exchange(cycles_by(l.causes, Cause::weight_load), 0);
  side.weight_load_apart = false;
}

}  // namespace

Comparison compare_runs(RunSide a, RunSide b) {
  if (!a.weight_load_apart || !b.weight_load_apart)
    for (RunSide* side : {&a, &b}) join_weight_load(*side);
  Comparison out;
  out.a = std::move(a);
  out.b = std::move(b);
  add_layers(out);
  add_sums(out);
  add_changed(out);
  return out;
}

}  // namespace accsim::sim
