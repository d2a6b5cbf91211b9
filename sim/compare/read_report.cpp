#include "sim/compare/read_report.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "hw/config/fields.h"
#include "sim/base/sums.h"
#include "sim/report/json.h"
#include "sim/report/read_json.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;  // lists of modes have their keys in order

constexpr std::string_view kSchema = "accsim.report/1";
constexpr size_t kMostBytes = size_t{256} << 20;  // a report of 100,000 layers has 150 MB

/// Takes values out of the report and remembers what is wrong with them, by key.
class ReportReader {
 public:
  ReportReader(const Json& root, std::string file) : root_(root), file_(std::move(file)) {}

  Result<RunSide> read() {
    const auto found = root_.is_object() ? root_.find("schema") : root_.end();
    const std::string schema =
        found != root_.end() && found->is_string() ? found->get<std::string>() : "";
    if (schema != kSchema)
      return Error{
          Errc::invalid,
          schema.empty()
              ? fmt::format("has no \"schema\"; {} is what accsim --json writes", kSchema)
              : fmt::format("is '{}', not {}, which accsim --json writes", schema, kSchema),
          file_};
    read_head();
    read_machine();
    read_layers();
    if (!errors_.empty()) return std::move(errors_);
    return std::move(out_);
  }

 private:
  void fail(const std::string& where, std::string message) {
    errors_.push_back({Errc::invalid, std::move(message), fmt::format("{}: {}", file_, where)});
  }
  void fail_missing(const std::string& where) {
    fail(where,
         "is missing: the report isn't whole, or of a version that didn't write it; write it anew "
         "with accsim --hw M model.onnx --json FILE");
  }

  /// The member of an object; null and an error when there is none.
  const Json* find(const Json& object, const std::string& section, const std::string& name) {
    if (const auto found = object.find(name); found != object.end()) return &*found;
    return fail_missing(section + name), nullptr;
  }
  int64_t read_count(const Json& object, const std::string& section, const std::string& name) {
    const Json* const value = find(object, section, name);
    if (value == nullptr) return 0;
    if (value->is_number_integer() && *value >= 0 && *value <= kBeyond)
      return value->get<int64_t>();
    return fail(section + name, fmt::format("is {}, not a count", brief_text(*value))), 0;
  }
  double read_real(const Json& object, const std::string& section, const std::string& name,
                   double least) {
    const Json* const value = find(object, section, name);
    if (value == nullptr) return least;
    if (value->is_number() && std::isfinite(value->get<double>()) && value->get<double>() >= least)
      return value->get<double>();
    return fail(section + name,
                fmt::format("is {}, not a number of at least {}", brief_text(*value), least)),
           least;
  }
  std::string read_string(const Json& object, const std::string& section, const std::string& name) {
    const Json* const value = find(object, section, name);
    if (value == nullptr) return "";
    if (value->is_string()) return value->get<std::string>();
    return fail(section + name, fmt::format("is {}, not text", brief_text(*value))), "";
  }
  const Json& find_section(const std::string& name) {
    static const Json kNone = Json::object();
    const Json* const value = find(root_, "", name);
    if (value == nullptr || value->is_object()) return value == nullptr ? kNone : *value;
    return fail(name, fmt::format("is {}, not an object", brief_text(*value))), kNone;
  }
  static std::string brief_text(const Json& value) {
    if (value.is_structured()) return value.is_array() ? "a list" : "an object";
    const std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
    return text.size() <= 40 ? text : text.substr(0, 37) + "...";
  }

  void read_head() {
    const Json& model = find_section("model");
    const Json& totals = find_section("totals");
    if (!errors_.empty()) return;
    out_.model_name = read_string(model, "model.", "name");
    out_.model_file = read_string(model, "model.", "file");
    out_.macs = read_count(totals, "totals.", "macs");
    out_.cycles = read_count(totals, "totals.", "cycles");
    out_.energy_pj = read_real(totals, "totals.", "energy_pj", 0);
    out_.area_mm2 = read_real(totals, "totals.", "area_mm2", 0);
    if (totals.contains("objective")) out_.objective = read_string(totals, "totals.", "objective");
  }

  void read_machine() {
    const Json& hw = find_section("hw");
    if (!errors_.empty()) return;
    out_.machine_name = read_string(hw, "hw.", "name");
    out_.machine_file = read_string(hw, "hw.", "file");
    out_.clock_mhz = read_real(hw, "hw.", "clock_mhz", 1e-3);
    out_.rows = read_count(hw, "hw.", "rows");
    out_.cols = read_count(hw, "hw.", "cols");
    for (const hw::Field& field : hw::fields()) {
      if (!changes_costs(field)) continue;
      const Json* value = &hw;
      std::string_view rest = field.path;
      if (rest.substr(0, rest.find('.')) == kLiftedSection)
        rest.remove_prefix(kLiftedSection.size() + 1);
      for (bool more = true; more && value != nullptr;) {
        const size_t dot = rest.find('.');
        const std::string name(rest.substr(0, dot));
        value = value->is_object() && value->contains(name) ? &value->at(name) : nullptr;
        more = dot != std::string_view::npos;
        if (more) rest.remove_prefix(dot + 1);
      }
      if (value != nullptr) out_.machine.emplace_back(field.path, field_text(*value));
    }
  }
  /// As print_value() has it.
  static std::string field_text(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{}", value.get<double>());
    std::string out;
    if (value.is_object()) {
      for (const auto& [key, entry] : value.items())
        out += fmt::format("{}{}: {}", out.empty() ? "{" : ", ", key, field_text(entry));
      return out + "}";
    }
    if (!value.is_array()) return brief_text(value);
    for (const Json& entry : value) out += (out.empty() ? "[" : ", ") + field_text(entry);
    return out + "]";
  }

  void read_layers() {
    const Json* const list = find(root_, "", "layers");
    if (list == nullptr || !errors_.empty()) return;
    if (!list->is_array()) return fail("layers", "is no list");
    int64_t cycles = 0;
    for (size_t i = 0; i < list->size() && errors_.empty(); ++i) {
      read_layer((*list)[i], fmt::format("layers[{}]", i));
      if (errors_.empty()) cycles = add_counts(cycles, out_.layers.back().cycles);
    }
    if (cycles == kBeyond) fail("layers", "have cycles whose sum leaves 64 bits");
    if (errors_.empty() && cycles != out_.cycles)
      fail("totals.cycles", fmt::format("is {}, but the layers' add up to {}: the report has been "
                                        "changed",
                                        out_.cycles, cycles));
  }

  void read_layer(const Json& row, const std::string& where) {
    if (!row.is_object()) return fail(where, "is no object");
    const std::string in = where + ".";
    Costs c;
    c.cycles = read_count(row, in, "cycles");
    c.compute_cycles = read_count(row, in, "compute_cycles");
    c.compute_bound = read_count(row, in, "compute_bound_cycles");
    c.tail_cycles = read_count(row, in, "tail_cycles");
    for (size_t w = 0; w < hw::kWaits; ++w) {
      const hw::Wait wait = static_cast<hw::Wait>(w);
      const std::string key = fmt::format("stall_{}_cycles", name(wait));
      // Older reports have it among the cycles of the array's fill.
      if (wait == hw::Wait::weight_load && !row.contains(key)) {
        out_.weight_load_apart = false;
        continue;
      }
      c.stalls[w] = read_count(row, in, key);
    }
    SideLayer out{read_string(row, in, "name"), read_string(row, in, "op_type"), c.cycles, {}};
    const std::string fate = read_string(row, in, "fate");
    if (row.contains("vector_cycles")) {
      c.vector_cycles = read_count(row, in, "vector_cycles");
      c.vector_bound = read_count(row, in, "vector_bound_cycles");
      c.move_cycles = read_count(row, in, "move_cycles");
    } else if (fate == name(Fate::vector)) {
      c.vector_cycles = c.compute_cycles;
      c.vector_bound = c.compute_bound;
    } else if (fate == name(Fate::memory) || fate == name(Fate::unsupported)) {
      c.move_cycles = c.compute_cycles;
    }
    if (!errors_.empty()) return;
    int64_t parts = add_counts(c.compute_cycles, c.tail_cycles);
    for (const int64_t stall : c.stalls) parts = add_counts(parts, stall);
    if (parts != c.cycles || parts == kBeyond)
      return fail(in + "cycles", fmt::format("is {}, but busy cycles, waits and tail add up to {}: "
                                             "the report has been changed",
                                             c.cycles, parts));
    if (add_counts(c.vector_cycles, c.move_cycles) > c.compute_cycles)
      return fail(in + "vector_cycles",
                  "and move_cycles are more than compute_cycles: the report has been changed");
    out.causes = causes_of(c);
    for (size_t i = 0; i < kLayerCauses; ++i)
      if (out.causes[i] < 0)
        return fail(in + "compute_cycles", fmt::format("leaves {} cycles for '{}': the report has "
                                                       "been changed",
                                                       out.causes[i], cause_table()[i].label));
    out_.layers.push_back(std::move(out));
  }

  const Json& root_;
  std::string file_;
  RunSide out_;
  Errors errors_;
};

}  // namespace

Result<RunSide> parse_report(std::string_view text, const std::string& file) {
  const Result<Json> root = read_json(text, file);
  if (!root) return root.errors();
  return ReportReader(*root, file).read();
}

Result<RunSide> read_report(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::array<char, 65536> block;
  while (in && text.size() <= kMostBytes) {
    in.read(block.data(), std::ssize(block));
    text.append(block.data(), static_cast<size_t>(in.gcount()));
  }
  if (text.size() > kMostBytes)
    return Error{Errc::invalid, "has more than 256 MiB: no report of accsim", path};
  if (!in.eof())
    return Error{Errc::io, fmt::format("can't be read: {}", std::strerror(errno)), path};
  return parse_report(text, path);
}

}  // namespace accsim::sim
