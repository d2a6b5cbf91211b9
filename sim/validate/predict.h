#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/cost/workload.h"
#include "sim/report/report.h"
#include "sim/validate/validation.h"

namespace accsim::sim {

/// How much of a prediction an assumed field decides.
struct FieldEffect {
  std::string field;
  double low = 0, high = 0;  ///< least and most of the prediction as this field alone moves
};

/// The best program that a search has found for a row's layer.
struct FoundProgram {
  int64_t cycles = 0;
  std::string program;                ///< its tiles and all else, for people
  int64_t candidates = 0, timed = 0;  ///< of both kinds of sync, as in hw::TiledChoice
  /// Of the best program with sync credit, and with barriers (sync tvm); nothing: none was
  /// found.
  std::optional<int64_t> credit_cycles, barrier_cycles;
};

/// A published figure and what accsim says instead.
struct Prediction {
  double predicted = 0;
  double low = 0, high = 0;          ///< over all assumed ranges, see predict_point()
  std::vector<FieldEffect> effects;  ///< those that move the prediction, the widest first
  Bound bound = Bound::none;         ///< what limits the workload; none of an area
  int64_t macs = 0;                  ///< of the workload
  std::optional<FoundProgram> best;  ///< where search_programs() was asked
  std::string search_error;          ///< why it has found none

  double relative_error(double measured) const { return predicted / measured - 1; }
};

/// Predicts a point. With `interval` each assumed field is moved alone to the ends of its
/// range. Then all are moved at once: to the ends that make the prediction smaller, and to
/// those that make it larger. low and high are the least and the greatest of all predictions.
/// They are bounds if every field's effect has one direction, whatever the others are. A move
/// that breaks a rule is left out: the later field stays as it is. Energies are moved for
/// powers alone. Without `interval` low = high = predicted. Errors: a layer that the machine
/// can't run.
Result<Prediction> predict_point(const ValidationPoint& point, const KnownMachine& machine,
                                 const MapOptions& options, bool interval);

/// Predicts a row that says its machine itself (ValidationPoint::row_cost), in cycles. There is no
/// interval: nothing is assumed. Errors: a layer that nothing can be said of.
Result<Prediction> predict_row(const ValidationPoint& point);

/// Summary of some predictions.
struct ErrorSummary {
  int64_t points = 0;
  double mean_absolute = 0;  ///< of the errors, as parts
  double mean = 0;           ///< of the errors with their signs
  double worst = 0;          ///< the error that is largest, with its sign
  std::string worst_point;
  int64_t inside = 0;  ///< points whose measured figure lies in the interval
};

/// Points that are alike.
struct GroupSummary {
  std::string name;
  ErrorSummary summary;
};

/// A source with its predictions, in the order of its points.
struct ValidatedSource {
  ValidationSource source;
  std::vector<Prediction> predictions;
  ErrorSummary summary;
  ErrorSummary figures;                ///< over its points that are no rows of tables
  ErrorSummary rows;                   ///< over those that are
  std::vector<GroupSummary> families;  ///< of points that have one, in the order of their first
  /// Rows of tables by the decade of their MACs, the smallest first.
  std::vector<GroupSummary> sizes;
  /// Spearman's correlation of predicted and measured, as r2 over points like the first: of its
  /// quantity, and rows of tables as it is one or not.
  std::optional<double> rank;
  std::optional<double> r2;  ///< square of Pearson's: what a fitted line would reach
};

/// All that `accsim validate` found.
struct Validation {
  std::vector<ValidatedSource> sources;
  bool interval = true;  ///< were the assumed ranges gone over?
  /// Over the points of all sources of either kind. Areas, powers and rows of tables are summed up
  /// in their sources alone: a table may have hundreds of rows of one machine, which would hide all
  /// that was published of the others.
  ErrorSummary unfitted, fitted;
};

/// Predicts all points of the sources in several threads. The result doesn't depend on their
/// number. All errors of all points.
Result<Validation> validate_sources(std::vector<ValidationSource> sources,
                                    const MapOptions& options, bool interval, int threads);

}  // namespace accsim::sim
