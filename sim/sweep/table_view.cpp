#include "sim/sweep/table_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/sweep/store_columns.h"
#include "sim/sweep/store_schema.h"

namespace accsim::sim {
namespace {

/// A field of a CSV line: quoted when it must be.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string value_text(const Statement& s, int column) {
  if (s.is_null(column)) return {};
  if (s.is_real(column)) return fmt::format("{}", s.real_column(column));
  return csv_field(s.text_column(column));
}

Status append_rows(SweepStore& store, const std::string& sql, std::string& out) {
  auto select = store.database().prepare(sql);
  if (!select) return select.errors();
  for (int i = 0; i < select->column_count(); ++i)
    out += (i > 0 ? "," : "") + select->column_name(i);
  out += '\n';
  return select->for_each_row([&] {
    for (int i = 0; i < select->column_count(); ++i)
      out += (i > 0 ? "," : "") + value_text(*select, i);
    out += '\n';
  });
}

/// An error when the filter reads a column that has words in this row.
Status reads_numbers(const Expression& filter, const TableView& view, const TableView::Row& row) {
  for (const size_t v : filter.variables())
    if (v < row.texts.size() && std::isnan(row.numbers[v]))
      return Error{Errc::usage,
                   fmt::format("{} has words, as '{}', and expressions are over numbers",
                               view.columns()[v], row.texts[v]),
                   "--where"};
  return ok();
}

}  // namespace

size_t TableView::metric_column(Metric m) const {
  return static_cast<size_t>(std::find(columns_.begin(), columns_.end(), metric_info(m).column) -
                             columns_.begin());
}

Result<TableView> TableView::read_store(SweepStore& store, const std::string& where) {
  TableView out;
  out.axes_ = out.columns_ = store.meta().axes;
  out.bind_axes_ = store.meta().bind_axes;
  for (const std::string_view c : kPointColumns)
    if (is_number_column(c)) out.columns_.emplace_back(c);
  const auto resolve = [&](std::string_view n) -> std::optional<size_t> {
    const auto at = std::find(out.columns_.begin(), out.columns_.end(), n);
    if (at == out.columns_.end()) return std::nullopt;
    return static_cast<size_t>(at - out.columns_.begin());
  };
  std::optional<Expression> filter;
  if (!where.empty()) {
    auto parsed = Expression::parse(where, resolve, out.columns_);
    if (!parsed)
      return Error{Errc::usage,
                   parsed.errors().front().message +
                       fmt::format("; the columns are {}", fmt::join(out.columns_, ", ")),
                   "--where"};
    filter = std::move(*parsed);
  }
  std::string names;
  for (const std::string& c : out.columns_) names += ", " + quote_name(c);
  auto select = store.database().prepare("SELECT point" + names + " FROM points ORDER BY point");
  if (!select) return select.errors();
  const auto cycles = static_cast<int>(*resolve("cycles")) + 1;
  while (true) {
    const auto more = select->step();
    if (!more) return more.errors();
    if (!*more) break;
    ++out.stored;
    if (select->is_null(cycles)) continue;
    ++out.feasible;
    Row row;
    row.point = select->int_column(0);
    for (size_t i = 0; i < out.columns_.size(); ++i) {
      const int c = static_cast<int>(i) + 1;
      const bool number = select->is_whole(c) || select->is_real(c);
      row.numbers.push_back(number ? select->real_column(c)
                                   : std::numeric_limits<double>::quiet_NaN());
      if (i < out.axes_.size()) row.texts.push_back(value_text(*select, c));
    }
    if (filter)
      if (const Status numbers = reads_numbers(*filter, out, row); !numbers)
        return numbers.errors();
    if (!filter || filter->holds(row.numbers)) out.rows_.push_back(std::move(row));
  }
  if (const Status read = out.read_speeds(store); !read) return read.errors();
  return out;
}

Status TableView::read_speeds(SweepStore& store) {
  auto select = store.database().prepare(
      "SELECT point, phase = 'prefill', runs, tokens, time_us, energy_pj, weight_bytes, "
      "cache_bytes FROM phases ORDER BY point, phase DESC");
  if (!select) return select.errors();
  for (size_t i = 0;;) {
    const auto more = select->step();
    if (!more) return more.errors();
    if (!*more) return ok();
    while (i < rows_.size() && rows_[i].point < select->int_column(0)) ++i;
    if (i == rows_.size() || rows_[i].point != select->int_column(0)) continue;  // not of this view
    rows_[i].speeds.push_back({select->int_column(1) != 0 ? Phase::prefill : Phase::decode,
                               select->real_column(2), select->real_column(3),
                               select->real_column(4), select->real_column(5),
                               select->real_column(6), select->real_column(7)});
  }
}

Result<std::string> dump_store(SweepStore& store) {
  std::string out;
  for (const char* sql :
       {"SELECT key, value FROM meta WHERE key <> 'spec_file' ORDER BY key",
        "SELECT * FROM axes ORDER BY position", "SELECT * FROM points ORDER BY point",
        "SELECT * FROM layers ORDER BY point, position",
        "SELECT * FROM phases ORDER BY point, phase", "SELECT * FROM bounds ORDER BY key"})
    if (const Status done = append_rows(store, sql, out); !done) return done.errors();
  return out;
}

}  // namespace accsim::sim
