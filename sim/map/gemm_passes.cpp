#include "sim/map/gemm_passes.h"

#include <algorithm>
#include <functional>

namespace accsim {
namespace {

/// One array pass over part of the reduction.
struct Pass {
  Affine k_row;           ///< row of the weight chunk
  Affine z, y, x;         ///< window origin, relative to the first kernel tap
  Affine flat;            ///< elements into the flat index
  int64_t k = 0;
  std::vector<int> loops; ///< the first pass is where all of these are at 0
  bool later = false;     ///< in a later segment: never the first pass
};

/// A block of the tile's pixels, contiguous in (image, line, pixel) order.
struct Block {
  int64_t images, lines, pixels;
  Affine image, line, pixel;  ///< of its first pixel, within the tile
  Affine index;               ///< blocks before it
  int64_t size() const { return images * lines * pixels; }
};

class PassEmitter {
 public:
  PassEmitter(const GemmProblem& p, const HwConfig& hw, const Tiling& t, const TileShape& tile,
              int& loop_ids)
      : p_(p), hw_(hw), t_(t), tile_(tile), loop_ids_(loop_ids),
        cut_(passes(p, hw, tile.channels, t.im2col)) {}

  void gemms(std::vector<Item>& body) {
    if (t_.dataflow == Dataflow::weight_stationary)
      weight_stationary(body);
    else
      for_blocks(body, [&](const Block& b, std::vector<Item>& inner) {
        if (t_.dataflow == Dataflow::input_stationary)
          input_stationary(b, inner);
        else
          output_stationary(b, inner);
      });
  }

  void posts(std::vector<Item>& body) {
    if (t_.dataflow == Dataflow::input_stationary)
      for_blocks(body, [&](const Block& b, std::vector<Item>& inner) {
        PostCommand c = post(tile_.outputs, b.size());
        c.accumulator_row = b.index * tile_.outputs;
        c.slot_offset = pixel_index(b) * c.pitch;
        c.transposed = true;
        inner.push_back({Command{std::move(c)}});
      });
    else
      for_columns(body, [&](const Segment& s, const Affine& start, std::vector<Item>& inner) {
        PostCommand c = post(tile_.pixels(), s.size);
        c.accumulator_row = column_block(start) * tile_.pixels();
        c.slot_offset = start * p_.out_bytes;
        if (p_.has_parameters) c.parameter_offset = start * p_.parameter_bytes;
        inner.push_back({Command{std::move(c)}});
      });
  }

 private:
  using PassBody = std::function<void(const Pass&, std::vector<Item>&)>;

  // ---- dataflows ---------------------------------------------------------------------------------

  void weight_stationary(std::vector<Item>& body) {
    for_columns(body, [&](const Segment& s, const Affine& start, std::vector<Item>& inner) {
      for_passes(inner, [&](const Pass& pass, std::vector<Item>& innermost) {
        GemmCommand c = gemm(pass, whole(), s.size);
        c.weights = weight_columns(pass, start, s.size);
        c.accumulator_row = column_block(start) * tile_.pixels();
        overwrite(c, pass);
        innermost.push_back({Command{std::move(c)}});
      });
    });
  }

  void input_stationary(const Block& b, std::vector<Item>& body) {
    for_passes(body, [&](const Pass& pass, std::vector<Item>& inner) {
      GemmCommand c = gemm(pass, b, tile_.outputs);
      c.weights = {pass.k_row * p_.b_bytes, rows() * p_.b_bytes};
      c.accumulator_row = b.index * tile_.outputs;
      overwrite(c, pass);
      inner.push_back({Command{std::move(c)}});
    });
  }

  void output_stationary(const Block& b, std::vector<Item>& body) {
    for_columns(body, [&](const Segment& s, const Affine& start, std::vector<Item>& inner) {
      for_passes(inner, [&](const Pass& pass, std::vector<Item>& innermost) {
        GemmCommand c = gemm(pass, b, s.size);
        c.weights = weight_columns(pass, start, s.size);
        c.first_of = pass.loops;
        c.accumulate = pass.later;
        innermost.push_back({Command{std::move(c)}});
      });
      DrainCommand d{b.size(), s.size, column_block(start) * tile_.pixels() + pixel_index(b),
                     tile_.channel_loops, tile_.accumulate};
      inner.push_back({Command{std::move(d)}});
    });
  }

  // ---- loops -------------------------------------------------------------------------------------

  template <class Inner>
  void for_columns(std::vector<Item>& body, Inner inner) {
    for_segments(loop_ids_, "nb", split(tile_.outputs, hw_.array.cols), body,
                 [&](const Segment& s, const Affine& start, std::vector<Item>& b, int) {
                   inner(s, start, b);
                 });
  }

  template <class Inner>
  void for_blocks(std::vector<Item>& body, Inner inner) {
    const PixelBlock size = pixel_block(hw_, t_);
    const auto images = split(tile_.image.size, size.images);
    const auto lines = split(tile_.y.size, size.lines);
    const auto pixels = split(tile_.x.size, size.pixels);
    const int64_t per_line = total_count(pixels), per_image = per_line * total_count(lines);
    const auto ordinal = [](const Affine& start, int64_t step) { return divide(start, step); };
    for_segments(loop_ids_, "ib", images, body, [&](auto& i, auto& image, auto& b1, int) {
      for_segments(loop_ids_, "yb", lines, b1, [&](auto& y, auto& line, auto& b2, int) {
        for_segments(loop_ids_, "xb", pixels, b2, [&](auto& x, auto& pixel, auto& b3, int) {
          inner(Block{i.size, y.size, x.size, image, line, pixel,
                      ordinal(image, size.images) * per_image +
                          ordinal(line, size.lines) * per_line + ordinal(pixel, size.pixels)},
                b3);
        });
      });
    });
  }

  /// Starts are multiples of the step, so the quotient is affine too.
  static Affine divide(Affine a, int64_t step) {
    a.base /= step;
    for (Affine::Term& term : a.terms) term.coeff /= step;
    return a;
  }

  /// Kernel planes, then (where they are loops) kernel lines and columns, then the flat index.
  void for_passes(std::vector<Item>& body, const PassBody& inner) {
    const int64_t c = tile_.channels;
    Pass pass;
    if (t_.im2col) return flat_passes(pass, body, inner);
    kernel_loop("kz", p_.z.kernel, pass, body, [&](const Affine& kz, Pass p1, auto& b1) {
      p1.z += kz * p_.z.dilation;
      p1.k_row += kz * (p_.y.kernel * p_.x.kernel * c);
      kernel_loop("ky", cut_.by_line ? p_.y.kernel : 1, p1, b1, [&](auto& ky, Pass p2, auto& b2) {
        p2.y += ky * p_.y.dilation;
        p2.k_row += ky * (p_.x.kernel * c);
        kernel_loop("kx", cut_.by_column ? p_.x.kernel : 1, p2, b2,
                    [&](auto& kx, Pass p3, auto& b3) {
                      p3.x += kx * p_.x.dilation;
                      p3.k_row += kx * c;
                      flat_passes(p3, b3, inner);
                    });
      });
    });
  }

  template <class Inner>
  void kernel_loop(std::string_view name, int64_t count, const Pass& pass, std::vector<Item>& body,
                   Inner inner) {
    for_segments(loop_ids_, name, {Segment{.count = count, .step = 1, .size = 1}}, body,
                 [&](const Segment&, const Affine& at, std::vector<Item>& b, int loop) {
                   Pass next = pass;
                   if (loop >= 0) next.loops.push_back(loop);
                   inner(at, std::move(next), b);
                 });
  }

  void flat_passes(const Pass& pass, std::vector<Item>& body, const PassBody& inner) {
    for_segments(loop_ids_, "k", split(cut_.flat, cut_.lanes), body,
                 [&](const Segment& s, const Affine& start, std::vector<Item>& b, int loop) {
                   Pass next = pass;
                   next.flat += start;
                   next.k_row += start;
                   next.k = s.size;
                   if (loop >= 0) next.loops.push_back(loop);
                   next.later = s.start > 0;
                   inner(next, b);
                 });
  }

  // ---- operands ----------------------------------------------------------------------------------

  int64_t rows() const { return p_.kernel() * tile_.channels; }
  Block whole() const { return {tile_.image.size, tile_.y.size, tile_.x.size, 0, 0, 0, 0}; }
  Affine column_block(const Affine& start) const { return divide(start, hw_.array.cols); }
  Affine pixel_index(const Block& b) const {
    return (b.image * tile_.y.size + b.line) * tile_.x.size + b.pixel;
  }

  GemmCommand gemm(const Pass& pass, const Block& b, int64_t n) const {
    GemmCommand c;
    c.m = b.size();
    c.k = pass.k;
    c.n = n;
    c.useful_macs = c.m * c.k * c.n / tile_.groups;
    c.window = t_.im2col ? im2col_window(b) : raw_window(pass, b);
    c.window.offset = pass.flat * p_.a_bytes;
    c.window.line = cut_.line * p_.a_bytes;
    c.window.pad_value = p_.a_zero;
    return c;
  }

  Window raw_window(const Pass& pass, const Block& b) const {
    Window w;
    const bool images = t_.images > 1;
    w.tile = {images ? tile_.image.size : tile_.z.in_size, tile_.y.in_size, tile_.x.in_size};
    w.pixel = tile_.channels * p_.a_bytes;
    w.count = {b.images, b.lines, b.pixels};
    w.stride = {1, p_.y.stride, p_.x.stride};
    w.origin = {b.image + (images ? Affine(0) : pass.z + Affine(tile_.z.origin)),
                b.line * p_.y.stride + pass.y + Affine(tile_.y.origin),
                b.pixel * p_.x.stride + pass.x + Affine(tile_.x.origin)};
    w.line_step = p_.y.dilation;
    return w;
  }

  Window im2col_window(const Block& b) const {
    Window w;
    w.tile = {1, 1, tile_.pixels()};
    w.pixel = rows() * p_.a_bytes;
    w.count = {1, 1, b.size()};
    w.origin[2] = pixel_index(b);
    return w;
  }

  /// Column blocks of [k][columns] follow one another in the slot.
  WeightTile weight_columns(const Pass& pass, const Affine& start, int64_t columns) const {
    const int64_t pitch = columns * p_.b_bytes;
    return {start * (rows() * p_.b_bytes) + pass.k_row * pitch, pitch};
  }

  void overwrite(GemmCommand& c, const Pass& pass) const {
    c.first_of = tile_.channel_loops;
    c.first_of.insert(c.first_of.end(), pass.loops.begin(), pass.loops.end());
    c.accumulate = pass.later || tile_.accumulate;
  }

  PostCommand post(int64_t rows, int64_t cols) const {
    PostCommand c;
    c.rows = rows;
    c.cols = cols;
    c.pitch = tile_.outputs * p_.out_bytes;
    c.has_parameters = p_.has_parameters;
    c.relu = p_.relu;
    c.output_zero = p_.out_zero;
    return c;
  }

  const GemmProblem& p_;
  const HwConfig& hw_;
  const Tiling& t_;
  const TileShape& tile_;
  int& loop_ids_;
  const Passes cut_;
};

}  // namespace

void emit_passes(const GemmProblem& p, const HwConfig& hw, const Tiling& t, const TileShape& tile,
                 int& loop_ids, std::vector<Item>& body) {
  PassEmitter(p, hw, t, tile, loop_ids).gemms(body);
}

void emit_posts(const GemmProblem& p, const HwConfig& hw, const Tiling& t, const TileShape& tile,
                int& loop_ids, std::vector<Item>& body) {
  PassEmitter(p, hw, t, tile, loop_ids).posts(body);
}

}  // namespace accsim
