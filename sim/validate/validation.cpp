#include "sim/validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "hw/config/read_yaml.h"
#include "hw/config/values.h"
#include "hw/config/yaml_tree.h"
#include "sim/cost/cost.h"
#include "sim/validate/layer_list.h"
#include "sim/validate/settings.h"
#include "sim/validate/table_files.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFileKind = "validation", kPoints = "points";
/// By Evidence: in files, and for people.
constexpr std::array<std::string_view, 3> kEvidence = {"silicon", "simulation", "estimate"};
constexpr std::array<std::string_view, 3> kEvidenceText = {"silicon", "RTL simulation", "estimate"};

class ValidationReader {
 public:
  ValidationReader(const std::string& path, std::optional<std::string> table)
      : errors_(path), other_table_(std::move(table)) {
    out_.file = path;
    folder_ = fs::path(path).parent_path();
  }

  Result<ValidationSource> read_validation(const hw::YamlNode& tree) {
    const std::vector<std::string> keys = {
        "source",     "evidence", "fitted",      "machine", "workloads", "goal", "goal_r2",
        "technology", "networks", "differences", "points",  "set",       "table"};
    std::map<std::string, const hw::YamlEntry*, std::less<>> found;
    read_section(tree, tree.at, "the validation", keys, errors_,
                 [&](const hw::YamlEntry& e) { found[e.key] = &e; });
    if (tree.kind != hw::YamlNode::Kind::map) return errors_.take();
    for (const char* needed : {"source", "evidence", "fitted", "points"})
      if (!found.contains(needed) && !(needed == kPoints && found.contains("table")))
        errors_.fail(tree.at, fmt::format("missing key \"{}\"; a validation needs source, "
                                          "evidence, fitted and points or table",
                                          needed));
    const auto with = [&](std::string_view key, auto read) {
      if (const auto at = found.find(key); at != found.end()) read(*at->second);
    };
    with("source", [&](const hw::YamlEntry& e) { out_.source = e.value.text; });
    with("evidence", [&](const hw::YamlEntry& e) {
      out_.evidence = static_cast<Evidence>(read_word(e, {kEvidence.begin(), kEvidence.end()}));
    });
    with("fitted", [&](const hw::YamlEntry& e) { out_.fitted = read_word(e, {"no", "yes"}) == 1; });
    with("set", [&](const hw::YamlEntry& e) { read_settings(e, settings_, errors_); });
    with("machine", [&](const hw::YamlEntry& e) { machine_ = read_machine(e); });
    with("workloads", [&](const hw::YamlEntry& e) { out_.workloads = e.value.text; });
    with("technology", [&](const hw::YamlEntry& e) { technology_ = read_technology(e); });
    with("goal", [&](const hw::YamlEntry& e) { goal_ = read_percent(e); });
    with("goal_r2",
         [&](const hw::YamlEntry& e) { out_.goal_r2 = read_number(e.value, e.key, errors_); });
    with("differences", [&](const hw::YamlEntry& e) {
      for (const hw::YamlNode& item : e.value.items) out_.differences.push_back(item.text);
      if (out_.differences.empty()) errors_.fail(e.at, "differences must be a list of sentences");
    });
    with("networks", [&](const hw::YamlEntry& e) {
      for (const hw::YamlEntry& n : e.value.entries)
        networks_[n.key] = read_layer_list(n.value, errors_);
    });
    if (!other_table_) with(kPoints, [&](const hw::YamlEntry& e) { read_points(e); });
    with("table", [&](const hw::YamlEntry& e) { read_tables(e); });
    if (other_table_ && !found.contains("table"))
      errors_.fail(tree.at, "there is no table that another one could stand for");
    if (!errors_.empty()) return errors_.take();
    for (const ReadSetting& s : settings_) out_.set.push_back(s.setting);
    return std::move(out_);
  }

 private:
  std::string resolve_path(const std::string& path) const {
    return (folder_ / path).lexically_normal().string();
  }

  size_t read_word(const hw::YamlEntry& e, const std::vector<std::string_view>& words) {
    const auto at = std::ranges::find(words, e.value.text);
    if (at != words.end()) return static_cast<size_t>(at - words.begin());
    errors_.fail(e.value.at, fmt::format("{} is {}; valid: {}", e.key,
                                         hw::quoted_text(e.value.text), fmt::join(words, ", ")));
    return 0;
  }

  /// One that isn't custom.
  std::optional<hw::Technology> read_technology(const hw::YamlEntry& e) {
    std::vector<std::string_view> words;
    for (size_t t = 1; t < hw::kTechnologies; ++t)
      words.push_back(hw::name(static_cast<hw::Technology>(t)));
    return static_cast<hw::Technology>(1 + read_word(e, words));
  }

  /// Percent, as a part.
  std::optional<double> read_percent(const hw::YamlEntry& e) {
    const auto percent = read_number(e.value, e.key, errors_);
    if (percent && *percent > 0) return *percent / 100;
    if (percent) errors_.fail(e.value.at, e.key + " is a percentage above 0");
    return std::nullopt;
  }

  std::string read_machine(const hw::YamlEntry& e) {
    const std::string file = resolve_path(e.value.text);
    add_machine(file, e.at);
    return file;
  }

  /// Reads a machine's file and its origins, once.
  void add_machine(const std::string& file, hw::TextPosition at) {
    if (out_.machines.contains(file)) return;
    auto known = load_known_machine(file);
    if (!known) {
      errors_.fail(at, "the machine can't be used:");
      return errors_.add(known.errors());
    }
    apply_settings(settings_, *known, errors_);
    out_.machines.emplace(file, std::move(*known));
  }

  /// One section, or a list of them.
  void read_tables(const hw::YamlEntry& e) {
    const bool list = e.value.kind == hw::YamlNode::Kind::sequence;
    if (list && e.value.items.empty())
      return errors_.fail(e.at, "table must be a section or a list of at least one");
    std::vector<TableSection> sections;
    for (const hw::YamlNode& node : list ? e.value.items : std::vector{e.value})
      sections.push_back(read_table_section(node, out_.file, errors_));
    for (const TableSection& s : sections)
      if (!s.machine.empty()) add_machine(s.machine, s.at);
    const auto needs_machine = [](const TableSection& s) {
      return s.kind != nullptr && s.kind->cost == nullptr && s.machine.empty();
    };
    if (machine_.empty() && std::ranges::any_of(sections, needs_machine))
      errors_.fail(e.at, "a table needs a machine above all points");
    if (!errors_.empty()) return;
    ValidationPoint common;
    common.machine_file = machine_;
    common.goal = goal_;
    common.technology = technology_;
    common.at = e.at;
    for (ValidationPoint& p :
         points_of_tables(sections, other_table_, common, out_.tables, errors_))
      out_.points.push_back(std::move(p));
  }

  void read_points(const hw::YamlEntry& list) {
    if (list.value.kind != hw::YamlNode::Kind::sequence || list.value.items.empty())
      return errors_.fail(list.at, "points must be a list of at least one");
    std::set<std::string> names;
    for (const hw::YamlNode& node : list.value.items) {
      const size_t before = out_.points.size();
      read_point(node);
      if (out_.points.size() == before) continue;  // it can't be read, and that was said
      if (!names.insert(out_.points.back().name).second)
        errors_.fail(node.at, hw::quoted_text(out_.points.back().name) + " is named twice");
    }
  }

  /// What a point's keys say of its workload.
  struct WorkloadKeys {
    std::string model, network, product;
    ElaborateOptions options;

    void read_key(const hw::YamlEntry& e, ValidationReader& reader) {
      if (e.key == "model") model = reader.resolve_path(e.value.text);
      if (e.key == "network") network = e.value.text;
      if (e.key == "product") product = e.value.text;
      if (e.key == "from") options.cut.from = e.value.text;
      if (e.key == "until") options.cut.until = e.value.text;
      if (e.key != "bind") return;
      for (const hw::YamlEntry& symbol : e.value.entries)
        options.bindings[symbol.key] = reader.read_whole(symbol);
    }
  };

  void read_point(const hw::YamlNode& node) {
    ValidationPoint p;
    p.at = node.at;
    p.machine_file = machine_;
    p.goal = goal_;
    p.technology = technology_;
    WorkloadKeys work;
    std::vector<std::string> keys = {"name",       "machine", "model",   "bind",   "from",
                                     "until",      "network", "product", "frames", "goal",
                                     "technology", "note",    "family"};
    for (const QuantityInfo& q : quantity_table()) keys.emplace_back(q.key);
    int measured = 0;
    read_section(node, node.at, "a point", keys, errors_, [&](const hw::YamlEntry& e) {
      if (e.key == "name") p.name = e.value.text;
      if (e.key == "machine") p.machine_file = read_machine(e);
      if (e.key == "technology") p.technology = read_technology(e);
      if (e.key == "goal") p.goal = read_percent(e);
      if (e.key == "note") p.note = e.value.text;
      if (e.key == "family") p.family = e.value.text;
      if (e.key == "frames") p.frames = read_whole(e);
      for (size_t q = 0; q < quantity_table().size(); ++q)
        if (quantity_table()[q].key == e.key) {
          p.quantity = static_cast<Quantity>(q);
          p.measured = read_number(e.value, e.key, errors_).value_or(0);
          ++measured;
        }
      work.read_key(e, *this);
    });
    if (p.name.empty() || measured != 1 || !(p.measured > 0) || p.machine_file.empty())
      return errors_.fail(node.at,
                          "a point needs name, a machine (here or above all points) and "
                          "one measured figure above 0");
    load_graph_of(work, node.at, p);
    out_.points.push_back(std::move(p));
  }

  int64_t read_whole(const hw::YamlEntry& e) {
    const auto v = read_number(e.value, e.key, errors_);
    if (v && *v >= 1 && *v <= 1e12 && *v == std::floor(*v)) return static_cast<int64_t>(*v);
    if (v) errors_.fail(e.value.at, e.key + " must be a whole number from 1");
    return 1;
  }

  void load_graph_of(const WorkloadKeys& work, hw::TextPosition at, ValidationPoint& p) {
    const int said = static_cast<int>(!work.model.empty()) +
                     static_cast<int>(!work.network.empty()) +
                     static_cast<int>(!work.product.empty());
    if (said == 0 && is_area(p.quantity)) return;
    if (said != 1) return errors_.fail(at, "a point has one of model, network and product");
    const Result<Graph> graph = graph_of(work, at, p);
    if (!graph) {
      errors_.fail(at, "this workload can't be used:");
      return errors_.add(graph.errors());
    }
    p.graph = *graph;
  }

  Result<Graph> graph_of(const WorkloadKeys& work, hw::TextPosition at, ValidationPoint& p) {
    const std::string where = hw::where_text(out_.file, at);
    if (!work.model.empty()) {
      p.model_file = work.model;
      p.workload = fs::path(work.model).stem().string();
      return load_graph(work.model, work.options);
    }
    if (!work.product.empty()) {
      const auto size = sizes_from(work.product);
      if (!size || size->size() != 3)
        return Error{Errc::invalid, "product is rows, reduction and columns, as 64x128x256", where};
      p.workload = work.product;
      return elaborate(product_model(*size), work.options);
    }
    const auto list = networks_.find(work.network);
    if (list == networks_.end())
      return Error{Errc::invalid,
                   hw::quoted_text(work.network) + " is no network of this file's networks", where};
    p.workload = work.network;
    const auto model = layer_model(list->second, where);
    if (!model) return model.errors();
    return elaborate(*model, work.options);
  }

  ValidationSource out_;
  SpecErrors errors_;
  std::optional<std::string> other_table_;
  std::vector<ReadSetting> settings_;
  fs::path folder_;
  std::string machine_;
  std::optional<double> goal_;
  std::optional<hw::Technology> technology_;
  std::map<std::string, LayerList> networks_;
};

}  // namespace

std::string ValidationSource::machine_name(const ValidationPoint& p) const {
  const auto at = machines.find(p.machine_file);
  return at == machines.end() ? "" : at->second.hw.name;
}

std::string_view name(Evidence e) { return kEvidenceText[static_cast<size_t>(e)]; }

const std::vector<QuantityInfo>& quantity_table() {
  static const std::vector<QuantityInfo> kQuantities = {
      {"cycles", "cycles", "cycles of one run"},
      {"us", "us", "time of one run, microseconds"},
      {"ms", "ms", "time of one run, milliseconds"},
      {"fps", "frames/s", "frames of a run over its time"},
      {"tops", "TOPS", "two operations a multiply-accumulate, over the time"},
      {"utilisation", "%", "multiply-accumulates over what the array could have done"},
      {"mw", "mW", "power of the chip without DRAM, runs one behind the other"},
      {"mm2", "mm2", "silicon area"},
      {"synthesis_mm2", "mm2", "cells and memories as synthesis reports them"},
  };
  return kQuantities;
}

Result<ValidationSource> load_validation(const std::string& path,
                                         const std::optional<std::string>& table) {
  const auto text = hw::read_yaml(path, kFileKind);
  if (!text) return text.errors();
  const auto tree = hw::parse_yaml(*text, path);
  if (!tree) return tree.errors();
  return ValidationReader(path, table).read_validation(*tree);
}

Result<std::vector<std::string>> validation_files(const std::string& path) {
  std::error_code ec;
  if (!fs::is_directory(path, ec)) {
    if (!fs::is_regular_file(path, ec))
      return Error{
          Errc::io,
          fmt::format(
              "no such file or folder; give the path of a {} (YAML), or of a folder of them",
              kFileKind),
          path};
    return std::vector<std::string>{path};
  }
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(path, ec))
    if (entry.path().extension() == ".yaml") out.push_back(entry.path().string());
  if (ec || out.empty()) return Error{Errc::io, "no .yaml file in this folder", path};
  std::ranges::sort(out);
  return out;
}

}  // namespace accsim::sim
