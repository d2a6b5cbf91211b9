#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/config/derivable_number.h"
#include "hw/config/dram_device.h"
#include "hw/config/memory.h"
#include "hw/dot_product/engine_fields.h"
#include "hw/engines/engine_machine.h"
#include "hw/numbers/encoding.h"
#include "hw/technology/technology.h"
#include "sim/base/dtype.h"
#include "sim/base/units.h"

namespace accsim::hw {

/// A machine, fully described. Read from YAML by hw/config/load.h, which fills every field and has
/// checked the ranges and cross-field rules that the comments state. All sizes are of one copy.

/// What stays in the array during a pass while the others stream by: a k x n tile of weights, a
/// k x m tile of activations, or the m x n sums.
enum class Dataflow : uint8_t { weight_stationary, input_stationary, output_stationary };
/// Do its sums stay in the array, rather than an operand?
constexpr bool sums_stay(Dataflow d) { return d == Dataflow::output_stationary; }
inline constexpr size_t kDataflows = 3;
/// As machine files and reports spell it: "weight_stationary", ...
std::string_view name(Dataflow d);

/// On-chip memories that the load and store engines fill and drain slot by slot.
enum class Buffer : uint8_t { activation, weight, parameter, accumulator, output };
inline constexpr size_t kBuffers = 5;
/// As machine files and reports spell it: "activation", "weight", ...
std::string_view name(Buffer b);

/// One of the slot memories: a ring of equal slots.
struct BufferConfig {
  int64_t kib = 0;    ///< capacity of all slots together, in KiB
  int64_t slots = 2;  ///< equal parts: 1 = no overlap, 2 = double buffering
  int64_t width = 0;  ///< bytes a cycle through its load/store port; 0 for the accumulator

  int64_t slot_bytes() const { return kib * 1024 / slots; }
};

/// Main memory of real parts: equal channels, interleaved burst by burst.
struct BankedDram {
  DramPreset preset = DramPreset::ddr4_2400;
  int64_t channels = 1;
  DramMap map = DramMap::bank_group_low;

  /// The best that any transfer can see: the peak rate, rounded up to a thousandth of a byte a
  /// cycle of a machine at `clock_mhz`, for either direction when it has the bus to itself; latency
  /// = tRP + tRCD + CL + the burst.
  ChannelConfig peak_channel(double clock_mhz) const;
  friend bool operator==(const BankedDram&, const BankedDram&) = default;
};

/// Where the weights of products are when a run begins. `read`: in DRAM, every run reads them.
/// `kept`: as many as fit beside the tensors that stay in the shared buffer have stayed there since
/// the run before, which was of the same network; timed, and not verified.
enum class RunWeights : uint8_t { read, kept };
inline constexpr size_t kRunWeights = 2;
/// As machine files spell it: "read", "kept".
std::string_view name(RunWeights weights);

/// The on-chip buffer that keeps whole tensors between layers, when the machine has one.
struct SharedConfig {
  int64_t kib = 0;  ///< 0: the machine has none
  ChannelConfig channel;
  RunWeights weights = RunWeights::read;
  /// What weights take of it that stay from run to run. Of a network and not of the machine: set
  /// where it is costed (sim/map/kept_weights.h).
  int64_t kept_bytes = 0;

  /// What there is for tensors and staged tiles.
  int64_t free_bytes() const { return kib * 1024 - kept_bytes; }
};

/// How the multipliers are put together. `systolic`: operands stream through rows and columns, by a
/// dataflow. `dot_product`: each column is a dot product over the rows' channels, which are
/// broadcast; layers run one by one, from DRAM to DRAM (docs/dot-product.md).
enum class ArrayForm : uint8_t { systolic, dot_product };
inline constexpr size_t kArrayForms = 2;
/// As machine files spell it: "systolic", "dot_product".
std::string_view name(ArrayForm form);

/// The array: one multiply-accumulate a cycle in each of rows x cols elements.
struct ArrayConfig {
  ArrayForm form = ArrayForm::systolic;
  int64_t rows = 0;                 ///< reduction lanes (k)
  int64_t cols = 0;                 ///< output-channel lanes (n)
  int64_t fill_rows = 1;            ///< rows of weights that go in per cycle, weight stationary
  std::vector<Dataflow> dataflows;  ///< what the array can do; the mapper picks per layer
  /// Of dot products. Atoms, elements and memory aren't from here: engine_of() fills them in.
  DotProductEngine engine;
};

/// One more pair of types that the array multiplies, beside types.activation by types.weight.
struct TypeMode {
  DType activation = DType::undefined, weight = DType::undefined;
  /// MACs a processing element and cycle: such an array counts as one of `rate` x rows rows
  /// (machine_of_mode() in type_modes.h).
  double rate = 1;
  DerivableNumber mac{};  ///< picojoules of one multiply-accumulate
  int64_t group = 0;      ///< of int4 weights: as TypesConfig::weight_group
  friend bool operator==(const TypeMode&, const TypeMode&) = default;
};

/// Element types of operands and sums: all integers or all floats.
struct TypesConfig {
  DType activation = DType::int8;
  DType weight = DType::int8;
  DType accumulator = DType::int32;
  /// int4 weights: input channels that share a scale, of those of an output channel; 0: all.
  int64_t weight_group = 0;
  /// What else the array computes in; empty: nothing. Their sums are int32 or float32, as their
  /// activations are integers or floats.
  std::vector<TypeMode> modes = {};
};

/// The classes of sim/work/work.h in the same order; a test compares the two lists.
inline constexpr size_t kLaneClasses = 7;
inline constexpr std::array<std::string_view, kLaneClasses> kLaneClassNames = {
    "elementwise", "special", "reduce", "pool", "resize", "convert", "search"};

/// What the vector unit is. `lanes`: all that isn't a product runs on lanes. `units`: pooling, LRN
/// and point-wise layers have a unit each, from DRAM to DRAM, and lanes do the rest
/// (docs/dot-product.md).
enum class VectorForm : uint8_t { lanes, units };
inline constexpr size_t kVectorForms = 2;
/// As machine files spell it: "lanes", "units".
std::string_view name(VectorForm form);

/// The unit for what isn't a product: its rate by class of operation.
struct VectorConfig {
  VectorForm form = VectorForm::lanes;
  std::array<int64_t, kLaneClasses> lanes{};  ///< operations a cycle, by class
  int64_t mac_lanes = 0;  ///< taps a cycle that are multiplied by a weight each; 0: it can't
  /// Of `units`. Atoms, memory and rates aren't from here: side_units_of() fills them in.
  SideUnits units = {};
};

/// Picojoules. Of a number that is given the published source stands beside it in the YAML file;
/// the others follow from the technology (derive.h). Without one all are given.
struct EnergyConfig {
  Technology technology = Technology::custom;
  DramKind dram = DramKind::custom;  ///< of ideal DRAM; a banked one's follows from its preset
  DerivableNumber mac{};             ///< one multiply-accumulate in the configured types
  DerivableNumber vector_op{};       ///< one vector lane operation
  std::array<DerivableNumber, kBuffers> buffer_byte{};  ///< one byte read or written, by buffer
  DerivableNumber shared_byte{};
  DerivableNumber dram_read_byte{}, dram_write_byte{};
  DerivableNumber static_per_cycle{};  ///< leakage and clock tree of the whole chip, per cycle
  double zeros = 0;                    ///< part of the products that have an operand of zero, 0..1
  double zero_saves = 0;               ///< part of `mac` that such a product doesn't take, 0..1

  /// Picojoules of one multiply-accumulate in the mean over these data, of one that takes `full`
  /// with any other operands.
  double with_zeros(double full) const { return full * (1 - zeros * zero_saves); }
  double mean_mac() const { return with_zeros(mac); }
};

/// One machine. All of it but `name` and `file` is what costs follow from.
struct HwConfig {
  std::string name;
  std::string file;  ///< where it was read from; not part of the machine
  double clock_mhz = 0;
  ArrayConfig array;
  TypesConfig types;
  std::array<BufferConfig, kBuffers> buffers{};
  SharedConfig shared;
  /// As the file says when dram_model is ideal; banked.peak_channel() else, so that it bounds every
  /// transfer from below. What a banked transfer really takes: hw/dram/cost.h.
  ChannelConfig dram;
  DramModel dram_model = DramModel::ideal;
  DramBus dram_bus = DramBus::separate;  ///< of meaning when dram_model is ideal
  BankedDram banked;                     ///< of meaning when dram_model is banked
  VectorConfig vector;
  EngineMachine engines;  ///< that hand each other tokens; without queues: it has none
  EnergyConfig energy;

  /// Do reads and writes of DRAM take turns?
  bool one_bus() const { return dram_model == DramModel::banked || dram_bus == DramBus::shared; }
  /// A row of the list of memories.
  Memory memory(MemoryId m) const {
    if (m == MemoryId::shared)
      return {"the shared buffer", shared.kib * 1024, shared.channel, false, false,
              energy.shared_byte,  energy.shared_byte};
    const bool banks = dram_model == DramModel::banked;
    return {
        "DRAM", INT64_MAX, dram, banks, one_bus(), energy.dram_read_byte, energy.dram_write_byte};
  }
  bool has_dot_products() const { return array.form == ArrayForm::dot_product; }
  /// Has it units for pooling, LRN and point-wise layers?
  bool has_side_units() const { return vector.form == VectorForm::units; }
  /// Does its file say how its engines hand each other tokens (docs/engines.md)?
  bool has_engines() const { return !engines.queues.empty(); }
  const BufferConfig& buffer(Buffer b) const { return buffers[static_cast<size_t>(b)]; }
  int64_t activation_bytes() const { return storage_bytes(types.activation, 1); }
  /// Of a weight that has bytes of its own: also what products take whose second operand isn't
  /// constant, on a machine of int4 weights int8.
  int64_t weight_bytes() const { return storage_bytes(types.weight, 1); }
  bool narrow_weights() const { return is_packed(types.weight); }
  /// Of weights of bytes of their own, or of those that may be `packed`, as int4 are.
  Encoding weight_encoding(bool packed) const {
    if (!narrow_weights()) return {format_of(types.weight)->id};
    return packed ? kPackedWeights : Encoding{format_of(types.activation)->id};
  }
  int64_t accumulator_bytes() const { return storage_bytes(types.accumulator, 1); }
  /// Are activations codes of 8 bits, which lane, row and table commands compute with? What else a
  /// vector unit does in other types is counted and has no commands.
  bool computes_int8() const { return types.activation == DType::int8; }
  /// Accumulator rows (of `cols` partial sums) in one slot.
  int64_t accumulator_rows() const {
    return buffer(Buffer::accumulator).slot_bytes() / (array.cols * accumulator_bytes());
  }
  /// Bytes of post-processing parameters per output channel: int32 bias, int32 multiplier and int32
  /// shift for integer types; the bias in the accumulator type for float types, and beside it the
  /// scale of weights that are integers.
  int64_t parameter_bytes() const {
    if (!is_float(types.accumulator)) return 12;
    return accumulator_bytes() * (is_float(types.weight) ? 1 : 2);
  }
};

/// The engine of a machine of dot products, whole: an atom is rows channels for cols kernels, and
/// reads take what DRAM takes for an entry. Of machines that has_dot_products() is true of.
DotProductEngine engine_of(const HwConfig& hw);

/// The units beside the engine, whole: an atom is cols elements, requests take what DRAM takes for
/// an atom, and rates are those of lanes: pool's, special's for LRN, elementwise's for point-wise
/// layers. Of machines that has_side_units() is true of.
SideUnits side_units_of(const HwConfig& hw);

}  // namespace accsim::hw
