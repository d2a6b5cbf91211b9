#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hw/golden/machine.h"
#include "hw/program/reach.h"

namespace accsim::hw {
namespace {

int32_t little_endian(const uint8_t* p) {
  uint32_t word = 0;
  for (size_t i = 4; i-- > 0;) word = word << 8 | p[i];
  return static_cast<int32_t>(word);
}

}  // namespace

uint32_t GoldenMachine::read_sum(std::span<const uint8_t> slot, int64_t row, int64_t col) const {
  uint32_t value;
  std::memcpy(&value, &slot[index(sum_at(row, col))], sizeof value);
  return value;
}

void GoldenMachine::put_sum(std::span<uint8_t> slot, int64_t row, int64_t col, uint32_t s) const {
  std::memcpy(&slot[index(sum_at(row, col))], &s, sizeof s);
}

// ---- gemm ---------------------------------------------------------------------------------------

/// The m x k operand, element by element through the window.
bool GoldenMachine::gather_rows(const GemmCommand& c) {
  const OperandWindow& w = c.window;
  const int64_t width = w.tile[2] * w.pixel, tile = w.tile[0] * w.tile[1] * width;
  const int64_t offset = affine_value(w.offset), first = affine_value(w.first);
  std::array<int64_t, 3> origin{};
  for (size_t d = 0; d < 3; ++d) origin[d] = affine_value(w.origin[d]);
  SlotRing& ring_a = slot_ring(Buffer::activation);
  if (has_failed() || !check_inside(0, tile, ring_a.slot_bytes(), "gemm window")) return false;
  if (w.line < 1 || offset < 0 || first < 0 || first + c.m > w.position_count()) {
    fail(Errc::invalid,
         fmt::format("gemm window of {} positions, {}-byte lines from byte {}; m is {} from {}",
                     w.position_count(), w.line, offset, c.m, first));
    return false;
  }
  const std::span<const uint8_t> slot = ring_a.slot_to_read(poison_);
  a_.assign(index(c.m * c.k), static_cast<int8_t>(w.pad_value));
  for (int64_t row = first; row < first + c.m; ++row) {
    const int64_t z = origin[0] + row / (w.count[1] * w.count[2]) * w.stride[0];
    const int64_t y = origin[1] + row / w.count[2] % w.count[1] * w.stride[1];
    const int64_t x = (origin[2] + row % w.count[2] * w.stride[2]) * w.pixel;
    if (z < 0 || z >= w.tile[0]) continue;
    int8_t* const to = &a_[index((row - first) * c.k)];
    // The elements of one kernel line lie together, those within the tile line are copied.
    for (int64_t i = offset, next; i < offset + c.k; i = next) {
      next = i + std::min(w.line - i % w.line, offset + c.k - i);
      const int64_t line = y + i / w.line * w.line_step, byte = x + i % w.line;
      if (line < 0 || line >= w.tile[1]) continue;
      const int64_t begin = std::max<int64_t>(byte, 0), end = std::min(byte + next - i, width);
      if (begin < end)
        std::memcpy(to + (i - offset) + (begin - byte),
                    &slot[index((z * w.tile[1] + line) * width + begin)], index(end - begin));
    }
  }
  return true;
}

namespace {

/// Element i of a row of weights that begins with the slot's byte `row`.
int8_t weight_element(std::span<const uint8_t> slot, int64_t row, int64_t i, const Encoding& e) {
  if (!e.is_packed()) return static_cast<int8_t>(slot[index(row + i)]);
  const int half = slot[index(row + i / 2)] >> (i % 2 == 0 ? 0 : 4) & 15;
  return static_cast<int8_t>(half < 8 ? half : half - 16);
}

}  // namespace

/// The k x n operand of packed groups: the blocks of the slot, zeros elsewhere.
bool GoldenMachine::gather_blocks(const GemmCommand& c) {
  const WeightTile& t = c.weights;
  const bool turned = dataflow_ == Dataflow::input_stationary;
  const int64_t offset = affine_value(t.offset), first = affine_value(t.first_k);
  if (has_failed()) return false;
  if (t.pitch < 0 || first < 0 || t.group_k < 1 || t.group_n < 1 || c.n > t.groups * t.group_n ||
      (t.encoding.is_packed() && turned)) {
    fail(Errc::invalid, fmt::format("{} columns of {} groups of {}x{} from row {}, pitch {}", c.n,
                                    t.groups, t.group_k, t.group_n, first, t.pitch));
    return false;
  }
  const std::span<const uint8_t> slot = slot_ring(Buffer::weight).slot_to_read(poison_);
  w_.assign(index(c.k * c.n), 0);
  for (int64_t k = 0; k < c.k; ++k)
    for (int64_t n = 0; n < c.n; ++n) {
      const int64_t row = first + k, tap = row / t.group_k / t.groups;
      if (row / t.group_k % t.groups != n / t.group_n) continue;
      const int64_t at = offset + (turned ? n : k) * t.pitch;
      const int64_t element = turned ? tap * t.group_k + row % t.group_k : n % t.group_n;
      if (!check_inside(at, t.encoding.row_bytes(element + 1), std::ssize(slot), "gemm weights"))
        return false;
      w_[index(k * c.n + n)] = weight_element(slot, at, element, t.encoding);
    }
  return true;
}

/// The k x n operand, turned when the slot holds n rows of k.
bool GoldenMachine::gather_weights(const GemmCommand& c) {
  const Encoding encoding = c.weights.encoding;
  if (encoding != Encoding{} && encoding != kPackedWeights) {
    fail(Errc::invalid, fmt::format("gemm weights of {} bits", encoding.bits()));
    return false;
  }
  if (c.weights.groups > 1) return gather_blocks(c);
  const bool turned = dataflow_ == Dataflow::input_stationary;
  const int64_t rows = turned ? c.n : c.k, columns = turned ? c.k : c.n;
  const int64_t offset = affine_value(c.weights.offset), pitch = c.weights.pitch;
  SlotRing& ring_w = slot_ring(Buffer::weight);
  if (!has_failed() && pitch < 0)
    fail(Errc::invalid, fmt::format("rows of weights {} bytes apart", pitch));
  const int64_t last = Reach{}.add_index(rows, pitch).high;
  if (has_failed() || !check_inside(offset, add_far(last, encoding.row_bytes(columns)),
                                    ring_w.slot_bytes(), "gemm weights"))
    return false;
  const std::span<const uint8_t> slot = ring_w.slot_to_read(poison_);
  w_.resize(index(c.k * c.n));
  for (int64_t k = 0; k < c.k; ++k)
    if (!encoding.is_packed() && !turned)
      std::memcpy(&w_[index(k * c.n)], &slot[index(offset + k * pitch)], index(c.n));
    else
      for (int64_t n = 0; n < c.n; ++n)
        w_[index(k * c.n + n)] =
            weight_element(slot, offset + (turned ? n : k) * pitch, turned ? k : n, encoding);
  return true;
}

bool GoldenMachine::gather_operands(const GemmCommand& c) {
  const ArrayConfig& a = hw_.array;
  // What the array doesn't bound, the accumulator does.
  const bool rows_of_m = dataflow_ == Dataflow::output_stationary;
  const bool columns_of_m = dataflow_ == Dataflow::input_stationary;
  if (c.m < 1 || c.k < 1 || c.n < 1 || c.k > a.rows || (rows_of_m && c.m > a.rows) ||
      (columns_of_m ? c.m : c.n) > a.cols) {
    fail(Errc::invalid,
         fmt::format("a gemm of {}x{}x{} on {}x{} lanes", c.m, c.k, c.n, a.rows, a.cols));
    return false;
  }
  return gather_rows(c) && gather_weights(c);
}

namespace {

/// Of int8 values as int16, which every x86-64 multiplies and adds by pairs. No array has more than
/// 1024 rows, so the sum doesn't wrap.
uint32_t dot_product(const int16_t* a, const int16_t* b, int64_t k) {
  int32_t sum = 0;
  for (int64_t i = 0; i < k; ++i) sum += a[i] * b[i];
  return static_cast<uint32_t>(sum);
}

}  // namespace

void GoldenMachine::products(const GemmCommand& c) {
  wide_a_.assign(a_.begin(), a_.end());
  columns_.resize(w_.size());
  for (int64_t k = 0; k < c.k; ++k)
    for (int64_t n = 0; n < c.n; ++n) columns_[index(n * c.k + k)] = w_[index(k * c.n + n)];
  products_.resize(index(c.m * c.n));
  for (int64_t m = 0; m < c.m; ++m)
    for (int64_t n = 0; n < c.n; ++n)
      products_[index(m * c.n + n)] =
          dot_product(&wide_a_[index(m * c.k)], &columns_[index(n * c.k)], c.k);
}

namespace {

/// Sums that lie `step` apart.
struct SumRow {
  const uint32_t* first;
  int64_t step;
};

/// Adds a row to the sums held, or puts it in their place.
void add_row(const SumRow& row, int64_t columns, bool overwrite, uint8_t* held) {
  for (int64_t i = 0; i < columns; ++i) {
    uint32_t total = 0;
    if (!overwrite) std::memcpy(&total, held + i * 4, sizeof total);
    total += row.first[i * row.step];
    std::memcpy(held + i * 4, &total, sizeof total);
  }
}

}  // namespace

void GoldenMachine::execute(const GemmCommand& c) {
  const bool stays = dataflow_ == Dataflow::output_stationary;
  const int64_t first = stays ? 0 : affine_value(c.accumulator_row);
  const bool turned = dataflow_ == Dataflow::input_stationary;
  const int64_t rows = turned ? c.n : c.m, columns = turned ? c.m : c.n;
  if (has_failed() || !gather_operands(c)) return;
  if (!stays && !check_inside(first, rows, hw_.accumulator_rows(), "gemm accumulator rows")) return;
  products(c);
  const bool overwrite = overwrites_sums(c.first_of, c.accumulate);
  SlotRing& sums = slot_ring(Buffer::accumulator);
  const std::span<uint8_t> slot =
      stays ? std::span<uint8_t>() : sums.slot_to_fill(poison_, sum_at(first + rows));
  retired_.row = columns;
  retired_.address = first;
  retired_.slot = stays ? 0 : sums.producer_slot();
  retired_.in_array = stays;
  retired_.a = a_;
  retired_.b = w_;
  retired_.overwrites = overwrite;
  if (records_) retired_.sums.resize(index(rows * columns));
  for (int64_t r = 0; r < rows; ++r) {
    auto* const held = stays ? reinterpret_cast<uint8_t*>(&array_[index(r * hw_.array.cols)])
                             : &slot[index(sum_at(first + r))];
    add_row({&products_[index(turned ? r : r * c.n)], turned ? c.n : 1}, columns, overwrite, held);
    if (records_)
      std::memcpy(&retired_.sums[index(r * columns)], held, index(columns) * sizeof(uint32_t));
  }
}

void GoldenMachine::execute(const DrainCommand& c) {
  const int64_t first = affine_value(c.accumulator_row);
  if (has_failed()) return;
  if (dataflow_ != Dataflow::output_stationary || c.m < 1 || c.m > hw_.array.rows || c.n < 1 ||
      c.n > hw_.array.cols)
    return fail(Errc::invalid, fmt::format("a drain of {}x{} from a {} array of {}x{}", c.m, c.n,
                                           name(dataflow_), hw_.array.rows, hw_.array.cols));
  if (!check_inside(first, c.m, hw_.accumulator_rows(), "drain accumulator rows")) return;
  const bool overwrite = overwrites_sums(c.first_of, c.accumulate);
  SlotRing& sums = slot_ring(Buffer::accumulator);
  const std::span<uint8_t> slot = sums.slot_to_fill(poison_, sum_at(first + c.m));
  retired_.row = c.n;
  retired_.address = first;
  retired_.slot = sums.producer_slot();
  retired_.overwrites = overwrite;
  for (int64_t m = 0; m < c.m; ++m)
    for (int64_t n = 0; n < c.n; ++n) {
      uint32_t total = array_[index(m * hw_.array.cols + n)];
      if (!overwrite) total += read_sum(slot, first + m, n);
      put_sum(slot, first + m, n, total);
      if (records_) retired_.sums.push_back(static_cast<int32_t>(total));
    }
  // Moved, not copied: a gemm that forgets to clear them must show.
  poison_.fill({reinterpret_cast<uint8_t*>(array_.data()), array_.size() * sizeof array_[0]});
}

// ---- post ---------------------------------------------------------------------------------------

int64_t round_shift(int64_t value, int32_t shift) {
  // Rounding the magnitude takes halves away from zero on both sides.
  uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (shift > 0) magnitude = (magnitude + (uint64_t{1} << (shift - 1))) >> shift;
  const auto rounded = static_cast<int64_t>(magnitude);
  return value < 0 ? -rounded : rounded;
}

namespace {

int16_t multiplier_of_group(std::span<const uint8_t> slot, int64_t at) {
  return static_cast<int16_t>(slot[index(at)] | slot[index(at + 1)] << 8);
}

}  // namespace

int32_t requantise(int32_t sum, const Requantise& r, const Epilogue& e, int64_t others) {
  const auto biased =
      static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(r.bias));
  const auto total = static_cast<int64_t>(static_cast<uint64_t>(int64_t{biased} * r.multiplier) +
                                          static_cast<uint64_t>(others));
  return e.clip_result(round_shift(total, r.shift));
}

std::optional<Requantise> GoldenMachine::channel_parameters(std::string_view what,
                                                            std::span<const uint8_t> slot,
                                                            int64_t first, int64_t channel) {
  Requantise r;
  const uint8_t* p = &slot[index(first + channel * 12)];
  r.bias = little_endian(p);
  r.multiplier = little_endian(p + 4);
  r.shift = little_endian(p + 8);
  if (r.shift >= 0 && r.shift <= 62) return r;
  fail(Errc::invalid,
       fmt::format("{} shifts channel {} by {}; 0 to 62 is possible", what, channel, r.shift));
  return std::nullopt;
}

namespace {

int64_t add_residual(const Residual& r, int64_t value, int8_t residual) {
  const int64_t rounded = round_shift(int64_t{residual - r.zero} * r.multiplier, r.shift);
  return std::clamp<int64_t>(value + rounded, r.low, r.high);
}

}  // namespace

/// Are the numbers of a post those that a unit can have? Fails when not.
bool GoldenMachine::check_numbers(const PostCommand& c) {
  if (c.rows < 1 || c.cols < 1 || c.cols > hw_.array.cols || !c.epilogue.has_limits() ||
      c.pitch < 0 || c.groups < 1 || c.groups > PostCommand::kMostGroups || c.group_rows < 0)
    fail(Errc::invalid,
         fmt::format("a post of {}x{}, pitch {}, clipped to [{}, {}]; {} groups {} rows apart",
                     c.rows, c.cols, c.pitch, c.epilogue.low, c.epilogue.high, c.groups,
                     c.group_rows));
  if (const auto& r = c.epilogue.residual;
      r && (r->shift < 0 || r->shift > 31 || r->low < INT8_MIN || r->low > r->high ||
            r->high > INT8_MAX))
    fail(Errc::invalid,
         fmt::format("a residual shifted by {}, clipped to [{}, {}]", r->shift, r->low, r->high));
  return !has_failed();
}

void GoldenMachine::execute(const PostCommand& c) {
  if (!c.has_parameters)
    return fail(Errc::unsupported,
                "a post without parameters: an integer machine needs bias, "
                "multiplier and shift of every output channel");
  const int64_t first = affine_value(c.accumulator_row), table = affine_value(c.parameter_offset);
  const int64_t offset = affine_value(c.slot_offset),
                scales_at = c.groups > 1 ? affine_value(c.group_offset) : 0;
  const int64_t pixels = c.transposed ? c.cols : c.rows, channels = c.channels();
  SlotRing& sums = slot_ring(Buffer::accumulator);
  SlotRing& out = slot_ring(Buffer::output);
  SlotRing& scales = slot_ring(Buffer::parameter);
  if (has_failed() || !check_numbers(c)) return;
  const int64_t last_group = Reach{}.add_index(c.groups, c.group_rows).high;
  const int64_t last_pixel = Reach{}.add_index(pixels, c.pitch).high;
  if (!check_inside(first, add_far(last_group, c.rows), hw_.accumulator_rows(),
                    "post accumulator rows") ||
      !check_inside(scales_at, (c.groups - 1) * channels * PostCommand::kGroupBytes,
                    scales.slot_bytes(), "post parameters of groups") ||
      !check_inside(table, channels * 12, scales.slot_bytes(), "post parameters") ||
      !check_inside(offset, add_far(last_pixel, channels), out.slot_bytes(), "post output"))
    return;
  const std::span<const uint8_t> from = sums.slot_to_read(poison_),
                                 tables = scales.slot_to_read(poison_);
  const std::span<uint8_t> to = out.slot_to_fill(poison_, offset + last_pixel + channels);
  std::vector<Requantise>& scale = retired_.scales;
  std::vector<int32_t>& multipliers = retired_.group_multipliers;
  for (int64_t channel = 0; channel < channels; ++channel) {
    const auto r = channel_parameters("post", tables, table, channel);
    if (!r) return;
    scale.push_back(*r);
  }
  for (int64_t i = 0; i < (c.groups - 1) * channels; ++i)
    multipliers.push_back(multiplier_of_group(tables, scales_at + i * PostCommand::kGroupBytes));
  retired_.address = offset;
  retired_.slot = out.producer_slot();
  for (int64_t pixel = 0; pixel < pixels; ++pixel)
    for (int64_t channel = 0; channel < channels; ++channel) {
      const auto acc = [&](int64_t group) {
        const int64_t top = first + group * c.group_rows;
        return static_cast<int32_t>(c.transposed ? read_sum(from, top + channel, pixel)
                                                 : read_sum(from, top + pixel, channel));
      };
      int64_t others = 0;
      for (int64_t g = 1; g < c.groups; ++g)
        others += int64_t{acc(g)} * multipliers[index((g - 1) * channels + channel)];
      uint8_t& y = to[index(offset + pixel * c.pitch + channel)];
      int64_t v = requantise(acc(0), scale[index(channel)], c.epilogue, others);
      if (c.epilogue.table) v = post_table_[index(v + 128)];
      if (c.epilogue.residual) v = add_residual(*c.epilogue.residual, v, static_cast<int8_t>(y));
      y = static_cast<uint8_t>(v);
      if (records_) retired_.bytes.push_back(y);
    }
}

}  // namespace accsim::hw
