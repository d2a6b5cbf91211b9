#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/config/yaml_tree.h"
#include "sim/sweep/spec_values.h"
#include "sim/validate/cell_pattern.h"
#include "sim/validate/layer_kinds.h"
#include "sim/validate/row_fields.h"
#include "sim/validate/table_join.h"

namespace accsim::sim {

/// A `table` section of a file of validation/: which tables, and what their columns mean.
struct TableSection {
  /// What a key of `columns` is read from: a column, or a pattern in it, a number, or an expression
  /// over columns.
  struct Source {
    std::string key, text;
    hw::TextPosition at;
    std::optional<CellPattern> pattern = {};
  };
  /// Rows whose cell in a column is none of these texts are left out.
  struct Filter {
    std::string column;
    std::vector<std::string> texts;
    hw::TextPosition at;
  };

  std::string source_file;         ///< that the section stands in
  std::vector<std::string> files;  ///< tables, as found from the working directory
  const LayerKind* kind = nullptr;
  std::vector<std::string> functions;  ///< of pointwise layers
  std::string family;                  ///< of rows whose columns say none
  std::optional<TableJoin> join;
  std::map<std::string, std::string> places;  ///< what cells of kPlaceKeys call the memories
  std::vector<Source> columns;
  std::vector<RowFieldSource> fields;  ///< of the machine, from the same section
  std::string machine;                 ///< as found; "": that of all points
  std::vector<Filter> where;
  hw::TextPosition at;
};

/// Reads a section with `file` (or a list), `workload`, `columns`, and maybe others.
/// docs/validation.md has the keys. Files are relative to that of the section.
TableSection read_table_section(const hw::YamlNode& node, const std::string& source_file,
                                SpecErrors& errors);

/// Keys of `columns` that pin how an engine of dot products divides its banks, in their order.
inline constexpr std::array<std::string_view, 2> kBankKeys = {"feature_banks", "weight_banks"};
/// A text such as "31+1", which stands for both.
inline constexpr std::string_view kBothBanks = "banks";
/// 0: each part of a layer that is cut by lines reads its weights.
inline constexpr std::string_view kWeightsKept = "weights_kept";

/// Keys of `columns` that say in which memory operands lie: the first input; all other inputs and
/// weights; results.
inline constexpr std::array<std::string_view, 3> kPlaceKeys = {"a_place", "b_place", "out_place"};

/// Which quantity (sim/validate/validation.h) a key of `columns` is; nothing: none.
std::optional<size_t> quantity_of_key(std::string_view key);
/// Is it a text of the row, which may be made of several columns (sim/validate/row_pattern.h)?
bool is_row_text(std::string_view key);
/// Is it one of kPlaceKeys?
bool is_place_key(std::string_view key);
/// Is its value a number, not a word?
bool is_number_key(std::string_view key);
/// Which of kBankKeys.
std::optional<size_t> bank_of_key(std::string_view key);

}  // namespace accsim::sim
