#include "sim/flow/verify_network.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "hw/program/coverage.h"
#include "hw/program/cut_program.h"
#include "hw/program/place_tensors.h"
#include "hw/timing/timing.h"
#include "sim/base/sums.h"
#include "sim/flow/layer_weights.h"
#include "sim/flow/left_out.h"
#include "sim/flow/network_reference.h"

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
        left_out_(left_out_layers(network.text, network.lowered.layers.size())) {}

  Result<NetworkCase> run() {
    NetworkCase out;
    NetworkProgramOptions options;
    options.includes = [this](size_t layer) { return includes(layer); };
    options.emit = [this](const NetworkPart& part) { return write(part); };
    out.network = network_program(graph_, network_, options);
    hw::Program& program = out.network.program;
    if (out.network.parts.empty())
      return Error{Errc::unsupported, "no layer of it has commands on this machine", graph_.file};
    describe(out.report);
    out.report.parts = std::ssize(out.network.parts);
    out.hw = hw_;
    if (!out.report.whole())
      out.hw.shared.kib += ceil_div(bytes_given(program, out.network.outside), 1024);
    if (Status s = hw::place_tensors(program, out.hw, out.network.outside); !s) return s.errors();
    if (Status s = hw::verify(program, out.hw); !s) return s.errors();
    fill(out);
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
    const auto note = [&](const auto& self, const std::vector<hw::Item>& body) -> void {
      for (const hw::Item& item : body) {
        if (const auto* loop = std::get_if<hw::Loop>(&item.node)) self(self, loop->body);
        const auto* command = std::get_if<hw::Command>(&item.node);
        const auto* store = command ? std::get_if<hw::StoreCommand>(command) : nullptr;
        if (store) stored[static_cast<size_t>(store->tensor)] = true;
      }
    };
    note(note, program.body);
    for (const int tensor : outside) stored[static_cast<size_t>(tensor)] = false;
    int64_t out = 0;
    for (size_t i = 0; i < stored.size(); ++i) {
      const hw::ProgramTensor& t = program.tensors[i];
      if (!stored[i] && t.slots == 0 && t.memory == hw::Memory::shared) out += t.bytes;
    }
    return out;
  }

  std::mt19937 random(uint64_t what, uint64_t which, uint64_t of = 0) const {
    std::seed_seq sequence{options_.seed, what, which, of};
    return std::mt19937(sequence);
  }

  /// A zero point for each tensor.
  int32_t zero(int tensor) const {
    std::mt19937 draw = random(kZero, static_cast<uint64_t>(tensor));
    return static_cast<int32_t>(draw() % 41) - 20;
  }

  hw::Program write(const NetworkPart& part) {
    std::optional<PartNumbers> numbers;
    if (options_.numbers) numbers = options_.numbers(part);
    if (!numbers) numbers = drawn(part);
    hw::Program out = emit(*numbers, part, hw_);
    numbers_.push_back(std::move(*numbers));
    return out;
  }

  PartNumbers drawn(const NetworkPart& part) const {
    std::vector<int8_t> weights;
    if (part.mapping->gemm)
      if (auto stored = stored_weights(graph_, network_.lowered.layers[part.layer],
                                       part.mapping->gemm->problem.op))
        weights = std::move(*stored);
    std::mt19937 draw = random(kNumbers, part.layer, part.item);
    return random_numbers(
        part, hw_, weights, [this](int tensor) { return zero(tensor); }, draw);
  }

  /// Constants as they are, all else random: what is stored over it, and inputs.
  void fill(NetworkCase& c) {
    const std::vector<hw::ProgramTensor>& tensors = c.network.program.tensors;
    c.image.resize(tensors.size());
    std::mt19937 draw = random(kInputs, 0);
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
      if (part.mapping->gather && !part.constant[1])
        draw_indices(*part.mapping->gather, draw, c.image[static_cast<size_t>(part.tensors[1])]);
    c.numbers = std::move(numbers_);
  }

  /// Indices of rows, as a network's input has them.
  static void draw_indices(const GatherProblem& p, std::mt19937& draw, std::vector<uint8_t>& to) {
    std::ranges::fill(to, uint8_t{0});
    for (int64_t i = 0; i < p.rows.count; ++i) {
      const auto index = static_cast<uint32_t>(draw() % static_cast<uint64_t>(p.rows.rows));
      std::memcpy(to.data() + i * p.index_bytes, &index, sizeof(index));
    }
  }

  void describe(VerifiedNetwork& r) const {
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

class NetworkRunner {
 public:
  NetworkRunner(const NetworkCase& c, const CostedNetwork& network, const VerifyOptions& options)
      : c_(c),
        program_(c.network.program),
        network_(network),
        hw_(c.hw),
        options_(options),
        range_(body_of(options.layers, c.network)),
        part_(hw::cut_program(program_, range_.first, range_.end)) {}

  VerifyReport run() {
    VerifyRow& row = out_.rows.emplace_back();
    row.name = program_.name;
    out_.network = c_.report;
    describe(row);
    const Status s = run(row);
    row.done = !stopped();
    if (!s) row.error = s.errors().front().text();
    return std::move(out_);
  }

 private:
  bool stopped() const { return options_.stop && *options_.stop; }

  void describe(VerifyRow& row) {
    const auto parts = std::ranges::count_if(part_.body, [](const hw::Item& item) {
      return std::holds_alternative<hw::LayerHead>(item.node);
    });
    row.shape = fmt::format("{} programs", parts);
    VerifiedNetwork& n = *out_.network;
    const VerifiedLayers& layers = options_.layers;
    if (layers.from) n.from = network_.lowered.layers[*layers.from].name;
    if (layers.until) n.until = network_.lowered.layers[*layers.until].name;
    n.before = hw::commands_of(program_, 0, range_.first);
    n.behind = hw::commands_of(program_, range_.end, program_.body.size());
  }

  Status run(VerifyRow& row) {
    const auto core = hw::VerilatedCore::load(hw_, program_.dataflow, options_.variant);
    row.no_core = !core;
    if (!core) return core.errors();
    if (out_.network->is_part())
      if (Status s = hw::verify(part_, hw_); !s) return s;
    const auto start = std::chrono::steady_clock::now();
    hw::MemoryImage image = c_.image;
    if (Status s = on_golden(0, range_.first, image); !s) return s;
    const Result<hw::GoldenRun> golden = hw::golden_run(part_, hw_, image);
    if (!golden) return golden.errors();
    const Result<std::string> reference = compare(golden->image);
    if (!reference) return reference.errors();
    const auto result = hw::cosim(part_, hw_, **core, image, cosim_options(*golden, row));
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!result) return result.errors();
    add_coverage(part_, row.coverage);
    note(*result, options_, row);
    compare(*reference, row);
    return ok();
  }

  /// Runs items of the program's body on golden.
  Status on_golden(size_t first, size_t end, hw::MemoryImage& image) const {
    return hw::run_golden(hw::cut_program(program_, first, end), hw_, image);
  }

  /// Where the network's results differ from the integer reference; `golden`: what is left of the
  /// part that RTL runs.
  Result<std::string> compare(const hw::MemoryImage& golden) {
    hw::MemoryImage rest;
    const bool at_end = range_.end == program_.body.size();
    if (!at_end) {
      rest = golden;
      if (Status s = on_golden(range_.end, program_.body.size(), rest); !s) return s.errors();
    }
    ReferenceResult reference =
        compare_with_reference(network_, c_.network, c_.numbers, c_.image, at_end ? golden : rest);
    out_.network->referenced = reference.compared;
    out_.network->taken = reference.taken;
    return std::move(reference.difference);
  }

  hw::CosimOptions cosim_options(const hw::GoldenRun& golden, VerifyRow& row) const {
    hw::CosimOptions out{.waveform = {.file = options_.trace,
                                      .most_bytes = options_.trace_bytes,
                                      .signals = options_.signals ? &row.signals : nullptr},
                         .golden = &golden};
    if (options_.layers.traced) {
      const BodyRange traced = body_of(*options_.layers.traced, c_.network);
      out.waveform.of = {hw::commands_of(program_, range_.first, traced.first),
                         hw::commands_of(program_, range_.first, traced.end)};
    }
    out.progress = [&](int64_t cycle, int64_t of) {
      if (options_.progress) options_.progress(0, cycle, of);
      return !stopped();
    };
    return out;
  }

  /// With the integer reference, whose first difference is `reference`, and the report.
  void compare(const std::string& reference, VerifyRow& row) const {
    row.values_equal = row.values_equal && reference.empty();
    if (row.difference.empty()) row.difference = reference;
    const bool all = c_.report.whole() && !out_.network->is_part();
    if (!all || row.model_cycles == c_.report.report_cycles) return;
    row.broken = fmt::format("the report's total is {} cycles", c_.report.report_cycles);
    if (row.difference.empty()) row.difference = row.broken;
  }

  const NetworkCase& c_;
  const hw::Program& program_;
  const CostedNetwork& network_;
  const hw::HwConfig& hw_;
  const VerifyOptions& options_;
  const BodyRange range_;   ///< that RTL runs
  const hw::Program part_;  ///< the same
  VerifyReport out_;
};

}  // namespace

Result<NetworkCase> network_case(const Graph& graph, const CostedNetwork& network,
                                 const hw::HwConfig& hw, const CaseOptions& options) {
  return CaseBuilder(graph, network, hw, options).run();
}

VerifyReport verify_network(const NetworkCase& c, const CostedNetwork& network,
                            const VerifyOptions& options) {
  return NetworkRunner(c, network, options).run();
}

}  // namespace accsim::sim
