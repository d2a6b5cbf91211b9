// Layers of the dot-product template with their events, for simulators that share no code with this
// one (tests/oracle/dot_product_oracle_test.py). Each line of the input is a case as JSON:
//   {"engine": {FIELD: NUMBER, ...}, "layers": [{SIZE: NUMBER, ...}, ...]}
// Each line of the output is a list of the layers' events, overlapped, or {"error": TEXT}. For the
// units beside the engine (tests/oracle/dot_product_side_oracle_test.py) a case is
//   {"units": {FIELD: NUMBER, ...}, "pool" or "lrn" or "point": {SIZE: NUMBER, ...}}
// and for the spreadsheet (tests/oracle/spreadsheet_test.py)
//   {"sheet": {SIZE: NUMBER, ...}, "machine": {...}, "rules": {...}}
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "hw/dot_product/layer_timing.h"
#include "hw/dot_product/side_units.h"
#include "hw/dot_product/spreadsheet.h"

namespace {

using Json = nlohmann::json;

/// A struct of fields: those that aren't given are nv_small's.
template <class Fields>
Fields read_fields(const Json& given, std::span<const accsim::FieldOf<Fields>> fields) {
  Fields read;
  for (const accsim::FieldOf<Fields>& field : fields)
    read.*field.member = given.value(std::string(field.name), read.*field.member);
  return read;
}

accsim::hw::DotProductLayer read_layer(const Json& given) {
  const auto size = [&](const char* name) { return given.at(name).get<int64_t>(); };
  return {{size("width"), size("height"), size("channels"), size("kernels"), size("kernel_width"),
           size("kernel_height"), size("out_width"), size("out_height")},
          {size("feature_banks"), size("weight_banks")},
          given.at("keeps_weights").get<bool>(),
          given.at("has_weights").get<bool>()};
}

Json to_json(const accsim::hw::LayerEvents& events) {
  return {{"first_read", events.first_read},
          {"last_read", events.last_read},
          {"last_weight_read", events.last_weight_read.value_or(0)},
          {"last_feature_read", events.last_feature_read},
          {"first_write", events.first_write},
          {"last_write", events.last_write}};
}

accsim::hw::PoolLayer read_pool(const Json& given) {
  const auto size = [&](const char* name) { return given.at(name).get<int64_t>(); };
  accsim::hw::PoolLayer layer{size("width"),        size("height"),        size("channels"),
                              size("kernel_width"), size("kernel_height"), size("stride_x"),
                              size("stride_y"),     size("pad_left"),      size("pad_top"),
                              size("out_width"),    size("out_height"),    {}};
  for (const Json& strip : given.at("strips"))
    layer.strips.push_back({strip.at(0).get<int64_t>(), strip.at(1).get<int64_t>()});
  return layer;
}

accsim::hw::PointLayer read_point(const Json& given) {
  const auto size = [&](const char* name) { return given.at(name).get<int64_t>(); };
  accsim::hw::PointLayer layer{size("width"), size("height"), size("channels"), {}};
  for (const Json& stage : given.at("stages"))
    layer.stages.push_back({stage.at("alu").get<bool>(), stage.at("mul").get<bool>(),
                            stage.at("operand_reads").get<int64_t>()});
  return layer;
}

/// The events of a layer of the units beside the engine.
Json side_events(const Json& given) {
  const auto units =
      read_fields<accsim::hw::SideUnits>(given.at("units"), accsim::hw::side_unit_fields());
  accsim::Result<accsim::hw::SideEvents> events = accsim::hw::SideEvents{};
  if (given.contains("pool")) {
    events = time_pooling(read_pool(given.at("pool")), units);
  } else if (given.contains("point")) {
    events = time_point(read_point(given.at("point")), units);
  } else {
    const Json& lrn = given.at("lrn");
    events = time_lrn({lrn.at("width").get<int64_t>(), lrn.at("height").get<int64_t>(),
                       lrn.at("channels").get<int64_t>(), lrn.at("bypass").get<bool>()},
                      units);
  }
  if (!events) return {{"error", events.errors().front().text()}};
  return {{"first_read", events->first_read},
          {"first_write", events->first_write},
          {"last_write", events->last_write}};
}

accsim::hw::SpreadsheetLayer read_sheet(const Json& given) {
  const auto size = [&](const char* name) { return given.at(name).get<int64_t>(); };
  return {size("width"),
          size("height"),
          size("channels"),
          size("kernels"),
          size("kernel_width"),
          size("kernel_height"),
          size("stride_x"),
          size("stride_y"),
          given.at("padded").get<bool>(),
          size("out_width"),
          size("out_height"),
          given.at("addition").get<bool>(),
          given.at("winograd_weights").get<bool>()};
}

/// The cells of a layer of the spreadsheet.
Json sheet_cells(const Json& given) {
  const Json& machine = given.at("machine");
  const Json& rules = given.at("rules");
  const accsim::hw::SpreadsheetMachine asked{
      machine.at("macs").get<int64_t>(), machine.at("buffer_kib").get<int64_t>(),
      machine.at("gb_per_second").get<double>(), machine.at("clock_mhz").get<double>()};
  const accsim::hw::SpreadsheetRules sheet{
      rules.at("kernel_align").get<int64_t>(), rules.at("more_lines").get<int64_t>(),
      static_cast<accsim::hw::SpreadsheetRepeats>(rules.at("repeats").get<int>())};
  const auto cost = spreadsheet_cost(read_sheet(given.at("sheet")), asked, sheet);
  if (!cost) return {{"error", cost.errors().front().text()}};
  return {{"input_bytes", cost->input_bytes},
          {"weight_bytes", cost->weight_bytes},
          {"output_bytes", cost->output_bytes},
          {"traffic_bytes", cost->traffic_bytes},
          {"dram_cycles", cost->dram_cycles},
          {"mac_cycles", cost->mac_cycles},
          {"cycles", cost->cycles}};
}

/// The events of layers of the engine.
Json layer_events(const Json& given) {
  std::vector<accsim::hw::DotProductLayer> layers;
  for (const Json& layer : given.at("layers")) layers.push_back(read_layer(layer));
  const auto engine = read_fields<accsim::hw::DotProductEngine>(given.at("engine"),
                                                                accsim::hw::dot_product_fields());
  const auto times = accsim::hw::time_overlapped(layers, engine);
  if (!times) return {{"error", times.errors().front().text()}};
  Json out = Json::array();
  for (const accsim::hw::LayerEvents& events : *times) out.push_back(to_json(events));
  return out;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json given = Json::parse(line);
    const Json out = given.contains("units")   ? side_events(given)
                     : given.contains("sheet") ? sheet_cells(given)
                                               : layer_events(given);
    fmt::print("{}\n", out.dump());
  }
}
