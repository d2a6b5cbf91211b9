#include "sim/report/cut_layers.h"

#include <fmt/format.h>

#include "sim/report/format.h"

namespace accsim::sim {
namespace {

int64_t dram_traffic(const Costs& c) { return c.dram_read + c.dram_write; }

std::string ratio_text(int64_t cut, int64_t native) {
  if (native <= 0) return "-";
  return format_fixed(static_cast<double>(cut) / static_cast<double>(native), 2);
}

std::vector<std::string> cut_row(std::string name, std::string product, std::string products,
                                 const Costs& cut, const Costs& native) {
  return {std::move(name),
          std::move(product),
          std::move(products),
          format_count(cut.cycles),
          format_count(native.cycles),
          ratio_text(cut.cycles, native.cycles),
          format_si(static_cast<double>(dram_traffic(cut)), "B"),
          format_si(static_cast<double>(dram_traffic(native)), "B"),
          ratio_text(dram_traffic(cut), dram_traffic(native))};
}

}  // namespace

TextTable cut_layer_table(const Report& report) {
  TextTable table({{"cut into tiles", "", true},
                   {"product", "", true, 2},
                   {"MatMuls", "", false, 3},
                   {"cycles", ""},
                   {"native", ""},
                   {"ratio", ""},
                   {"DRAM", "", false, 1},
                   {"native", "", false, 1},
                   {"ratio", "", false, 1}});
  Costs cut, native;
  int64_t products = 0;
  for (const CutLayer& l : report.cut_layers) {
    cut += l.cut;
    native += l.native;
    products += l.products;
    const std::string batch = l.batch > 1 ? fmt::format("{} of ", l.batch) : "";
    table.add({cut_row(l.name, fmt::format("{}{}x{}x{}", batch, l.m, l.k, l.n),
                       format_count(l.products), l.cut, l.native),
               false});
  }
  table.add({cut_row(fmt::format("total of {}", report.cut_layers.size()), "",
                     format_count(products), cut, native),
             true});
  return table;
}

}  // namespace accsim::sim
