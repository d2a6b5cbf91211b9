#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "config_fixture.h"
#include "hw/config/fields.h"
#include "hw/config/values.h"
#include "hw/config/yaml_tree.h"
#include "tests/support/temp_path.h"

namespace accsim::hw {
namespace {

using Json = nlohmann::json;

void collect(const Json& section, const std::string& prefix, std::set<std::string>& paths) {
  EXPECT_EQ(section.at("type"), "object") << prefix;
  EXPECT_EQ(section.at("additionalProperties"), false) << prefix;
  std::set<std::string> keys, required;
  for (const auto& [key, value] : section.at("properties").items()) {
    keys.insert(key);
    EXPECT_FALSE(value.at("description").get<std::string>().empty());
    if (value.contains("properties")) {
      collect(value, prefix + key + ".", paths);
    } else {
      paths.insert(prefix + key);
    }
  }
  for (const auto& key : section.at("required")) required.insert(key.get<std::string>());
  for (const Json& one : section.value("allOf", Json::array())) {
    for (const auto& key : one.at("then").at("required")) required.insert(key.get<std::string>());
  }
  for (const Field& field : fields()) {  // what may be left out, and nothing else
    if (!field.optional || !field.path.starts_with(prefix)) continue;
    const std::string key = field.path.substr(prefix.size());
    if (keys.contains(key)) {
      EXPECT_TRUE(required.insert(key).second) << field.path;
    }
  }
  for (const KeyNode& child : key_tree().children) {  // a section is left out as a whole
    if (child.section_there != nullptr && prefix.empty()) {
      EXPECT_TRUE(required.insert(child.key).second) << child.key;
    }
  }
  EXPECT_EQ(keys, required) << prefix;
}

TEST(Schema, DoesEachDramModelAskForItsOwnKeys) {
  const Json dram = Json::parse(hw_schema()).at("properties").at("dram");
  EXPECT_EQ(dram.at("required"), Json::array({"model"}));
  const Json ideal = Json::array({"read_bytes_per_cycle", "write_bytes_per_cycle", "latency"});
  const Json banked = Json::array({"preset", "channels", "map"});
  Json all_ideal = ideal;
  all_ideal.push_back("bus");  // which may be left out
  const auto refuse = [](const Json& keys) {
    Json out = Json::object();
    for (const auto& key : keys) out[key.get<std::string>()] = false;
    return out;
  };
  const auto one = [&](const char* word, const Json& has, const Json& has_not) {
    Json out;
    out["if"]["properties"]["model"]["const"] = word;
    out["then"]["required"] = has;
    out["then"]["properties"] = refuse(has_not);
    return out;
  };
  EXPECT_EQ(dram.at("allOf"),
            Json::array({one("ideal", ideal, banked), one("banked", banked, all_ideal)}));
}

TEST(Schema, HasItExactlyTheKeysOfTheFieldTable) {
  std::set<std::string> in_schema, in_table;
  collect(Json::parse(hw_schema()), "", in_schema);
  for (const Field& field : fields()) EXPECT_TRUE(in_table.insert(field.path).second);
  EXPECT_EQ(in_schema, in_table);
}

const Json& at_path(const Json& schema, const std::string& path) {
  const Json* node = &schema;
  std::istringstream parts(path);
  for (std::string key; std::getline(parts, key, '.');) node = &node->at("properties").at(key);
  return *node;
}

TEST(Schema, HaveLeavesTheTypesAndRangesOfTheTable) {
  const Json schema = Json::parse(hw_schema());
  EXPECT_EQ(schema.at("$schema"), "http://json-schema.org/draft-07/schema#");
  const Json& rows = at_path(schema, "array.rows");
  EXPECT_EQ(rows.at("type"), "integer");
  EXPECT_EQ(rows.at("minimum"), 1);
  EXPECT_EQ(rows.at("maximum"), 1024);
  const Json& rate = at_path(schema, "dram.read_bytes_per_cycle");
  EXPECT_EQ(rate.at("type"), "number");
  EXPECT_EQ(rate.at("minimum"), 0.001);
  EXPECT_EQ(at_path(schema, "types.accumulator").at("enum"), Json({"int32", "float32", "fp32"}));
  EXPECT_EQ(at_path(schema, "array.dataflows").at("items").at("enum").size(), kDataflows);
  EXPECT_EQ(at_path(schema, "dram.model").at("enum"), Json::array({"ideal", "banked"}));
  EXPECT_EQ(at_path(schema, "name").at("pattern"), "^[A-Za-z0-9 ._+-]{1,64}$");
}

/// What the schema says of a value, for the keywords that it uses.
bool schema_takes(const Json& leaf, const Json& value) {
  const std::string type = leaf.at("type");
  if (type == "integer" && !value.is_number_integer()) return false;
  if (type == "number" && !value.is_number()) return false;
  if (type == "string" && !value.is_string()) return false;
  if (leaf.contains("minimum") && value < leaf.at("minimum")) return false;
  if (leaf.contains("maximum") && value > leaf.at("maximum")) return false;
  if (leaf.contains("enum")) {
    const Json& words = leaf.at("enum");
    return std::find(words.begin(), words.end(), value) != words.end();
  }
  return true;
}

TEST(Schema, DoSchemaAndParserAgreeOnValues) {
  const Json schema = Json::parse(hw_schema());
  const std::vector<std::string> values = {"0",          "1",         "-1",
                                           "0.5",        "1024",      "1025",
                                           "16",         "17",        "65536",
                                           "65537",      "1e9",       "2e9",
                                           "1000000",    "1000001",   "\"1\"",
                                           "100000",     "100001",    "1048576",
                                           "1048577",    "\"int8\"",  "\"fp16\"",
                                           "\"fp32\"",   "\"int32\"", "\"ideal\"",
                                           "\"banked\"", "\"HBM2\"",  "\"bank_group_low\"",
                                           "0.99",       "true"};
  for (const Field& field : fields()) {
    const Json& leaf = at_path(schema, field.path);
    if (field.path == "name" || leaf.at("type") == "array") continue;
    for (const std::string& value : values) {
      // Rates refuse exponents and whole numbers refuse 1e9 as text; a schema sees only the value.
      if (value.find('e') != std::string::npos && value.find('"') == std::string::npos) continue;
      const auto node = parse_yaml(value, "f");
      ASSERT_TRUE(node.ok());
      HwConfig hw;
      EXPECT_EQ(!read_value(field, *node, hw).has_value(), schema_takes(leaf, Json::parse(value)))
          << field.path << " = " << value;
    }
  }
}

TEST(Schema, IsTheShippedFileCurrent) {
  if (test::read_file(test::config_path("hw.schema.json")) == hw_schema()) return;
  const std::string path = test::temp_path("hw.schema.json");
  std::ofstream(path) << hw_schema();
  FAIL() << "configs/hw.schema.json is stale; the current one is " << path;
}

TEST(Nearest, IsItTheClosestAndOnlyWhenClose) {
  const std::vector<std::string> words = {"rows", "cols", "dataflows"};
  EXPECT_EQ(nearest_word("row", words), "rows");
  EXPECT_EQ(nearest_word("clos", words), "cols");
  EXPECT_EQ(nearest_word("dataflow", words), "dataflows");
  EXPECT_EQ(nearest_word("energy", words), std::nullopt);
  EXPECT_EQ(nearest_word("", words), std::nullopt);
  EXPECT_EQ(nearest_word(std::string(100000, 'r'), words), std::nullopt);
}

TEST(FieldTable, AreNamesOfEnumsDistinct) {
  EXPECT_EQ(name(Dataflow::weight_stationary), "weight_stationary");
  EXPECT_EQ(name(Dataflow::input_stationary), "input_stationary");
  EXPECT_EQ(name(Dataflow::output_stationary), "output_stationary");
  EXPECT_EQ(name(Buffer::activation), "activation");
  EXPECT_EQ(name(Buffer::weight), "weight");
  EXPECT_EQ(name(Buffer::parameter), "parameter");
  EXPECT_EQ(name(Buffer::accumulator), "accumulator");
  EXPECT_EQ(name(Buffer::output), "output");
}

}  // namespace
}  // namespace accsim::hw
