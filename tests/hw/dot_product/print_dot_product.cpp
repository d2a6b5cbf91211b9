// Layers of the dot-product template with their events, for simulators that share no code with this
// one (tests/oracle/dot_product_oracle_test.py). Each line of the input is a case as JSON:
//   {"engine": {FIELD: NUMBER, ...}, "layers": [{SIZE: NUMBER, ...}, ...]}
// Each line of the output is a list of the layers' events, overlapped, or {"error": TEXT}.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "hw/dot_product/layer_timing.h"

namespace {

using Json = nlohmann::json;

accsim::hw::DotProductEngine read_engine(const Json& given) {
  accsim::hw::DotProductEngine engine;
  for (const accsim::hw::DotProductField& field : accsim::hw::dot_product_fields())
    engine.*field.member = given.value(std::string(field.name), engine.*field.member);
  return engine;
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

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json given = Json::parse(line);
    std::vector<accsim::hw::DotProductLayer> layers;
    for (const Json& layer : given.at("layers")) layers.push_back(read_layer(layer));
    const auto times = accsim::hw::time_overlapped(layers, read_engine(given.at("engine")));
    Json out = Json::array();
    if (!times) {
      out = {{"error", times.errors().front().text()}};
    } else {
      for (const accsim::hw::LayerEvents& events : *times) out.push_back(to_json(events));
    }
    fmt::print("{}\n", out.dump());
  }
}
