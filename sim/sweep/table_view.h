#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/expression.h"
#include "sim/sweep/store.h"

namespace accsim::sim {

/// A store's points as `sweep show` sees them: numbers by column, words by their text.
class TableView {
 public:
  /// What all runs of a phase of a language model take: a row of `phases`.
  struct Speed {
    Phase phase = Phase::none;
    double runs = 0, tokens = 0;
    double time_us = 0, energy_pj = 0;
    double weight_bytes = 0, cache_bytes = 0;
    double time_us_per_run() const { return time_us / runs; }
    double tokens_per_second() const { return tokens / time_us * 1e6; }
    double energy_per_token() const { return energy_pj / tokens; }
  };
  struct Row {
    int64_t point = 0;
    std::vector<double> numbers;     ///< by metric_column(); NaN for words and what is missing
    std::vector<std::string> texts;  ///< of the axes
    std::vector<Speed> speeds;       ///< of the phases of a language model, prefill first
  };

  /// Reads the points that can be costed and satisfy `where` (empty: all), in order.
  static Result<TableView> read_store(SweepStore& store, const std::string& where);

  const std::vector<Row>& rows() const { return rows_; }
  const std::vector<std::string>& axes() const { return axes_; }
  /// How many of them, the first ones, bind sizes of the networks: rows that differ there are
  /// different work.
  size_t bind_axes() const { return bind_axes_; }
  /// Axes first, then kNumberColumns.
  const std::vector<std::string>& columns() const { return columns_; }
  size_t metric_column(Metric m) const;
  int64_t stored = 0, feasible = 0;  ///< before `where`

 private:
  Status read_speeds(SweepStore& store);

  std::vector<std::string> axes_, columns_;
  std::vector<Row> rows_;
  size_t bind_axes_ = 0;
};

/// The whole store as text, ordered: equal for equal results, however they came about.
Result<std::string> dump_store(SweepStore& store);

}  // namespace accsim::sim
