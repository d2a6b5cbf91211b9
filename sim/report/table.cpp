#include "sim/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/report/short_names.h"

namespace accsim::sim {
namespace {

constexpr size_t kGap = 2;         // between columns
constexpr size_t kNarrowest = 26;  // of the first column
constexpr size_t kWordsMost = 18;  // of other columns of words
constexpr size_t kNoteIndent = 4;
constexpr size_t kBar = 10;
constexpr int kBarPriority = 4;

std::string pad_cell(std::string_view text, size_t width, bool left) {
  return left ? pad_right(text, width) : pad_left(text, width);
}

struct TextCell {
  const TextColumn& column;

  std::string format_number(double v) const {
    return column.style == TextStyle::si ? format_si(v * column.scale)
                                         : format_fixed(v * column.scale, column.decimals);
  }
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(int64_t v) const {
    return column.style == TextStyle::count ? format_count(v)
                                            : format_number(static_cast<double>(v));
  }
  std::string operator()(double v) const { return format_number(v); }
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(const Dims& v) const { return to_string(v); }
  std::string operator()(const std::vector<Dims>& v) const { return fmt::format("{}", v.size()); }
};

bool is_hidden(const LayerReport& layer) {
  return (layer.fate == Fate::view || layer.fate == Fate::folded) && layer.costs.alone_cycles == 0;
}

std::vector<const ReportField*> text_fields() {
  std::vector<const ReportField*> out;
  for (const ReportField& field : report_fields()) {
    if (!field.text.empty()) out.push_back(&field);
  }
  return out;
}

std::string text_cell(const ReportField& field, const ReportRow& row) {
  if (row.layer == nullptr && !field.in_totals()) return "";
  const TextColumn& column = field.text.front();
  std::string text = std::visit(TextCell{column}, field.get(row));
  if (field.key == "name") return text.empty() ? "(no name)" : text;
  return column.style == TextStyle::words ? shorten_middle(text, kWordsMost) : text;
}

}  // namespace

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.header = printable(column.header);
}

void TextTable::add(Row row) {
  for (std::string& cell : row.cells) cell = printable(cell);
  for (std::string& note : row.notes) note = printable(note);
  rows_.push_back(std::move(row));
}

std::vector<size_t> TextTable::widths() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t width = std::max(display_width(columns_[i].header), display_width(columns_[i].unit));
    for (const Row& row : rows_) width = std::max(width, visible_width(row.cells[i]));
    out.push_back(width);
  }
  return out;
}

/// Indices of the columns that fit. The first column's width is set to what is left for it.
std::vector<size_t> TextTable::choose_columns(size_t room, std::vector<size_t>& widths) const {
  const size_t longest = widths[0];
  size_t used = std::min(longest, kNarrowest);
  std::vector<size_t> order(columns_.size() - 1);
  std::iota(order.begin(), order.end(), size_t{1});
  std::stable_sort(order.begin(), order.end(), [this](size_t a, size_t b) {
    return columns_[a].priority < columns_[b].priority;
  });
  std::vector<size_t> chosen = {0};
  for (size_t i : order) {
    const size_t width = widths[i] + kGap;
    // Stop at the first that doesn't fit: a column never shows without the more important ones.
    if (columns_[i].priority > 0 && used + width > room) break;
    used += width;
    chosen.push_back(i);
  }
  std::sort(chosen.begin(), chosen.end());
  const size_t others = used - std::min(longest, kNarrowest);
  const size_t left = room > others ? room - others : 0;
  widths[0] = std::min(longest, std::max(left, size_t{5}));
  return chosen;
}

std::vector<std::string> TextTable::print_columns(const std::vector<size_t>& chosen,
                                                  const std::vector<size_t>& width, size_t room,
                                                  bool colour) const {
  const auto line = [&](const auto& text_of, bool bold, bool inked) {
    std::string out;
    for (size_t i : chosen) {
      const Column& column = columns_[i];
      std::string text = text_of(i);
      if (visible_width(text) > width[i]) text = shorten_middle(text, width[i]);
      const Ink ink = bold ? Ink::bold : inked ? column.ink : Ink::plain;
      out += i == 0 ? "" : std::string(kGap, ' ');
      out += paint(pad_cell(text, width[i], column.left), ink, colour);
    }
    if (!colour) out.erase(out.find_last_not_of(' ') + 1);
    return out;
  };
  std::vector<std::string> names;
  for (const Row& row : rows_) names.push_back(row.cells[0]);
  names = shorten_names(names, width[0]);
  std::vector<std::string> out;
  out.push_back(line([this](size_t i) { return columns_[i].header; }, true, false));
  const bool units = std::any_of(chosen.begin(), chosen.end(),
                                 [this](size_t i) { return !columns_[i].unit.empty(); });
  if (units) out.push_back(line([this](size_t i) { return columns_[i].unit; }, false, false));
  const size_t full =
      visible_width(line([&](size_t i) { return std::string(width[i], '-'); }, false, false));
  out.push_back(paint(std::string(full, '-'), Ink::dim, colour));
  for (size_t r = 0; r < rows_.size(); ++r) {
    const Row& row = rows_[r];
    if (row.total && r > 0) out.push_back(paint(std::string(full, '-'), Ink::dim, colour));
    out.push_back(
        line([&](size_t i) { return i == 0 ? names[r] : row.cells[i]; }, row.total, true));
    for (const std::string& note : row.notes)
      for (const std::string& part : wrap_words(note, room - kNoteIndent))
        out.push_back(std::string(kNoteIndent, ' ') + part);
  }
  return out;
}

std::vector<std::string> TextTable::lines(size_t room, bool colour) const {
  std::vector<size_t> width = widths();
  const std::vector<size_t> chosen = choose_columns(room, width);
  return print_columns(chosen, width, room, colour);
}

std::vector<std::string> TextTable::folded_lines(size_t room, bool colour) const {
  std::vector<size_t> width = widths();
  width[0] = std::min(width[0], std::max(room / 3, kNarrowest));
  std::vector<std::string> out;
  for (size_t next = 1; next < columns_.size() || out.empty();) {
    std::vector<size_t> chosen = {0};
    size_t used = width[0];
    while (next < columns_.size() && (chosen.size() == 1 || used + kGap + width[next] <= room)) {
      // A column that is too wide even beside the first alone is cut to what is left.
      width[next] = std::min(width[next], std::max(room - std::min(room, used + kGap), size_t{5}));
      used += kGap + width[next];
      chosen.push_back(next++);
    }
    if (!out.empty()) out.emplace_back();
    for (std::string& line : print_columns(chosen, width, room, colour))
      out.push_back(std::move(line));
  }
  return out;
}

int64_t hidden_layers(const Report& report) {
  return std::count_if(report.layers.begin(), report.layers.end(), is_hidden);
}

namespace {

/// A table of fields of rows, with bars beside the cycles.
class CostTable {
 public:
  /// `first`: header of the first column; `most`: cycles of the longest bar.
  CostTable(std::vector<const ReportField*> fields, const std::string& first, int64_t most,
            bool unicode)
      : fields_(std::move(fields)), most_(most), unicode_(unicode), table_(make_columns(first)) {}

  /// `name`: instead of the row's own.
  void add_row(const ReportRow& row, const std::string& name, bool total) {
    TextTable::Row out{.cells = {}, .total = total};
    for (const ReportField* field : fields_) {
      const bool named = field->key == "name" && !name.empty();
      out.cells.push_back(named ? name : text_cell(*field, row));
      if (field->key != "cycles") continue;
      const double share = static_cast<double>(row.costs.cycles) / static_cast<double>(most_);
      out.cells.push_back(format_bar(total ? 0 : share, kBar, unicode_));
    }
    table_.add(std::move(out));
  }
  TextTable take_table() { return std::move(table_); }

 private:
  std::vector<TextTable::Column> make_columns(const std::string& first) const {
    std::vector<TextTable::Column> out;
    for (const ReportField* field : fields_) {
      const TextColumn& c = field->text.front();
      out.push_back({c.header, c.unit, c.style == TextStyle::words, c.priority});
      if (field->key == "bound") out.back().ink = Ink::yellow;
      if (field->key == "cycles") out.push_back({"", "", true, kBarPriority, Ink::blue});
    }
    out.front().header = first;
    return out;
  }

  std::vector<const ReportField*> fields_;
  int64_t most_;
  bool unicode_;
  TextTable table_;
};

template <class Rows>
int64_t most_cycles(const Rows& rows) {
  int64_t most = 0;
  for (const auto& row : rows) most = std::max(most, row.costs.cycles);
  return most;
}

}  // namespace

TextTable layer_table(const Report& report, bool all_layers, bool unicode) {
  CostTable table(text_fields(), "layer", most_cycles(report.layers), unicode);
  for (const LayerReport& layer : report.layers)
    if (all_layers || !is_hidden(layer)) table.add_row(layer_row(report, layer), "", false);
  table.add_row(totals_row(report), fmt::format("total of {}", report.layers.size()), true);
  return table.take_table();
}

TextTable group_table(const Report& report, bool unicode) {
  std::vector<const ReportField*> fields;
  for (const ReportField* field : text_fields())
    if (field->in_groups() || field->key == "name") fields.push_back(field);
  const std::string by = report.grouped_by.substr(0, report.grouped_by.find(':'));
  CostTable table(std::move(fields), by + " (layers)", most_cycles(report.groups), unicode);
  for (const LayerGroup& group : report.groups)
    table.add_row(group_row(report, group), fmt::format("{} ({})", group.name, group.layers),
                  false);
  table.add_row(totals_row(report), fmt::format("total of {}", report.layers.size()), true);
  return table.take_table();
}

}  // namespace accsim::sim
