#include "sim/abi/cases.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <numeric>

#include "hw/config/values.h"
#include "sim/quantise/quantised_case.h"
#include "sim/verify/verify.h"

namespace accsim::abi {
namespace {

/// Memory that isn't there is given all the same, and taking it ends the process.
void check_memory(double bytes) {
  const double there =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > there) throw std::bad_alloc();
}

double multiply_factors(std::initializer_list<int64_t> factors) {
  return std::accumulate(factors.begin(), factors.end(), 1.0,
                         [](double p, int64_t f) { return p * static_cast<double>(f); });
}

/// Of a product's tensors, as a list of operands and in the program's memory.
double bytes_of(const sim::GemmOp& op) {
  const double a =
      multiply_factors({op.batch, op.images, op.channels, op.in[0], op.in[1], op.in[2]});
  const double b = multiply_factors(
      {op.batch, op.channels, op.kernel[0], op.kernel[1], op.kernel[2], op.outputs});
  const double out =
      multiply_factors({op.batch, op.images, op.out[0], op.out[1], op.out[2], op.outputs});
  return 2 * (a + b + out);
}

double bytes_of(const sim::Graph& graph) {
  double bytes = 0;
  for (const sim::Tensor& t : graph.tensors) bytes += static_cast<double>(elements(t.dims));
  return bytes;
}

Result<std::unique_ptr<accsim_run>> run_of(const sim::VerifyCase& c, uint64_t seed,
                                           uint64_t number) {
  return Run::of_program(c.hw, sim::case_program(c, seed, number));
}

Error no_layer(const std::vector<sim::VerifyCase>& cases, const std::string& layer,
               const std::string& file) {
  std::vector<std::string> names;
  for (const sim::VerifyCase& c : cases) {
    names.push_back(c.name);
    names.insert(names.end(), c.same.begin(), c.same.end());
  }
  constexpr size_t kMostNamed = 20;
  const size_t named = std::min(names.size(), kMostNamed);
  const auto near = hw::nearest_word(layer, names);
  const std::string which =
      near ? fmt::format("did you mean '{}'?", *near)
      : names.empty()
          ? std::string("it has no products")
          : fmt::format("it has {}{}", fmt::join(names.data(), names.data() + named, ", "),
                        named < names.size() ? ", ..." : "");
  return {Errc::invalid, fmt::format("no layer '{}' with a product: {}", layer, which), file};
}

Result<std::unique_ptr<accsim_run>> layer_run(const sim::Graph& graph,
                                              const sim::CostedNetwork& network,
                                              const std::string& layer, const hw::HwConfig& hw,
                                              uint64_t seed) {
  const std::vector<sim::VerifyCase> cases = sim::network_cases(graph, network, hw);
  const auto has = [&](const sim::VerifyCase& c) {
    return c.name == layer || std::ranges::find(c.same, layer) != c.same.end();
  };
  const auto found = std::ranges::find_if(cases, has);
  if (found == cases.end()) return no_layer(cases, layer, graph.name);
  return run_of(*found, seed, static_cast<uint64_t>(found - cases.begin()));
}

}  // namespace

Result<std::unique_ptr<accsim_run>> product_run(const sim::GemmOp& op, const std::string& name,
                                                const hw::HwConfig& hw, uint64_t seed) {
  check_memory(bytes_of(op));
  const Result<sim::VerifyCase> c = sim::product_case(op, name, hw, {});
  if (!c) return c.errors();
  return run_of(*c, seed, 0);
}

Result<std::unique_ptr<accsim_run>> random_run(const hw::HwConfig& hw, uint64_t seed,
                                               int64_t index) {
  sim::RandomSeries series{seed};
  for (int64_t i = 0; i < index; ++i) sim::random_cases(1, series, hw, {});
  return run_of(sim::random_cases(1, series, hw, {}).front(), seed, static_cast<uint64_t>(index));
}

Result<std::unique_ptr<accsim_run>> model_run(const std::string& file, const std::string& layer,
                                              const hw::HwConfig& hw, uint64_t seed) {
  Result<sim::Graph> graph = sim::load_graph(file, {});
  if (!graph) return graph.errors();
  check_memory(bytes_of(*graph));
  const Result<sim::CostedNetwork> network = sim::cost_network(*graph, hw, {});
  if (!network) return network.errors();
  if (network->in_blocks) graph = *network->in_blocks;
  if (!layer.empty()) return layer_run(*graph, *network, layer, hw, seed);
  Result<sim::NetworkCase> c = sim::quantised_network_case(*graph, *network, hw, seed, 1);
  if (!c) return c.errors();
  return Run::of_program(c->hw, {std::move(c->network.program), std::move(c->image)});
}

}  // namespace accsim::abi
