#include "sim/validate/program_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>

#include "sim/base/threads.h"
#include "sim/report/page.h"
#include "sim/report/table.h"
#include "sim/validate/row_fields.h"
#include "sim/validate/tiled_kinds.h"
#include "sim/validate/validation_text.h"

namespace accsim::sim {
namespace {

/// A layer on a machine, and the predictions that ask for it.
struct SearchTask {
  hw::TiledLayer layer;  ///< without its tiles and all else that is searched
  hw::HwConfig hw;
  std::vector<Prediction*> asked;
};

/// The same for all rows that only differ in what is searched.
hw::TiledLayer without_program(const hw::TiledLayer& layer) {
  hw::TiledLayer out;
  out.bias = layer.bias;
  out.sizes = layer.sizes;
  if (auto* g = std::get_if<hw::TiledGemm>(&out.sizes)) {
    *g = {g->rows, g->inner, g->columns, g->rows, g->inner, g->columns};
  } else {
    auto& c = std::get<hw::TiledConvolution>(out.sizes);
    c.tile_height = c.out_height;
    c.tile_width = c.out_width;
    c.tile_channels = c.channels;
    c.tile_kernels = c.kernels;
    out.order = hw::kConvolutionOrders[0];
    out.micro = hw::kConvolutionNestings[0];
  }
  return out;
}

Result<std::vector<SearchTask>> tasks_of(Validation& v) {
  std::vector<SearchTask> out;
  for (ValidatedSource& s : v.sources)
    for (size_t i = 0; i < s.predictions.size(); ++i) {
      const ValidationPoint& point = s.source.points[i];
      const auto layer = tiled_layer(point);
      if (!layer) continue;
      SearchTask task{without_program(*layer), s.source.machines.at(point.machine_file).hw, {}};
      if (const Status good = apply_row(point, task.hw); !good) return good.errors();
      const auto same = [&](const SearchTask& t) {
        return t.layer == task.layer && t.hw.engines == task.hw.engines &&
               room_of(t.hw) == room_of(task.hw);
      };
      auto at = std::ranges::find_if(out, same);
      if (at == out.end()) at = out.insert(out.end(), std::move(task));
      at->asked.push_back(&s.predictions[i]);
    }
  return out;
}

std::string program_text(const hw::TiledLayer& layer) {
  std::string tile;
  if (const auto* g = std::get_if<hw::TiledGemm>(&layer.sizes)) {
    tile = fmt::format("{}x{}x{}", g->tile_rows, g->tile_inner, g->tile_columns);
  } else {
    const auto& c = std::get<hw::TiledConvolution>(layer.sizes);
    tile =
        fmt::format("{}x{} c{} k{}", c.tile_height, c.tile_width, c.tile_channels, c.tile_kernels);
  }
  return fmt::format("tile {}, order {}, contexts {}, sync {}, micro {}, uops {}", tile,
                     layer.order, layer.contexts, layer.barrier ? "tvm" : "credit", layer.micro,
                     layer.micro_each ? "each" : "once");
}

/// Searches with both kinds of sync, and tells those who asked.
void run_task(const SearchTask& task) {
  const auto search = [&](bool barrier) {
    hw::TiledLayer layer = task.layer;
    layer.barrier = barrier;
    return hw::search_tiled_program(layer, task.hw.engines, room_of(task.hw));
  };
  FoundProgram best;
  std::string error;
  const auto take = [&](const Result<hw::TiledChoice>& found, std::optional<int64_t>& cycles) {
    if (!found) {
      error = found.errors().front().message;
      return;
    }
    cycles = found->cycles.count();
    best.candidates += found->candidates;
    best.timed += found->timed;
    if (!best.program.empty() && best.cycles <= *cycles) return;
    best.cycles = *cycles;
    best.program = program_text(found->layer);
  };
  take(search(false), best.credit_cycles);
  take(search(true), best.barrier_cycles);
  for (Prediction* asked : task.asked)
    if (best.program.empty())
      asked->search_error = error;
    else
      asked->best = best;
}

/// Cycles saved by some rows' programs, as parts.
struct Saving {
  int64_t rows = 0, same = 0;
  double sum = 0, most = 0;
  std::string of;

  void add(const std::string& name, double part) {
    ++rows;
    same += part <= 0 ? 1 : 0;
    sum += part;
    if (part > most) of = name;
    most = std::max(most, part);
  }
};

void add_savings(const char* what, const std::vector<std::pair<std::string, Saving>>& groups,
                 Page& page) {
  TextTable table({{what, "", true},
                   {"rows", ""},
                   {"fewer cycles", ""},
                   {"most", ""},
                   {"of", "", true, 1},
                   {"none fewer", ""}});
  for (const auto& one : groups)
    table.add({{one.first, format_count(one.second.rows),
                format_fixed(100 * one.second.sum / static_cast<double>(one.second.rows), 1) + " %",
                format_fixed(100 * one.second.most, 1) + " %", one.second.of,
                format_count(one.second.same)}});
  page.add_lines(table.lines(page.width(), page.colour()));
  page.add_line("");
}

Saving& group_named(const std::string& name, std::vector<std::pair<std::string, Saving>>& groups) {
  for (auto& one : groups)
    if (one.first == name) return one.second;
  return groups.emplace_back(name, Saving{}).second;
}

std::string cycles_text(const std::optional<int64_t>& cycles) {
  return cycles ? figure_text(static_cast<double>(*cycles)) : "-";
}

/// Rows whose search has found nothing, and why.
void add_not_found(const ValidatedSource& s, Page& page) {
  bool any = false;
  for (size_t i = 0; i < s.predictions.size(); ++i) {
    const std::string& error = s.predictions[i].search_error;
    if (error.empty()) continue;
    page.add_item("no program", s.source.points[i].name + ": " + error);
    any = true;
  }
  if (any) page.add_line("");
}

void add_found(const ValidatedSource& s, Page& page) {
  TextTable table({{"point", "", true},
                   {"predicted", ""},
                   {"best", ""},
                   {"fewer", ""},
                   {"credit", ""},
                   {"tvm", ""},
                   {"timed", "", false, 1},
                   {"program", "", true, 2}});
  std::vector<std::pair<std::string, Saving>> all, waits, families;
  for (size_t i = 0; i < s.predictions.size(); ++i) {
    const auto& best = s.predictions[i].best;
    if (!best) continue;
    const ValidationPoint& point = s.source.points[i];
    const double part = 1 - static_cast<double>(best->cycles) / s.predictions[i].predicted;
    table.add({{point.name, figure_text(s.predictions[i].predicted),
                figure_text(static_cast<double>(best->cycles)), format_fixed(100 * part, 1) + " %",
                cycles_text(best->credit_cycles), cycles_text(best->barrier_cycles),
                format_count(best->timed), best->program}});
    group_named("all", all).add(point.name, part);
    group_named(tiled_layer(point)->barrier ? "tvm" : "credit", waits).add(point.name, part);
    group_named(point.family, families).add(point.name, part);
    for (const auto& [name, cycles] : {std::pair{"credit alone", best->credit_cycles},
                                       std::pair{"tvm alone", best->barrier_cycles}})
      if (cycles)
        group_named(name, all).add(point.name,
                                   1 - static_cast<double>(*cycles) / s.predictions[i].predicted);
  }
  const bool failed = std::ranges::any_of(
      s.predictions, [](const Prediction& p) { return !p.search_error.empty(); });
  if (all.empty() && !failed) return;
  page.add_item("search", s.source.file);
  page.add_item("assumed", fmt::format("room for {} micro-operations, which no field says",
                                       hw::TileRoom{}.micro));
  page.add_line("");
  add_not_found(s, page);
  if (all.empty()) return;
  page.add_lines(table.lines(page.width(), page.colour()));
  page.add_line("");
  add_savings("programs tried", all, page);
  add_savings("sync of the row", waits, page);
  add_savings("family", families, page);
}

}  // namespace

hw::TileRoom room_of(const hw::HwConfig& hw) {
  const auto bytes = [&](hw::Buffer b) { return hw.buffer(b).kib * 1024; };
  return {.inputs = bytes(hw::Buffer::activation) / hw::kVectorBytes,
          .weights = bytes(hw::Buffer::weight) / hw::kBlockBytes,
          .sums = bytes(hw::Buffer::accumulator) / hw::kSumsBytes,
          .outputs = bytes(hw::Buffer::output) / hw::kVectorBytes};
}

Status search_programs(Validation& v, int threads,
                       const std::function<void(int64_t, int64_t)>& progress) {
  auto tasks = tasks_of(v);
  if (!tasks) return tasks.errors();
  if (tasks->empty())
    return Error{Errc::usage, "no row of these sources is a tiled layer", "--search"};
  std::atomic<size_t> next = 0;
  std::mutex telling;
  int64_t done = 0;
  const auto work = [&](int) {
    for (size_t i = next++; i < tasks->size(); i = next++) {
      run_task((*tasks)[i]);
      const std::scoped_lock lock(telling);
      progress(++done, static_cast<int64_t>(tasks->size()));
    }
  };
  {
    Threads others(threads - 1, work);
    work(0);
    others.join();
  }
  return ok();
}

std::string search_text(const Validation& v, const TextOptions& options) {
  Page page(options.width, options.colour);
  for (const ValidatedSource& s : v.sources) add_found(s, page);
  return page.take_text();
}

}  // namespace accsim::sim
