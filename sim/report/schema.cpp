#include "sim/report/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "hw/config/load.h"
#include "sim/base/check.h"
#include "sim/base/json_text.h"
#include "sim/report/fields.h"
#include "sim/report/to_json.h"

namespace accsim::sim {
namespace {

/// A key that reports hold beside the field list's.
struct Key {
  const char *name, *type, *description;
};

Json typed_schema(const char* type, const std::string& description) {
  return {{"description", description}, {"type", type}};
}

Json list_of(Json items, const std::string& description) {
  Json out = typed_schema("array", description);
  out["items"] = std::move(items);
  return out;
}

/// An object of exactly these properties; those of `optional` may lack.
Json object_of(Json properties, const std::string& description,
               std::initializer_list<std::string_view> optional = {}) {
  Json out = typed_schema("object", description);
  out["additionalProperties"] = false;
  out["required"] = Json::array();
  for (const auto& [key, value] : properties.items())
    if (std::find(optional.begin(), optional.end(), key) == optional.end())
      out["required"].push_back(key);
  out["properties"] = std::move(properties);
  return out;
}

Json key_schemas(std::initializer_list<Key> list) {
  Json out = Json::object();
  for (const Key& k : list) out[k.name] = typed_schema(k.type, k.description);
  return out;
}

Json dims_schema() { return {{"type", "array"}, {"items", {{"type", "integer"}, {"minimum", 0}}}}; }

/// The schema of what a field's value becomes in JSON; a number that is a ratio can be absent.
struct ValueSchema {
  Json operator()(std::monostate) const {
    check(false, "the sample row of the report's schema lacks what a field needs");
    return {};
  }
  Json operator()(int64_t) const { return {{"type", "integer"}, {"minimum", 0}}; }
  Json operator()(double) const { return {{"type", {"number", "null"}}}; }
  Json operator()(const std::string&) const { return {{"type", "string"}}; }
  Json operator()(const Dims&) const { return dims_schema(); }
  Json operator()(const std::vector<Dims>&) const {
    return {{"type", "array"}, {"items", dims_schema()}};
  }
};

/// A row whose every ratio has a denominator, so that each field shows its type.
struct Sample {
  Report report;
  LayerReport layer;

  Sample() {
    report.hw.clock_mhz = 1;
    report.hw.array.rows = report.hw.array.cols = 1;
    Costs& c = layer.costs;
    c.cycles = c.macs = c.lower_bound = c.traffic_bound = c.dram_bound = 1;
    c.dram_read = c.dram_write = c.shared_read = c.shared_write = 1;
    report.totals = c;
    report.layers.push_back(layer);
  }
};

Json row_schema(const ReportRow& row, const std::string& description) {
  Json properties = Json::object();
  for (const ReportField& field : report_fields()) {
    if (!(row.layer != nullptr ? field.in_layers() : field.in_totals())) continue;
    Json one = {{"description", field.unit.empty()
                                    ? field.description
                                    : fmt::format("{} ({})", field.description, field.unit)}};
    one.update(std::visit(ValueSchema{}, field.get(row)));
    properties[field.key] = std::move(one);
  }
  return object_of(std::move(properties), description);
}

Json group_schema(const Report& report) {
  Json properties = key_schemas({{"name", "string", "grouping key that its layers share"},
                                 {"layers", "integer", "number of layers"}});
  const Json sums = row_schema(totals_row(report), "")["properties"];
  for (const ReportField& field : report_fields())
    if (field.in_groups()) properties[field.key] = sums[field.key];
  return object_of(std::move(properties), "a group of layers");
}

Json assumption_schema() {
  Json out = object_of(key_schemas({{"node", "string", "node whose output has the size, or the If"},
                                    {"op_type", "string", "ONNX operator"},
                                    {"of", "string", "kind of size, or branch"},
                                    {"bound", "integer", "largest possible size; 0 for a branch"},
                                    {"size", "integer", "size that was assumed; 0 for a branch"},
                                    {"branch", "string", "then or else; null for a size"},
                                    {"given", "boolean", "whether --assume or --branch gave it"}}),
                       "a size or a branch that only a run decides");
  out["properties"]["branch"]["type"] = {"string", "null"};
  return out;
}

Json model_schema() {
  Json properties = key_schemas(
      {{"name", "string", "name of the graph"},
       {"file", "string", "path as given"},
       {"opset", "integer", "version of the default operator set"},
       {"ir_version", "integer", "version of the file format"},
       {"nodes", "integer", "nodes of the graph"},
       {"params", "integer", "elements of trained parameters"},
       {"buffers", "integer", "elements of constants that aren't trained"},
       {"weight_bytes", "integer", "bytes of parameters and other constants, as stored"},
       {"key_blocks", "integer", "keys per block of attention; 0: attention isn't in blocks"}});
  Json bindings = typed_schema("object", "symbols of dynamic dimensions with their values");
  bindings["additionalProperties"] = {{"type", "integer"}};
  properties["bindings"] = std::move(bindings);
  for (const auto& [key, what] : {std::pair{"params_by_type", "elements of parameters"},
                                  std::pair{"bytes_by_type", "bytes of parameters"}}) {
    properties[key] =
        typed_schema("object", std::string(what) + " by the type that the file stores");
    properties[key]["additionalProperties"] = {{"type", "integer"}};
  }
  properties["defaulted"] =
      list_of({{"type", "string"}}, "symbols without a value, which were taken as 1");
  properties["assumed"] = list_of(
      assumption_schema(), "sizes and branches that only a run decides, as they were assumed");
  return object_of(std::move(properties), "the network");
}

/// The machine file's schema, with the keys of `array` one level up and two more.
Json machine_schema() {
  const Json machine = Json::parse(hw::hw_schema());
  Json properties =
      key_schemas({{"name", "string", "name of the machine"},
                   {"file", "string", "path as given, or path of a shipped machine"}});
  for (const auto& [key, value] : machine["properties"].items())
    if (key == "array")
      properties.update(value["properties"]);
    else if (key != "name")
      properties[key] = value;
  Json out = object_of(std::move(properties), "the machine, with all fields of its file");
  const Json& array = machine["properties"]["array"];
  // Some of an array's keys may lack, or go with others; so may a section of the file.
  const auto may_lack = [](const Json& section, const Json& key) {
    return section["properties"].contains(key) && std::ranges::count(section["required"], key) == 0;
  };
  Json required = Json::array();
  for (const Json& key : out["required"])
    if (!may_lack(array, key) && !may_lack(machine, key)) required.push_back(key);
  out["required"] = std::move(required);
  if (array.contains("allOf")) out["allOf"] = array["allOf"];
  return out;
}

Json energy_schema() {
  return object_of(key_schemas({{"total_pj", "number", "all of them (pJ)"},
                                {"mac_pj", "number", "multiply-accumulates (pJ)"},
                                {"vector_pj", "number", "vector operations (pJ)"},
                                {"sram_pj", "number", "buffers on chip (pJ)"},
                                {"shared_pj", "number", "shared buffer (pJ)"},
                                {"dram_pj", "number", "DRAM (pJ)"},
                                {"leakage_pj", "number", "leakage and clock tree (pJ)"}}),
                   "energy of one run, by component");
}

Json compared_keys() {
  Json out = key_schemas(
      {{"macs", "integer", "multiply-accumulates of the products (MACs)"},
       {"native_macs", "integer", "multiply-accumulates of the layer before it was cut (MACs)"},
       {"cycles", "integer", "cycles of the products"},
       {"native_cycles", "integer", "cycles of the layer, mapped natively"},
       {"cycles_ratio", "number", "products divided by native"},
       {"dram_bytes", "integer", "DRAM traffic of the products (B)"},
       {"native_dram_bytes", "integer", "DRAM traffic of the layer (B)"},
       {"dram_ratio", "number", "products divided by native"}});
  for (const char* ratio : {"cycles_ratio", "dram_ratio"}) out[ratio]["type"] = {"number", "null"};
  return out;
}

Json tiled_schema() {
  Json layer = key_schemas({{"name", "string", "name of the node that was cut"},
                            {"op_type", "string", "ONNX operator"},
                            {"batch", "integer", "products of this size in the layer"},
                            {"m", "integer", "rows of the result"},
                            {"k", "integer", "depth of the product"},
                            {"n", "integer", "columns of the result"}});
  layer["tile"] = list_of({{"type", "integer"}}, "m, k and n of a tile");
  layer.update(
      key_schemas({{"edge", "string", "treatment of ragged ends"},
                   {"products", "integer", "number of MatMuls that it became"},
                   {"nodes", "integer", "nodes of the layer that were found"},
                   {"native_mapping", "string", "tiling of the layer before it was cut"}}));
  layer.update(compared_keys());
  Json properties = compared_keys();
  properties["layers"] =
      list_of(object_of(std::move(layer), "a layer that was cut"), "in the graph's order");
  return object_of(std::move(properties),
                   "costs of cutting into products; only for models that accsim tile wrote");
}

}  // namespace

std::string report_schema() {
  const Sample sample;
  Json properties;
  properties["schema"] = {{"description", "kind of this file"}, {"const", "accsim.report/1"}};
  properties["model"] = model_schema();
  properties["hw"] = machine_schema();
  properties["totals"] = row_schema(totals_row(sample.report), "the whole network");
  properties["energy"] = energy_schema();
  properties["layers"] =
      list_of(row_schema(layer_row(sample.report, sample.layer), "a node of the graph"),
              "one per node, in execution order");
  properties["grouped_by"] = {{"type", "string"}, {"description", "grouping: module, op or fate"}};
  properties["groups"] =
      list_of(group_schema(sample.report),
              "groups in the order of their first layers; their figures add up to the totals");
  properties["tiled"] = tiled_schema();
  properties["unsupported"] =
      list_of({{"type", "string"}}, "nodes costed as traffic alone, as --allow-unsupported asks");
  Json out = {{"$schema", "http://json-schema.org/draft-07/schema#"}, {"title", "accsim report"}};
  out.update(object_of(std::move(properties), "a report that accsim --json writes",
                       {"grouped_by", "groups", "tiled"}));
  return json_text(out, 2) + "\n";
}

}  // namespace accsim::sim
