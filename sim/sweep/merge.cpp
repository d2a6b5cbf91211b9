#include "sim/sweep/merge.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "sim/sweep/store.h"
#include "sim/sweep/store_schema.h"

namespace accsim::sim {
namespace {

/// Attached as `shard`: points that `main` has too must be the same there.
Status check_conflicts(Database& db, const std::string& path) {
  auto conflicts = db.prepare(
      "SELECT point FROM (SELECT s.* FROM shard.points s JOIN main.points m USING (point) "
      "EXCEPT SELECT * FROM main.points) LIMIT 1");
  if (!conflicts) return conflicts.errors();
  const auto found = conflicts->step();
  if (!found) return found.errors();
  if (!*found) return ok();
  return Error{Errc::invalid,
               fmt::format("overlap: point {} is in {} too, with other results",
                           conflicts->int_column(0), db.path()),
               path};
}

/// Attaches a store as `shard`; what is in it now must be what was checked before.
Status attach_shard(Database& db, const std::string& path, const StoreMeta& meta) {
  if (const Status attached = db.attach(path, "shard"); !attached) return attached;
  return check_tables(db, "shard", path, meta.axes);
}

/// Two stores of one shard.
Status check_alike(const std::string& one, const std::string& other, const StoreMeta& meta) {
  auto db = Database::open(one, Database::Mode::read);
  if (!db) return db.errors();
  if (const Status attached = attach_shard(*db, other, meta); !attached) return attached;
  return check_conflicts(*db, other);
}

/// What is wrong with a set of shards, all at once.
Result<StoreMeta> check_shards(const std::vector<std::string>& shards) {
  Errors errors;
  StoreMeta first;
  std::map<int64_t, std::string> present;
  for (const std::string& path : shards) {
    const auto store = SweepStore::open_for_reading(path);
    if (!store) {
      errors.insert(errors.end(), store.errors().begin(), store.errors().end());
      continue;
    }
    const StoreMeta& m = (*store)->meta();
    if (first.spec.empty()) first = m;
    const auto refuse = [&](const std::string& why) {
      errors.push_back({Errc::invalid, why, path});
    };
    if (m.version != first.version)
      refuse(fmt::format("was written by {}, others by {}", m.version, first.version));
    else if (m.spec != first.spec)
      refuse(fmt::format("is of another sweep than {} (spec {:.8}, not {:.8})", shards.front(),
                         m.spec, first.spec));
    else if (m.shard.of != first.shard.of)
      refuse(fmt::format("is shard {}, others are of {}", m.shard.text(), first.shard.of));
    const Status whole = (*store)->check_intact();
    const auto count = (*store)->stored_count();
    if (!whole)
      errors.insert(errors.end(), whole.errors().begin(), whole.errors().end());
    else if (!count)
      errors.insert(errors.end(), count.errors().begin(), count.errors().end());
    else if (*count != m.shard.count(m.points))
      refuse(
          fmt::format("gap: holds {} of {} points of shard {}; run that shard again to finish it",
                      *count, m.shard.count(m.points), m.shard.text()));
    if (const auto [same, fresh] = present.emplace(m.shard.index, path); !fresh && errors.empty())
      if (const Status alike = check_alike(same->second, path, m); !alike)
        errors.insert(errors.end(), alike.errors().begin(), alike.errors().end());
  }
  for (int64_t i = 1; i <= first.shard.of && !first.spec.empty(); ++i)
    if (!present.contains(i))
      errors.push_back(
          {Errc::invalid, fmt::format("gap: shard {}/{} is missing", i, first.shard.of), "merge"});
  if (!errors.empty()) return errors;
  return first;
}

/// Makes OUT's tables and fills in what the first shard says of the sweep, or checks that what is
/// there belongs to the same sweep.
Status prepare_out(Database& db, const std::string& first, const StoreMeta& meta) {
  if (const Status set = db.run_sql("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"); !set)
    return set;
  if (const Status attached = attach_shard(db, first, meta); !attached) return attached;
  const std::string sql =
      "BEGIN IMMEDIATE;" + create_tables(meta.axes) +
      "INSERT OR IGNORE INTO main.meta SELECT key, CASE key WHEN 'shard' THEN '1/1' ELSE value END "
      "FROM shard.meta; INSERT OR IGNORE INTO main.axes SELECT * FROM shard.axes; COMMIT;";
  if (const Status made = db.run_sql(sql); !made) {
    (void)db.run_sql("ROLLBACK");
    return made;
  }
  return ok();
}

Result<int64_t> count_points(Database& db) {
  auto points = db.prepare("SELECT count(point) FROM main.points");
  if (!points) return points.errors();
  int64_t count = 0;
  const Status read = points->for_each_row([&] { count = points->int_column(0); });
  if (!read) return read.errors();
  return count;
}

/// Adds one shard's rows; points that are there already must be the same.
Result<int64_t> add_shard(Database& db, const std::string& path, const StoreMeta& meta) {
  if (const Status attached = attach_shard(db, path, meta); !attached) return attached.errors();
  if (const Status alike = check_conflicts(db, path); !alike) return alike.errors();
  const auto had = count_points(db);
  if (!had) return had.errors();
  const Status added = db.run_sql(
      "BEGIN IMMEDIATE; INSERT OR IGNORE INTO main.points SELECT * FROM shard.points; "
      "INSERT OR IGNORE INTO main.layers SELECT * FROM shard.layers; "
      "INSERT OR IGNORE INTO main.phases SELECT * FROM shard.phases; COMMIT;");
  if (!added) {
    (void)db.run_sql("ROLLBACK");
    return added.errors();
  }
  const auto has = count_points(db);
  if (!has) return has.errors();
  return *has - *had;
}

}  // namespace

Result<MergeOutcome> merge_stores(const std::string& out, const std::vector<std::string>& shards) {
  const auto meta = check_shards(shards);
  if (!meta) return meta.errors();
  std::error_code ec;
  if (std::filesystem::exists(out, ec) && std::filesystem::file_size(out, ec) > 0) {
    const auto there = SweepStore::open_for_reading(out);
    if (!there) return there.errors();
    const StoreMeta& m = (*there)->meta();
    if (m.spec != meta->spec || m.version != meta->version || m.shard.of != 1)
      return Error{Errc::invalid, "holds another sweep, version or shard; name another file", out};
  }
  auto db = Database::open(out, Database::Mode::create);
  if (!db) return db.errors();
  const auto on = [&](auto&& work) {  // one shard at a time: SQLite attaches only a few files
    auto result = work();
    (void)db->run_sql("DETACH shard");
    return result;
  };
  if (const Status made = on([&] { return prepare_out(*db, shards.front(), *meta); }); !made)
    return made.errors();
  MergeOutcome outcome;
  for (const std::string& shard : shards) {
    const auto added = on([&] { return add_shard(*db, shard, *meta); });
    if (!added) return added.errors();
    outcome.added += *added;
  }
  const auto count = count_points(*db);
  if (!count) return count.errors();
  outcome.points = *count;
  if (outcome.points != meta->points)
    return Error{
        Errc::invalid,
        fmt::format("holds {} of {} points after the merge; is a shard of other points among "
                    "them?",
                    outcome.points, meta->points),
        out};
  return outcome;
}

}  // namespace accsim::sim
