#include <fmt/format.h>

#include <algorithm>

#include "sim/sweep/store.h"
#include "sim/sweep/store_columns.h"

namespace accsim::sim {

Status SweepStore::own() {
  const auto foreign = [&](const std::string& what) {
    return Error{Errc::invalid,
                 fmt::format("holds what accsim sweep didn't write: {}; move it away, or name "
                             "another store",
                             what),
                 db_.path()};
  };
  const auto have = stored_count();
  if (!have) return have.errors();
  if (const int64_t all = meta_.shard.count(meta_.points); *have > all)
    return foreign(fmt::format("{} points of {}", *have, all));
  std::string cases;
  for (const std::string_view column : kPointColumns)
    if (is_number_column(column))
      cases += fmt::format(
          " WHEN typeof({0}) NOT IN ('integer', 'real') OR NOT {0} BETWEEN 0 AND 1e308 THEN '{0}'",
          column);
  auto select = db_.prepare(
      "SELECT point, CASE WHEN NOT point BETWEEN 0 AND ? - 1 THEN 'point' WHEN cycles IS NULL THEN "
      "NULL" +
      cases + " END AS wrong FROM points WHERE wrong IS NOT NULL ORDER BY point LIMIT 1");
  if (!select) return select.errors();
  select->bind(1, meta_.grid);
  const auto row = select->step();
  if (!row) return row.errors();
  if (!*row) return ok();
  return foreign(
      fmt::format("no such {} as point {} has", select->text_column(1), select->int_column(0)));
}

Result<std::set<int64_t>> SweepStore::stored_points(std::span<const int64_t> points) {
  std::set<int64_t> out;
  if (points.empty()) return out;
  // Neighbours are asked for at once, scattered ones one by one.
  const bool near = std::is_sorted(points.begin(), points.end()) &&
                    points.back() - points.front() < 64 * static_cast<int64_t>(points.size());
  const auto select = cached_statement("SELECT point FROM points WHERE point BETWEEN ? AND ?");
  if (!select) return select.errors();
  Statement& s = **select;
  const size_t queries = near ? 1 : points.size();
  for (size_t i = 0; i < queries; ++i) {
    s.bind(1, points[i]).bind(2, near ? points.back() : points[i]);
    const Status read = s.for_each_row([&] { out.insert(s.int_column(0)); });
    if (!read) return read.errors();
  }
  return out;
}

Result<int64_t> SweepStore::stored_count() {
  // Not count(*): that is one step, however many rows there are.
  const auto select = cached_statement("SELECT count(point) FROM points");
  if (!select) return select.errors();
  const auto row = (*select)->step();
  if (!row) return row.errors();
  const int64_t n = (*select)->int_column(0);
  (*select)->reset();
  return n;
}

Result<std::optional<PointRow>> SweepStore::find(int64_t point) {
  const auto select = cached_statement(
      "SELECT config, reason, cycles, energy_pj, macs, dram_read_bytes, dram_write_bytes, "
      "shared_bytes, shared_peak_bytes FROM points WHERE point = ?");
  if (!select) return select.errors();
  Statement& s = **select;
  const auto row = s.bind(1, point).step();
  if (!row) return row.errors();
  std::optional<PointRow> out;
  if (*row) {
    out.emplace();
    out->point = point;
    out->config = s.text_column(0);
    out->reason = s.text_column(1);
    PointTotals& t = out->totals;
    t.cycles = s.int_column(2);
    t.energy_pj = s.real_column(3);
    t.macs = s.int_column(4);
    t.dram_read_bytes = s.int_column(5);
    t.dram_write_bytes = s.int_column(6);
    t.shared_bytes = s.int_column(7);
    t.shared_peak_bytes = s.int_column(8);
  }
  s.reset();
  return out;
}

Result<std::optional<BoundRow>> SweepStore::find_bound(const std::string& key) {
  const auto select =
      cached_statement("SELECT reason, cycles, energy_pj, traffic_bytes FROM bounds WHERE key = ?");
  if (!select) return select.errors();
  Statement& s = **select;
  const auto row = s.bind(1, std::string_view(key)).step();
  if (!row) return row.errors();
  std::optional<BoundRow> out;
  if (*row) {
    out.emplace();
    out->key = key;
    out->reason = s.text_column(0);
    out->totals.cycles = s.int_column(1);
    out->totals.energy_pj = s.real_column(2);
    out->totals.dram_read_bytes = s.int_column(3);
  }
  s.reset();
  return out;
}

Status SweepStore::write(std::span<const PointRow> rows, std::span<const BoundRow> bounds) {
  if (const Status begun = db_.run_sql("BEGIN IMMEDIATE"); !begun) return begun;
  Status written = write_rows(rows, bounds);
  if (written) written = db_.run_sql("COMMIT");
  if (!written) (void)db_.run_sql("ROLLBACK");
  if (is_lost())
    return Error{Errc::io, "was deleted, moved or replaced while the sweep ran", db_.path()};
  return written;
}

Status SweepStore::write_phases(const PointRow& row) {
  const auto insert =
      cached_statement("INSERT OR IGNORE INTO phases VALUES (?,?,?,?,?,?,?,?,?,?,?)");
  if (!insert) return insert.errors();
  for (const PhaseTotals& p : row.phases) {
    Statement& s = **insert;
    s.bind(1, row.point).bind(2, kPhases[static_cast<size_t>(p.phase)]).bind(3, p.runs);
    s.bind(4, p.tokens).bind(5, p.cycles);
    s.bind(6, static_cast<double>(p.cycles) / row.totals.clock_mhz).bind(7, p.energy_pj);
    s.bind(8, p.dram_read_bytes).bind(9, p.dram_write_bytes);
    s.bind(10, p.weight_bytes).bind(11, p.cache_bytes);
    if (const Status done = s.run(); !done) return done;
  }
  return ok();
}

namespace {

Status write_bound(Statement& s, const BoundRow& row) {
  s.bind(1, std::string_view(row.key));
  if (row.reason.empty())
    s.bind_null(2);
  else
    s.bind(2, std::string_view(row.reason));
  s.bind(3, row.totals.cycles).bind(4, row.totals.energy_pj).bind(5, row.totals.traffic_bytes());
  return s.run();
}

}  // namespace

Status SweepStore::write_rows(std::span<const PointRow> rows, std::span<const BoundRow> bounds) {
  std::string marks;
  for (size_t i = 0; i < 15 + meta_.axes.size(); ++i) marks += i == 0 ? "?" : ",?";
  const auto insert = cached_statement("INSERT OR IGNORE INTO points VALUES (" + marks + ")");
  const auto layer =
      cached_statement("INSERT OR IGNORE INTO layers VALUES (?,?,?,?,?,?,?,?,?,?,?)");
  const auto bound = cached_statement("INSERT OR IGNORE INTO bounds VALUES (?,?,?,?,?)");
  if (!insert) return insert.errors();
  if (!layer) return layer.errors();
  if (!bound) return bound.errors();
  for (const PointRow& row : rows) {
    Statement& s = **insert;
    const PointTotals& t = row.totals;
    int at = 0;
    const auto put = [&](auto value) {
      ++at;
      if (row.is_feasible())
        s.bind(at, value);
      else
        s.bind_null(at);
    };
    s.bind(++at, row.point);
    s.bind(++at, std::string_view(row.config));
    for (const std::string& label : row.labels) s.bind(++at, std::string_view(label));
    if (++at; row.is_feasible())
      s.bind_null(at);
    else
      s.bind(at, std::string_view(row.reason));
    put(t.cycles);
    put(t.energy_pj);
    for (const int64_t v :
         {t.macs, t.dram_read_bytes, t.dram_write_bytes, t.shared_bytes, t.shared_peak_bytes})
      put(v);
    s.bind(++at, t.area_mm2);
    s.bind(++at, t.sram_bytes);
    put(t.time_us());
    put(t.edp());
    put(t.traffic_bytes());
    if (const Status done = s.run(); !done) return done;
    if (db_.changed_rows() == 0) continue;  // another process was first, with the same result
    if (const Status done = write_phases(row); !done) return done;
    for (int64_t i = 0; const LayerTotals& l : row.layers) {
      Statement& w = **layer;
      w.bind(1, row.point).bind(2, i++).bind(3, std::string_view(l.model));
      w.bind(4, std::string_view(l.layer)).bind(5, std::string_view(l.op_type));
      w.bind(6, std::string_view(l.mapping)).bind(7, l.cycles).bind(8, l.energy_pj).bind(9, l.macs);
      w.bind(10, l.dram_read_bytes).bind(11, l.dram_write_bytes);
      if (const Status done = w.run(); !done) return done;
    }
  }
  for (const BoundRow& row : bounds)
    if (const Status done = write_bound(**bound, row); !done) return done;
  return ok();
}

Status SweepStore::claim_spans(std::span<PointRange> spans, const std::string& owner) {
  if (const Status begun = db_.run_sql("BEGIN IMMEDIATE"); !begun) return begun;
  Status done = claim_missing(spans, owner);
  if (done) done = db_.run_sql("COMMIT");
  if (!done) (void)db_.run_sql("ROLLBACK");
  return done;
}

Status SweepStore::claim_missing(std::span<PointRange> spans, const std::string& owner) {
  for (PointRange& span : spans) {
    const auto have = stored_points(span.points);
    if (!have) return have.errors();
    std::erase_if(span.points, [&](int64_t p) { return have->contains(p); });
    if (span.points.empty()) continue;
    const auto insert = cached_statement("INSERT OR IGNORE INTO claims VALUES (?, ?)");
    if (!insert) return insert.errors();
    (*insert)->bind(1, span.number).bind(2, std::string_view(owner));
    if (const Status done = (*insert)->run(); !done) return done;
    span.ours = db_.changed_rows() > 0;
  }
  return ok();
}

Status SweepStore::release_claims(const std::string& owner) {
  const auto erase = cached_statement("DELETE FROM claims WHERE owner = ?");
  if (!erase) return erase.errors();
  (*erase)->bind(1, std::string_view(owner));
  return (*erase)->run();
}

Status SweepStore::release_dead(const std::function<bool(const std::string& owner)>& dead) {
  std::vector<std::string> owners;
  const auto select = cached_statement("SELECT DISTINCT owner FROM claims");
  if (!select) return select.errors();
  const Status read = (*select)->for_each_row([&] { owners.push_back((*select)->text_column(0)); });
  if (!read) return read.errors();
  for (const std::string& owner : owners)
    if (dead(owner))
      if (const Status done = release_claims(owner); !done) return done;
  return ok();
}

}  // namespace accsim::sim
