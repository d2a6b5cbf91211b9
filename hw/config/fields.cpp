#include "hw/config/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/config/field_builders.h"
#include "hw/config/template_fields.h"

namespace accsim::hw {
namespace {

using Table = std::vector<Field>;

constexpr Decides kDecidesCycles = kDecidesProducts | kDecidesVectors;
constexpr std::string_view kNoOtherValues = "has no other values that change any cost";

Condition dram_is(DramModel model) {
  return {"dram.model", std::string(name(model)),
          [model](const HwConfig& hw) { return hw.dram_model == model; }};
}

/// Where reads and writes take turns, a faster one can hold up another one for longer.
Condition one_bus() {
  return {"dram.bus", std::string(name(DramBus::shared)),
          [](const HwConfig& hw) { return hw.dram_model == DramModel::ideal && hw.one_bus(); }};
}
/// Tensors take their room first: with more of it weights may get less.
Condition kept_weights() {
  return {"buffers.shared.weights", std::string(name(RunWeights::kept)),
          [](const HwConfig& hw) { return hw.shared.weights == RunWeights::kept; }};
}

void add_head(Table& t) {
  t.push_back({"name", "", 0, 0, {}, "name of the machine in reports", field_member<std::string>([
               ](HwConfig & hw) -> auto& { return hw.name; })});
  set_decides(t, 0, kDecidesNothing);
  t.back().not_swept = kNoOtherValues;
  push_ordered(t,
               decimal_field(
                   "clock_mhz", "MHz", 0.001, 100000, "clock of the whole machine",
                   [](HwConfig & hw) -> auto& { return hw.clock_mhz; }),
               Growth::clock);
  t.back().decides = kDecidesCycles;  // only real parts count in nanoseconds
  t.back().decides_if = dram_is(DramModel::banked);
  t.back().unordered_if = dram_is(DramModel::banked);
}

void add_array(Table& t) {
  const size_t begin = t.size();
  t.push_back({"array.template", "", 0, 0, enum_names<ArrayForm, kArrayForms>(),
               "systolic = operands stream through rows and columns; dot_product = each column "
               "sums over the rows' channels",
               field_member<ArrayForm>([](HwConfig & hw) -> auto& { return hw.array.form; })});
  t.back().optional = true;
  t.back().not_swept = "decides which other fields there are; sweep two machines";
  t.push_back(whole_field(
      "array.rows", "", 1, 1024, "processing elements along the reduction (k)",
      [](HwConfig & hw) -> auto& { return hw.array.rows; }));
  t.push_back(whole_field(
      "array.cols", "", 1, 1024, "processing elements along output channels (n)",
      [](HwConfig & hw) -> auto& { return hw.array.cols; }));
  push_ordered(t,
               whole_field(
                   "array.fill_rows", "rows/cycle", 1, 1024,
                   "rows of weights that go into the array per cycle, one row a port of the weight "
                   "buffer; weight stationary, no more than rows; 1 where it is left out",
                   [](HwConfig & hw) -> auto& { return hw.array.fill_rows; }),
               Growth::rate);
  t.back().optional = true;
  t.back().left_out = 1;
  t.push_back({"array.dataflows", "", 0, 0, enum_names<Dataflow, kDataflows>(),
               "dataflows that the array has; each layer gets the best one",
               field_member<std::vector<Dataflow>>(
                   [](HwConfig & hw) -> auto& { return hw.array.dataflows; })});
  t.back().prices = kPricesEnergies | kPricesTechnologyArea;
  add_engine_fields(t);
  set_decides(t, begin, kDecidesProducts);
}

void add_types(Table& t) {
  const size_t begin = t.size();
  const std::vector<std::string> operands = {"int8", "int16", "float16", "bfloat16", "float32"};
  t.push_back(type_field(
      "types.activation", operands, "element type of activations, inputs and outputs alike",
      [](HwConfig & hw) -> auto& { return hw.types.activation; }));
  std::vector<std::string> weights = operands;
  weights.insert(weights.begin(), "int4");
  t.push_back(type_field(
      "types.weight", weights,
      "element type of weights; int4 is for constant weights, and other products are int8",
      [](HwConfig & hw) -> auto& { return hw.types.weight; }));
  t.push_back(type_field(
      "types.accumulator", {"int32", "float32"}, "element type of partial sums",
      [](HwConfig & hw) -> auto& { return hw.types.accumulator; }));
  t.push_back(whole_field(
      "types.weight_group", "channels", 0, 65536,
      "input channels that share a scale; 0 = all channels of an output channel",
      [](HwConfig & hw) -> auto& { return hw.types.weight_group; }));
  const Condition narrow{"types.weight", "int4",
                         [](const HwConfig& hw) { return hw.narrow_weights(); }};
  t.back().only = narrow;
  t.back().decides_if = narrow;
  t.push_back(
      {"types.modes",
       "",
       0,
       0,
       {},
       "further pairs of types that the array multiplies, each with rate and energy",
       field_member<std::vector<TypeMode>>([](HwConfig & hw) -> auto& { return hw.types.modes; })});
  t.back().optional = true;
  set_prices(t, begin, kPricesEnergies | kPricesArea);
}

void add_buffer(Table& t, Buffer buffer) {
  const std::string path = fmt::format("buffers.{}.", name(buffer));
  const auto i = static_cast<size_t>(buffer);
  push_ordered(t,
               whole_field(
                   path + "kib", "KiB", 1, 1048576, "capacity, all slots together",
                   [i](HwConfig & hw) -> auto& { return hw.buffers[i].kib; }),
               Growth::memory);
  t.push_back(whole_field(
      path + "slots", "", 1, 16, "equal parts of the buffer; 1 = no overlap, 2 = double buffering",
      [i](HwConfig & hw) -> auto& { return hw.buffers[i].slots; }));
  if (buffer == Buffer::accumulator) return;  // one row a cycle by contract: no port to size
  push_ordered(t,
               whole_field(
                   path + "width", "bytes/cycle", 1, 65536, "width of the load or store port",
                   [i](HwConfig & hw) -> auto& { return hw.buffers[i].width; }),
               Growth::rate);
}

template <class Get>
void add_channel(Table& t, const std::string& path, Get channel) {
  push_ordered(
      t,
      rate_field(
          path + "read_bytes_per_cycle",
          "read bandwidth", [channel](HwConfig & hw) -> auto& { return channel(hw).read; }),
      Growth::rate);
  push_ordered(
      t,
      rate_field(
          path + "write_bytes_per_cycle",
          "write bandwidth", [channel](HwConfig & hw) -> auto& { return channel(hw).write; }),
      Growth::rate);
  push_ordered(t,
               whole_field(
                   path + "latency", "cycles", 0, 1e6, "from last byte sent to last byte arrived",
                   [channel](HwConfig & hw) -> auto& { return channel(hw).latency; }),
               Growth::latency);
}

void add_memories(Table& t) {
  for (size_t i = 0; i < kBuffers; ++i) {
    const auto buffer = static_cast<Buffer>(i);
    // Row commands have their tables and channels in parameter slots.
    const bool vectors_too = buffer != Buffer::weight && buffer != Buffer::accumulator;
    const size_t begin = t.size();
    add_buffer(t, buffer);
    set_decides(t, begin, vectors_too ? kDecidesCycles : kDecidesProducts);
  }
  push_ordered(t,
               whole_field(
                   "buffers.shared.kib", "KiB", 0, 1048576,
                   "memory that keeps whole tensors between layers; 0 = none",
                   [](HwConfig & hw) -> auto& { return hw.shared.kib; }),
               Growth::memory);
  t.back().decides = kDecidesPlaces;
  t.back().unordered_if = kept_weights();
  t.push_back(
      {"buffers.shared.weights", "", 0, 0, enum_names<RunWeights, kRunWeights>(),
       "read = every run reads weights from DRAM; kept = as many weights as fit stay from run to "
       "run",
       field_member<RunWeights>([](HwConfig & hw) -> auto& { return hw.shared.weights; })});
  t.back().optional = true;
  t.back().not_swept = "decides what bounds the other fields have; sweep two machines";
  t.back().decides = kDecidesPlaces;
  const size_t channel = t.size();
  add_channel(
      t, "buffers.shared.", [](HwConfig & hw) -> auto& { return hw.shared.channel; });
  set_decides(t, channel, kDecidesCycles);
}

void add_dram(Table& t) {
  const size_t begin = t.size();
  t.push_back(
      {"dram.model", "", 0, 0, enum_names<DramModel, kDramModels>(),
       "ideal = one in-order pipelined channel per direction; banked = parts with banks and rows",
       field_member<DramModel>([](HwConfig & hw) -> auto& { return hw.dram_model; })});
  t.back().not_swept = kNoOtherValues;
  const auto only_for = [&](DramModel model, size_t first) {
    for (size_t i = first; i < t.size(); ++i) t[i].only = dram_is(model);
  };
  const size_t ideal = t.size();
  add_channel(
      t, "dram.", [](HwConfig & hw) -> auto& { return hw.dram; });
  t.push_back(
      {"dram.bus", "", 0, 0, enum_names<DramBus, kDramBuses>(),
       "separate = one channel per direction; shared = one channel, which serves both in the order "
       "of requests",
       field_member<DramBus>([](HwConfig & hw) -> auto& { return hw.dram_bus; })});
  t.back().optional = true;
  t.back().not_swept = "decides which order the other fields have; sweep two machines";
  only_for(DramModel::ideal, ideal);
  for (size_t i = ideal; i < t.size(); ++i) t[i].unordered_if = one_bus();
  const size_t banked = t.size();
  t.push_back({"dram.preset", "", 0, 0, enum_names<DramPreset, kDramPresets>(),
               "kind of DRAM; a channel has 64 bits (DDR4), 16 bits (LPDDR4) or 128 bits (HBM2)",
               field_member<DramPreset>([](HwConfig & hw) -> auto& { return hw.banked.preset; })});
  t.back().prices = kPricesEnergies;
  t.push_back(whole_field(
      "dram.channels", "", 1, 128, "channels, interleaved burst by burst",
      [](HwConfig & hw) -> auto& { return hw.banked.channels; }));
  t.push_back({"dram.map", "", 0, 0, enum_names<DramMap, kDramMaps>(),
               "place of the bank group's address bits: below the columns or above them",
               field_member<DramMap>([](HwConfig & hw) -> auto& { return hw.banked.map; })});
  only_for(DramModel::banked, banked);
  set_decides(t, begin, kDecidesCycles);
}

void add_vector(Table& t) {
  add_vector_template(t);
  constexpr std::array<std::string_view, kLaneClasses> kWhat = {
      "add, multiply, min, max, compare, select, relu, clip, logic",
      "exponentials, roots and reciprocals of a softmax or norm; divide, log, sqrt, pow; tanh, "
      "sigmoid and erf if no table has them",
      "elements of a sum, mean, min or max",
      "window elements of a pooling",
      "taps of an interpolation",
      "casts, quantise, dequantise",
      "compares of a sort, top-k, arg-max, scan"};
  for (size_t i = 0; i < kLaneClasses; ++i) {
    push_ordered(
        t,
        whole_field(
            fmt::format("vector.lanes.{}", kLaneClassNames[i]), "ops/cycle", 1, 65536,
            std::string(kWhat[i]), [i](HwConfig & hw) -> auto& { return hw.vector.lanes[i]; }),
        Growth::rate);
    t.back().decides = kDecidesVectors;
  }
  // Tilings follow from their number: more of them has no order.
  t.push_back(whole_field(
      "vector.mac_lanes", "", 0, 65536,
      "lanes that can weigh the elements of a window, for depthwise convolutions; 0 = none",
      [](HwConfig & hw) -> auto& { return hw.vector.mac_lanes; }));
  t.back().optional = true;
  t.back().decides = kDecidesCycles;
  add_unit_fields(t);
}

void add_technology(Table& t) {
  const size_t begin = t.size();
  t.push_back(
      {"energy.technology", "", 0, 0, enum_names<Technology, kTechnologies>(),
       "technology that gives the area and all energies left out; custom = all energies are given",
       field_member<Technology>([](HwConfig & hw) -> auto& { return hw.energy.technology; })});
  t.push_back({"energy.dram", "", 0, 0, enum_names<DramKind, kDramKinds>(),
               "kind of an ideal DRAM, which gives its energies; a banked DRAM has its preset",
               field_member<DramKind>([](HwConfig & hw) -> auto& { return hw.energy.dram; })});
  for (size_t i = begin; i < t.size(); ++i) t[i].optional = true;
  set_decides(t, begin, kDecidesEnergy);
  set_prices(t, begin, kPricesEnergies);
}

/// What products with an operand of zero don't take.
void add_zeros(Table& t) {
  const size_t begin = t.size();
  t.push_back(decimal_field(
      "energy.zeros", "", 0, 1,
      "part of all products that have an operand of zero, which depends on the data; 0 = none",
      [](HwConfig & hw) -> auto& { return hw.energy.zeros; }));
  t.push_back(decimal_field(
      "energy.zero_saves", "", 0, 1,
      "part of energy.mac_pj that a product with an operand of zero doesn't take, where the array "
      "gates it; 0 = it takes as much",
      [](HwConfig & hw) -> auto& { return hw.energy.zero_saves; }));
  for (size_t i = begin; i < t.size(); ++i) t[i].optional = true;
  set_decides(t, begin, kDecidesEnergy);
}

void add_energy(Table& t) {
  add_technology(t);
  const auto add = [&](const std::string& key, std::string unit, std::string what, auto get) {
    push_ordered(t, derivable_field("energy." + key, std::move(unit), 0, 1e9, std::move(what), get),
                 Growth::price);
    t.back().decides = kDecidesEnergy;
  };
  add(
      "mac_pj", "pJ", "one multiply-accumulate in the configured types",
      [](HwConfig & hw) -> auto& { return hw.energy.mac; });
  add(
      "vector_op_pj", "pJ", "one vector lane operation",
      [](HwConfig & hw) -> auto& { return hw.energy.vector_op; });
  for (size_t i = 0; i < kBuffers; ++i) {
    const auto buffer = name(static_cast<Buffer>(i));
    add(
        fmt::format("{}_pj_per_byte", buffer), "pJ/byte",
        fmt::format("one byte read from or written to the {} buffer", buffer),
        [i](HwConfig & hw) -> auto& { return hw.energy.buffer_byte[i]; });
  }
  add(
      "shared_pj_per_byte", "pJ/byte", "one byte read from or written to the shared memory",
      [](HwConfig & hw) -> auto& { return hw.energy.shared_byte; });
  add(
      "dram_read_pj_per_byte", "pJ/byte", "one byte read from DRAM",
      [](HwConfig & hw) -> auto& { return hw.energy.dram_read_byte; });
  add(
      "dram_write_pj_per_byte", "pJ/byte", "one byte written to DRAM",
      [](HwConfig & hw) -> auto& { return hw.energy.dram_write_byte; });
  add(
      "static_pj_per_cycle", "pJ/cycle", "leakage and clock tree of the whole chip, per cycle",
      [](HwConfig & hw) -> auto& { return hw.energy.static_per_cycle; });
  add_zeros(t);
}

Table make_fields() {
  Table t;
  add_head(t);
  add_array(t);
  add_types(t);
  add_memories(t);
  add_dram(t);
  add_vector(t);
  add_token_fields(t);
  add_energy(t);
  return t;
}

}  // namespace

const std::vector<Field>& fields() {
  static const Table table = make_fields();
  return table;
}

const Field* find_field(std::string_view path) {
  const auto found = std::ranges::find(fields(), path, &Field::path);
  return found == fields().end() ? nullptr : &*found;
}

}  // namespace accsim::hw
