#include "hw/dot_product/pooling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/sums.h"
#include "sim/base/units.h"

namespace accsim::hw {
namespace {

/// Windows of one direction over one strip: columns of a line, or lines of a surface.
struct Windows {
  int64_t inputs = 1, taps = 1, stride = 1, pad = 0, outputs = 1;

  /// Does even the first window reach beyond the inputs?
  bool small() const { return inputs - 1 + pad < taps - 1; }
  /// Inputs until the first output is there.
  int64_t first() const { return small() ? inputs : taps - pad; }
  /// Outputs that come after the last input.
  int64_t flushed() const {
    const int64_t beyond = std::max<int64_t>(0, (outputs - 1) * stride + taps - pad - inputs);
    if (beyond < stride) return 0;
    return small() ? outputs - 1 : beyond / stride;
  }
  /// Of these, those that hold up the inputs of the next line or surface.
  int64_t bubbles() const { return std::max<int64_t>(0, flushed() - first() + 1); }
  /// Inputs after the last one that an output needs.
  int64_t idle() const {
    return inputs - 1 - std::min(inputs - 1, taps - pad - 1 + (outputs - 1) * stride);
  }
};

/// Lines of outputs that are open at once.
int64_t open_lines(const Windows& rows) {
  if (rows.stride >= rows.taps) return 1;
  if (rows.stride <= 2) return ceil_div(rows.taps, rows.stride);
  return rows.stride == 3 && rows.taps > 6 ? 3 : 2;
}

/// A layer that isn't cut is one strip.
std::vector<PoolStrip> strips_of(const PoolLayer& layer) {
  if (!layer.strips.empty()) return layer.strips;
  return {{layer.width, layer.out_width}};
}

/// A pooling layer in columns of one atom each.
class PoolTimer {
 public:
  PoolTimer(const PoolLayer& layer, const SideUnits& units)
      : units_(units),
        column_(std::max(ceil_div(units.atom_elements, units.pool_rate), units.request_interval)),
        surfaces_(ceil_div(layer.channels, units.atom_elements)),
        rows_{layer.height, layer.kernel_height, layer.stride_y, layer.pad_top, layer.out_height} {
    for (const PoolStrip& strip : strips_of(layer))
      strips_.push_back({strip.width, layer.kernel_width, layer.stride_x,
                         strips_.empty() ? layer.pad_left : 0, strip.out_width});
  }

  /// From the first element until the first atom of outputs is there.
  int64_t first() const;
  /// The same of the last atom.
  int64_t last() const;

 private:
  int64_t line_bubbles(const Windows& strip) const {
    return &strip == &strips_.back() ? strip.bubbles() : 0;
  }
  int64_t gap(const Windows& strip) const;
  int64_t turn(const Windows& strip) const { return strip.outputs == 1 ? units_.pool_turn : 0; }
  int64_t line_wait(const Windows& strip) const {
    return std::max<int64_t>(0, turn(strip) - gap(strip) * column_);
  }
  int64_t surface_bubbles() const;
  int64_t strip_cycles(const Windows& strip) const;
  int64_t end_cycles() const;

  const SideUnits& units_;
  int64_t column_;  // cycles of an atom
  int64_t surfaces_;
  Windows rows_;
  std::vector<Windows> strips_;
};

/// Columns between the last output of a line and the first of the next one.
int64_t PoolTimer::gap(const Windows& strip) const {
  if (&strip != &strips_.back() || strip.flushed() == 0) return strip.idle() + strip.first() - 1;
  const int64_t carried = strip.flushed() - strip.bubbles();
  return strip.first() - 1 - carried;
}

/// Lines that are flushed before the next surface may come: those for which its first lines leave
/// no time, and those whose buffer it would open again.
int64_t PoolTimer::surface_bubbles() const {
  const int64_t without = rows_.bubbles(), later = rows_.flushed() - without;
  if (later < 2) return without;
  int64_t done = 0;  // windows that end before the last line
  while (done < rows_.outputs && rows_.first() - 1 + done * rows_.stride < rows_.inputs - 1) ++done;
  const int64_t lines = open_lines(rows_);
  const int64_t opened = rows_.pad > 5 ? 0 : rows_.pad / rows_.stride;
  for (int64_t line = later; line > 0; --line)
    if ((done + line + without) % lines <= opened) return without + line;
  return without;
}

/// A strip's columns, and what its lines and surfaces wait for, but for its end.
int64_t PoolTimer::strip_cycles(const Windows& strip) const {
  const int64_t lines = surfaces_ * rows_.inputs;
  const int64_t columns = lines * strip.inputs + (lines - 1) * line_bubbles(strip);
  const int64_t flush = surface_bubbles() * strip.outputs * column_;
  const int64_t surface_wait = std::max<int64_t>(0, turn(strip) + flush - gap(strip) * column_);
  return columns * column_ + surfaces_ * (rows_.inputs - 1) * line_wait(strip) +
         (surfaces_ - 1) * surface_wait;
}

/// From the last column until the last output.
int64_t PoolTimer::end_cycles() const {
  const Windows& strip = strips_.back();
  const int64_t line = strip.inputs + strip.bubbles();
  const int64_t unused = strip.flushed() > 0 ? 0 : strip.idle();
  const int64_t early = (rows_.idle() * line + unused) * column_ + rows_.idle() * line_wait(strip);
  const int64_t flush = strip.flushed() * column_ - early;
  if (rows_.flushed() == 0) return flush;
  return flush + turn(strip) + rows_.flushed() * strip.outputs * column_;
}

int64_t PoolTimer::first() const {
  const Windows& strip = strips_.front();
  const int64_t lines = rows_.first() - 1;
  const int64_t columns = lines * (strip.inputs + line_bubbles(strip)) + strip.first();
  return columns * column_ + lines * line_wait(strip);
}

int64_t PoolTimer::last() const {
  int64_t cycles = end_cycles();
  for (size_t i = 0; i < strips_.size(); ++i) {
    cycles += strip_cycles(strips_[i]);
    if (i + 1 == strips_.size()) break;
    const int64_t flush = rows_.flushed() * strips_[i].outputs * column_;
    const int64_t columns = strips_[i].idle() + strips_[i + 1].first() - 1;
    cycles += std::max<int64_t>(0, turn(strips_[i]) + flush - columns * column_);
  }
  return cycles;
}

Error invalid(std::string message) { return {Errc::invalid, std::move(message), {}}; }

/// Section "Pooling": windows must begin among the inputs or the pads before them.
Status check_windows(const Windows& w) {
  if (w.taps < 1 || w.taps > kMostPoolTaps || w.stride < 1 || w.stride > kMostPoolStride)
    return invalid(fmt::format("pooling takes 1 to {} taps and strides of 1 to {} in a direction",
                               kMostPoolTaps, kMostPoolStride));
  if (w.pad < 0 || w.pad >= w.taps) return invalid("a pad of pooling must be less than its kernel");
  if (std::min(w.inputs, w.outputs) < 1 || std::max(w.inputs, w.outputs) > kMostSideSize)
    return invalid(fmt::format("sizes of pooling must be 1 to {}", kMostSideSize));
  if ((w.outputs - 1) * w.stride - w.pad >= w.inputs)
    return invalid("the last window of pooling lies behind the inputs");
  return ok();
}

/// Section "Pooling": a strip's windows, all of them inside it but for the first's and the last's
/// pads. A strip begins with its first window, and the last one ends with the line.
Status check_strips(const PoolLayer& layer, const std::vector<PoolStrip>& strips) {
  int64_t outputs = 0, pad = layer.pad_left, end = 0;
  for (size_t i = 0; i < strips.size(); ++i) {
    const Windows columns{strips[i].width, layer.kernel_width, layer.stride_x, pad,
                          strips[i].out_width};
    if (Status fine = check_windows(columns); !fine) return fine.errors();
    const int64_t reach = (columns.outputs - 1) * columns.stride + columns.taps - pad;
    if (i + 1 < strips.size() && reach > columns.inputs)
      return invalid("windows of pooling must end in their strip");
    const int64_t begin = i == 0 ? 0 : outputs * layer.stride_x - layer.pad_left;
    end = begin + strips[i].width;
    if (begin < 0 || end > layer.width)
      return invalid("strips of pooling must lie in the layer's lines");
    outputs += strips[i].out_width;
    pad = 0;
  }
  if (outputs != layer.out_width) return invalid("strips of pooling must have all outputs");
  if (end != layer.width) return invalid("strips of pooling must have all columns");
  return ok();
}

/// Outputs of a line that the line buffer has room for: its banks are merged by powers of two.
int64_t line_room(int64_t lines, const SideUnits& units) {
  if (lines > units.pool_banks) return 0;
  int64_t banks = 1;
  while (2 * banks * lines <= units.pool_banks) banks *= 2;
  return banks * units.pool_bank_atoms;
}

/// Is every sum of the layer's cycles in 64 bits? Bubbles are fewer than columns and outputs.
bool is_countable(const PoolLayer& layer, const std::vector<PoolStrip>& strips, int64_t column) {
  int64_t columns = 0;
  for (const PoolStrip& strip : strips)
    columns = add_counts(columns, 2 * strip.width + kMostPoolTaps * (strip.out_width + 1));
  const int64_t lines = multiply_counts(layer.channels, layer.height + kMostPoolTaps);
  return multiply_counts(multiply_counts(lines, columns), column) < kMostSideCycles;
}

Status check_pooling(const PoolLayer& layer, const SideUnits& units) {
  if (Status fields = check_side_units(units); !fields) return fields.errors();
  const Windows rows{layer.height, layer.kernel_height, layer.stride_y, layer.pad_top,
                     layer.out_height};
  if (Status fine = check_windows(rows); !fine) return fine.errors();
  const std::vector<PoolStrip> strips = strips_of(layer);
  if (Status fine = check_strips(layer, strips); !fine) return fine.errors();
  if (layer.channels < 1 || layer.channels > kMostSideSize)
    return invalid(fmt::format("channels of pooling must be 1 to {}", kMostSideSize));
  const int64_t room = line_room(open_lines(rows), units);
  for (const PoolStrip& strip : strips)
    if (strip.out_width > room)
      return Error{Errc::capacity,
                   fmt::format("a line of {} outputs of pooling doesn't fit into {} atoms of the "
                               "line buffer",
                               strip.out_width, room),
                   {}};
  if (!is_countable(layer, strips, units.atom_elements + units.request_interval + units.pool_turn))
    return Error{Errc::overflow, "cycles of a layer leave 64 bits", {}};
  return ok();
}

}  // namespace

std::vector<PoolStrip> fewest_strips(const PoolLayer& layer, const SideUnits& units) {
  const int64_t room = line_room(
      open_lines({layer.height, layer.kernel_height, layer.stride_y, layer.pad_top, 1}), units);
  if (room == 0 || layer.out_width <= room) return {};
  const int64_t number = ceil_div(layer.out_width, room);
  std::vector<PoolStrip> out;
  for (int64_t i = 0, outputs = 0; i < number; ++i) {
    const int64_t more = layer.out_width * (i + 1) / number - outputs;
    const int64_t begin = i == 0 ? 0 : outputs * layer.stride_x - layer.pad_left;
    outputs += more;
    const int64_t end = (outputs - 1) * layer.stride_x + layer.kernel_width - layer.pad_left;
    out.push_back({(i + 1 == number ? layer.width : end) - begin, more});
  }
  return out;
}

Result<SideEvents> time_pooling(const PoolLayer& layer, const SideUnits& units) {
  if (Status fine = check_pooling(layer, units); !fine) return fine.errors();
  const PoolTimer timer(layer, units);
  const int64_t begin = units.unit_start + units.read_latency + units.pool_latency;
  return SideEvents{units.unit_start, begin + timer.first(), begin + timer.last()};
}

}  // namespace accsim::hw
