#pragma once
#include "sim/map/product/tile_loads.h"
#include "sim/map/product/tile_nest.h"

namespace accsim::sim {

/// Loads the activations of the tile that a nest stands at. The slot holds the window of input
/// pixels that the tile's outputs read, or the rows of im2col, or of a transposed operand the rows
/// that it has turned.
template <class Sink>
class ActivationLoads {
 public:
  using Address = typename Sink::Address;

  /// All of them must outlive it.
  ActivationLoads(const GemmProblem& p, const Tiling& t, const TileNest<Address>& nest,
                  const TileLoads<Sink>& loads)
      : p_(p), t_(t), nest_(nest), loads_(loads) {}

  void load_tile() {
    if (p_.op.a_transposed) return load_turned();
    if (t_.im2col) return load_taps();
    load_window();
  }

 private:
  const Segment& segment_at(TileDim d) const { return nest_.segment_at(d); }
  int64_t run() const { return segment_at(kC).size * p_.a_bytes; }

  /// Bytes before the batch entry.
  Address base() const {
    const GemmOp& op = p_.op;
    if (op.a_shared) return 0;
    return nest_.batch_offset(op.channels, op.images * op.in[0] * op.in[1] * op.in[2], p_.a_bytes);
  }
  /// And before the channels of the image.
  Address first() const {
    return base() + nest_.at(kC).start * p_.a_bytes + nest_.at(kImage).start * image_;
  }

  void load_turned() {
    const int64_t column = p_.op.in[2] * p_.a_bytes;
    loads_.load_turned(
        {}, {segment_at(kC).size, column}, segment_at(kX).in_size, p_.a_bytes, [&](auto& c) {
          c.source = base() + nest_.at(kX).in_start * p_.a_bytes + nest_.at(kC).start * column;
        });
  }

  void load_taps() {
    const hw::Walk walk{{{segment_at(kImage).size, image_},
                         {segment_at(kZ).size, p_.z.stride * plane_},
                         {segment_at(kY).size, p_.y.stride * line_},
                         {segment_at(kX).size, p_.x.stride * pixel_},
                         {p_.z.kernel, p_.z.dilation * plane_},
                         {p_.y.kernel, p_.y.dilation * line_},
                         {p_.x.kernel, p_.x.dilation * pixel_}},
                        run()};
    loads_.load_plain(walk, [&](auto& c) {
      const auto tap = [&](TileDim d, const Slide& s, int64_t stride) {
        return (nest_.at(d).start * s.stride + Address(-s.pad)) * stride;
      };
      c.source = first() + tap(kZ, p_.z, plane_) + tap(kY, p_.y, line_) + tap(kX, p_.x, pixel_);
      c.padded = padded_window();
    });
  }

  void load_window() {
    loads_.load_plain({{{segment_at(kImage).size, image_},
                        {segment_at(kZ).in_size, plane_},
                        {segment_at(kY).in_size, line_},
                        {segment_at(kX).in_size, pixel_}},
                       run()},
                      [&](auto& c) {
                        c.source = first() + nest_.at(kZ).in_start * plane_ +
                                   nest_.at(kY).in_start * line_ + nest_.at(kX).in_start * pixel_;
                      });
  }

  hw::PaddedWindow padded_window() const {
    hw::PaddedWindow w;
    w.extent = p_.op.in;
    w.count = {segment_at(kZ).size, segment_at(kY).size, segment_at(kX).size};
    w.kernel = p_.op.kernel;
    w.stride = p_.op.stride;
    w.dilation = p_.op.dilation;
    w.pitch = {plane_, line_, pixel_};
    for (size_t d = 0; d < 3; ++d)
      w.origin[d] =
          nest_.at(std::array{kZ, kY, kX}[d]).start * w.stride[d] + Address(-p_.op.pad[d]);
    w.images = segment_at(kImage).size;
    w.image_pitch = image_;
    w.tap = run();
    w.pad_value = p_.a_zero;
    return w;
  }

  const GemmProblem& p_;
  const Tiling& t_;
  const TileNest<Address>& nest_;
  const TileLoads<Sink>& loads_;
  /// Bytes from one pixel, line, plane and image of the input to the next.
  const int64_t pixel_ = p_.pixel_channels() * p_.a_bytes;
  const int64_t line_ = p_.op.in[2] * pixel_, plane_ = p_.op.in[1] * line_;
  const int64_t image_ = p_.op.in[0] * plane_;
};

}  // namespace accsim::sim
