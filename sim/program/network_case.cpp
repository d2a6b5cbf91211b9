#include "sim/program/network_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "hw/program/place_tensors.h"
#include "hw/program/visit.h"
#include "sim/base/sums.h"
#include "sim/cost/left_out.h"
#include "sim/program/layer_weights.h"

namespace accsim::sim {
namespace {

class CaseBuilder {
 public:
  CaseBuilder(const Graph& graph, const CostedNetwork& network, const hw::HwConfig& hw,
              const CaseOptions& options)
      : graph_(graph),
        network_(network),
        hw_(hw),
        options_(options),
        left_out_(left_out_layers(network.order, network.lowered.layers.size())) {}

  Result<NetworkCase> build_case() {
    NetworkCase out;
    NetworkProgramOptions options;
    options.includes = [this](size_t layer) { return includes(layer); };
    options.emit = [this](const NetworkPart& part) { return emit_part(part); };
    out.network = network_program(graph_, network_, options);
    hw::Program& program = out.network.program;
    if (out.network.parts.empty())
      return Error{Errc::unsupported, "no layer of it has commands on this machine", graph_.file};
    fill_report(out.report);
    out.report.parts = std::ssize(out.network.parts);
    out.hw = hw_;
    if (!out.report.is_complete())
      out.hw.shared.kib += ceil_div(bytes_given(program, out.network.outside), 1024);
    if (Status s = hw::place_tensors(program, out.hw, out.network.outside); !s) return s.errors();
    if (Status s = hw::verify(program, out.hw); !s) return s.errors();
    fill_image(out);
    return out;
  }

 private:
  bool includes(size_t layer) const {
    return left_out_[layer].empty() && !options_.left_out.contains(layer);
  }

  /// Bytes of tensors in the shared buffer that no command of the program writes, or that layers
  /// `outside` of it write, too.
  static int64_t bytes_given(const hw::Program& program, const std::set<int>& outside) {
    std::vector<bool> stored(program.tensors.size());
    hw::visit_nest(program.body, [&](const hw::StoreCommand& c) {
      stored[static_cast<size_t>(c.tensor)] = true;
    });
    for (const int tensor : outside) stored[static_cast<size_t>(tensor)] = false;
    int64_t out = 0;
    for (size_t i = 0; i < stored.size(); ++i) {
      const hw::ProgramTensor& t = program.tensors[i];
      if (!stored[i] && t.slots == 0 && t.memory == hw::MemoryId::shared) out += t.bytes;
    }
    return out;
  }

  std::mt19937 generator_for(uint64_t what, uint64_t which, uint64_t of = 0) const {
    std::seed_seq sequence{options_.seed, what, which, of};
    return std::mt19937(sequence);
  }

  /// A zero point for each tensor.
  int32_t zero_point_of(int tensor) const {
    std::mt19937 draw = generator_for(kZero, static_cast<uint64_t>(tensor));
    return static_cast<int32_t>(draw() % 41) - 20;
  }

  hw::Program emit_part(const NetworkPart& part) {
    std::optional<PartNumbers> numbers;
    if (options_.numbers) numbers = options_.numbers(part);
    if (!numbers) numbers = draw_numbers(part);
    hw::Program out = emit(*numbers, hw_);
    numbers_.push_back(std::move(*numbers));
    return out;
  }

  PartNumbers draw_numbers(const NetworkPart& part) const {
    std::vector<int8_t> weights;
    if (const auto* product = part.mapping->source_as<GemmSource>())
      if (auto stored =
              stored_weights(graph_, network_.lowered.layers[part.layer], product->problem.op))
        weights = std::move(*stored);
    std::mt19937 draw = generator_for(kNumbers, part.layer, part.item);
    return random_numbers(
        part, hw_, weights, [this](int tensor) { return zero_point_of(tensor); }, draw);
  }

  /// Constants as they are, all else random: what is stored over it, and inputs.
  void fill_image(NetworkCase& c) {
    const std::vector<hw::ProgramTensor>& tensors = c.network.program.tensors;
    c.image.resize(tensors.size());
    std::mt19937 draw = generator_for(kInputs, 0);
    const auto draw_bytes = [&](size_t t) {
      c.image[t].resize(static_cast<size_t>(tensors[t].bytes));
      for (uint8_t& b : c.image[t]) b = static_cast<uint8_t>(draw());
    };
    for (size_t i = 0; i < c.network.parts.size(); ++i) {
      const NetworkPart& part = c.network.parts[i];
      for (size_t k = 0; k < part.tensors.size(); ++k) {
        const auto t = static_cast<size_t>(part.tensors[k]);
        if (c.image[t].empty() && part.offsets[k] > 0) draw_bytes(t);
        if (!part.constant[k]) continue;
        std::vector<uint8_t>& bytes = numbers_[i].constants[k];
        if (c.image[t].empty())
          c.image[t] = std::move(bytes);
        else
          std::ranges::copy(bytes, c.image[t].begin() + part.offsets[k]);
      }
    }
    for (size_t t = 0; t < tensors.size(); ++t)
      if (std::ssize(c.image[t]) != tensors[t].bytes) draw_bytes(t);
    for (const NetworkPart& part : c.network.parts)
      if (const auto* picks = part.mapping->source_as<GatherSource>(); picks && !part.constant[1])
        draw_indices(picks->problem, draw, c.image[static_cast<size_t>(part.tensors[1])]);
    c.numbers = std::move(numbers_);
  }

  /// Indices of rows, as a network's input has them.
  static void draw_indices(const GatherProblem& p, std::mt19937& draw, std::vector<uint8_t>& to) {
    std::ranges::fill(to, uint8_t{0});
    for (int64_t i = 0; i < p.rows.indices(); ++i) {
      const auto index = static_cast<uint32_t>(draw() % static_cast<uint64_t>(p.rows.rows));
      std::memcpy(to.data() + i * p.index_bytes, &index, sizeof(index));
    }
  }

  void fill_report(VerifiedNetwork& r) const {
    r.report_cycles = network_.report.totals.cycles;
    for (size_t i = 0; i < network_.mappings.size(); ++i) {
      const Layer& layer = network_.lowered.layers[i];
      if (includes(i)) continue;
      r.left_out.push_back(fmt::format("{} ({})", layer.name, layer.op_type));
      r.left_cycles = add_counts(r.left_cycles, network_.report.layers[i].costs.cycles);
    }
  }

  enum : uint64_t { kZero, kNumbers, kInputs };

  const Graph& graph_;
  const CostedNetwork& network_;
  const hw::HwConfig& hw_;
  const CaseOptions& options_;
  const std::vector<std::string_view> left_out_;  ///< by layer
  std::vector<PartNumbers> numbers_;              ///< by part
};

}  // namespace

Result<NetworkCase> network_case(const Graph& graph, const CostedNetwork& network,
                                 const hw::HwConfig& hw, const CaseOptions& options) {
  return CaseBuilder(graph, network, hw, options).build_case();
}

}  // namespace accsim::sim
