#include "sim/validate/row_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "hw/config/values.h"
#include "sim/base/parse_number.h"

namespace accsim::sim {
namespace {

using Row = std::vector<CsvCell>;

bool is_memory(std::string_view word) {
  return word == name(hw::MemoryId::dram) || word == name(hw::MemoryId::shared);
}

/// The names of the graph's tensors that a place key is about.
std::vector<std::string> tensors_at(const Graph& graph, std::string_view key) {
  std::vector<std::string> out;
  const auto add = [&](TensorId id) { out.push_back(graph.tensor(id).name); };
  if (key == kPlaceKeys[0]) add(graph.inputs.front());
  if (key == kPlaceKeys[1]) {
    std::for_each(graph.inputs.begin() + 1, graph.inputs.end(), add);
    for (const Tensor& t : graph.tensors)
      if (t.constant) out.push_back(t.name);
  }
  if (key == kPlaceKeys[2]) std::ranges::for_each(graph.outputs, add);
  return out;
}

}  // namespace

std::optional<size_t> find_column(const TableSection& section, const CsvTable& table,
                                  const TableSection::Source& source, SpecErrors& errors) {
  const auto column = table.column(source.text);
  if (column) return column;
  const auto close = hw::nearest_word(source.text, table.columns());
  errors.fail(
      table.head.front().at,
      fmt::format("no column {}, which is asked for by {} in {}{}", hw::quoted_text(source.text),
                  source.key, hw::where_text(section.source_file, source.at),
                  close ? fmt::format("; did you mean \"{}\"?", *close) : ""));
  return std::nullopt;
}

bool RowWords::find_source(const TableSection::Source& source) {
  if (is_row_text(source.key)) {  // its braces have been read before
    FoundText out{source.key, *parse_row_pattern(source.text), {}};
    for (const RowPattern::Piece& piece : out.pattern.pieces)
      out.columns.push_back(
          find_column(section_, table_, {source.key, piece.column, source.at}, errors_));
    texts_.push_back(std::move(out));
    return true;
  }
  if (is_number_key(source.key)) return false;
  FoundWord out{source.key, table_.column(source.text), source.text};
  if (!out.column && !(is_place_key(source.key) && is_memory(source.text)))
    find_column(section_, table_, source, errors_);  // which says what is missing
  words_.push_back(std::move(out));
  return true;
}

void RowWords::read_texts(const Row& row, ValidationPoint& p) {
  p.family = section_.family;
  for (const FoundText& found : texts_) {
    std::vector<std::string_view> cells;
    for (const auto& column : found.columns) cells.push_back(row[*column].text);
    std::string text = found.pattern.fill(cells);
    if (found.key == "name") p.name = text;
    if (found.key == "family" && !text.empty()) p.family = std::move(text);
  }
  if (p.name.empty()) p.name = fmt::format("line {}", p.table_line);
  if (!names_.insert(p.name).second) p.name += fmt::format(" (line {})", p.table_line);
}

bool RowWords::read_banks(const Row& row, ValidationPoint& p) const {
  for (const FoundWord& found : words_) {
    if (found.key != kBothBanks) continue;
    const CsvCell& cell = row[*found.column];
    auto banks = parse_numbers(cell.text, '+', 1);
    if (!banks || banks->size() != kBankKeys.size()) {
      errors_.fail(cell.at, fmt::format("banks is {}; it must be FEATURES+WEIGHTS, such as 31+1",
                                        hw::quoted_text(cell.text)));
      return false;
    }
    p.banks = std::move(*banks);
  }
  return true;
}

bool RowWords::read_places(const Row& row, Graph& graph) const {
  bool good = true;
  for (const FoundWord& found : words_) {
    if (!is_place_key(found.key)) continue;
    const std::string& word = found.column ? row[*found.column].text : found.word;
    const auto named = section_.places.find(word);
    const std::string& memory = named == section_.places.end() ? word : named->second;
    if (memory == name(hw::MemoryId::shared))
      std::ranges::move(tensors_at(graph, found.key), std::back_inserter(graph.on_chip));
    if (is_memory(memory)) continue;
    errors_.fail(row[*found.column].at,
                 fmt::format("{} is {}; it must be dram, shared, or a word of places", found.key,
                             hw::quoted_text(word)));
    good = false;
  }
  return good;
}

}  // namespace accsim::sim
