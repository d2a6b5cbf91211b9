#pragma once
#include <string>
#include <vector>

#include "sim/sweep/table_view.h"

namespace accsim::sim {

/// What `accsim sweep show` was asked for; `where` is an SQL condition over the columns of points.
struct ShowOptions {
  std::vector<Metric> pareto;  ///< empty: the spec's objectives
  std::string where;
  size_t width = 160;
  size_t most_rows = 40;  ///< of the front, as text
};

/// The front's rows of a view; where axes bind sizes, those of each front that machines make for
/// the same sizes, one front behind the other.
std::vector<const TableView::Row*> front_rows(const TableView& view,
                                              const std::vector<Metric>& metrics);

/// The answers: front, sensitivity of each axis, best points.
std::string show_text(const TableView& view, const StoreMeta& meta, const ShowOptions& options);

/// The front, a line a point: its number and these columns of the view.
std::string show_csv(const TableView& view, const std::vector<Metric>& metrics,
                     const std::vector<size_t>& columns);

}  // namespace accsim::sim
