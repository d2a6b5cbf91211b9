#pragma once
#include <string>

#include "sim/report/text.h"
#include "sim/validate/predict.h"

namespace accsim::sim {

/// A table a source: predicted, measured, error, interval; then its summary, goals and known
/// differences; last the summary of all, fitted and unfitted apart. No line is wider than
/// options.width, but never narrower than 60.
std::string to_text(const Validation& v, const TextOptions& options);

/// docs/validation.md: the same, with what each machine rests on. Files are named from `root`.
std::string to_markdown(const Validation& v, const std::string& root);

/// As JSON, schema "accsim.validation/1": summary {unfitted, fitted} and sources [{file, source,
/// evidence, fitted, summary, rank_correlation, r2, differences, points [{name, workload, machine,
/// quantity, unit, measured, predicted, error, low, high, inside, goal, effects}]}]. Errors are
/// parts: 0.1 is 10 % more than measured.
std::string to_json(const Validation& v);

/// A line a point, with a head line: source, evidence, fitted, point, workload, machine, quantity,
/// measured, predicted, error, low, high.
std::string to_csv(const Validation& v);

/// The tables and a diagram of predicted over measured as one page without scripts.
std::string to_html(const Validation& v, const std::string& version);

// What the forms above share.

/// "+7.4 %" of an error given as a part.
std::string error_text(double error);
/// Four digits: "12.34", "0.9876", "1,234,567".
std::string figure_text(double value);
/// "goal: within 10 %: reached by 3 of 6 points"; one line a goal of the source.
std::vector<std::string> goal_lines(const ValidatedSource& s);
/// "6 points, mean absolute error 11.2 %, worst +31.0 % (LSTM1)"; and the interval, if there is
/// one.
std::string summary_text(const ErrorSummary& s, bool interval);
/// "rank correlation 1.000, R2 0.998"; what there is none of is left out.
std::string correlation_text(const ValidatedSource& s);

}  // namespace accsim::sim
