#include "sim/sweep/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <new>
#include <utility>

#include "sim/sweep/sqlite_files.h"

namespace accsim::sim {
namespace {

constexpr int kBusyMilliseconds = 60'000;
constexpr uintmax_t kRoom = 65'536;  // bytes; SQLite grows its shared memory by half of that

/// Some ways of having no room look like any failing disk to SQLite.
bool has_room(const std::string& path) {
  std::error_code ec;
  const auto space = std::filesystem::space(std::filesystem::absolute(path).parent_path(), ec);
  return ec || space.available >= kRoom;
}

std::string as_uri(const std::string& path) {
  std::string out = "file:";
  for (const char c : path)
    if (std::string_view("%?# ").find(c) == std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02x}", static_cast<unsigned char>(c));
  return out + "?immutable=1";
}

/// The first bytes of a regular file: of a pipe they would be gone for who reads it.
std::string head_of(const std::string& path) {
  std::error_code ec;
  if (!std::filesystem::is_regular_file(path, ec)) return "";
  std::string head(256, '\0');
  std::ifstream in(path, std::ios::binary);
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(in.gcount()));
  return head;
}

}  // namespace

bool is_database_file(const std::string& path) {
  return head_of(path).starts_with("SQLite format 3");
}

bool is_text_file(const std::string& path) {
  const std::string head = head_of(path);
  return !head.empty() && std::ranges::all_of(head, [](unsigned char c) {
    return c >= ' ' || c == '\n' || c == '\r' || c == '\t';
  });
}

void Statement::Close::operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
void Database::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

Statement& Statement::note_bind(int code) {
  if (bind_code_ == SQLITE_OK) bind_code_ = code;
  return *this;
}
Statement& Statement::bind(int at, int64_t value) {
  return note_bind(sqlite3_bind_int64(handle_.get(), at, value));
}
Statement& Statement::bind(int at, double value) {
  return note_bind(sqlite3_bind_double(handle_.get(), at, value));
}
Statement& Statement::bind(int at, std::string_view value) {
  return note_bind(sqlite3_bind_text64(handle_.get(), at, value.data(), value.size(),
                                       SQLITE_TRANSIENT, SQLITE_UTF8));
}
Statement& Statement::bind_null(int at) { return note_bind(sqlite3_bind_null(handle_.get(), at)); }

Result<bool> Statement::step() {
  int code = std::exchange(bind_code_, SQLITE_OK);
  if (code == SQLITE_OK) {
    // Others may run between two rows of this one.
    database_->limit_->set_steps(sqlite3_stmt_busy(handle_.get()) != 0 ? steps_ : 0);
    code = sqlite3_step(handle_.get());
    steps_ = database_->limit_->steps();
  }
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  const Error error = database_->error_of_code(code);
  reset();
  return error;
}

Status Statement::for_each_row(const std::function<void()>& row) {
  while (true) {
    const auto more = step();
    if (!more) return more.errors();
    if (!*more) break;
    row();
  }
  reset();
  return ok();
}

Status Statement::run() {
  return for_each_row([] {});
}

void Statement::reset() { sqlite3_reset(handle_.get()); }

int64_t Statement::int_column(int c) const { return sqlite3_column_int64(handle_.get(), c); }
double Statement::real_column(int c) const { return sqlite3_column_double(handle_.get(), c); }
std::string Statement::text_column(int c) const {
  const unsigned char* bytes = sqlite3_column_text(handle_.get(), c);
  if (bytes == nullptr && sqlite3_errcode(sqlite3_db_handle(handle_.get())) == SQLITE_NOMEM)
    throw std::bad_alloc();
  const auto size = static_cast<size_t>(sqlite3_column_bytes(handle_.get(), c));
  return bytes == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(bytes), size);
}
bool Statement::is_null(int c) const {
  return sqlite3_column_type(handle_.get(), c) == SQLITE_NULL;
}
bool Statement::is_whole(int c) const {
  return sqlite3_column_type(handle_.get(), c) == SQLITE_INTEGER;
}
bool Statement::is_real(int c) const {
  return sqlite3_column_type(handle_.get(), c) == SQLITE_FLOAT;
}
int Statement::column_count() const { return sqlite3_column_count(handle_.get()); }
std::string Statement::column_name(int c) const {
  const char* name = sqlite3_column_name(handle_.get(), c);
  if (name == nullptr) throw std::bad_alloc();
  return name;
}

bool Database::has_moved() const {
  int moved = 0;
  return sqlite3_file_control(handle_.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
         moved != 0;
}

Error Database::error_of_code(int code) const {
  // The index of the write-ahead log is mapped; its file has been made large enough before.
  if (code == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM || code == SQLITE_IOERR_SHMMAP)
    throw std::bad_alloc();
  const std::string full =
      "the disk is full; make room and run the same command again, committed points are kept";
  const std::string why = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  std::string what;
  switch (code & 0xff) {
    case SQLITE_FULL:
      what = full;
      break;
    case SQLITE_IOERR:
      what = has_room(path_) ? "can't be read or written (" + why + "); committed points are kept"
                             : full;
      break;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      what = "is no intact store (" + why + "); move it away, or name another store";
      break;
    case SQLITE_INTERRUPT:
      what =
          "is no store of accsim sweep: reading it takes more steps than its size can account for; "
          "move it away, or name another store";
      break;
    case SQLITE_CANTOPEN:
      what = "can't be opened (" + why + "); does the folder exist, and may it be written?";
      break;
    case SQLITE_READONLY:
    case SQLITE_PERM:
      what = "can't be written (" + why + ")";
      break;
    case SQLITE_BUSY:
      what = "is locked by another process (" + why + ")";
      break;
    default:
      what = why;
  }
  return {Errc::io, what, path_};
}

Result<Database> Database::open(const std::string& path, Mode mode) {
  Database out;
  out.path_ = path;
  if (mode != Mode::frozen)
    if (const Status kept = check_files_beside(path); !kept) return kept.errors();
  sqlite3* db = nullptr;
  const int flags = mode == Mode::create   ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                    : mode == Mode::frozen ? SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
                                           : SQLITE_OPEN_READWRITE;
  const std::string name = mode == Mode::frozen ? as_uri(path) : path;
  const int code = sqlite3_open_v2(name.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  out.handle_.reset(db);
  if (code != SQLITE_OK) return out.error_of_code(code);
  sqlite3_busy_timeout(db, kBusyMilliseconds);
  sqlite3_extended_result_codes(db, 1);
  // A name in double quotes that is no column is an error, not a text.
  sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  // A file may come from anybody: nothing that it holds is executed, nor may it be bent.
  sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  out.limit_ = std::make_unique<StepLimit>(db, path);
  if (mode == Mode::read)
    if (const Status set = out.run_sql("PRAGMA query_only=1"); !set) return set.errors();
  return out;
}

Status Database::attach(const std::string& path, const std::string& name) {
  auto attach = prepare("ATTACH ? AS " + name);
  if (!attach) return attach.errors();
  limit_->add_file(path);
  return attach->bind(1, std::string_view(path)).run();
}

Status Database::run_sql(const std::string& sql) {
  limit_->set_steps(0);
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error_of_code(code);
  return ok();
}

Result<Statement> Database::prepare(const std::string& sql) const {
  Statement out;
  out.database_ = this;
  sqlite3_stmt* s = nullptr;
  limit_->set_steps(0);  // it may read the schema
  const int code =
      sqlite3_prepare_v2(handle_.get(), sql.c_str(), static_cast<int>(sql.size()), &s, nullptr);
  if (code != SQLITE_OK) return error_of_code(code);
  out.handle_.reset(s);
  return out;
}

int64_t Database::changed_rows() const { return sqlite3_changes64(handle_.get()); }

}  // namespace accsim::sim
