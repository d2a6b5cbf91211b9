#include <fmt/format.h>

#include <array>
#include <string>

#include "sim/abi/boundary.h"
#include "sim/abi/run.h"

namespace accsim::abi {
namespace {

constexpr std::array<std::string_view, ACCSIM_BYTES + 1> kNames = {"A",    "B",          "products",
                                                                   "sums", "parameters", "bytes"};

int32_t check_matrix(const Run& run, int32_t matrix) {
  if (const Status at = run.at_command(); !at) return say_message(at.errors(), ACCSIM_ORDER);
  if (matrix < 0 || matrix > ACCSIM_BYTES) return say_range("matrix", matrix, 0, ACCSIM_BYTES);
  return ACCSIM_OK;
}

/// visit(the matrix), which has `count` values, or the code of what is wrong.
template <class Visit>
int32_t with_matrix(const Run& run, int32_t kind, int64_t count, Visit visit) {
  if (const int32_t wrong = check_matrix(run, kind); wrong != ACCSIM_OK) return wrong;
  const Matrix matrix = run.matrix_of_kind(kind);
  const std::string_view name = kNames[static_cast<size_t>(kind)];
  if (matrix.size() == 0)
    return say_message(ACCSIM_ARGUMENT, fmt::format("{} has no {}", run.command_text(), name));
  if (count != matrix.size())
    return say_message(ACCSIM_ARGUMENT,
                       fmt::format("count is {}; {} of {}: {} x {}", count, name,
                                   run.command_text(), matrix.rows(), matrix.columns()));
  return visit(matrix);
}

/// visit(the matrix), which has this row and column.
template <class Visit>
int32_t with_value(const Run& run, int32_t kind, int64_t row, int64_t column, Visit visit) {
  if (const int32_t wrong = check_matrix(run, kind); wrong != ACCSIM_OK) return wrong;
  const Matrix matrix = run.matrix_of_kind(kind);
  if (row >= 0 && row < matrix.rows() && column >= 0 && column < matrix.columns())
    return visit(matrix);
  return say_message(ACCSIM_ARGUMENT,
                     fmt::format("row {}, column {} of {} of {}: {} x {}", row, column,
                                 kNames[static_cast<size_t>(kind)], run.command_text(),
                                 matrix.rows(), matrix.columns()));
}

int32_t say_difference(Run& run, std::string text, int64_t row, int64_t column, int64_t mine,
                       int64_t golden) {
  const int32_t code = say_message(ACCSIM_DIFFERS, text);
  run.note_difference({run.retired_command().ordinal, row, column, mine, golden, std::move(text)});
  return code;
}

int32_t value_differs(Run& run, int32_t kind, int64_t row, int64_t column, int32_t mine,
                      int32_t golden) {
  return say_difference(
      run,
      fmt::format("{}: {} differ at row {}, column {}: {}, golden has {}", run.command_text(),
                  kNames[static_cast<size_t>(kind)], row, column, mine, golden),
      row, column, mine, golden);
}

}  // namespace
}  // namespace accsim::abi

using namespace accsim::abi;

int32_t accsim_shape(const accsim_run* run, int32_t matrix, int64_t* rows, int64_t* columns) {
  return call_guarded({{"run", run}, {"rows", rows}, {"columns", columns}}, [&] {
    if (const int32_t wrong = check_matrix(*run, matrix); wrong != ACCSIM_OK) return wrong;
    const Matrix m = run->matrix_of_kind(matrix);
    *rows = m.rows();
    *columns = m.columns();
    return int32_t{ACCSIM_OK};
  });
}

int32_t accsim_values(const accsim_run* run, int32_t matrix, int64_t count, int32_t* to) {
  return call_guarded({{"run", run}, {"to", to}}, [&] {
    return with_matrix(*run, matrix, count, [&](const Matrix& m) {
      m.copy_values(to);
      return int32_t{ACCSIM_OK};
    });
  });
}

int32_t accsim_value(const accsim_run* run, int32_t matrix, int64_t row, int64_t column,
                     int32_t* value) {
  return call_guarded({{"run", run}, {"value", value}}, [&] {
    return with_value(*run, matrix, row, column, [&](const Matrix& m) {
      *value = m.value_at(row, column);
      return int32_t{ACCSIM_OK};
    });
  });
}

int32_t accsim_check(accsim_run* run, int32_t matrix, int64_t count, const int32_t* mine) {
  return call_guarded({{"run", run}, {"mine", mine}}, [&] {
    return with_matrix(*run, matrix, count, [&](const Matrix& m) {
      const auto at = m.first_difference(mine);
      if (!at) return int32_t{ACCSIM_OK};
      const int64_t row = *at / m.columns(), column = *at % m.columns();
      return value_differs(*run, matrix, row, column, mine[*at], m.value_at(row, column));
    });
  });
}

int32_t accsim_check_value(accsim_run* run, int32_t matrix, int64_t row, int64_t column,
                           int32_t mine) {
  return call_guarded({{"run", run}}, [&] {
    return with_value(*run, matrix, row, column, [&](const Matrix& m) {
      const int32_t golden = m.value_at(row, column);
      if (mine == golden) return int32_t{ACCSIM_OK};
      return value_differs(*run, matrix, row, column, mine, golden);
    });
  });
}

int32_t accsim_check_finish(accsim_run* run, int64_t cycle) {
  return call_guarded({{"run", run}}, [&] {
    if (const auto at = run->at_command(); !at) return say_message(at.errors(), ACCSIM_ORDER);
    const int64_t finish = run->command_span().finish;
    if (cycle == finish) return int32_t{ACCSIM_OK};
    return say_difference(
        *run,
        fmt::format("{}: its result is visible in cycle {}, by the timing model in {}",
                    run->command_text(), cycle, finish),
        -1, -1, cycle, finish);
  });
}

int32_t accsim_first_difference(const accsim_run* run, int64_t* command, int64_t* row,
                                int64_t* column, int64_t* mine, int64_t* golden) {
  return call_guarded({{"run", run},
                       {"command", command},
                       {"row", row},
                       {"column", column},
                       {"mine", mine},
                       {"golden", golden}},
                      [&] {
                        const auto& first = run->first_difference();
                        if (!first) return say_message(ACCSIM_END, "nothing has differed");
                        *command = first->command;
                        *row = first->row;
                        *column = first->column;
                        *mine = first->mine;
                        *golden = first->golden;
                        return int32_t{ACCSIM_OK};
                      });
}

int32_t accsim_first_difference_text(const accsim_run* run, const char** text) {
  return call_guarded({{"run", run}, {"text", text}}, [&] {
    const auto& first = run->first_difference();
    *text = first ? first->text.c_str() : "";
    return int32_t{ACCSIM_OK};
  });
}
