#include "sim/app/options.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/parse_number.h"

namespace accsim::sim {

Result<Dims> parse_product(const std::string& text, const char* option) {
  const std::optional<Dims> dims = parse_dims(text);
  if (dims && dims->size() == 3) return *dims;
  return Error{Errc::usage, "'" + text + "' is not MxKxN, e.g. 64x64x64", option};
}

std::optional<uint64_t> random_seed(std::string_view text) {
  constexpr std::string_view kRandom = "random:";
  if (!text.starts_with(kRandom)) return std::nullopt;
  return parse_number<uint64_t>(text.substr(kRandom.size()));
}

void ModelOptions::add_to(Command& command, bool required, const std::string& about) {
  command.add("Model", {{.name = "model",
                         .to = &model_,
                         .about = about,
                         .kind = ValueKind::read_file,
                         .required = required}});
  add_graph_options_to(command);
}

Result<ElaborateOptions> ModelOptions::to_elaborate_options() const {
  const Result<CostingOptions> options = rows_.to_options();
  if (!options) return options.errors();
  return options->elaborate;
}

OptionTarget CostingRows::Given::target() {
  if (row->is_flag()) return &flag;
  if (row->repeatable) return &texts;
  return &text;
}

std::vector<std::string> CostingRows::Given::words() const {
  if (flag) return {"true"};
  if (text.empty() && standard.empty()) return texts;
  return {text};
}

CostingRows::Given& CostingRows::add_row(const CostingOption& row, const std::string& standard) {
  return given_.emplace_back(Given{.row = &row, .standard = standard, .text = standard});
}

void CostingRows::add_to(Command& command, uint32_t use) {
  for (const CostingOption* row : options_for(use)) {
    OptionRow out{.name = row->option,
                  .to = add_row(*row, row->standard).target(),
                  .about = row->about,
                  .metavar = row->metavar,
                  .unit = row->unit,
                  .choices = row->choices,
                  .offers = row->offers,
                  .shows_default = !row->standard.empty()};
    if (row->is_number()) out.range = OptionRange{row->least, row->most};
    command.add(row->group, {std::move(out)});
  }
}

void CostingRows::add_to_side_b(Command& command, uint32_t use) {
  prefix_ = "--b-";
  for (const CostingOption* row : options_for(use))
    command.add({{.name = name_of(*row),
                  .to = add_row(*row, "").target(),
                  .about = row->option + (row->repeatable ? " of B, in place of all pins of A"
                                                          : " of B; default: as for A"),
                  .metavar = row->metavar,
                  .choices = row->choices,
                  .offers = row->offers}});
}

bool CostingRows::is_given(std::string_view option) const {
  return std::ranges::any_of(
      given_, [&](const Given& g) { return g.row->option == option && !g.is_usual(); });
}

std::string CostingRows::first_given() const {
  const auto found = std::ranges::find_if_not(given_, &Given::is_usual);
  return found == given_.end() ? "" : name_of(*found->row);
}

CostingRows CostingRows::merged_over(const CostingRows& a) const {
  CostingRows out = *this;
  for (Given& own : out.given_) {
    const auto other = std::ranges::find(a.given_, own.row, &Given::row);
    if (own.is_usual() && other != a.given_.end()) own = *other;
  }
  return out;
}

Result<CostingOptions> CostingRows::to_options() const {
  CostingOptions out;
  Errors errors;
  for (const Given& given : given_)
    for (Error& error : take_option(*given.row, given.words(), out))
      errors.push_back(std::move(error));
  if (errors.empty()) errors = check_together(out);
  for (Error& error : errors) error.where.replace(0, 2, prefix_);
  if (!errors.empty()) return errors;
  return out;
}

MappingOptions MappingOptions::merged_over(const MappingOptions& a) const {
  MappingOptions out;
  out.rows_ = rows_.merged_over(a.rows_);
  return out;
}

Errors MappingOptions::about_b(Errors errors) const {
  for (Error& e : errors)
    if (e.where == "--mapping" && rows_.is_given(e.where)) e.where = "--b-mapping";
  return errors;
}

Result<MapOptions> MappingOptions::to_map_options() const {
  const Result<CostingOptions> options = rows_.to_options();
  if (!options) return options.errors();
  return options->map;
}

}  // namespace accsim::sim
