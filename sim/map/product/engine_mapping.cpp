#include "sim/map/product/engine_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "hw/program/core_runs.h"
#include "sim/base/sums.h"
#include "sim/map/engine_steps.h"

namespace accsim::sim {
namespace {

/// The machine, and a division of its banks, where one is pinned.
struct Engine {
  const hw::HwConfig& hw;
  std::optional<hw::BankDivision> banks = {};
  hw::PartWeights part_weights = hw::PartWeights::kept;
  bool is_searching = true;  ///< for a division; else it is that of NVIDIA's compiler
};

/// Kernel groups of all parts of a layer, and for each division: the timing takes them one by one.
constexpr int64_t kMostPartGroups = int64_t{1} << 22;

/// Groups times parts, as many as there are at least.
int64_t least_part_groups(const hw::Convolution& conv, const hw::DotProductEngine& engine) {
  const hw::ConvolutionSizes& s = conv.sizes;
  const int64_t line = multiply_counts(multiply_counts(s.width, s.channels), engine.element_bytes);
  const int64_t entries = multiply_counts(s.height, ceil_div(line, engine.entry_bytes));
  const int64_t parts = ceil_div(entries, engine.banks * engine.bank_entries);
  return multiply_counts(ceil_div(s.kernels, engine.atom_kernels), parts);
}

/// The convolution with its banks divided. The rule may have no division where the search has one.
Result<hw::ConvolutionPlan> divided(const hw::Convolution& conv, const Engine& on) {
  const hw::DotProductEngine engine = hw::engine_of(on.hw);
  const int64_t groups = least_part_groups(conv, engine);
  if (groups > kMostPartGroups)
    return Error{
        Errc::overflow,
        fmt::format("it takes {} kernel groups in all parts of its lines, and {} are timed; "
                    "use smaller shapes or larger banks",
                    groups, kMostPartGroups),
        ""};
  if (on.banks) return hw::divide(conv, *on.banks, engine, on.part_weights);
  // Of what would take long to search, the compiler's division.
  const bool is_long = multiply_counts(groups, engine.banks) > kMostPartGroups;
  if (!on.is_searching || is_long)
    if (const Result<hw::BankDivision> banks = hw::compiler_division(conv, engine))
      if (Result<hw::ConvolutionPlan> plan = hw::divide(conv, *banks, engine); plan || is_long)
        return plan;
  return hw::search_division(conv, engine);
}

/// What some layers cost, and how their banks are divided.
struct EnginePlan {
  int64_t cycles = 0;
  hw::Counts counts;
  hw::BankDivision banks;
  int64_t layers = 0;

  void add(const EnginePlan& o) {
    counts += o.counts;
    layers = add_counts(layers, o.layers);
    cycles = add_counts(cycles, o.cycles);
  }
};

Error too_long() { return {Errc::overflow, "its cycles are more than can be timed", ""}; }

/// What `times` layers like this one move and compute; MACs and bytes with all that is padded.
hw::Counts counts_of(const hw::DotProductLayer& layer, const hw::DotProductWork& work,
                     const EngineLayers& layers, const hw::HwConfig& hw) {
  const int64_t times = layers.times;
  const hw::DotProductEngine e = hw::engine_of(hw);
  const int64_t outputs = layer.sizes.out_width * layer.sizes.out_height;
  const int64_t weights = layer.has_weights ? 0 : work.weight_entries;
  const int64_t atoms = times * work.groups * outputs;  // output atoms
  int64_t stripes = 0;
  for (const hw::StripeRun& run : work.stripes) stripes += run.number;
  hw::Counts out;
  out.commands = times;
  out.gemms = times * work.groups * stripes * work.blocks;
  out.array_macs = Macs(atoms * work.blocks * e.atom_channels * e.atom_kernels);
  const Bytes features_in(times * work.feature_entries * e.entry_bytes);
  const Bytes weights_in(times * weights * e.entry_bytes);
  const Bytes results(layers.leaves_sums ? 0 : atoms * e.atom_kernels * e.element_bytes);
  const Bytes sums(atoms * work.blocks * e.atom_kernels * hw.accumulator_bytes());
  out.read[hw::MemoryId::dram] = features_in + weights_in;
  out.written[hw::MemoryId::dram] = results;
  const auto at = [](auto& bytes, hw::Buffer b) -> Bytes& { return bytes[static_cast<size_t>(b)]; };
  at(out.buffer_written, hw::Buffer::activation) = features_in;
  at(out.buffer_written, hw::Buffer::weight) = weights_in;
  at(out.buffer_read, hw::Buffer::activation) =
      Bytes(atoms * work.blocks * e.atom_channels * e.element_bytes);
  at(out.buffer_read, hw::Buffer::weight) =
      Bytes(out.gemms * e.atom_channels * e.atom_kernels * e.element_bytes);
  at(out.buffer_read, hw::Buffer::accumulator) = sums;
  at(out.buffer_written, hw::Buffer::accumulator) = sums;
  at(out.buffer_read, hw::Buffer::output) = at(out.buffer_written, hw::Buffer::output) = results;
  return out;
}

/// What `times` layers like this one wait for without a block, but for reads and outputs.
hw::EngineWaits loads_of(const hw::DotProductWork& work, const hw::DotProductEngine& e,
                         int64_t times) {
  hw::EngineWaits out;
  for (int64_t g : {int64_t{0}, work.groups - 1}) {
    const int64_t groups = g == 0 ? work.groups - 1 : 1;
    const int64_t load = std::max(e.load_cycles, work.kernels(g, e) * e.kernel_cycles);
    for (const hw::StripeRun& run : work.stripes) {
      const int64_t lasts = std::max(e.block_cycles, run.outputs);
      out.loads += times * groups * run.number * work.blocks * std::max<int64_t>(0, load - lasts);
    }
  }
  return out;
}

/// Cycles in which blocks of such layers last.
int64_t block_cycles(const hw::DotProductWork& work, const hw::DotProductEngine& e, int64_t times) {
  int64_t out = 0;
  for (const hw::StripeRun& run : work.stripes)
    out += times * work.groups * run.number * work.blocks * std::max(e.block_cycles, run.outputs);
  return out;
}

/// Reads of so many bytes, behind a layer: cycles of the memory port.
int64_t read_cycles(int64_t bytes, const hw::HwConfig& hw) { return hw.dram.read.cycles(bytes); }

/// The convolution with these channels, as often as it is needed.
Result<EnginePlan> plan_part(const EngineLayers& layers, int64_t channels, const Engine& on) {
  const hw::HwConfig& hw = on.hw;
  const hw::DotProductEngine engine = hw::engine_of(hw);
  hw::Convolution conv = layers.convolution;
  conv.sizes.channels = channels;
  const Result<hw::ConvolutionPlan> found = divided(conv, on);
  if (!found) return found.errors();
  EnginePlan out;
  out.banks = found->banks;
  out.layers = multiply_counts(layers.times, std::ssize(found->layers));
  out.cycles = multiply_counts(found->cycles.count(), layers.times);
  if (out.cycles > kMostEngineCycles) return too_long();
  int64_t blocks = 0;
  for (const hw::DotProductLayer& layer : found->layers) {
    const Result<hw::DotProductWork> work = cut_layer(layer, engine);
    if (!work) return work.errors();
    out.counts += counts_of(layer, *work, layers, hw);
    out.counts.engine += loads_of(*work, engine, layers.times);
    blocks += block_cycles(*work, engine, layers.times);
  }
  hw::EngineWaits& waits = out.counts.engine;
  waits.reads = multiply_counts(found->read_wait, layers.times);
  waits.outputs = std::max<int64_t>(0, out.cycles - blocks - waits.reads - waits.loads);
  return out;
}

/// The same with all channels, in parts where they must be. Sums of all parts but the last leave as
/// they are accumulated, and are read back behind the next one.
Result<EnginePlan> plan_layers(EngineLayers layers, const Engine& on) {
  const hw::HwConfig& hw = on.hw;
  const hw::ConvolutionSizes& sizes = layers.convolution.sizes;
  for (;; layers.channel_parts *= 2) {
    const int64_t channels = ceil_div(sizes.channels, layers.channel_parts);
    const int64_t parts = ceil_div(sizes.channels, channels);
    const int64_t last = sizes.channels - (parts - 1) * channels;
    Result<EnginePlan> out = plan_part(layers, last, on);
    if (!out) {
      if (out.errors().front().code != Errc::capacity || channels <= hw.array.rows) return out;
      continue;
    }
    if (parts == 1) return out;
    EngineLayers others = layers;
    others.times = multiply_counts(layers.times, parts - 1);
    others.leaves_sums = true;
    Result<EnginePlan> rest = plan_part(others, channels, on);
    if (!rest) {
      if (rest.errors().front().code != Errc::capacity || channels <= hw.array.rows) return rest;
      continue;
    }
    const int64_t sums = multiply_counts(
        others.times, sizes.out_width * sizes.out_height * sizes.kernels * hw.accumulator_bytes());
    EnginePlan moved;
    moved.counts.engine = {.reads = read_cycles(sums, hw), .writes = hw.dram.write.cycles(sums)};
    moved.cycles = add_counts(moved.counts.engine.reads, moved.counts.engine.writes);
    moved.counts.read[hw::MemoryId::dram] = moved.counts.written[hw::MemoryId::dram] = Bytes(sums);
    out->add(*rest);
    out->add(moved);
    return out;
  }
}

/// Layers whose lines are too wide for the buffer are cut by columns into 2, 4, 8 ... parts. Each
/// part reads the columns of its outputs, those of the padding too.
Result<EnginePlan> plan_columns(const EngineLayers& whole, const Engine& on) {
  Result<EnginePlan> out = plan_layers(whole, on);
  const hw::ConvolutionSizes& sizes = whole.convolution.sizes;
  for (int64_t parts = 2; !out && out.errors().front().code == Errc::capacity; parts *= 2) {
    const int64_t columns = ceil_div(sizes.out_width, parts);
    const auto plan = [&](int64_t outputs, int64_t times) {
      EngineLayers part = whole;
      part.times = multiply_counts(whole.times, times);
      part.convolution.sizes.out_width = outputs;
      part.convolution.sizes.width =
          std::min(sizes.width, (outputs - 1) * whole.column_stride + whole.column_reach);
      return plan_layers(part, on);
    };
    const int64_t others = ceil_div(sizes.out_width, columns) - 1;
    if (others == 0) break;
    Result<EnginePlan> cut = plan(sizes.out_width - others * columns, 1);
    const Result<EnginePlan> rest = cut ? plan(columns, others) : cut;
    if (cut && rest) cut->add(*rest);
    if (rest || rest.errors().front().code != Errc::capacity) out = rest ? cut : rest;
    if (columns == 1) break;
  }
  return out;
}

Result<EnginePlan> plan_groups(const GemmOp& op, int64_t together, const Engine& on) {
  std::optional<EnginePlan> all;
  for (const EngineLayers& layers : engine_layers(op, together)) {
    Result<EnginePlan> found = plan_columns(layers, on);
    if (!found) return found;
    if (!all)
      all = *std::move(found);
    else
      all->add(*found);
  }
  return *std::move(all);
}

/// The fewest cycles of all numbers of groups that are tried: powers of two, and all of them.
Result<EnginePlan> best_plan(const GemmOp& op, bool constant_weights, const Engine& on,
                             int64_t& tried) {
  std::optional<Result<EnginePlan>> best;
  const int64_t most = op.grouped && constant_weights ? op.batch : 1;
  for (int64_t together = 1;; together = std::min(2 * together, most)) {
    Result<EnginePlan> found = plan_groups(op, together, on);
    ++tried;
    if (!best || (found && (!*best || found->cycles < (*best)->cycles))) best = std::move(found);
    if (together == most) return *std::move(best);
  }
}

/// What the product adds to its results is read behind it.
void add_residual(const OpRequest& r, const GemmOp& op, const hw::HwConfig& hw, EnginePlan& plan) {
  if (!r.residual.is_of_node() && !r.residual.is_internal()) return;
  const Operand residual = operand_of_port(r.inputs, r.residual, hw);
  const int64_t bytes = multiply_counts(op.batch * op.m() * op.n(), residual.element_bytes);
  plan.counts.engine.reads += read_cycles(bytes, hw);
  plan.cycles = add_counts(plan.cycles, read_cycles(bytes, hw));
  plan.counts.read[hw::MemoryId::dram] += Bytes(bytes);
}

/// The product in a network.
void write_steps(const GemmOp& op, const OpRequest& r, const hw::HwConfig& hw, int64_t cycles,
                 Mapping& m) {
  std::vector<Place> reads = {operand_of_port(r.inputs, op.a_port, hw).place,
                              operand_of_port(r.inputs, op.b_port, hw).place};
  if (r.residual.is_of_node() || r.residual.is_internal())
    reads.push_back(operand_of_port(r.inputs, r.residual, hw).place);
  const Place writes = operand_of_port(r.outputs, op.out_port, hw).place;
  write_engine_steps(reads, {&writes, 1}, cycles, hw, m);
}

/// A line as a column, whose rows are lines that parts may be made of.
void turn_upright(const GemmOp& op, hw::Convolution& c) {
  hw::ConvolutionSizes& s = c.sizes;
  s.height = op.in[2];
  s.out_height = op.out[2];
  s.width = s.out_width = 1;
  s.kernel_height = op.kernel[2];
  s.kernel_width = 1;
  c.stride = op.stride[2];
  c.reach = (op.kernel[2] - 1) * op.dilation[2] + 1;
  c.pad = op.pad[2];
}

}  // namespace

std::vector<EngineLayers> engine_layers(const GemmOp& op, int64_t together) {
  const bool one_line =
      op.in[0] * op.in[1] * op.out[0] * op.out[1] == 1 && op.kernel[0] * op.kernel[1] == 1;
  const auto of_groups = [&](int64_t groups, int64_t times) {
    EngineLayers out;
    hw::Convolution& c = out.convolution;
    c.sizes = {.width = op.in[2],
               .height = op.in[1],
               .channels = op.channels * op.kernel[0] * groups,
               .kernels = op.outputs * groups,
               .kernel_width = op.kernel[2],
               .kernel_height = op.kernel[1],
               .out_width = op.out[2],
               .out_height = op.out[1]};
    c.stride = op.stride[1];
    c.reach = (op.kernel[1] - 1) * op.dilation[1] + 1;
    c.pad = op.pad[1];
    out.column_stride = op.stride[2];
    out.column_reach = (op.kernel[2] - 1) * op.dilation[2] + 1;
    if (one_line) turn_upright(op, c);
    out.times = multiply_counts(times, multiply_counts(op.images, op.out[0]));
    return out;
  };
  std::vector<EngineLayers> out = {of_groups(together, op.batch / together)};
  if (op.batch % together > 0) out.push_back(of_groups(op.batch % together, 1));
  return out;
}

Result<Mapping> map_on_engine(const GemmOp& op, const OpRequest& r, const MappingPin& pin,
                              const DotProductMachine& machine) {
  const hw::HwConfig& hw = machine.hw;
  Engine on{.hw = hw, .is_searching = machine.is_searching};
  if (!pin.banks.empty()) on.banks = hw::BankDivision{pin.banks[0], pin.banks[1]};
  MappingPin rest = pin;
  if (pin.rereads) on.part_weights = hw::PartWeights::read;
  rest.banks.clear();
  rest.rereads = rest.rereads && !on.banks;
  if (!rest.is_free())
    return Error{Errc::usage,
                 fmt::format("'{}' pins what an engine of dot products doesn't have; it has "
                             "bFEATURESxWEIGHTS alone, or with reread",
                             pin.text),
                 "--mapping"};
  Mapping m;
  const bool constant = operand_of_port(r.inputs, op.b_port, hw).place.constant;
  Result<EnginePlan> plan = best_plan(op, constant, on, m.evaluated);
  if (!plan) return plan.errors();
  add_residual(r, op, hw, *plan);
  if (plan->cycles > kMostEngineCycles) return too_long();
  m.counts = plan->counts;
  m.counts.macs = Macs(op.macs());
  m.candidates = m.evaluated;
  m.description =
      fmt::format("{} layer{}, banks {} + {}", plan->layers, plan->layers == 1 ? "" : "s",
                  plan->banks.features, plan->banks.weights);
  m.unverifiable = hw::name(hw::CoreLack::dot_products);
  write_steps(op, r, hw, plan->cycles, m);
  return m;
}

}  // namespace accsim::sim
