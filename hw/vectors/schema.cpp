#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "hw/vectors/vectors.h"

namespace accsim::hw {
namespace {

using Json = nlohmann::ordered_json;

/// A key: its type ("integer", "string", "boolean", "range", "object", "array", or "#NAME" for one
/// of $defs; with "?" behind it, it may lack), and what it says.
struct Key {
  std::string_view name, type, says;
};

Json type_schema(std::string_view type) {
  if (type.starts_with('#')) return {{"$ref", "#/$defs/" + std::string(type.substr(1))}};
  return {{"type", type}};
}

Json object_schema(std::string_view says, std::initializer_list<Key> keys) {
  Json out{{"description", says}, {"type", "object"}, {"additionalProperties", false}};
  out["required"] = Json::array();
  out["properties"] = Json::object();
  for (const Key& k : keys) {
    const bool optional = k.type.ends_with('?');
    Json one = type_schema(optional ? k.type.substr(0, k.type.size() - 1) : k.type);
    one["description"] = k.says;
    if (!optional) out["required"].push_back(k.name);
    out["properties"][std::string(k.name)] = std::move(one);
  }
  return out;
}

Json manifest_schema() {
  return object_schema(
      "manifest.json of a folder of vectors",
      {{"schema", "string", "accsim.vectors/1"},
       {"programs", "array?", "of several programs: their folders; nothing else is here then"},
       {"accsim", "string?", "version of the program that wrote it"},
       {"level", "string?", "command or tile"},
       {"program", "string?", "what it is of"},
       {"seed", "integer?", "of random operands"},
       {"machine", "#machine?", "sizes of the machine"},
       {"commands", "integer?", "of the program, loops unrolled"},
       {"cycles", "integer?", "of the program, by the timing model, which are the RTL's"},
       {"tiles", "integer?", "level tile: lines of tiles.jsonl"},
       {"posts", "integer?", "level tile: lines of posts.jsonl"},
       {"formats", "array?", "npy, hex: endings of the files of numbers"},
       {"tensors", "array?", "in memory: #/$defs/tensor"},
       {"files", "array?", "of numbers: #/$defs/file"}});
}

Json machine_schema() {
  return object_schema("Sizes of the machine",
                       {{"file", "string", "as the command line named it"},
                        {"rows", "integer", "of the array"},
                        {"columns", "integer", "of the array"},
                        {"accumulator_rows", "integer", "of an accumulator slot"},
                        {"dataflow", "string", "of the program's first gemms"},
                        {"buffers", "object", "by name: slots, slot_bytes, port_bytes (a beat)"}});
}

Json tensor_schema() {
  return object_schema("A tensor in memory",
                       {{"tensor", "integer", "its number"},
                        {"name", "string", "its name"},
                        {"memory", "string", "dram or shared"},
                        {"bytes", "integer", "its size"},
                        {"base", "integer", "address of its first byte as descriptors have it"},
                        {"slots", "integer?", "of a region: a ring of so many equal parts"},
                        {"before", "string?", "file of its bytes when the program begins"},
                        {"after", "string?", "file of its bytes in the end"}});
}

Json file_schema() {
  return object_schema("A file of numbers, NAME.npy and NAME.hex",
                       {{"name", "string", "without its ending"},
                        {"type", "string", "int8, uint8, int32 or uint32"},
                        {"rows", "integer?", "rows of `columns` numbers"},
                        {"columns", "integer?", "numbers of a row"},
                        {"count", "integer?", "numbers of a file without rows"}});
}

/// Keys that all lines have.
const std::initializer_list<Key> kHead = {
    {"command", "integer", "commands before it, in the order of the program"},
    {"name", "string", "for people, with the loops around it"},
    {"layer", "string?", "of a network"},
    {"loops", "array", "around it, the outermost first: [name, index]"}};

Json line_schema(std::string_view says, std::initializer_list<Key> keys) {
  Json out = object_schema(says, kHead);
  const Json more = object_schema(says, keys);
  for (const Json& key : more["required"]) out["required"].push_back(key);
  out["properties"].update(more["properties"]);
  return out;
}

Json command_schema() {
  return line_schema(
      "A line of commands.jsonl",
      {{"queue", "string", "load, execute, post, vector, store or stage"},
       {"ordinal", "integer", "commands of its queue before it"},
       {"kind", "string", "load, gemm, drain, post, store, table, lane, row or stage"},
       {"start", "integer", "first cycle"},
       {"end", "integer", "first cycle in which its queue is free again"},
       {"finish", "integer", "cycle in which its result is visible"},
       {"slot", "integer", "of the buffer that it writes (store: reads), in its ring"},
       {"address", "integer", "where it writes: byte of the slot or tensor, accumulator row"},
       {"reads", "object", "slots that it reads, by buffer"},
       {"waits", "array?", "tokens before it: #/$defs/token"},
       {"signals", "array?", "tokens behind it; of a gemm with a drain those of both"},
       {"waits_for_marks", "array?", "tensors whose marks it waits for"},
       {"sets_marks", "array?", "tensors of which it sets a mark"},
       {"fields", "object?", "of its descriptor, by name (docs/descriptors.md)"},
       {"descriptor", "integer", "row of `descriptors`; of a drain that of its gemm"},
       {"tensor", "integer?", "load and store: number of the tensor"},
       {"buffer", "string?", "load: the buffer that it fills"},
       {"dataflow", "string?", "gemm: of its layer"},
       {"a", "#range?", "gemm: rows of `a`, m activations' rows of k"},
       {"b", "#range?", "gemm: rows of `b`, k rows of n; input stationary n rows of k"},
       {"sums", "#range?", "gemm and drain: rows of `sums`"},
       {"sums_in_array", "boolean?", "gemm: output stationary, the sums stay in the array"},
       {"overwrites", "boolean?", "gemm and drain: sums begin anew, nothing is added"},
       {"parameters", "#range?", "post: rows of `parameters`, one per channel"},
       {"bytes", "#range?", "numbers of `bytes` that it wrote"}});
}

Json tile_schema() {
  return line_schema(
      "A line of tiles.jsonl: a gemm",
      {{"tile", "integer", "its number"},
       {"m", "integer", "rows of activations"},
       {"k", "integer", "elements of a row"},
       {"n", "integer", "columns of weights"},
       {"dataflow", "string", "weight_stationary, input_stationary, output_stationary"},
       {"a", "#range", "rows of `a`: m of k"},
       {"b", "#range", "rows of `b`: k of n; input stationary n of k"},
       {"products", "#range", "rows of `products`: A x B alone"},
       {"sums", "#range", "rows of `sums`: what the accumulators hold then"},
       {"accumulate", "boolean", "are the products added to what was there?"},
       {"accumulator_row", "integer", "of the first sums, in their slot"},
       {"slot", "integer", "of the accumulators"},
       {"in_array", "boolean", "output stationary: the sums stay in the array"}});
}

Json post_schema() {
  return line_schema("A line of posts.jsonl: sums that become bytes",
                     {{"post", "integer", "its number"},
                      {"rows", "integer", "accumulator rows of a group"},
                      {"columns", "integer", "sums of a row"},
                      {"transposed", "boolean", "rows are channels, columns pixels"},
                      {"accumulator_row", "integer", "the first, in its slot"},
                      {"slot", "integer", "of the accumulators"},
                      {"groups", "integer", "sums that make a result"},
                      {"sums", "#range", "rows of `post_sums`, group by group"},
                      {"parameters", "#range", "rows of `parameters`, one per channel"},
                      {"group_multipliers", "#range?",
                       "rows of `group_multipliers`: of the second group "
                       "by channel, of the third ..."},
                      {"zero", "integer", "zero point of the results"},
                      {"low", "integer", "limit"},
                      {"high", "integer", "limit"},
                      {"table", "boolean", "a table is applied behind the limits"},
                      {"residual", "boolean", "bytes of the output slot are added in the end"},
                      {"bytes", "#range", "numbers of `bytes`: pixels of channels"}});
}

}  // namespace

std::string vectors_schema() {
  Json out = manifest_schema();
  out["$schema"] = "http://json-schema.org/draft-07/schema#";
  out["title"] = "accsim.vectors/1";
  Json range{{"description", "first and count: of rows, or of numbers"}, {"type", "array"}};
  range["items"] = {{"type", "integer"}, {"minimum", 0}};
  range["minItems"] = range["maxItems"] = 2;
  out["$defs"] = {{"range", std::move(range)},
                  {"machine", machine_schema()},
                  {"tensor", tensor_schema()},
                  {"file", file_schema()},
                  {"token", object_schema("A token of a buffer or of a region",
                                          {{"token", "string", "full, free or primed"},
                                           {"buffer", "string?", "activation, weight, ..."},
                                           {"region", "string?", "name of its tensor"}})},
                  {"command", command_schema()},
                  {"tile", tile_schema()},
                  {"post", post_schema()}};
  return out.dump(2) + "\n";
}

}  // namespace accsim::hw
