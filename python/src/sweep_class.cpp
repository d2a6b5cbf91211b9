#include "python/src/sweep_class.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <thread>

#include "python/src/compute.h"
#include "python/src/errors.h"
#include "python/src/table_class.h"
#include "python/src/values.h"
#include "sim/cost/cost_model_version.h"
#include "sim/sweep/run.h"
#include "sim/sweep/show.h"
#include "sim/sweep/show_data.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

/// The SQLite file of a sweep. Opened for each question: other processes may go on writing it.
struct Store {
  std::string path;
};

struct View {
  sim::StoreMeta meta;
  sim::TableView view;
};

View read(const Store& store, const std::string& where) {
  auto opened = unwrap(sim::SweepStore::open_for_reading(store.path));
  auto view = unwrap(sim::TableView::read_store(*opened, where));
  return {opened->meta(), std::move(view)};
}

std::vector<sim::Metric> metrics_of(const View& v, const std::vector<std::string>& names) {
  if (names.empty()) return v.meta.objectives;
  std::vector<sim::Metric> out;
  for (const std::string& name : names) {
    const auto metric = sim::metric_from(name);
    if (!metric)
      throw RaisedErrors({{Errc::usage,
                           fmt::format("'{}' is no objective; valid: {}", name,
                                       fmt::join(sim::metric_names(), ", ")),
                           "--pareto"}});
    out.push_back(*metric);
  }
  return out;
}

using Rows = std::vector<const sim::TableView::Row*>;

Column column_of(const sim::TableView& view, const Rows& rows, size_t c) {
  Column out;
  out.name = view.columns()[c];
  const bool axis = c < view.axes().size();
  const auto whole = [&](const sim::TableView::Row* row) {
    return std::isfinite(row->numbers[c]) && row->numbers[c] == std::floor(row->numbers[c]) &&
           std::abs(row->numbers[c]) < 0x1p53;
  };
  const auto word = [&](const sim::TableView::Row* row) { return std::isnan(row->numbers[c]); };
  if (axis && std::ranges::any_of(rows, word))
    out.type = ColumnType::text;
  else if ((axis || out.name == "cycles" || out.name == "macs" || out.name.ends_with("_bytes")) &&
           std::ranges::all_of(rows, whole))
    out.type = ColumnType::int64;
  for (const sim::TableView::Row* row : rows) {
    const double number = row->numbers[c];
    if (out.type == ColumnType::text)
      out.add(row->texts[c]);
    else if (out.type == ColumnType::int64)
      out.add(static_cast<int64_t>(number));
    else
      out.add(std::isfinite(number) ? sim::FieldValue(number) : sim::FieldValue());
  }
  return out;
}

Table table_of(const View& v, const Rows& rows) {
  auto out = std::make_shared<TableData>();
  out->rows = std::ssize(rows);
  Column& point = out->columns.emplace_back();
  point.name = "point";
  point.type = ColumnType::int64;
  for (const auto* row : rows) point.add(row->point);
  for (size_t c = 0; c < v.view.columns().size(); ++c)
    out->columns.push_back(column_of(v.view, rows, c));
  return {out};
}

Table points(const Store& store, const std::string& where) {
  const View v = read(store, where);
  Rows rows;
  for (const auto& row : v.view.rows()) rows.push_back(&row);
  return table_of(v, rows);
}

Table pareto(const Store& store, const std::vector<std::string>& objectives,
             const std::string& where) {
  const View v = read(store, where);
  return table_of(v, front_rows(v.view, metrics_of(v, objectives)));
}

sim::ShowOptions show_options(const View& v, const std::vector<std::string>& objectives,
                              const std::string& where, size_t width) {
  sim::ShowOptions out;
  if (!objectives.empty()) out.pareto = metrics_of(v, objectives);
  out.where = where;
  out.width = width;
  return out;
}

std::string json(const Store& store, const std::vector<std::string>& objectives,
                 const std::string& where) {
  const View v = read(store, where);
  return show_json(v.view, v.meta, show_options(v, objectives, where, 100),
                   unwrap(sim::parse_columns("", v.view)));
}

std::string text(const Store& store) {
  const View v = read(store, "");
  return show_text(v.view, v.meta, show_options(v, {}, "", 100));
}

/// Runs the sweep of a spec's file. An interrupted one goes on with the same call.
Store sweep(nb::handle spec, nb::handle store, int threads) {
  auto outcome = compute([spec = path_of(spec), store = path_of(store),
                          threads](const std::atomic<bool>& stop) -> Result<sim::SweepOutcome> {
    const auto read = sim::load_sweep(spec);
    if (!read) return read.errors();
    sim::SweepRun run;
    run.store = store;
    run.version = fmt::format("accsim {} (cost model {})", ACCSIM_VERSION, sim::kCostModelVersion);
    run.threads =
        threads > 0 ? threads : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    run.stop = &stop;
    return run_sweep(*read, run);
  });
  unwrap(std::move(outcome));
  return {path_of(store)};
}

}  // namespace

void add_sweep(nb::module_& module) {
  nb::class_<Store>(module, "Store", "The results of a sweep: the SQLite file of accsim sweep.",
                    nb::is_weak_referenceable())
      .def(
          "__init__",
          [](Store* s, nb::handle path) {
            new (s) Store{path_of(path)};
            read(*s, "");
          },
          nb::arg("path"), nb::sig("def __init__(self, path: str | os.PathLike[str]) -> None"))
      .def_prop_ro(
          "path", [](const Store& s) { return python_text(s.path); }, "The file.",
          nb::sig("def path(self) -> str"))
      .def("points", points, nb::arg("where") = "",
           "The points that can be costed, with axes and metrics; where: an expression over the\n"
           "columns, e.g. \"dram_gbps <= 32\".")
      .def("pareto", pareto, nb::arg("objectives") = std::vector<std::string>(),
           nb::arg("where") = "",
           "The points that no other is as good as in every objective; [] are the sweep's own.")
      .def(
          "to_arrow",
          [](const Store& s) {
            return nb::module_::import_("accsim._tables").attr("to_arrow")(points(s, ""));
          },
          "points() as a pyarrow.Table.", nb::sig("def to_arrow(self) -> typing.Any"))
      .def(
          "to_pandas",
          [](const Store& s) {
            return nb::module_::import_("accsim._tables").attr("to_pandas")(points(s, ""));
          },
          "points() as a pandas.DataFrame.", nb::sig("def to_pandas(self) -> typing.Any"))
      .def("to_json", json, nb::arg("objectives") = std::vector<std::string>(),
           nb::arg("where") = "", "Points and front as accsim sweep show --json writes them.")
      .def("__repr__", text);
  module.def("_sweep", sweep, nb::arg("spec"), nb::arg("store"), nb::arg("threads"),
             nb::sig("def _sweep(spec: object, store: object, threads: int) -> Store"));
}

}  // namespace accsim::python
