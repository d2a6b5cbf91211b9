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

constexpr std::string_view kFormat = "accsim.report-state/1";

// Structured bindings name every member: one more, and this doesn't compile.

template <class F>
void members(sim::EnergyReport& e, F each) {
  auto& [mac, vector, sram, shared, dram, leakage] = e;
  each(mac, vector, sram, shared, dram, leakage);
}

template <class F>
void members(sim::Costs& c, F each) {
  auto& [cycles, compute, vector, move, stalls, tail, macs, array_macs, params, dram_read,
         dram_write, shared_read, shared_write, buffer_read, buffer_write, compute_bound,
         vector_bound, dram_bound, lower_bound, idle_lanes, dram_busy, sram_busy, traffic_bound,
         energy] = c;
  each(cycles, compute, vector, move, stalls, tail, macs, array_macs, params, dram_read, dram_write,
       shared_read, shared_write, buffer_read, buffer_write, compute_bound, vector_bound,
       dram_bound, lower_bound, idle_lanes, dram_busy, sram_busy, traffic_bound, energy);
}

template <class F>
void members(sim::LayerReport& l, F each) {
  auto& [name, op_type, fate, merged_into, mapping, input_shapes, output_shape, costs, bound,
         resident, live] = l;
  each(name, op_type, fate, merged_into, mapping, input_shapes, output_shape, costs, bound,
       resident, live);
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
  auto& [model_name, model_file, opset, ir_version, nodes, params, buffers, weight_bytes, bindings,
         defaulted, hw, area, layers, totals, bound, cut_layers, unsupported, objective, distinct,
         candidates, evaluated, shared_peak] = r;
  each(model_name, model_file, opset, ir_version, nodes, params, buffers, weight_bytes, bindings,
       defaulted, hw, area, layers, totals, bound, cut_layers, unsupported, objective, distinct,
       candidates, evaluated, shared_peak);
}

template <class T>
concept Number = std::integral<T> || std::floating_point<T> || std::is_enum_v<T>;

/// Appends values to a text.
class Saver {
 public:
  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  std::string take() { return std::move(out_); }

 private:
  template <Number T>
  void one(T& value) {
    std::array<char, sizeof(T)> bytes{};
    std::memcpy(bytes.data(), &value, sizeof(T));
    out_.append(bytes.data(), bytes.size());
  }
  void one(std::string& text) {
    size(text.size());
    out_ += text;
  }
  void one(hw::HwConfig& hw) {
    std::string yaml = print_hw(hw);
    (*this)(yaml, hw.file);
  }
  template <class A, class B>
  void one(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class T, size_t N>
  void one(std::array<T, N>& values) {
    for (T& value : values) one(value);
  }
  template <class T>
  void one(std::vector<T>& values) {
    size(values.size());
    for (T& value : values) one(value);
  }
  template <class T>
  requires requires(T& t) {
    members(t, [](auto&...) {});
  }
  void one(T& value) {
    members(value, [this](auto&... parts) { (*this)(parts...); });
  }
  void size(uint64_t count) { one(count); }

  std::string out_;
};

/// Takes the same values back out; bad() when the text ends too early.
class Restorer {
 public:
  explicit Restorer(std::string_view text) : text_(text) {}

  template <class... T>
  void operator()(T&... values) {
    (one(values), ...);
  }
  bool bad() const { return bad_; }
  bool at_end() const { return text_.empty(); }

 private:
  std::string_view bytes(uint64_t count) {
    if (count > text_.size()) {
      bad_ = true;
      return {};
    }
    const std::string_view out = text_.substr(0, count);
    text_.remove_prefix(count);
    return out;
  }
  template <Number T>
  void one(T& value) {
    const std::string_view from = bytes(sizeof(T));
    if (!from.empty()) std::memcpy(&value, from.data(), sizeof(T));
  }
  void one(std::string& text) { text = bytes(size()); }
  void one(hw::HwConfig& hw) {
    std::string yaml, file;
    (*this)(yaml, file);
    Result<hw::HwConfig> parsed = hw::parse_hw(yaml, file);
    if (parsed)
      hw = std::move(*parsed);
    else
      bad_ = true;
  }
  template <class A, class B>
  void one(std::pair<A, B>& pair) {
    (*this)(pair.first, pair.second);
  }
  template <class T, size_t N>
  void one(std::array<T, N>& values) {
    for (T& value : values) one(value);
  }
  template <class T>
  void one(std::vector<T>& values) {
    for (uint64_t count = size(); count > 0 && !bad_; --count) one(values.emplace_back());
  }
  template <class T>
  requires requires(T& t) {
    members(t, [](auto&...) {});
  }
  void one(T& value) {
    members(value, [this](auto&... parts) { (*this)(parts...); });
  }
  uint64_t size() {
    uint64_t count = 0;
    one(count);
    return count;
  }

  std::string_view text_;
  bool bad_ = false;
};

}  // namespace

std::string save_report(const sim::Report& report) {
  std::string format(kFormat);
  sim::Report copy = report;  // members() gives references to change
  Saver save;
  save(format, copy);
  return save.take();
}

Result<sim::Report> restore_report(std::string_view bytes) {
  std::string format;
  sim::Report report;
  Restorer restore(bytes);
  restore(format);
  if (!restore.bad() && format == kFormat) restore(report);
  if (restore.bad() || format != kFormat || !restore.at_end())
    return Error{Errc::invalid, "is of another version of accsim; cost the network again",
                 "pickled report"};
  return report;
}

}  // namespace accsim::python
