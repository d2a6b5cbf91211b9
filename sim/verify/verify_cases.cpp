#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>

#include "hw/random/random_network.h"
#include "sim/map/product/gemm_space.h"
#include "sim/pack/operand_layout.h"
#include "sim/program/layer_weights.h"
#include "sim/verify/verify.h"
#include "sim/work/random_gemm.h"

namespace accsim::sim {

std::string shape_text(const GemmOp& op) {
  const bool plain = op.kernel == Extent3{1, 1, 1} && op.stride == Extent3{1, 1, 1} &&
                     op.out[0] * op.out[1] == 1 && op.images == 1 && !op.grouped;
  const std::string batch = op.batch > 1 ? fmt::format("{} of ", op.batch) : "";
  if (plain) return batch + fmt::format("{}x{}x{}", op.m(), op.channels, op.outputs);
  const auto area = [](const Extent3& e) {
    return e[0] > 1 ? fmt::format("{}x{}x{}", e[0], e[1], e[2]) : fmt::format("{}x{}", e[1], e[2]);
  };
  return fmt::format("{}{}x{}x{} k{}{}{} -> {}", batch, op.images, op.channels, area(op.in),
                     area(op.kernel), op.stride[2] > 1 ? fmt::format(" /{}", op.stride[2]) : "",
                     op.dilation[2] > 1 ? fmt::format(" d{}", op.dilation[2]) : "", op.outputs);
}

std::vector<VerifyCase> network_cases(const Graph& graph, const CostedNetwork& network,
                                      const hw::HwConfig& hw) {
  std::vector<VerifyCase> out;
  std::map<const Mapping*, size_t> known;
  for (size_t i = 0; i < network.mappings.size(); ++i)
    for (const auto& mapping : network.mappings[i]) {
      const auto* product = mapping->source_as<GemmSource>();
      if (product == nullptr) continue;
      const Layer& layer = network.lowered.layers[i];
      const std::string& name = layer.name;
      const auto [at, fresh] = known.emplace(mapping.get(), out.size());
      if (!fresh) {
        out[at->second].same.push_back(name);
        continue;
      }
      const GemmSource& source = *product;
      auto weights = stored_weights(graph, layer, source.problem.op);
      out.push_back({name,
                     shape_text(source.problem.op),
                     {},
                     hw,
                     without_pitches(source.problem),
                     source.tiling,
                     "",
                     weights ? std::move(*weights) : std::vector<int8_t>()});
    }
  return out;
}

Result<VerifyCase> product_case(const GemmOp& op, const std::string& name, const hw::HwConfig& hw,
                                const MapOptions& options) {
  OpRequest request;
  request.item = op;
  request.inputs = {{{"a", hw::MemoryId::dram, false}, 1}, {{"b", hw::MemoryId::dram, true}, 1}};
  request.outputs = {{{"out", hw::MemoryId::dram, false}, 1}};
  Mapper mapper(hw, options);
  const auto mapping = mapper.map(request, name);
  if (!mapping) return mapping.errors();
  const GemmSource& product = *(*mapping)->source_as<GemmSource>();
  return VerifyCase{name, shape_text(op), {}, hw, product.problem, product.tiling, "", {}};
}

namespace {

/// Memory rates and latencies don't change the core, so every case draws its own.
void randomize_memories(hw::HwConfig& hw, std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const auto channel = [&]() {
    // Rates of all magnitudes: as often below what the ports take as above it.
    const int64_t read = pick(300, int64_t{600} << pick(0, 8));
    const int64_t write = pick(300, int64_t{600} << pick(0, 8));
    const int64_t latency = pick(0, 3) == 0 ? 0 : pick(0, int64_t{3} << pick(0, 6));
    return hw::ChannelConfig{{read}, {write}, latency};
  };
  hw.dram = channel();
  hw.shared = {16 * 1024, channel()};  // for whatever operands are put there, and their twins
  // Nearly as late as DRAM: stores to both are done at once.
  if (pick(0, 1) == 0)
    hw.shared.channel.latency = std::max<int64_t>(0, hw.dram.latency + pick(-8, 8));
}

Place random_place(const char* name, bool constant, std::mt19937& random) {
  return {name, random() % 4 == 0 ? hw::MemoryId::shared : hw::MemoryId::dram, constant};
}

std::optional<VerifyCase> random_mixed(const hw::HwConfig& hw, hw::Dataflow dataflow, bool network,
                                       std::mt19937& random) {
  auto mixed =
      network ? hw::random_network(hw, dataflow, random) : hw::random_program(hw, dataflow, random);
  if (!mixed) return std::nullopt;
  VerifyCase c;
  c.shape = fmt::format("program of {} commands", hw::count_program(mixed->program, hw).commands);
  c.hw = hw;
  c.mixed = std::make_shared<hw::ProgramWithImage>(std::move(*mixed));
  return c;
}

GemmProblem random_problem(const hw::HwConfig& hw, std::mt19937& random) {
  GemmProblem p = make_problem(random_gemm(random), hw);
  p.a = random_place("a", false, random);
  p.b = random_place("b", random() % 4 > 0, random);
  p.out = random_place("out", false, random);
  choose_weights(p, hw);
  p.parameters = {"parameters", hw::MemoryId::dram, true};
  p.has_parameters = true;
  p.epilogue.relu = random() % 2 == 0;
  if (random() % 3 == 0) {
    p.residual = random_place("residual", false, random);
    p.epilogue.residual.emplace();
    p.epilogue.residual->zero = static_cast<int32_t>(random() % 256) - 128;
    p.epilogue.residual->multiplier = static_cast<int32_t>(random() % 65536) - 32768;
    p.epilogue.residual->shift = static_cast<int32_t>(random() % 32);
    p.clips_sum = random() % 2 == 0;
  }
  // Zero points: with 0 a wrong padding byte or a lost offset would look right.
  p.a_zero = static_cast<int32_t>(random() % 256) - 128;
  p.epilogue.zero = static_cast<int32_t>(random() % 256) - 128;
  return p;
}

/// One of the tilings of `p`, staged if `stages` and any is; nullopt if no buffer holds a tile.
std::optional<Tiling> random_tiling(const GemmProblem& p, const hw::HwConfig& hw,
                                    hw::Dataflow dataflow, bool stages, std::mt19937& random) {
  std::vector<Candidate> all = tiling_candidates(p, hw, {.dataflows = {dataflow}}, {});
  if (all.empty()) return std::nullopt;
  const auto plain = [](const Candidate& c) { return c.tiling.staged == 0; };
  if (stages && !std::ranges::all_of(all, plain)) std::erase_if(all, plain);
  // Groups that aren't packed can be cut in so many more ways that hardly one would be packed.
  const auto alone = [](const Candidate& c) { return c.tiling.groups == 1; };
  if (p.most_groups > 1 && random() % 4 > 0 && !std::ranges::all_of(all, alone))
    std::erase_if(all, alone);
  return all[random() % all.size()].tiling;
}

std::optional<VerifyCase> random_product(const hw::HwConfig& hw, hw::Dataflow dataflow, uint64_t i,
                                         std::mt19937& random) {
  VerifyCase c;
  c.hw = hw;
  c.problem = random_problem(hw, random);
  const bool stages = i % 8 == 4;
  if (stages) c.problem.room = int64_t{1} << (12 + i / 8 % 8);
  const auto tiling = random_tiling(c.problem, hw, dataflow, stages, random);
  if (!tiling) return std::nullopt;
  c.tiling = *tiling;
  c.scattered = random() % 3 == 0;
  c.problem.epilogue.table = random() % 3 == 0 && hw.buffer(hw::Buffer::parameter).slot_bytes() >=
                                                      hw::SetTableCommand::kBytes;
  c.shape = shape_text(c.problem.op) + "  " + to_string(c.problem, c.tiling) +
            (c.scattered ? "  loads of both memories" : "") +
            (c.problem.epilogue.table ? "  table" : "");
  return c;
}

}  // namespace

std::vector<VerifyCase> random_cases(int64_t count, RandomSeries& series,
                                     const hw::HwConfig& machine, const MapOptions& options) {
  std::vector<VerifyCase> out;
  const std::vector<hw::Dataflow>& dataflows =
      options.dataflows.empty() ? machine.array.dataflows : options.dataflows;
  while (static_cast<int64_t>(out.size()) < count) {
    const uint64_t i = series.next++;
    std::seed_seq sequence{series.seed, i};
    std::mt19937 random(sequence);
    hw::HwConfig hw = machine;
    randomize_memories(hw, random);
    const hw::Dataflow dataflow = dataflows[random() % dataflows.size()];
    auto c = i % 2 == 1 ? random_mixed(hw, dataflow, i % 8 != 1, random)
                        : random_product(hw, dataflow, i, random);
    if (!c) continue;
    c->name = fmt::format("random {}", i);
    out.push_back(std::move(*c));
  }
  return out;
}

}  // namespace accsim::sim
