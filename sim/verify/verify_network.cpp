#include "sim/verify/verify_network.h"

#include <fmt/format.h>

#include <chrono>

#include "hw/program/coverage.h"
#include "hw/program/cut_program.h"
#include "hw/timing/timing.h"
#include "sim/program/network_reference.h"

namespace accsim::sim {
namespace {

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
    describe_row(row);
    const Status s = run(row);
    row.done = !is_stopped();
    if (!s) row.error = s.errors().front().text();
    return std::move(out_);
  }

 private:
  bool is_stopped() const { return options_.stop && *options_.stop; }

  void describe_row(VerifyRow& row) {
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
    if (out_.network->is_pitched())
      if (Status s = hw::verify(part_, hw_); !s) return s;
    const auto start = std::chrono::steady_clock::now();
    hw::MemoryImage image = c_.image;
    if (Status s = on_golden(0, range_.first, image); !s) return s;
    const Result<hw::GoldenRun> golden = hw::golden_run(part_, hw_, image);
    if (!golden) return golden.errors();
    const Result<std::string> reference = compare_golden(golden->image);
    if (!reference) return reference.errors();
    const auto result = hw::cosim(part_, hw_, **core, image, cosim_options(*golden, row));
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!result) return result.errors();
    add_coverage(part_, row.coverage);
    note_result(*result, options_, row);
    compare(*reference, row);
    return ok();
  }

  /// Runs items of the program's body on golden.
  Status on_golden(size_t first, size_t end, hw::MemoryImage& image) const {
    return hw::run_golden(hw::cut_program(program_, first, end), hw_, image);
  }

  /// Where the network's results differ from the integer reference; `golden`: what is left of the
  /// part that RTL runs.
  Result<std::string> compare_golden(const hw::MemoryImage& golden) {
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
      return !is_stopped();
    };
    return out;
  }

  /// With the integer reference, whose first difference is `reference`, and the report.
  void compare(const std::string& reference, VerifyRow& row) const {
    row.values_equal = row.values_equal && reference.empty();
    if (row.difference.empty()) row.difference = reference;
    const bool all = c_.report.is_complete() && !out_.network->is_pitched();
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

VerifyReport verify_network(const NetworkCase& c, const CostedNetwork& network,
                            const VerifyOptions& options) {
  return NetworkRunner(c, network, options).run();
}

}  // namespace accsim::sim
