#pragma once
#include "sim/map/product/gemm_problem.h"
#include "sim/map/program_description.h"

namespace accsim::sim {

/// One array pass over part of a tile's reduction.
template <class Address>
struct ReductionPass {
  Address k_row;    ///< row of the weight chunk
  Address outer;    ///< input stationary, 4-bit weights: bytes of an output before the pass
  Address z, y, x;  ///< window origin, relative to the first kernel tap
  Address flat;     ///< elements into the flat index
  int64_t k = 0;
  LoopSet loops;       ///< the first pass is where all of these are at 0
  bool later = false;  ///< in a later segment: never the first pass
};

/// Writes the loops over a tile's reduction: kernel planes, then (where they are loops) kernel
/// lines and columns, then the flat index.
template <class Sink>
class ReductionPasses {
 public:
  using Address = typename Sink::Address;
  using Pass = ReductionPass<Address>;

  /// `channels`: of the tile, over all packed groups. Problem, passes and sink must outlive it.
  ReductionPasses(const GemmProblem& p, const Passes& cut, int64_t channels, bool im2col,
                  Sink& sink)
      : p_(p), cut_(cut), channels_(channels), im2col_(im2col), sink_(sink) {}

  /// Calls `inner` with each pass, in its loops.
  template <class Inner>
  void for_passes(Inner inner) const {
    const int64_t c = channels_;
    Pass pass;
    if (im2col_) return flat_passes(pass, inner);
    kernel_loop("kz", p_.z.kernel, pass, [&](const Address& kz, Pass& p1) {
      p1.z += kz * p_.z.dilation;
      p1.k_row += kz * (p_.y.kernel * p_.x.kernel * c);
      kernel_loop("ky", cut_.by_line ? p_.y.kernel : 1, p1, [&](const Address& ky, Pass& p2) {
        p2.y += ky * p_.y.dilation;
        p2.k_row += ky * (p_.x.kernel * c);
        kernel_loop("kx", cut_.by_column ? p_.x.kernel : 1, p2, [&](const Address& kx, Pass& p3) {
          p3.x += kx * p_.x.dilation;
          p3.k_row += kx * c;
          p3.outer = divide(p3.k_row, cut_.flat) * p_.weight_rows(cut_.flat, cut_.lanes);
          flat_passes(p3, inner);
        });
      });
    });
  }

 private:
  template <class Inner>
  void kernel_loop(std::string_view name, int64_t count, const Pass& pass, Inner inner) const {
    const Segment taps{.count = count, .step = 1, .size = 1};
    for_segments(sink_, name, {&taps, 1}, [&](const Segment&, const Address& at, int loop) {
      Pass next = pass;
      if (loop >= 0) next.loops.push_back(loop);
      inner(at, next);
    });
  }

  template <class Inner>
  void flat_passes(const Pass& pass, Inner inner) const {
    for_segments(sink_, "k", split(cut_.flat, cut_.lanes),
                 [&](const Segment& s, const Address& start, int loop) {
                   Pass next = pass;
                   next.flat += start;
                   next.k_row += start;
                   next.outer += divide(start, cut_.lanes) * p_.weight_row(cut_.lanes);
                   next.k = s.size;
                   if (loop >= 0) next.loops.push_back(loop);
                   next.later = s.start > 0;
                   inner(next);
                 });
  }

  const GemmProblem& p_;
  const Passes& cut_;
  const int64_t channels_;
  const bool im2col_;
  Sink& sink_;
};

}  // namespace accsim::sim
