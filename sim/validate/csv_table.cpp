#include "sim/validate/csv_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "sim/base/parse_number.h"
#include "sim/sweep/spec_values.h"

namespace accsim::sim {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The cells of one line.
class LineReader {
 public:
  LineReader(std::string_view line, int number, SpecErrors& errors)
      : line_(line), number_(number), errors_(errors) {}

  std::vector<CsvCell> read_cells() {
    std::vector<CsvCell> out;
    for (bool more = true; more;) {
      const size_t begin = at_;
      std::string text = begin < line_.size() && line_[begin] == '"' ? read_quoted() : read_plain();
      out.push_back({std::move(text), position(begin)});
      more = at_ < line_.size();
      ++at_;  // the comma
    }
    return out;
  }

 private:
  hw::TextPosition position(size_t at) const { return {number_, static_cast<int>(at) + 1}; }

  std::string read_plain() {
    const size_t begin = at_;
    at_ = std::min(line_.find(',', begin), line_.size());
    return std::string(line_.substr(begin, at_ - begin));
  }

  /// From a quote to the comma behind it; two quotes inside are one.
  std::string read_quoted() {
    const size_t begin = at_++;
    std::string out;
    while (at_ < line_.size()) {
      const bool quote = line_[at_] == '"';
      if (quote && line_.substr(at_ + 1, 1) != "\"") return end_quoted(std::move(out));
      at_ += quote ? 1 : 0;
      out += line_[at_++];
    }
    errors_.fail(position(begin), "the quote that begins here isn't closed on its line");
    return out;
  }

  std::string end_quoted(std::string text) {
    ++at_;
    if (at_ < line_.size() && line_[at_] != ',') {
      errors_.fail(position(at_), "a comma must follow the quoted text");
      at_ = std::min(line_.find(',', at_), line_.size());
    }
    return text;
  }

  std::string_view line_;
  int number_;
  SpecErrors& errors_;
  size_t at_ = 0;
};

void check_head(const CsvTable& table, SpecErrors& errors) {
  std::set<std::string> names;
  for (const CsvCell& c : table.head) {
    if (c.text.empty())
      errors.fail(c.at, "a column without a name");
    else if (!names.insert(c.text).second)
      errors.fail(c.at, hw::quoted_text(c.text) + " is the name of two columns");
  }
}

/// A table is text: a byte of 0 in it ends names that others print.
void check_text(std::string_view line, int number, SpecErrors& errors) {
  const size_t at = line.find('\0');
  if (at != std::string_view::npos)
    errors.fail({number, static_cast<int>(at) + 1}, "a byte of 0, which no text has");
}

void check_row(const CsvTable& table, const std::vector<CsvCell>& row, SpecErrors& errors) {
  const size_t wanted = table.head.size(), found = row.size();
  if (found == wanted) return;
  errors.fail(found > wanted ? row[wanted].at : row.back().at,
              fmt::format("the row has {} cells, and the table {} columns", found, wanted));
}

}  // namespace

std::optional<size_t> CsvTable::column(std::string_view name) const {
  const auto at = std::ranges::find(head, name, &CsvCell::text);
  if (at == head.end()) return std::nullopt;
  return static_cast<size_t>(at - head.begin());
}

std::vector<std::string> CsvTable::columns() const {
  std::vector<std::string> out;
  for (const CsvCell& c : head) out.push_back(c.text);
  return out;
}

Result<CsvTable> parse_csv(std::string_view text, const std::string& file) {
  CsvTable out;
  out.file = file;
  SpecErrors errors(file);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  int number = 0;
  for (std::string_view line : split_text(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    check_text(line, number, errors);
    std::vector<CsvCell> cells = LineReader(line, number, errors).read_cells();
    if (out.head.empty()) {
      out.head = std::move(cells);
      check_head(out, errors);
      continue;
    }
    check_row(out, cells, errors);
    out.rows.push_back(std::move(cells));
  }
  if (out.head.empty())
    errors.fail({}, "no line with names of columns; all lines are comments or blank");
  else if (out.rows.empty())
    errors.fail(out.head.front().at, "no rows below the names of columns");
  if (!errors.empty()) return errors.take();
  return out;
}

Result<CsvTable> load_csv(const std::string& path) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  const bool folder = std::filesystem::is_directory(status);
  if (folder || !std::filesystem::exists(status))
    return Error{Errc::io,
                 fmt::format("{}; give the path of a table (CSV)",
                             folder ? "is a directory" : "no such file"),
                 path};
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Error{Errc::io, "can't be opened: " + std::generic_category().message(errno), path};
  std::string text;
  constexpr size_t kChunk = size_t{1} << 16;
  for (std::string chunk(kChunk, '\0'); in && text.size() <= kCsvBytesMax;) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    text.append(chunk, 0, static_cast<size_t>(in.gcount()));
  }
  if (in.bad()) return Error{Errc::io, "can't be read", path};
  if (text.size() > kCsvBytesMax)
    return Error{Errc::invalid, fmt::format("larger than {} bytes", kCsvBytesMax), path};
  return parse_csv(text, path);
}

}  // namespace accsim::sim
