// A sweep's store, shown in every form: a file as it is, or one that was good before SQL changed
// it. Text of the second kind has the condition of --where in its first line, SQL in the others.
#include "sim/sweep/store.h"

#include <sqlite3.h>

#include <filesystem>
#include <iterator>

#include "sim/sweep/show_data.h"
#include "tests/fuzz/target.h"

namespace {

using namespace accsim;
using namespace accsim::sim;

std::string good_store() {
  std::ifstream in(ACCSIM_SOURCE_DIR "/tests/fuzz/files/store.sqlite", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What SQL does to the file, if it doesn't take long, and to no other.
void change(const std::string& file, std::string_view sql) {
  sqlite3* db = nullptr;
  if (sqlite3_open(file.c_str(), &db) == SQLITE_OK) {
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 100'000);
    sqlite3_progress_handler(
        db, 20'000, [](void*) { return 1; }, nullptr);
    sqlite3_exec(db, std::string(sql).c_str(), nullptr, nullptr, nullptr);
  }
  sqlite3_close(db);
}

void show(const std::string& file, const std::string& where) {
  auto store = SweepStore::open_for_reading(file);
  if (!store) return;
  static_cast<void>((*store)->check_intact());
  const auto dumped = dump_store(**store);
  const auto view = TableView::read_store(**store, where);
  if (!view) return;
  const StoreMeta& meta = (*store)->meta();
  ShowOptions options;
  options.where = where;
  const auto columns = parse_columns("", *view);
  check(columns.ok(), "a store without columns");
  show_text(*view, meta, options);
  show_csv(*view, meta.objectives, *columns);
  show_json(*view, meta, options, *columns);
  show_html(*view, meta, options, "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string good = good_store();
  std::string_view text = test::text_of(data, size);
  for (const char* beside : {"-wal", "-shm", "-journal"})
    std::filesystem::remove(test::temp_path("input.sqlite") + beside);
  if (text.starts_with("SQLite format 3")) {
    show(test::input_file("input.sqlite", text), "");
    return 0;
  }
  const std::string& file = test::input_file("input.sqlite", good);
  const size_t line = text.find('\n');
  if (line != std::string_view::npos) change(file, text.substr(line + 1));
  show(file, std::string(text.substr(0, line)));
  return 0;
}
