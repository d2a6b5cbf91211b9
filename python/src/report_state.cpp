#include "python/src/report_state.h"

#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <utility>
#include <vector>

#include "hw/config/load.h"

namespace accsim::python {
namespace {

constexpr std::string_view kFormat = "accsim.report-state/8";

// Structured bindings name every member: one more, and this doesn't compile.

template <class F>
void members(sim::EnergyReport& e, F each) {
  auto& [mac, vector, sram, shared, dram, leakage] = e;
  each(mac, vector, sram, shared, dram, leakage);
}

template <class F>
void members(sim::Costs& c, F each) {
  auto& [cycles, alone, verifiable, compute, vector, move, stalls, tail, macs, lane_macs,
         array_macs, params, dram_read, dram_write, shared_read, shared_write, staged, buffer_read,
         buffer_write, compute_bound, vector_bound, dram_bound, lower_bound, idle_lanes, dram_busy,
         sram_busy, preload_busy, traffic_bound, energy] = c;
  each(cycles, alone, verifiable, compute, vector, move, stalls, tail, macs, lane_macs, array_macs,
       params, dram_read, dram_write, shared_read, shared_write, staged, buffer_read, buffer_write,
       compute_bound, vector_bound, dram_bound, lower_bound, idle_lanes, dram_busy, sram_busy,
       preload_busy, traffic_bound, energy);
}

template <class F>
void members(sim::LayerReport& l, F each) {
  auto& [name, op_type, module, part_of, fate, merged_into, mapping, unverifiable, types,
         types_note, input_shapes, output_shape, costs, bound, resident, live] = l;
  each(name, op_type, module, part_of, fate, merged_into, mapping, unverifiable, types, types_note,
       input_shapes, output_shape, costs, bound, resident, live);
}

template <class F>
void members(sim::Assumption& a, F each) {
  auto& [node, op_type, of, bound, size, given, branch, input, of_cost] = a;
  each(node, op_type, of, bound, size, given, branch, input, of_cost);
}

template <class F>
void members(sim::LayerGroup& g, F each) {
  auto& [name, layers, costs, bound] = g;
  each(name, layers, costs, bound);
}

template <class F>
void members(sim::CutLayer& l, F each) {
  auto& [name, op_type, edge, batch, m, k, n, tile_m, tile_k, tile_n, products, nodes, cut, native,
         mapping] = l;
  each(name, op_type, edge, batch, m, k, n, tile_m, tile_k, tile_n, products, nodes, cut, native,
       mapping);
}

template <class F>
void members(sim::Report& r, F each) {
  auto& [model_name, model_file, opset, ir_version, nodes, params, buffers, weight_bytes,
         params_by_type, bytes_by_type, bindings, defaulted, key_blocks, assumed, hw, area,
         core_area, layers, grouped_by, groups, totals, bound, cut_layers, unsupported, objective,
         distinct, candidates, evaluated, shared_peak] = r;
  each(model_name, model_file, opset, ir_version, nodes, params, buffers, weight_bytes,
       params_by_type, bytes_by_type, bindings, defaulted, key_blocks, assumed, hw, area, core_area,
       layers, grouped_by, groups, totals, bound, cut_layers, unsupported, objective, distinct,
       candidates, evaluated, shared_peak);
}

template <class T>
concept Number = std::integral<T> || std::floating_point<T> || std::is_enum_v<T>;

/// Appends what it is given to a text.
class Saver {
 public:
  void raw(void* value, size_t size) { out_.append(static_cast<const char*>(value), size); }
  uint64_t count(uint64_t size) {
    raw(&size, sizeof size);
    return size;
  }
  void text(std::string& value, uint64_t /*size*/) { out_ += value; }
  static std::string describe(const hw::HwConfig& hw) { return print_hw(hw); }
  void machine(hw::HwConfig& /*hw*/, const std::string& /*yaml*/, const std::string& /*file*/) {}
  bool good() const { return true; }

  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

/// Takes the same values back out; not good() any more when the text ended too early.
class Restorer {
 public:
  explicit Restorer(std::string_view text) : text_(text) {}

  void raw(void* value, size_t size) {
    const std::string_view from = bytes(size);
    if (!from.empty()) std::memcpy(value, from.data(), size);
  }
  uint64_t count(uint64_t /*size*/) {
    uint64_t size = 0;
    raw(&size, sizeof size);
    return size;
  }
  void text(std::string& value, uint64_t size) { value = bytes(size); }
  static std::string describe(const hw::HwConfig& /*hw*/) { return {}; }
  void machine(hw::HwConfig& hw, const std::string& yaml, const std::string& file) {
    Result<hw::HwConfig> parsed = hw::parse_hw(yaml, file);
    if (parsed)
      hw = std::move(*parsed);
    else
      good_ = false;
  }
  bool good() const { return good_; }

  bool at_end() const { return text_.empty(); }

 private:
  std::string_view bytes(uint64_t count) {
    if (count > text_.size()) {
      good_ = false;
      return {};
    }
    const std::string_view out = text_.substr(0, count);
    text_.remove_prefix(count);
    return out;
  }

  std::string_view text_;
  bool good_ = true;
};

/// Leads a Saver or a Restorer through values, in the same order.
template <class Way>
class Walk {
 public:
  explicit Walk(Way& way) : way_(way) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }

 private:
  template <Number T>
  void one(T& value) {
    way_.raw(&value, sizeof value);
  }
  void one(std::string& text) { way_.text(text, way_.count(text.size())); }
  void one(hw::HwConfig& hw) {
    std::string yaml = Way::describe(hw), file = hw.file;
    (*this)(yaml, file);
    way_.machine(hw, yaml, file);
  }
  template <class A, class B>
  void one(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class T, size_t N>
  void one(std::array<T, N>& values) {
    for (T& value : values) one(value);
  }
  /// What is restored begins empty and grows by what there is, not by what the text promises.
  template <class T>
  void one(std::vector<T>& values) {
    const uint64_t count = way_.count(values.size());
    for (uint64_t i = 0; i < count && way_.good(); ++i)
      one(i < values.size() ? values[i] : values.emplace_back());
  }
  template <class T>
  requires requires(T& t) {
    members(t, [](auto&...) {});
  }
  void one(T& value) {
    members(value, [this](auto&... parts) { (*this)(parts...); });
  }

  Way& way_;
};

}  // namespace

std::string save_report(const sim::Report& report) {
  std::string format(kFormat);
  sim::Report copy = report;  // members() gives references to change
  Saver saver;
  Walk<Saver> save(saver);
  save(format, copy);
  return saver.take();
}

Result<sim::Report> restore_report(std::string_view bytes) {
  std::string format;
  sim::Report report;
  Restorer restorer(bytes);
  Walk<Restorer> restore(restorer);
  restore(format);
  if (restorer.good() && format == kFormat) restore(report);
  if (!restorer.good() || format != kFormat || !restorer.at_end())
    return Error{Errc::invalid, "is of another version of accsim; cost the network again",
                 "pickled report"};
  return report;
}

}  // namespace accsim::python
