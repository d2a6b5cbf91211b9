#include "sim/report/json.h"

#include <fmt/format.h>

#include "hw/config/engine_lists.h"
#include "hw/config/fields.h"
#include "hw/config/mode_list.h"
#include "sim/base/json_text.h"
#include "sim/report/assumptions.h"
#include "sim/report/fields.h"
#include "sim/report/to_json.h"

namespace accsim::sim {
namespace {

std::string indented_text(const Json& json, int indent) {
  std::string text = json_text(json, indent);
  if (indent < 0) return text;
  // One level deeper. Line feeds inside strings are escaped, so these are all of the layout.
  std::string out;
  for (char c : text) {
    out += c;
    if (c == '\n') out.append(static_cast<size_t>(indent), ' ');
  }
  return out;
}

Json model_json(const Report& report) {
  Json bindings = Json::object();
  for (const auto& [symbol, value] : report.bindings) bindings[symbol] = value;
  Json params = Json::object(), bytes = Json::object();
  for (const auto& [type, count] : report.params_by_type) params[type] = count;
  for (const auto& [type, size] : report.bytes_by_type) bytes[type] = size;
  return {{"name", report.model_name},
          {"file", report.model_file},
          {"opset", report.opset},
          {"ir_version", report.ir_version},
          {"nodes", report.nodes},
          {"params", report.params},
          {"buffers", report.buffers},
          {"weight_bytes", report.weight_bytes},
          {"params_by_type", params},
          {"bytes_by_type", bytes},
          {"bindings", bindings},
          {"defaulted", report.defaulted},
          {"key_blocks", report.key_blocks},
          {"assumed", assumptions_json(report.assumed)}};
}

Json modes_json(const std::vector<hw::TypeMode>& modes) {
  Json out = Json::array();
  hw::HwConfig scratch;
  for (const hw::TypeMode& mode : modes) {
    scratch.types.modes = {mode};
    Json one = Json::object();
    for (const hw::Field& key : hw::mode_fields())
      if ((!key.only || key.only->holds(scratch)) && !is_derived(key, scratch))
        one[key.path] = value_json(key, scratch);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

Json value_json(const hw::Field& field, const hw::HwConfig& hw) {
  return std::visit(
      hw::FieldCases{
          [&](const hw::Member<hw::ByteRate>& m) -> Json { return m.in(hw).value(); },
          [&](const hw::Member<hw::DerivableNumber>& m) -> Json { return m.in(hw).value; },
          [&](const hw::Member<std::vector<hw::Dataflow>>& m) {
            Json names = Json::array();
            for (hw::Dataflow d : m.in(hw)) names.push_back(name(d));
            return names;
          },
          [&](const hw::Member<std::vector<hw::TypeMode>>& m) { return modes_json(m.in(hw)); },
          [&]<hw::EngineEntry T>(const hw::Member<std::vector<T>>&) -> Json {
            Json entries = Json::array();
            for (const hw::ListEntry& entry : engine_entries(field, hw)) {
              Json one = Json::object();
              for (const auto& key : entry)
                std::visit([&](const auto& v) { one[key.first] = v; }, key.second);
              entries.push_back(std::move(one));
            }
            return entries;
          },
          [&]<class T>(const hw::Member<T>& m) -> Json {
            if constexpr (std::is_enum_v<T>)
              return name(m.in(hw));
            else
              return m.in(hw);
          }},
      field.target);
}

namespace {

void add_section(const hw::KeyNode& section, const hw::HwConfig& hw, Json& out) {
  for (const hw::KeyNode& child : section.children) {
    if (child.field != nullptr && child.field->only && !child.field->only->holds(hw)) continue;
    if (child.field != nullptr && is_absent(*child.field, hw)) continue;
    if (child.field != nullptr) {
      out[child.key] = value_json(*child.field, hw);
    } else if (is_missing(child, hw)) {
      continue;
    } else if (child.path == kLiftedSection) {
      add_section(child, hw, out);
    } else {
      add_section(child, hw, out[child.key] = Json::object());
    }
  }
}

Json machine_json(const Report& report) {
  Json out = {{"name", report.hw.name}, {"file", report.hw.file}};
  add_section(hw::key_tree(), report.hw, out);
  return out;
}

Json row_json(const ReportRow& row) {
  Json out = Json::object();
  for (const ReportField& field : report_fields()) {
    if (row.layer != nullptr ? field.in_layers() : field.in_totals())
      out[field.key] = std::visit(ToJson{}, field.get(row));
  }
  return out;
}

Json group_json(const Report& report, const LayerGroup& group) {
  Json out = {{"name", group.name}, {"layers", group.layers}};
  for (const ReportField& field : report_fields())
    if (field.in_groups())
      out[field.key] = std::visit(ToJson{}, field.get(group_row(report, group)));
  return out;
}

Json energy_json(const EnergyReport& e) {
  return {{"total_pj", e.total_pj()}, {"mac_pj", e.mac},       {"vector_pj", e.vector},
          {"sram_pj", e.sram},        {"shared_pj", e.shared}, {"dram_pj", e.dram},
          {"leakage_pj", e.leakage}};
}

Json json_ratio(int64_t cut, int64_t native) {
  return native > 0 ? Json(static_cast<double>(cut) / static_cast<double>(native)) : Json();
}

Json cut_costs_json(const Costs& cut, const Costs& native) {
  const auto dram = [](const Costs& c) { return c.dram_read + c.dram_write; };
  return {{"macs", cut.macs},
          {"native_macs", native.macs},
          {"cycles", cut.cycles},
          {"native_cycles", native.cycles},
          {"cycles_ratio", json_ratio(cut.cycles, native.cycles)},
          {"dram_bytes", dram(cut)},
          {"native_dram_bytes", dram(native)},
          {"dram_ratio", json_ratio(dram(cut), dram(native))}};
}

/// Layers that were cut into products, and what they cost natively.
Json tiled_json(const Report& report) {
  Costs cut, native;
  Json layers = Json::array();
  for (const CutLayer& l : report.cut_layers) {
    cut += l.cut;
    native += l.native;
    Json layer = {{"name", l.name},
                  {"op_type", l.op_type},
                  {"batch", l.batch},
                  {"m", l.m},
                  {"k", l.k},
                  {"n", l.n},
                  {"tile", {l.tile_m, l.tile_k, l.tile_n}},
                  {"edge", l.edge},
                  {"products", l.products},
                  {"nodes", l.nodes},
                  {"native_mapping", l.mapping}};
    layer.update(cut_costs_json(l.cut, l.native));
    layers.push_back(std::move(layer));
  }
  Json out = cut_costs_json(cut, native);
  out["layers"] = std::move(layers);
  return out;
}

}  // namespace

std::string to_json(const Report& report) {
  std::string out = "{\n  \"schema\": \"accsim.report/1\",\n";
  const auto section = [&out](std::string_view key, const Json& json) {
    out += "  \"";
    out += key;
    out += "\": " + indented_text(json, 2) + ",\n";
  };
  section("model", model_json(report));
  section("hw", machine_json(report));
  section("totals", row_json(totals_row(report)));
  section("energy", energy_json(report.totals.energy));
  const auto lines = [&out](std::string_view key, const auto& items, const auto& json_of) {
    out += fmt::format("  \"{}\": [", key);
    for (size_t i = 0; i < items.size(); ++i) {
      out += i == 0 ? "\n    " : ",\n    ";
      out += indented_text(json_of(items[i]), -1);
    }
    out += items.empty() ? "],\n" : "\n  ],\n";
  };
  if (!report.grouped_by.empty()) {
    section("grouped_by", report.grouped_by);
    lines("groups", report.groups, [&](const LayerGroup& g) { return group_json(report, g); });
  }
  lines("layers", report.layers,
        [&](const LayerReport& l) { return row_json(layer_row(report, l)); });
  if (!report.cut_layers.empty()) section("tiled", tiled_json(report));
  out += "  \"unsupported\": " + indented_text(Json(report.unsupported), 2) + "\n}\n";
  return out;
}

}  // namespace accsim::sim
