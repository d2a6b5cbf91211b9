#include "sim/sweep/store_schema.h"

#include <fmt/format.h>

#include <algorithm>

namespace accsim::sim {
namespace {

/// A table by its name and the rest of the SQL that makes it, as SQLite keeps it.
struct Table {
  std::string name, body;
};

std::vector<Table> store_tables(const std::vector<std::string>& axes) {
  std::string columns;
  for (const std::string& axis : axes)
    columns += fmt::format(", {} NUMERIC NOT NULL", quote_name(axis));
  return {
      {"meta", "(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"},
      {"axes",
       "(position INTEGER PRIMARY KEY, name TEXT NOT NULL, "
       "steps INTEGER NOT NULL, fields TEXT NOT NULL)"},
      {"points",
       fmt::format("(point INTEGER PRIMARY KEY, config TEXT NOT NULL "
                   "UNIQUE{}, reason TEXT, cycles INTEGER, energy_pj REAL, macs INTEGER, "
                   "dram_read_bytes INTEGER, dram_write_bytes INTEGER, shared_bytes INTEGER, "
                   "shared_peak_bytes INTEGER, "
                   "area_mm2 REAL NOT NULL, sram_bytes INTEGER NOT NULL, time_us REAL, "
                   "edp_pj_us REAL, traffic_bytes INTEGER)",
                   columns)},
      {"layers",
       "(point INTEGER NOT NULL, position INTEGER NOT NULL, "
       "model TEXT NOT NULL, layer TEXT NOT NULL, op_type TEXT NOT NULL, mapping TEXT NOT NULL, "
       "cycles INTEGER NOT NULL, energy_pj REAL NOT NULL, macs INTEGER NOT NULL, "
       "dram_read_bytes INTEGER NOT NULL, dram_write_bytes INTEGER NOT NULL, "
       "PRIMARY KEY (point, position)) WITHOUT ROWID"},
      {"phases",
       "(point INTEGER NOT NULL, phase TEXT NOT NULL, "
       "runs INTEGER NOT NULL, tokens INTEGER NOT NULL, cycles INTEGER NOT NULL, "
       "time_us REAL NOT NULL, "
       "energy_pj REAL NOT NULL, dram_read_bytes INTEGER NOT NULL, "
       "dram_write_bytes INTEGER NOT NULL, weight_bytes INTEGER NOT NULL, "
       "cache_bytes INTEGER NOT NULL, PRIMARY KEY (point, phase)) WITHOUT ROWID"},
      {"bounds",
       "(key TEXT PRIMARY KEY, reason TEXT, cycles INTEGER, "
       "energy_pj REAL, traffic_bytes INTEGER) WITHOUT ROWID"},
      {"claims", "(span INTEGER PRIMARY KEY, owner TEXT NOT NULL)"}};
}

/// Something that a database file has, as its schema names it.
struct Entry {
  std::string type, name, sql;
};

Result<std::vector<Entry>> schema_entries(Database& db, const std::string& database) {
  auto rows =
      db.prepare(fmt::format("SELECT type, name, sql FROM {}.sqlite_master", quote_name(database)));
  if (!rows) return rows.errors();
  std::vector<Entry> out;
  const Status read = rows->for_each_row([&] {
    out.push_back({rows->text_column(0), rows->text_column(1), rows->text_column(2)});
  });
  if (!read) return read.errors();
  return out;
}

/// An index that SQLite makes for a key has no SQL of its own.
bool is_automatic(const Entry& entry) { return entry.type == "index" && entry.sql.empty(); }

/// The table of a store that has the entry's name; nullptr for none.
const Table* find_table(const Entry& entry, const std::vector<Table>& wanted) {
  const auto found = std::ranges::find(wanted, entry.name, &Table::name);
  return entry.type != "table" || found == wanted.end() ? nullptr : &*found;
}

bool is_table(const Entry& entry, const std::vector<Table>& wanted) {
  const Table* const table = find_table(entry, wanted);
  return table != nullptr &&
         entry.sql == fmt::format("CREATE TABLE {} {}", table->name, table->body);
}

Error no_store(const std::string& path, const std::string& why) {
  return {Errc::invalid,
          fmt::format("is no store of accsim sweep: {}; move it away, or name another store", why),
          path};
}

}  // namespace

std::string quote_name(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string create_tables(const std::vector<std::string>& axes) {
  std::string out;
  for (const Table& t : store_tables(axes))
    out += fmt::format("CREATE TABLE IF NOT EXISTS {} {};", t.name, t.body);
  return out;
}

Status check_first_tables(Database& db, const std::string& database, const std::string& path) {
  const auto there = schema_entries(db, database);
  if (!there) return there.errors();
  std::vector<Table> wanted = store_tables({});
  wanted.resize(2);
  const auto ours =
      std::ranges::count_if(*there, [&](const Entry& e) { return is_table(e, wanted); });
  if (ours == std::ssize(wanted)) return ok();
  return no_store(path, "it lacks tables");
}

Status check_tables(Database& db, const std::string& database, const std::string& path,
                    const std::vector<std::string>& axes) {
  const auto there = schema_entries(db, database);
  if (!there) return there.errors();
  const std::vector<Table> wanted = store_tables(axes);
  int64_t ours = 0;
  for (const Entry& entry : *there) {
    if (is_automatic(entry)) continue;
    if (!is_table(entry, wanted))
      return no_store(path, find_table(entry, wanted) != nullptr
                                ? fmt::format("its table {} is another", entry.name)
                                : fmt::format("it holds the {} {}", entry.type, entry.name));
    ++ours;
  }
  if (ours == std::ssize(wanted)) return ok();
  return no_store(path, "it lacks tables");
}

}  // namespace accsim::sim
