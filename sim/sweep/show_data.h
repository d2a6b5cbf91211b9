#pragma once
#include <string>
#include <vector>

#include "sim/sweep/show.h"
#include "sim/sweep/spec.h"

namespace accsim::sim {

/// Column indices of a view by their names, separated by commas; empty text: all. Errors: a name
/// that isn't one, or is given twice.
Result<std::vector<size_t>> parse_columns(const std::string& text, const TableView& view);

/// The points as JSON, schema "accsim.sweep/1":
///   schema, sweep (spec, strategy, version, points, stored, feasible, where), objectives, axes,
///   columns (name, unit, axis), front (point numbers), points; phases when models have one
/// `points` has an array a column, the point numbers among them, all of the same length and in the
/// order of the numbers; an axis of words has strings. `phases` has a row a point and phase: point,
/// phase, runs, tokens, time_us of all runs, time_us_per_run, tokens_per_second,
/// energy_pj_per_token, weight_bytes, cache_bytes (docs/sweep-store.md).
std::string show_json(const TableView& view, const StoreMeta& meta, const ShowOptions& options,
                      const std::vector<size_t>& columns);

/// What it takes to describe each point's machine: the base as YAML, what each step of each axis
/// sets, and the networks with their options. JSON.
std::string space_json(const SweepSpec& spec);

/// The points as a page, in the form of show_json() but smaller: metrics have seven digits, a
/// column of one value is {"all": value}, point numbers that count up are {"from", "count"}.
/// `space` is that of space_json(), or empty when the spec can't be read.
std::string show_html(const TableView& view, const StoreMeta& meta, const ShowOptions& options,
                      const std::string& space);

}  // namespace accsim::sim
