#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <map>
#include <new>

#include "sim/sweep/run.h"
#include "sim/sweep/space.h"
#include "sim/sweep/store.h"
#include "tests/support/source.h"
#include "tests/support/stored.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

sqlite3_mem_methods usual;
int64_t calls = 0, failing = 0;  // the failing-th call of SQLite for memory has none; 0: all have

bool has_memory() { return ++calls != failing; }
void* allocate(int size) { return has_memory() ? usual.xMalloc(size) : nullptr; }
void* reallocate(void* p, int size) { return has_memory() ? usual.xRealloc(p, size) : nullptr; }

/// SQLite takes its memory from allocate().
class SqliteMemory {
 public:
  SqliteMemory() {
    sqlite3_shutdown();
    EXPECT_EQ(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &usual), SQLITE_OK);
    sqlite3_mem_methods counted = usual;
    counted.xMalloc = allocate;
    counted.xRealloc = reallocate;
    EXPECT_EQ(sqlite3_config(SQLITE_CONFIG_MALLOC, &counted), SQLITE_OK);
    // Otherwise a connection takes small pieces from a block of its own.
    EXPECT_EQ(sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0), SQLITE_OK);
  }
  ~SqliteMemory() {
    sqlite3_shutdown();
    sqlite3_config(SQLITE_CONFIG_MALLOC, &usual);
    sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 1200, 100);
  }
  SqliteMemory(const SqliteMemory&) = delete;
  SqliteMemory& operator=(const SqliteMemory&) = delete;
};

/// Files that aren't carried to the disk: a test's need not outlast the machine, and the disk would
/// take most of its time.
class UnsyncedFiles {
 public:
  UnsyncedFiles() {
    sqlite3_vfs* const by_default = sqlite3_vfs_find(nullptr);
    open = by_default->xOpen;
    vfs_ = *by_default;
    vfs_.zName = "unsynced";
    vfs_.xOpen = [](sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
      const int code = open(vfs, name, file, flags, out);
      if (file->pMethods == nullptr) return code;
      // A database and its log have methods of their own.
      sqlite3_io_methods& mine = methods.try_emplace(file->pMethods, *file->pMethods).first->second;
      mine.xSync = [](sqlite3_file*, int) { return SQLITE_OK; };
      file->pMethods = &mine;
      return code;
    };
    remove = by_default->xDelete;
    vfs_.xDelete = [](sqlite3_vfs* vfs, const char* name, int) { return remove(vfs, name, 0); };
    EXPECT_EQ(sqlite3_vfs_register(&vfs_, 1), SQLITE_OK);
  }
  ~UnsyncedFiles() { sqlite3_vfs_unregister(&vfs_); }
  UnsyncedFiles(const UnsyncedFiles&) = delete;
  UnsyncedFiles& operator=(const UnsyncedFiles&) = delete;

 private:
  static inline decltype(sqlite3_vfs::xOpen) open;
  static inline decltype(sqlite3_vfs::xDelete) remove;
  static inline std::map<const sqlite3_io_methods*, sqlite3_io_methods> methods;
  sqlite3_vfs vfs_;
};

SweepSpec load_spec() {
  auto spec = load_sweep(test::write_temp(
      "memory.yaml",
      fmt::format("base: {0}/configs/64x64.yaml\nmodels: [{{file: {0}/models/"
                  "squeezenet1_1_op13.onnx}}]\neffort: rule\n"
                  "axes: {{act: {{field: buffers.activation.kib, values: [64, 128]}}}}\n",
                  kSource)));
  EXPECT_TRUE(spec.ok()) << spec.errors().front().text();
  return std::move(*spec);
}

/// Two points, one of which can't be costed, with words too long for SQLite's small buffers.
std::vector<PointRow> some_rows() {
  std::vector<PointRow> rows(2);
  for (int64_t i = 0; PointRow & row : rows) {
    row.point = i;
    row.config = fmt::format("{:0>500}", i);
    row.labels = {std::to_string(64 << i++)};
    row.totals.cycles = 1;
    row.totals.clock_mhz = 1000;
  }
  rows[0].layers = {{std::string(300, 'm'), std::string(300, 'l'), "Conv", "x", 1, 1, 1, 1, 1}};
  rows[0].phases.resize(1);
  rows[1].reason = std::string(20'000, 'r');  // on pages of its own
  return rows;
}

/// What a sweep does with its store, once; true when all of it was done.
bool use(const std::string& path, const SweepSpec& spec, const std::vector<PointRow>& rows) {
  const auto good = [&](const auto& result) {
    EXPECT_TRUE(result.ok()) << "call " << failing << ": " << result.errors().front().text();
    return result.ok();
  };
  SweepRun run;
  run.version = "test";
  try {
    auto store = SweepStore::open(path, spec, wanted_meta(spec, run, 2));
    if (!good(store)) return false;
    SweepStore& s = **store;
    std::vector<PointRange> spans = {{0, {0, 1}}};
    BoundRow bound;
    bound.key = std::string(300, 'k');
    if (!good(s.claim_spans(spans, std::string(300, 'o')))) return false;
    if (!good(s.write(rows, std::vector{bound}))) return false;
    if (!good(s.release_dead([](const std::string& owner) { return owner.size() == 300; })))
      return false;
    const auto found = s.find(1);
    if (!good(found)) return false;
    EXPECT_TRUE(found->has_value() && (*found)->reason == rows[1].reason);
    return good(s.find_bound(bound.key)) && good(s.stored_points(std::vector<int64_t>{0, 1}));
  } catch (const std::bad_alloc&) {
    return false;
  }
}

TEST(StoreMemory, WhereverItRunsOutNothingIsLostOrMistaken) {
  const SweepSpec spec = load_spec();
  const std::vector<PointRow> rows = some_rows();
  const SqliteMemory memory;
  const UnsyncedFiles files;
  const std::string path = test::temp_path("memory.sqlite");
  std::string whole;
  int64_t ends = 0;
  for (int64_t n = 0; ends == 0; ++n) {
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
    calls = 0;
    failing = n;
    const bool done = use(path, spec, rows);
    if (n > calls) ends = n;
    EXPECT_TRUE(done || (n > 0 && n <= calls)) << "call " << n;
    failing = 0;
    // The same command again does what is left.
    ASSERT_TRUE(use(path, spec, rows)) << "after call " << n;
    const std::string text = test::dump(path);
    if (n == 0) whole = text;
    ASSERT_EQ(text, whole) << "after call " << n;
  }
  EXPECT_NE(whole.find(rows[1].reason), std::string::npos);
  EXPECT_GT(ends, 500);
}

}  // namespace
}  // namespace accsim::sim
