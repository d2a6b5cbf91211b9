#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "sim/sweep/spec.h"
#include "sim/sweep/sqlite.h"
#include "sim/sweep/totals.h"

namespace accsim::sim {

/// A part of a sweep: every `of`-th point from number `index` (1-based) on.
struct Shard {
  int64_t index = 1, of = 1;
  std::string text() const;
  /// Points of a sweep of `all` that fall to it.
  int64_t count(int64_t all) const { return all < index ? 0 : (all - index) / of + 1; }
};

/// What a store says of itself, in its table `meta`.
struct StoreMeta {
  int64_t schema = 0;   ///< of the tables
  std::string version;  ///< of accsim: another may cost differently
  std::string spec;     ///< spec hash
  std::string spec_file;
  std::string strategy;
  Shard shard;
  int64_t points = 0;  ///< of the whole sweep; of a pareto sweep the grid's
  std::vector<Metric> objectives;
  std::vector<std::string> axes;
  size_t bind_axes = 0;  ///< how many of them, the first ones, bind sizes of the networks
  int64_t grid = 0;      ///< points of the whole grid: numbers of points are below it
};

inline constexpr int64_t kStoreSchema = 4;  ///< 2: hashes are XXH3; 3: phases; 4: their runs

/// What a bound evaluation gave; reason as in PointRow.
struct BoundRow {
  std::string key;  ///< config hash and objective
  std::string reason;
  PointTotals totals;
};

/// Points that are claimed together.
struct PointRange {
  int64_t number = 0;  ///< in its sweep or shard
  std::vector<int64_t> points;
  bool ours = false;
};

/// The SQLite file of a sweep (docs/sweep-store.md), in WAL mode: a transaction is there whole or
/// not at all, whatever happens to the process. Not thread-safe; any number of connections and
/// processes may have the file open.
class SweepStore {
 public:
  /// Opens the store of this sweep or makes it. Refuses a file that isn't one, that is damaged, or
  /// of another spec, version or shard.
  static Result<std::unique_ptr<SweepStore>> open(const std::string& path, const SweepSpec& spec,
                                                  const StoreMeta& wanted);
  /// Any store of this schema, to read; also where nothing may be written.
  static Result<std::unique_ptr<SweepStore>> open_for_reading(const std::string& path);

  const StoreMeta& meta() const { return meta_; }
  /// Reads the whole file; an error when it is damaged.
  Status check_intact();
  /// Errc::invalid when there are more points than the sweep's, or values that none can have.
  Status own();
  /// Was the file deleted, moved or replaced since it was opened? Its rows then reach nobody.
  bool is_lost() const { return db_.has_moved(); }
  Database& database() { return db_; }

  /// Which of these points are stored.
  Result<std::set<int64_t>> stored_points(std::span<const int64_t> points);
  Result<int64_t> stored_count();
  /// A stored point's reason and totals (without clock, area and SRAM).
  Result<std::optional<PointRow>> find(int64_t point);
  Result<std::optional<BoundRow>> find_bound(const std::string& key);

  /// One transaction; rows that are there already stay as they are. An error, too, when the store
  /// is is_lost().
  Status write(std::span<const PointRow> rows, std::span<const BoundRow> bounds);

  /// In one transaction: leaves in each span the points that aren't stored, and takes it for
  /// `owner` when there are any and nobody else has it.
  Status claim_spans(std::span<PointRange> spans, const std::string& owner);
  /// Frees the claims of `owner`, or those that `dead` says are nobody's.
  Status release_claims(const std::string& owner);
  Status release_dead(const std::function<bool(const std::string& owner)>& dead);

 private:
  explicit SweepStore(Database db) : db_(std::move(db)) {}
  Status fill_new_store(const SweepSpec& spec, const StoreMeta& wanted);
  Status load_meta();
  Status check_meta(const StoreMeta& wanted) const;
  Result<bool> has_no_tables();
  Status check_schema();
  Status set_modes();
  Status write_phases(const PointRow& row);
  Status write_rows(std::span<const PointRow> rows, std::span<const BoundRow> bounds);
  Status claim_missing(std::span<PointRange> spans, const std::string& owner);
  Result<Statement*> cached_statement(const std::string& sql);

  Database db_;
  StoreMeta meta_;
  std::map<std::string, Statement> statements_;
};

}  // namespace accsim::sim
