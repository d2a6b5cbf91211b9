#include "sim/compare/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/compare/remains.h"
#include "sim/report/page.h"
#include "sim/report/real.h"
#include "sim/report/table.h"

namespace accsim::sim {
namespace {

constexpr size_t kTopLayers = 10;
constexpr int64_t kBar = 24;  // characters of a bar

std::string with_sign(int64_t v) { return (v > 0 ? "+" : "") + format_count(v); }
std::string percent_of(int64_t part, int64_t whole) {
  return whole > 0 ? format_fixed(100 * real(part) / real(whole), 1) : "-";
}

/// Lines of a comparison within a width.
class ComparisonPage {
 public:
  ComparisonPage(const Comparison& c, const TextOptions& options)
      : c_(c), all_(options.all_layers), page_(options.width, options.colour) {}

  std::string text() {
    add_side("A", c_.a);
    add_side("B", c_.b);
    add_changed_fields();
    page_.add_line("");
    add_waterfall();
    page_.add_line("");
    page_.add_items("what remains", remains_sentences(c_, find_remains(c_)));
    add_layer_table();
    return page_.take_text();
  }

 private:
  void add_table(const TextTable& t) { page_.add_lines(t.lines(page_.width(), page_.colour())); }

  void add_side(std::string_view label, const RunSide& s) {
    const auto named = [](const std::string& name, const std::string& file) {
      return file.empty() || file == name ? name : fmt::format("{} ({})", name, file);
    };
    page_.add_item(label, fmt::format("{} on {}", named(s.model_name, s.model_file),
                                      named(s.machine_name, s.machine_file)));
    std::string text =
        fmt::format("{} cycles, {} at {} MHz; {}, area {} mm2", format_count(s.cycles),
                    format_si(s.nanoseconds(s.cycles) * 1e-9, "s"), format_fixed(s.clock_mhz, 0),
                    format_si(s.energy_pj * 1e-12, "J"), format_fixed(s.area_mm2, 1));
    if (!s.objective.empty() && c_.a.objective != c_.b.objective)
      text += "; mapped for " + s.objective;
    page_.add_item("", text);
  }

  void add_changed_fields() {
    if (c_.changed.empty()) return page_.add_item("differs", "nothing of the machine");
    std::string text;
    for (const ChangedField& f : c_.changed)
      text += fmt::format("{}{} {} -> {}", text.empty() ? "" : ", ", f.path, f.a, f.b);
    page_.add_item("differs", text);
  }

  /// Where the cycles are before and behind a cause: spaces, then what it adds or takes.
  static std::string change_bar(int64_t from, int64_t to, int64_t most) {
    if (most <= 0) return "";
    const auto column = [&](int64_t v) {
      return static_cast<size_t>(
          std::llround(real(std::max<int64_t>(v, 0)) * real(kBar) / real(most)));
    };
    const size_t low = column(std::min(from, to)), high = column(std::max(from, to));
    const size_t length = std::max<size_t>(from == to ? 0 : 1, high - low);
    return std::string(low, ' ') + std::string(length, to > from ? '+' : '-');
  }

  void add_waterfall() {
    const bool times = c_.a.clock_mhz != c_.b.clock_mhz;
    std::vector<TextTable::Column> columns = {
        {"cycles", "", true},    {"A", ""}, {"B", ""}, {"B - A", ""}, {"% of A", "", false, 2},
        {"% of B", "", false, 1}};
    if (times) columns.push_back({"B - A", "us", false, 0});
    columns.push_back({"from A to B", "", true, 3});
    TextTable t(std::move(columns));
    std::vector<int64_t> running = {c_.a.cycles};
    for (const int64_t d : c_.difference) running.push_back(running.back() + d);
    const int64_t most = *std::max_element(running.begin(), running.end());
    const auto micros = [&](int64_t a, int64_t b) {
      const double us = (c_.b.nanoseconds(b) - c_.a.nanoseconds(a)) * 1e-3;
      return (us > 0 ? "+" : "") + format_fixed(us, 2);
    };
    const auto add = [&](std::string_view label, int64_t a, int64_t b, std::string drawn) {
      std::vector<std::string> cells = {
          std::string(label),         format_count(a),           format_count(b), with_sign(b - a),
          percent_of(a, c_.a.cycles), percent_of(b, c_.b.cycles)};
      if (times) cells.push_back(micros(a, b));
      cells.push_back(std::move(drawn));
      return cells;
    };
    for (size_t i = 0; i < kCauses; ++i)
      if (c_.cycles_a[i] != 0 || c_.cycles_b[i] != 0)
        t.add({add(cause_table()[i].label, c_.cycles_a[i], c_.cycles_b[i],
                   change_bar(running[i], running[i + 1], most))});
    t.add({add("total", c_.a.cycles, c_.b.cycles, ""), true});
    add_table(t);
  }

  /// The cause that moved most in the layer's direction.
  static std::string main_cause(const LayerDifference& l) {
    const auto best =
        l.difference < 0 ? std::ranges::min_element(l.causes) : std::ranges::max_element(l.causes);
    const auto& cause = cause_table()[static_cast<size_t>(best - l.causes.begin())];
    return fmt::format("{} {}", cause.label, with_sign(*best));
  }

  void add_layer_table() {
    std::vector<const LayerDifference*> some;
    size_t by_order = 0;
    for (const LayerDifference& l : c_.layers) {
      if (l.difference != 0 || std::ranges::any_of(l.causes, [](int64_t v) { return v != 0; }))
        some.push_back(&l);
      by_order += l.match == Match::order;
    }
    std::ranges::stable_sort(some, [](const LayerDifference* x, const LayerDifference* y) {
      return std::abs(x->difference) > std::abs(y->difference);
    });
    const size_t differ = some.size();
    if (!all_ && some.size() > kTopLayers) some.resize(kTopLayers);
    page_.add_line("");
    if (some.empty()) return page_.add_item("layers", "no layer differs");
    TextTable t(
        {{"layers", "", true}, {"A", ""}, {"B", ""}, {"B - A", ""}, {"mostly", "", true, 1}});
    for (const LayerDifference* l : some) {
      const SideLayer& named = l->a ? c_.a.layers[*l->a] : c_.b.layers[*l->b];
      t.add({{named.name.empty() ? "(no name)" : named.name,
              l->a ? format_count(c_.a.layers[*l->a].cycles) : "-",
              l->b ? format_count(c_.b.layers[*l->b].cycles) : "-", with_sign(l->difference),
              main_cause(*l)}});
    }
    add_table(t);
    if (some.size() < differ)
      page_.add_line(
          fmt::format("{} of the {} layers that differ; --all shows them", some.size(), differ));
    if (by_order > 0)
      page_.add_line(fmt::format("{} layer{} of other names taken together by operator and order",
                                 by_order, by_order == 1 ? "" : "s"));
  }

  const Comparison& c_;
  bool all_;
  Page page_;
};

}  // namespace

std::string to_text(const Comparison& comparison, const TextOptions& options) {
  return ComparisonPage(comparison, options).text();
}

}  // namespace accsim::sim
