#include "python/src/latency_class.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>

#include "python/src/costing_keywords.h"
#include "python/src/errors.h"
#include "python/src/machine.h"
#include "sim/cost/latency_model.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

using sim::Latency;
using sim::LatencyModel;

std::string repr(const Latency& l) {
  return fmt::format(
      "Latency(cycles={}, nanoseconds={}, macs={}, read_bytes={}, write_bytes={}, energy_pj={})",
      l.cycles, l.nanoseconds, l.macs, l.read_bytes, l.write_bytes, l.energy_pj);
}

void add_latency(nb::module_& module) {
  nb::class_<Latency>(module, "Latency", "What one shape costs.")
      .def_ro("cycles", &Latency::cycles, "Cycles of the machine's clock.")
      .def_ro("nanoseconds", &Latency::nanoseconds)
      .def_ro("macs", &Latency::macs, "Multiply-accumulates.")
      .def_ro("read_bytes", &Latency::read_bytes, "Bytes read from DRAM.")
      .def_ro("write_bytes", &Latency::write_bytes, "Bytes written to DRAM.")
      .def_ro("energy_pj", &Latency::energy_pj, "Picojoules.")
      .def(
          "__eq__",
          [](const Latency& a, nb::handle b) {
            return nb::isinstance<Latency>(b) && a == nb::cast<const Latency&>(b);
          },
          nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__", [](const Latency& l) { return nb::hash(nb::str(repr(l).c_str())); })
      .def("__repr__", repr);
}

}  // namespace

void add_latency_model(nb::module_& module) {
  add_latency(module);
  nb::class_<LatencyModel>(
      module, "LatencyModel",
      "Costs of single shapes on one machine, for simulators of larger systems: what cost() says\n"
      "of a network of that one product or attention, operands coming from DRAM. Remembers every\n"
      "shape. One a thread. options: dataflow, mapping, objective, slack, effort as cost() has\n"
      "them.")
      .def(
          "__init__",
          [](LatencyModel* m, nb::handle hw, const nb::kwargs& options) {
            new (m) LatencyModel(machine_of(hw), costing_options(options, sim::kMappingRows).map);
          },
          nb::arg("hw"), nb::arg("options"),
          nb::sig(("def __init__(self, hw: Machine | str | os.PathLike[str] | "
                   "dict[str, typing.Any], *, " +
                   keyword_signature(sim::kMappingRows) + ") -> None")
                      .c_str()))
      .def(
          "gemm",
          [](LatencyModel& m, int64_t rows, int64_t k, int64_t n, int64_t batch, bool weights) {
            return unwrap(m.product_latency({batch, rows, k, n, weights}));
          },
          nb::arg("m"), nb::arg("k"), nb::arg("n"), nb::arg("batch") = 1, nb::kw_only(),
          nb::arg("weights") = true,
          "batch products of m x k by k x n; weights: the second operand is constant.")
      .def(
          "attention",
          [](LatencyModel& m, int64_t heads, int64_t queries, int64_t keys, int64_t head_dim,
             int64_t kv_heads) {
            return unwrap(m.attention_latency(
                {heads, kv_heads == 0 ? heads : kv_heads, queries, keys, head_dim}));
          },
          nb::arg("heads"), nb::arg("queries"), nb::arg("keys"), nb::arg("head_dim"), nb::kw_only(),
          nb::arg("kv_heads") = 0,
          "softmax(Q K^T) V of one sequence; kv_heads: heads of K and V, 0: as many.")
      .def("__len__", &LatencyModel::known_shapes, "How many shapes are known.");
}

}  // namespace accsim::python
