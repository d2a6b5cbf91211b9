#include "python/src/table.h"

#include <algorithm>
#include <limits>
#include <map>

#include "hw/config/fields.h"

namespace accsim::python {
namespace {

using sim::FieldValue;

/// A report of one layer in which every field has a value, to ask fields for their types.
sim::Report probe() {
  sim::Report report;
  report.hw.clock_mhz = 1;
  report.hw.array.rows = report.hw.array.cols = 1;
  sim::Costs costs;
  costs.cycles = costs.compute_cycles = costs.macs = costs.array_macs = costs.params = 1;
  costs.dram_read = costs.dram_write = costs.shared_read = costs.shared_write = 1;
  costs.compute_bound = costs.dram_bound = costs.lower_bound = costs.traffic_bound = 1;
  costs.buffer_read.fill(1);
  costs.buffer_write.fill(1);
  report.layers.emplace_back();
  report.layers.back().costs = report.totals = costs;
  return report;
}

ColumnType type_of(const FieldValue& value) {
  struct Types {
    ColumnType operator()(std::monostate) const { return ColumnType::float64; }
    ColumnType operator()(int64_t) const { return ColumnType::int64; }
    ColumnType operator()(double) const { return ColumnType::float64; }
    ColumnType operator()(const std::string&) const { return ColumnType::text; }
    ColumnType operator()(const Dims&) const { return ColumnType::shape; }
    ColumnType operator()(const std::vector<Dims>&) const { return ColumnType::shapes; }
  };
  return std::visit(Types{}, value);
}

int32_t size32(size_t size) {
  check(size <= std::numeric_limits<int32_t>::max(), "a column of more than 2 GiB");
  return static_cast<int32_t>(size);
}

size_t place(int32_t at) { return static_cast<size_t>(at); }

}  // namespace

void Column::add(const FieldValue& value) {
  const bool present = !std::holds_alternative<std::monostate>(value);
  if (rows % 8 == 0) valid.push_back(0);
  if (present) valid.back() = static_cast<uint8_t>(valid.back() | (1U << (rows % 8)));
  nulls += present ? 0 : 1;
  ++rows;
  check(!present || type_of(value) == type ||
            (type == ColumnType::float64 && type_of(value) == ColumnType::int64),
        "a column of one type");
  switch (type) {
    case ColumnType::int64:
      integers.push_back(present ? std::get<int64_t>(value) : 0);
      break;
    case ColumnType::float64:
      if (const auto* whole = std::get_if<int64_t>(&value))
        reals.push_back(static_cast<double>(*whole));
      else
        reals.push_back(present ? std::get<double>(value)
                                : std::numeric_limits<double>::quiet_NaN());
      break;
    case ColumnType::text:
      if (present) bytes += std::get<std::string>(value);
      ends.push_back(size32(bytes.size()));
      break;
    case ColumnType::shape:
      if (present) {
        const Dims& dims = std::get<Dims>(value);
        integers.insert(integers.end(), dims.begin(), dims.end());
      }
      ends.push_back(size32(integers.size()));
      break;
    case ColumnType::shapes:
      if (present)
        for (const Dims& dims : std::get<std::vector<Dims>>(value)) {
          integers.insert(integers.end(), dims.begin(), dims.end());
          inner.push_back(size32(integers.size()));
        }
      ends.push_back(size32(inner.size() - 1));
      break;
  }
}

FieldValue Column::at(int64_t row) const {
  const auto i = static_cast<size_t>(row);
  if ((valid[i / 8] >> (i % 8) & 1) == 0) return {};
  const auto dims = [&](int32_t from, int32_t to) {
    return Dims(integers.begin() + from, integers.begin() + to);
  };
  switch (type) {
    case ColumnType::int64:
      return integers[i];
    case ColumnType::float64:
      return reals[i];
    case ColumnType::text:
      return bytes.substr(place(ends[i]), place(ends[i + 1] - ends[i]));
    case ColumnType::shape:
      return dims(ends[i], ends[i + 1]);
    case ColumnType::shapes:
      break;
  }
  std::vector<Dims> out;
  for (size_t s = place(ends[i]); s < place(ends[i + 1]); ++s)
    out.push_back(dims(inner[s], inner[s + 1]));
  return out;
}

const Column* TableData::find(std::string_view name) const {
  const auto at = std::ranges::find(columns, name, &Column::name);
  return at == columns.end() ? nullptr : &*at;
}

TablePtr layers_table(const sim::Report& report) {
  static const sim::Report kProbe = probe();
  auto out = std::make_shared<TableData>();
  out->rows = std::ssize(report.layers);
  for (const sim::ReportField& field : sim::report_fields()) {
    if (!field.in_layers()) continue;
    Column& column = out->columns.emplace_back();
    column.name = field.key;
    column.unit = field.unit;
    column.description = field.description;
    column.type = type_of(field.get(layer_row(kProbe, kProbe.layers.front())));
    for (const sim::LayerReport& layer : report.layers)
      column.add(field.get(layer_row(report, layer)));
  }
  return out;
}

}  // namespace accsim::python
