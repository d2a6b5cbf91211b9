#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/validate/validation_text.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;

/// A key that is always there; `type` "number?" may also be null.
struct Key {
  const char *name, *type, *description;
};

Json typed(std::string_view type, const char* description) {
  Json out = {{"description", description}};
  const bool maybe = type.ends_with('?');
  if (maybe) type.remove_suffix(1);
  out["type"] = maybe ? Json{type, "null"} : Json(type);
  return out;
}

Json object_of(Json properties, const char* description, std::string_view type = "object") {
  Json out = typed(type, description);
  out["additionalProperties"] = false;
  out["required"] = Json::array();
  for (const auto& [key, value] : properties.items()) out["required"].push_back(key);
  out["properties"] = std::move(properties);
  return out;
}

Json properties_of(std::initializer_list<Key> keys) {
  Json out = Json::object();
  for (const Key& k : keys) out[k.name] = typed(k.type, k.description);
  return out;
}

Json list_of(Json items, const char* description) {
  Json out = typed("array", description);
  out["items"] = std::move(items);
  return out;
}

Json summary_schema(const std::string& whose = "of some points") {
  return object_of(
      properties_of({
          {"points", "integer", "how many"},
          {"mean_absolute_error", "number", "of the errors without their signs, as a part"},
          {"mean_error", "number", "of the errors with their signs"},
          {"worst_error", "number", "the largest, with its sign"},
          {"worst_point", "string", "whose that is"},
          {"inside_interval", "integer?", "measured figures that lie in their interval"},
      }),
      ("summary " + whose + "; null where there are none").c_str(), "object?");
}

Json point_schema() {
  Json properties = properties_of({
      {"name", "string", "of the point"},
      {"family", "string?", "what it is summed up with"},
      {"table", "string?", "file of the row that it is"},
      {"line", "integer?", "of that row"},
      {"workload", "string", "model, network, product or kind of layer"},
      {"macs", "integer", "multiply-accumulates of the workload"},
      {"bound", "string?", "what limits it on this machine"},
      {"machine", "string?", "name of the machine; null: the row says its own"},
      {"quantity", "string", "what was measured, as files say it"},
      {"unit", "string", "of measured, predicted, low and high"},
      {"measured", "number", "the published figure"},
      {"predicted", "number", "the same by the model"},
      {"error", "number", "predicted / measured - 1"},
      {"low", "number?", "least prediction over all assumed ranges"},
      {"high", "number?", "greatest prediction over all assumed ranges"},
      {"inside", "boolean?", "does the measured figure lie in low .. high?"},
      {"goal", "number?", "greatest error that is aimed at, as a part"},
      {"note", "string", "what is special about the point"},
      {"search_error", "string?", "why --search has found no program of this tiled layer"},
  });
  properties["best"] = object_of(
      properties_of(
          {{"cycles", "integer", "of the program"},
           {"program", "string", "its tiles, and all else that was searched"},
           {"candidates", "integer", "programs whose data fit"},
           {"timed", "integer", "of these, those that were timed"},
           {"credit_cycles", "integer?", "of the best one without barriers; null: none was found"},
           {"barrier_cycles", "integer?", "of the best one with barriers; null: none was found"}}),
      "the best program of a tiled layer that --search has found; null without", "object?");
  properties["effects"] = list_of(
      object_of(properties_of({{"field", "string", "path of an assumed field"},
                               {"low", "number", "least prediction as it moves alone"},
                               {"high", "number", "greatest prediction as it moves alone"}}),
                "how much one assumed field decides"),
      "the widest first");
  return object_of(std::move(properties), "a figure and its prediction");
}

Json groups_schema(const char* description) {
  Json properties = properties_of({{"name", "string", "of the group"}});
  properties["summary"] = summary_schema();
  return list_of(object_of(std::move(properties), "points that are alike"), description);
}

Json source_schema() {
  Json properties = properties_of({
      {"file", "string", "of the source"},
      {"source", "string", "authors, title, tables"},
      {"evidence", "string", "silicon, RTL simulation or estimate"},
      {"fitted", "boolean", "was a constant chosen by these figures?"},
  });
  properties["summary"] = summary_schema("of all points");
  properties["figures"] = summary_schema("of the points that are no rows of tables");
  properties["rows"] = summary_schema("of the points that are rows of tables");
  properties["families"] = groups_schema("points by family");
  properties["sizes"] = groups_schema("rows of tables by the decade of their MACs");
  properties.update(properties_of({
      {"rank_correlation", "number?", "Spearman's, of predicted and measured"},
      {"r2", "number?", "square of Pearson's correlation"},
      {"goal_r2", "number?", "least R2 that is aimed at"},
      {"workloads", "string", "how workloads follow from what is published"},
  }));
  const Json text = {{"type", "string"}};
  properties["differences"] = list_of(text, "known reasons of the errors");
  properties["set"] =
      list_of(object_of(properties_of({{"field", "string", "path of a field of the machines"},
                                       {"value", "string", "what it is set to"},
                                       {"source", "string", "who says so"}}),
                        "what is set in the machines"),
              "settings of the source");
  properties["tables"] = list_of(text, "tables that were read");
  properties["points"] = list_of(point_schema(), "figures, in the source's order");
  return object_of(std::move(properties), "one publication");
}

}  // namespace

std::string validation_schema() {
  Json summary = Json::object();
  summary["unfitted"] = summary_schema();
  summary["fitted"] = summary_schema();
  Json properties = Json::object();
  properties["schema"] = {{"const", kValidationSchema}};
  properties["interval"] = typed("boolean", "were the assumed ranges gone over?");
  properties["summary"] = object_of(
      std::move(summary),
      "over the times and rates of all sources; areas, powers and rows of tables are left out");
  properties["sources"] = list_of(source_schema(), "publications");
  Json out = object_of(std::move(properties), "What accsim validate --json writes");
  Json named = {{"$schema", "http://json-schema.org/draft-07/schema#"}};
  named.update(out);
  return json_text(named, 2) + "\n";
}

}  // namespace accsim::sim
