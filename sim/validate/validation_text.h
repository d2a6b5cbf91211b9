#pragma once
#include <string>

#include "sim/report/text.h"
#include "sim/validate/predict.h"

namespace accsim::sim {

/// A table per source: predicted, measured, error, interval, bound; then its summary, by family
/// and size too, goals and known differences; last the summary of all, fitted and unfitted apart.
/// No line is wider than options.width, but never narrower than 60.
std::string to_text(const Validation& v, const TextOptions& options);

/// docs/validation.md: the same, with what each machine rests on, and rows of tables summed up.
/// Files are named from `root`.
std::string to_markdown(const Validation& v, const std::string& root);

/// As JSON that validation_schema() describes. Errors are parts: 0.1 is 10 % more than measured.
std::string to_json(const Validation& v);

/// What to_json() says of its form. Keys may be added under one number.
inline constexpr const char* kValidationSchema = "accsim.validation/1";
/// JSON Schema (draft 7) of the output of to_json(). Ends in a line feed.
std::string validation_schema();

/// A line a point, with a head line: file, evidence, fitted, point, workload, machine, quantity,
/// measured, predicted, error, low, high, family, bound.
std::string to_csv(const Validation& v);

/// The tables and a diagram of predicted over measured as one page without scripts.
std::string to_html(const Validation& v, const std::string& version);

// What the forms above share.

/// "dram"; "" where nothing is asked of a workload.
std::string bound_text(const Prediction& p);
/// Name, points, mean absolute error, mean error, worst error and its point.
std::vector<std::string> group_cells(const GroupSummary& g);
/// What a source sets in its machines, and how many rows of which tables it has.
std::vector<std::string> setting_lines(const ValidationSource& s);
/// "+7.4 %" of an error given as a part.
std::string error_text(double error);
/// Four digits: "12.34", "0.9876", "1,234,567".
std::string figure_text(double value);
/// "goal: within 10 %: reached by 3 of 6 points"; one line a goal of the source.
std::vector<std::string> goal_lines(const ValidatedSource& s);
/// "6 points, mean absolute error 11.2 %, worst +31.0 % (LSTM1)"; and the interval, if there is
/// one. `what`: one of the points.
std::string summary_text(const ErrorSummary& s, bool interval, std::string_view what = "point");
/// The same of a source; where it has rows of tables beside other points, a line for either.
std::vector<std::string> summary_lines(const ValidatedSource& s, bool interval);
/// "v.yaml: 79 rows, mean absolute error 29.2 %, ..." for each source with rows of tables.
std::vector<std::string> table_lines(const Validation& v);
/// "rank correlation 1.000, R2 0.998"; what there is none of is left out.
std::string correlation_text(const ValidatedSource& s);

}  // namespace accsim::sim
