#include "sim/pack/operand_layout.h"

#include <algorithm>

#include "sim/map/product/weight_panels.h"

namespace accsim::sim {
namespace {

size_t as_index(int64_t i) { return static_cast<size_t>(i); }

std::vector<uint8_t> bytes_of(const std::vector<int8_t>& values) {
  std::vector<uint8_t> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 [](int8_t v) { return static_cast<uint8_t>(v); });
  return out;
}

/// Calls visit(start, size) for every tile of [0, length).
template <class Visit>
void for_tiles(int64_t length, int64_t tile, Visit visit) {
  for (int64_t start = 0; start < length; start += tile)
    visit(start, std::min(tile, length - start));
}

/// Writes the weights in one of the orders in which programs read them.
class WeightPacker {
 public:
  WeightPacker(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
               const std::vector<int8_t>& weights)
      : p_(p), hw_(hw), t_(t), weights_(weights) {}

  std::vector<uint8_t> pack_weights() {
    const int64_t batches = p_.op.b_shared ? 1 : p_.op.batch;
    for_tiles(batches, t_.groups, [&](int64_t first, int64_t groups) {
      first_ = first;
      if (p_.b_encoding.is_packed())
        narrow_tiles();
      else if (t_.groups > 1)
        pack_groups(groups);
      else if (p_.b.constant)
        pack_tiles();
      else if (weights_n_major(p_))
        pack_transposed({0, p_.op.outputs, 0, p_.op.channels});
      else
        pack_block({0, p_.op.outputs, 0, p_.op.channels});
    });
    return std::move(out_);
  }

 private:
  /// Outputs [n, n + outputs) and channels [c, c + channels), counted over the groups of a pack.
  struct Tile {
    int64_t n, outputs, c, channels;
  };

  void pack_tiles() {
    for_tiles(p_.op.outputs, t_.outputs, [&](int64_t n, int64_t outputs) {
      for_tiles(p_.op.channels, t_.channels, [&](int64_t c, int64_t channels) {
        pack_slot({n, outputs, c, channels});
      });
    });
  }

  // ---- of 4 bits: every row begins with a byte --------------------------------------------------

  void narrow_tiles() {
    for_tiles(p_.op.outputs, t_.outputs, [&](int64_t n, int64_t outputs) {
      for_tiles(p_.op.channels, t_.channels, [&](int64_t c, int64_t channels) {
        const Tile tile{n, outputs, c, channels};
        if (t_.dataflow == hw::Dataflow::input_stationary)
          narrow_passes(tile);
        else
          narrow_columns(tile);
      });
    });
  }

  /// Blocks of as many columns as the array has, a row for every k.
  void narrow_columns(const Tile& tile) {
    for_tiles(tile.outputs, hw_.array.cols, [&](int64_t n, int64_t outputs) {
      for (int64_t k = 0; k < p_.kernel_taps() * tile.channels; ++k) {
        begin_row();
        for (int64_t i = 0; i < outputs; ++i) put_half(k, tile, tile.n + n + i);
      }
    });
  }

  /// A block for every pass of the array, a row for every output.
  void narrow_passes(const Tile& tile) {
    const Passes cut = array_passes(p_, hw_, tile.channels, t_.im2col);
    for (int64_t outer = 0; outer < cut.outer; ++outer)
      for_tiles(cut.flat, cut.lanes, [&](int64_t first, int64_t lanes) {
        for (int64_t n = 0; n < tile.outputs; ++n) {
          begin_row();
          for (int64_t i = 0; i < lanes; ++i)
            put_half(outer * cut.flat + first + i, tile, tile.n + n);
        }
      });
  }

  void begin_row() { high_ = false; }
  /// Element k of the tile's kernel and channels, [tap][channel].
  void put_half(int64_t k, const Tile& tile, int64_t n) {
    const int8_t v = weight_at(k / tile.channels, tile.c + k % tile.channels, n);
    check(v >= -8 && v < 8, "a weight beyond 4 bits");
    const auto half = static_cast<uint8_t>(v & 15);
    if (high_)
      out_.back() = static_cast<uint8_t>(out_.back() | half << 4);
    else
      out_.push_back(half);
    high_ = !high_;
  }

  /// The blocks of a pack: a row for every k, or [group][n][k].
  void pack_groups(int64_t groups) {
    const int64_t channels = p_.op.channels, outputs = p_.op.outputs;
    if (!p_.b.constant || t_.dataflow == hw::Dataflow::input_stationary) {
      for (int64_t g = 0; g < groups; ++g)
        pack_transposed({g * outputs, outputs, g * channels, channels});
      return;
    }
    for (int64_t tap = 0; tap < p_.kernel_taps(); ++tap)
      for (int64_t c = 0; c < groups * channels; ++c)
        for (int64_t n = 0; n < outputs; ++n) put_weight(tap, c, c / channels * outputs + n);
  }

  /// As a slot holds it: column blocks, or for input stationary a row for every output.
  void pack_slot(const Tile& tile) {
    if (t_.dataflow == hw::Dataflow::input_stationary) return pack_transposed(tile);
    for_tiles(tile.outputs, hw_.array.cols, [&](int64_t n, int64_t outputs) {
      pack_block({tile.n + n, outputs, tile.c, tile.channels});
    });
  }

  void pack_block(const Tile& tile) {
    for (int64_t tap = 0; tap < p_.kernel_taps(); ++tap)
      for (int64_t c = 0; c < tile.channels; ++c)
        for (int64_t n = 0; n < tile.outputs; ++n) put_weight(tap, tile.c + c, tile.n + n);
  }

  void pack_transposed(const Tile& tile) {
    for (int64_t n = 0; n < tile.outputs; ++n)
      for (int64_t tap = 0; tap < p_.kernel_taps(); ++tap)
        for (int64_t c = 0; c < tile.channels; ++c) put_weight(tap, tile.c + c, tile.n + n);
  }

  void put_weight(int64_t tap, int64_t c, int64_t n) {
    out_.push_back(static_cast<uint8_t>(weight_at(tap, c, n)));
  }
  int8_t weight_at(int64_t tap, int64_t c, int64_t n) const {
    const GemmOp& op = p_.op;
    const int64_t group = first_ + c / op.channels;
    const int64_t row = (group * p_.kernel_taps() + tap) * op.channels + c % op.channels;
    return weights_[as_index(row * op.outputs + n % op.outputs)];
  }

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const Tiling& t_;
  const std::vector<int8_t>& weights_;
  int64_t first_ = 0;  ///< group or batch entry
  bool high_ = false;  ///< the next of 4 bits goes into the high half of the last byte
  std::vector<uint8_t> out_;
};

std::vector<uint8_t> pack_activations(const GemmOp& op, const std::vector<int8_t>& a) {
  if (!op.a_transposed) return bytes_of(a);
  const int64_t m = op.in[2], k = op.channels, entries = std::ssize(a) / (m * k);
  std::vector<uint8_t> out;
  for (int64_t e = 0; e < entries; ++e)
    for (int64_t c = 0; c < k; ++c)
      for (int64_t row = 0; row < m; ++row)
        out.push_back(static_cast<uint8_t>(a[as_index((e * m + row) * k + c)]));
  return out;
}

void put_bytes(std::vector<uint8_t>& out, uint32_t word, int bytes) {
  for (int byte = 0; byte < bytes; ++byte) out.push_back(static_cast<uint8_t>(word >> (8 * byte)));
}

std::vector<uint8_t> pack_parameters(const std::vector<GemmOperands::Channel>& channels) {
  std::vector<uint8_t> out;
  for (const GemmOperands::Channel& c : channels)
    for (const int32_t word : {c.bias, c.multiplier, c.shift})
      put_bytes(out, static_cast<uint32_t>(word), 4);
  return out;
}

/// Of a product on the lanes, which take activations less their zero point. The array's sums have
/// it once with each weight, in the padding too; the bias adds that.
std::vector<GemmOperands::Channel> of_differences(const GemmProblem& p, const GemmOperands& o) {
  std::vector<GemmOperands::Channel> out = o.channels;
  for (int64_t c = 0; c < std::ssize(out); ++c) {
    int64_t sum = 0;
    for (int64_t tap = 0; tap < p.kernel_taps(); ++tap)
      sum += o.weights[as_index(c * p.kernel_taps() + tap)];
    int32_t& bias = out[as_index(c)].bias;
    bias =
        static_cast<int32_t>(static_cast<uint32_t>(bias) + static_cast<uint32_t>(sum * p.a_zero));
  }
  return out;
}

/// Tile by tile of the outputs: the channels' words, then post by post (of a column block, or of
/// all rows) the multipliers of the other scales.
std::vector<uint8_t> pack_scales(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                                 const GemmOperands& o) {
  std::vector<uint8_t> out;
  const bool rows = t.dataflow == hw::Dataflow::input_stationary;
  for_tiles(p.op.outputs, t.outputs, [&](int64_t n, int64_t outputs) {
    const auto first = o.channels.begin() + n;
    const std::vector<uint8_t> words = pack_parameters({first, first + outputs});
    out.insert(out.end(), words.begin(), words.end());
    for_tiles(outputs, rows ? outputs : hw.array.cols, [&](int64_t c, int64_t columns) {
      for (int64_t g = 1; g < p.scale_count(); ++g)
        for (int64_t i = 0; i < columns; ++i) {
          const int64_t channel = n + c + i;
          put_bytes(out,
                    static_cast<uint16_t>(o.scales[as_index((g - 1) * p.op.outputs + channel)]), 2);
        }
    });
  });
  return out;
}

}  // namespace

int64_t logical_a(const GemmOp& op) {
  return (op.a_shared ? 1 : op.batch) * op.images * op.in[0] * op.in[1] * op.in[2] * op.channels;
}

int64_t logical_weights(const GemmOp& op) {
  return (op.b_shared ? 1 : op.batch) * op.k() * op.outputs;
}

GemmProblem without_pitches(GemmProblem p) {
  for (Place* place : {&p.a, &p.b, &p.out}) place->pitch = {};
  if (p.residual) p.residual->pitch = {};
  return p;
}

hw::MemoryImage pack_operands(const GemmProblem& p, const hw::HwConfig& hw,
                              const ProductTiling& tiling, const GemmOperands& operands) {
  const GemmOp& op = p.op;
  const auto* lanes = std::get_if<TapTiling>(&tiling);
  // On the lanes as the array's packed groups.
  const Tiling t = lanes ? Tiling{.groups = lanes->channels} : std::get<Tiling>(tiling);
  check(std::ssize(operands.a) == logical_a(op), "activations of another size");
  check(std::ssize(operands.weights) == logical_weights(op), "weights of another size");
  check(!p.has_parameters || std::ssize(operands.channels) == p.pixel_outputs(),
        "parameters of another number of channels");
  check(!p.same_parameters || std::ranges::count(operands.channels, operands.channels.front()) ==
                                  std::ssize(operands.channels),
        "one channel's parameters for all");
  hw::MemoryImage image = {pack_activations(op, operands.a),
                           WeightPacker(p, hw, t, operands.weights).pack_weights(),
                           std::vector<uint8_t>(as_index(op.batch * op.m() * op.outputs))};
  check(std::ssize(operands.scales) >= (p.scale_count() - 1) * op.outputs,
        "scales that are missing");
  if (p.has_parameters)
    image.push_back(p.scale_count() > 1 ? pack_scales(p, hw, t, operands)
                    : lanes             ? pack_parameters(of_differences(p, operands))
                                        : pack_parameters(operands.channels));
  if (p.epilogue.table) {
    check(std::ssize(operands.table) == hw::SetTableCommand::kBytes, "a table of another size");
    const std::vector<uint8_t> table = bytes_of(operands.table);
    image.back().insert(image.back().end(), table.begin(), table.end());
  }
  if (p.residual) {
    check(operands.residual.size() == image[2].size(), "a residual of another size");
    image.push_back(bytes_of(operands.residual));
  }
  if (t.staged > 0) {
    const WeightPanels panels = weight_panels(p, hw, t);
    image.resize(image.size() + as_index(panels.regions),
                 std::vector<uint8_t>(as_index(panels.region_bytes)));
  }
  return image;
}

std::vector<int8_t> unpack_output(const hw::MemoryImage& image) {
  constexpr size_t kOutput = 2;
  std::vector<int8_t> out(image[kOutput].size());
  std::transform(image[kOutput].begin(), image[kOutput].end(), out.begin(),
                 [](uint8_t v) { return static_cast<int8_t>(v); });
  return out;
}

}  // namespace accsim::sim
