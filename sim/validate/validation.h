#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/config/yaml_tree.h"
#include "sim/graph/graph.h"
#include "sim/map/units/unit_work.h"
#include "sim/validate/field_origins.h"
#include "sim/validate/layer_kinds.h"
#include "sim/validate/row_cost.h"

namespace accsim::sim {

/// What a published figure was taken from.
enum class Evidence : uint8_t { silicon, simulation, estimate };
/// "silicon", "RTL simulation", "estimate".
std::string_view name(Evidence e);

/// What was measured.
enum class Quantity : uint8_t {
  cycles,
  time_us,
  time_ms,
  frames,
  tops,
  utilisation,
  power,
  area,
  synthesis_area
};
/// Does it need no workload?
inline bool is_area(Quantity q) { return q == Quantity::area || q == Quantity::synthesis_area; }
/// Is it summed up over all sources? Areas and powers are in their own sources alone: they rest on
/// a technology, not on what a machine does in time.
inline bool is_of_time(Quantity q) { return !is_area(q) && q != Quantity::power; }

/// A quantity as validation files and reports name it.
struct QuantityInfo {
  std::string_view key;   ///< in the file: "fps"
  std::string_view unit;  ///< in reports: "frames/s"
  std::string_view meaning;
};
/// One row for each, in the order of Quantity.
const std::vector<QuantityInfo>& quantity_table();

/// A field of the machine that a row of a table says otherwise.
struct RowSetting {
  const hw::Field* field = nullptr;
  std::string value;    ///< as a machine file would have it
  hw::TextPosition at;  ///< in the table
};

/// A workload with a published figure, and all that is needed to predict it.
struct ValidationPoint {
  std::string name;
  std::string machine_file;  ///< as found from the working directory; "": the row says its machine
  std::string model_file;    ///< of a workload that is a file's; "": a list or a product
  std::string workload;      ///< what is costed, for people: the model's file or the list's name
  Graph graph;               ///< empty where an area is measured
  int64_t frames = 1;        ///< results of one run, for frames a second: the batch
  Quantity quantity = Quantity::cycles;
  double measured = 0;
  std::optional<RowCost> row_cost;  ///< on a machine that the row says; nothing: machine_file's
  /// Of a row whose kind says its cycles on a machine (LayerKind::cycles); null: `graph` does.
  const LayerKind* kind = nullptr;
  LayerSizes sizes;             ///< of that row
  std::vector<RowSetting> set;  ///< of its machine
  /// Of which the figure is, where it isn't the machine's own.
  std::optional<hw::Technology> technology;
  std::optional<double> goal;     ///< greatest error that is aimed at, as a part of `measured`
  std::string note;               ///< what is special about this point
  std::vector<int64_t> banks;     ///< of an engine, pinned: for features, for weights
  bool rereads = false;           ///< with them: each part of a layer reads its weights
  std::optional<UnitPin> unit{};  ///< of a unit for pooling, LRN and point-wise layers, pinned
  std::string family;             ///< what it is summed up with; "": nothing
  std::string table_file;         ///< of a row of a table; "": it is no row
  int table_line = 0;             ///< of the row, from 1
  hw::TextPosition at;

  bool is_row() const { return table_line > 0; }
};

/// A field of the machines that a source says otherwise, such as the memory of a test bench.
struct SourceSetting {
  std::string field, value;
  std::string source;  ///< who says so
};

/// The points of one publication.
struct ValidationSource {
  std::string file;
  std::string source;  ///< authors, title, tables
  Evidence evidence = Evidence::silicon;
  bool fitted = false;            ///< any constant of machine or model was chosen by these figures
  std::string workloads;          ///< how the workloads were made from what is published
  std::optional<double> goal_r2;  ///< least R2 over the points that is aimed at
  std::vector<std::string> differences;  ///< known reasons of what differs, and how much each is
  std::vector<SourceSetting> set;        ///< in all machines
  std::vector<std::string> tables;       ///< files of the points that are rows, as read
  std::vector<ValidationPoint> points;
  std::map<std::string, KnownMachine> machines;  ///< by ValidationPoint::machine_file

  /// The name of a point's machine; "": none of these.
  std::string machine_name(const ValidationPoint& p) const;
};

/// Reads one file of validation/: docs/validation.md has the keys. Paths in it are relative to
/// its folder. `table`: a file that is read in place of the source's tables; its points are the
/// rows of that file alone. Everything that is wrong is reported at once with file:line:column.
Result<ValidationSource> load_validation(const std::string& path,
                                         const std::optional<std::string>& table = {});

/// What `accsim validate` reads for the path that it was given: a file itself, or all .yaml files
/// of a folder, sorted. Errc::io when there is nothing.
Result<std::vector<std::string>> validation_files(const std::string& path);

}  // namespace accsim::sim
