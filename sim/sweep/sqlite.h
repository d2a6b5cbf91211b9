#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sim/base/result.h"
#include "sim/sweep/step_limit.h"

struct sqlite3;
struct sqlite3_stmt;

namespace accsim::sim {

class Database;

/// Whether a file begins as SQLite's do; false of one that can't be read.
bool is_database_file(const std::string& path);
/// Whether a file begins with text; false of an empty one.
bool is_text_file(const std::string& path);

/// A prepared statement; parameters and columns count from 1 and 0, as SQLite has them. Throws
/// std::bad_alloc where SQLite has no memory: a parameter that isn't bound, or a text that isn't
/// read, would be NULL.
class Statement {
 public:
  Statement& bind(int at, int64_t value);
  Statement& bind(int at, double value);
  Statement& bind(int at, std::string_view value);
  Statement& bind_null(int at);

  /// True when there is a row, false at the end.
  Result<bool> step();
  /// Steps through all rows; then it can be bound again.
  Status for_each_row(const std::function<void()>& row);
  /// Runs to the end; then it can be bound again.
  Status run();
  void reset();

  int64_t int_column(int column) const;
  double real_column(int column) const;
  std::string text_column(int column) const;
  bool is_null(int column) const;
  bool is_whole(int column) const;
  bool is_real(int column) const;
  int column_count() const;
  std::string column_name(int column) const;

 private:
  friend class Database;
  struct Close {
    void operator()(sqlite3_stmt* s) const;
  };
  Statement& note_bind(int code);
  std::unique_ptr<sqlite3_stmt, Close> handle_;
  const Database* database_ = nullptr;
  int bind_code_ = 0;  ///< the first failure to bind since the last step
  int64_t steps_ = 0;  ///< of this run, as StepLimit counts them
};

/// A connection to a database file, which may come from anybody: queries have a StepLimit. Errors
/// name the file and say what to do. Not thread-safe.
class Database {
 public:
  /// `read`: nothing is changed, but what SQLite keeps beside the file is put in order at the end.
  /// `frozen`: to read where nothing may be written, which WAL mode wants even of readers; nobody
  /// else may have the file open. An error, too, where check_files_beside() has one.
  enum class Mode { read, frozen, create };
  static Result<Database> open(const std::string& path, Mode mode);

  /// Opens another file in this connection, as `name`.
  Status attach(const std::string& path, const std::string& name);
  Status run_sql(const std::string& sql);
  Result<Statement> prepare(const std::string& sql) const;
  int64_t changed_rows() const;
  const std::string& path() const { return path_; }
  /// Is the file that was opened no longer the one of that name? What is written then is lost.
  bool has_moved() const;
  /// The last failure as an Error (io).
  Error error_of_code(int code) const;

 private:
  friend class Statement;
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::unique_ptr<StepLimit> limit_;  // outlives the connection
  std::unique_ptr<sqlite3, Close> handle_;
  std::string path_;
};

}  // namespace accsim::sim
