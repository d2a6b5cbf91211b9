#include "sim/sweep/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <thread>

#include "sim/base/parse_number.h"
#include "sim/base/shell_word.h"
#include "sim/sweep/sqlite_files.h"
#include "sim/sweep/store_columns.h"
#include "sim/sweep/store_schema.h"

namespace accsim::sim {
namespace {

int64_t to_whole(const std::string& text) {
  int64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

std::vector<std::string> axis_names(const SweepSpec& spec) {
  std::vector<std::string> out;
  for (const Axis& axis : spec.axes) out.push_back(axis.name);
  return out;
}

/// The product, or the most there can be.
int64_t times_at_most(int64_t a, int64_t b) {
  int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<int64_t>::max() : out;
}

/// What the table of axes has for fields of an axis that binds sizes.
constexpr std::string_view kBindFields = "bind";

}  // namespace

std::string Shard::text() const { return fmt::format("{}/{}", index, of); }

Result<std::unique_ptr<SweepStore>> SweepStore::open(const std::string& path, const SweepSpec& spec,
                                                     const StoreMeta& wanted) {
  auto db = Database::open(path, Database::Mode::create);
  if (!db) return db.errors();
  std::unique_ptr<SweepStore> out(new SweepStore(std::move(*db)));
  // A file without tables may be another process's that is just making them: both then do the same.
  const auto tables = out->has_no_tables();
  if (!tables) return tables.errors();
  const bool fresh = *tables;
  if (!fresh) {
    if (const Status known = out->load_meta(); !known) return known.errors();
    if (const Status same = out->check_meta(wanted); !same) return same.errors();
    if (const Status good = out->check_schema(); !good) return good.errors();
  }
  // Not before: it would evaluate the CHECK constraints of another's tables.
  if (const Status good = out->check_intact(); !good) return good.errors();
  if (const Status set = out->set_modes(); !set) return set.errors();
  if (fresh)
    if (const Status made = out->fill_new_store(spec, wanted); !made) return made.errors();
  if (const Status known = out->load_meta(); !known) return known.errors();
  if (const Status same = out->check_meta(wanted); !same) return same.errors();
  if (const Status own = out->own(); !own) return own.errors();
  if (const Status writable =
          out->db_.run_sql("BEGIN IMMEDIATE; DELETE FROM claims WHERE 0; COMMIT;");
      !writable)
    return writable.errors();
  return out;
}

Result<std::unique_ptr<SweepStore>> SweepStore::open_for_reading(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec))
    return Error{Errc::io, "no such store; accsim sweep SPEC makes one", path};
  if (is_text_file(path))
    return Error{Errc::invalid,
                 "is text, not a store of a sweep; if it is a spec, this makes its store: "
                 "accsim sweep " +
                     shell_word(path),
                 path};
  const auto folder = std::filesystem::absolute(path, ec).parent_path();
  const bool frozen =
      access(folder.c_str(), W_OK) != 0 && !std::filesystem::exists(files_beside(path).front(), ec);
  auto db = Database::open(path, frozen ? Database::Mode::frozen : Database::Mode::read);
  if (!db) return db.errors();
  std::unique_ptr<SweepStore> out(new SweepStore(std::move(*db)));
  if (const Status known = out->load_meta(); !known) return known.errors();
  if (out->meta_.schema != kStoreSchema)
    return Error{Errc::invalid,
                 fmt::format("has tables of schema {}, this accsim reads {}", out->meta_.schema,
                             kStoreSchema),
                 path};
  if (const Status good = out->check_schema(); !good) return good.errors();
  if (const Status own = out->own(); !own) return own.errors();
  return out;
}

Result<bool> SweepStore::has_no_tables() {
  auto tables = db_.prepare("SELECT count(*) FROM sqlite_master");
  if (!tables) return tables.errors();
  if (const auto row = tables->step(); !row) return row.errors();
  return tables->int_column(0) == 0;
}

/// WAL: readers don't block the writer. FULL: a committed transaction survives a power cut.
/// Changing to WAL doesn't wait for other processes by itself.
Status SweepStore::set_modes() {
  Status set = ok();
  for (int tries = 0; tries < 500; ++tries) {
    set = db_.run_sql("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;");
    if (set || set.errors().front().message.find("locked") == std::string::npos) return set;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return set;
}

Status SweepStore::check_intact() {
  auto check = db_.prepare("PRAGMA quick_check(1)");
  if (!check) return check.errors();
  const auto row = check->step();
  if (!row) return row.errors();
  if (*row && check->text_column(0) == "ok") return ok();
  return Error{Errc::io,
               "is damaged (" + (*row ? check->text_column(0) : std::string("no answer")) +
                   "); move it away, or name another store",
               db_.path()};
}

Status SweepStore::fill_new_store(const SweepSpec& spec, const StoreMeta& wanted) {
  if (const Status begun = db_.run_sql("BEGIN IMMEDIATE"); !begun) return begun.errors();
  const auto fill = [&]() -> Status {
    if (const Status made = db_.run_sql(create_tables(axis_names(spec))); !made)
      return made.errors();
    std::string objectives;
    for (const Metric m : spec.objectives)
      objectives += (objectives.empty() ? "" : ",") + std::string(metric_info(m).name);
    auto insert = db_.prepare("INSERT OR IGNORE INTO meta VALUES (?, ?)");
    if (!insert) return insert.errors();
    const std::pair<const char*, std::string> rows[] = {
        {"schema", std::to_string(kStoreSchema)},
        {"version", wanted.version},
        {"spec", spec.hash},
        {"spec_file", spec.file},
        {"strategy", std::string(name(spec.strategy))},
        {"shard", wanted.shard.text()},
        {"points", std::to_string(wanted.points)},
        {"objectives", objectives}};
    for (const auto& [key, value] : rows) {
      insert->bind(1, std::string_view(key)).bind(2, std::string_view(value));
      if (const Status done = insert->run(); !done) return done;
    }
    auto axis = db_.prepare("INSERT OR IGNORE INTO axes VALUES (?, ?, ?, ?)");
    if (!axis) return axis.errors();
    for (size_t i = 0; i < spec.axes.size(); ++i) {
      std::string fields = spec.axes[i].is_bind_axis() ? std::string(kBindFields) : "";
      for (const hw::Field* f : spec.axes[i].fields)
        fields += (fields.empty() ? "" : " ") + f->path;
      axis->bind(1, static_cast<int64_t>(i)).bind(2, std::string_view(spec.axes[i].name));
      axis->bind(3, static_cast<int64_t>(spec.axes[i].steps.size()))
          .bind(4, std::string_view(fields));
      if (const Status done = axis->run(); !done) return done;
    }
    return db_.run_sql("COMMIT");
  };
  const Status filled = fill();
  if (!filled) (void)db_.run_sql("ROLLBACK");
  return filled;
}

Status SweepStore::load_meta() {
  const Error foreign{Errc::invalid, "is no store of accsim sweep; name another store", db_.path()};
  if (const Status ours = check_first_tables(db_, "main", db_.path()); !ours) return ours;
  auto rows = db_.prepare("SELECT key, value FROM meta");
  if (!rows) return foreign;
  std::map<std::string, std::string> values;
  const Status read =
      rows->for_each_row([&] { values[rows->text_column(0)] = rows->text_column(1); });
  if (!read) return read.errors();
  meta_ = {to_whole(values["schema"]),
           values["version"],
           values["spec"],
           values["spec_file"],
           values["strategy"],
           {},
           to_whole(values["points"]),
           {},
           {}};
  const std::string& shard = values["shard"];
  meta_.shard.index = 0;  // no shard's
  if (const size_t slash = shard.find('/'); slash != std::string::npos)
    meta_.shard = {to_whole(shard.substr(0, slash)), to_whole(shard.substr(slash + 1))};
  if (meta_.spec.empty() || meta_.points < 1 || meta_.shard.index < 1 ||
      meta_.shard.of < meta_.shard.index)
    return foreign;
  for (const std::string_view word : split_text(values["objectives"], ','))
    if (const auto m = metric_from(word)) meta_.objectives.push_back(*m);
  meta_.grid = 1;
  auto axes = db_.prepare("SELECT name, fields, steps FROM axes ORDER BY position");
  if (!axes) return foreign;
  const Status named = axes->for_each_row([&] {
    meta_.axes.push_back(axes->text_column(0));
    meta_.bind_axes += axes->text_column(1) == kBindFields;
    meta_.grid = times_at_most(meta_.grid, axes->int_column(2));
  });
  if (!named) return named.errors();
  if (meta_.axes.empty() || meta_.objectives.empty()) return foreign;
  return ok();
}

Status SweepStore::check_schema() { return check_tables(db_, "main", db_.path(), meta_.axes); }

Status SweepStore::check_meta(const StoreMeta& wanted) const {
  const auto refuse = [&](const std::string& why) {
    return Error{Errc::invalid, why + "; name another store, or remove this one", db_.path()};
  };
  if (meta_.schema != kStoreSchema)
    return refuse(
        fmt::format("has tables of schema {}, this accsim writes {}", meta_.schema, kStoreSchema));
  if (meta_.version != wanted.version)
    return refuse(fmt::format("was written by {}, this is {}, and its results may differ",
                              meta_.version, wanted.version));
  if (meta_.spec != wanted.spec)
    return refuse(
        fmt::format("is of another sweep: {} as it was then (spec {:.8}, this one is {:.8}): "
                    "the spec, the machine or a network has changed",
                    meta_.spec_file, meta_.spec, wanted.spec));
  if (meta_.shard.text() != wanted.shard.text())
    return refuse(fmt::format("is of shard {}, not {}", meta_.shard.text(), wanted.shard.text()));
  return ok();
}

Result<Statement*> SweepStore::cached_statement(const std::string& sql) {
  if (const auto at = statements_.find(sql); at != statements_.end()) return &at->second;
  auto made = db_.prepare(sql);
  if (!made) return made.errors();
  return &statements_.emplace(sql, std::move(*made)).first->second;
}

}  // namespace accsim::sim
