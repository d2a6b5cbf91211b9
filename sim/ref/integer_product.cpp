#include "sim/ref/integer_product.h"

#include "sim/base/check.h"
#include "sim/ref/integer_arithmetic.h"

namespace accsim::sim::ref {
namespace {

size_t to_index(int64_t i) { return static_cast<size_t>(i); }

class Product {
 public:
  explicit Product(const IntegerProduct& p)
      : p_(p),
        op_(p.op),
        group_(p.scale_group > 0 ? p.scale_group : op_.channels),
        groups_((op_.channels + group_ - 1) / group_),
        sums_(to_index(groups_ * op_.outputs)),
        pixel_(op_.grouped ? op_.batch * op_.channels : op_.channels),
        out_pixel_(op_.grouped ? op_.batch * op_.outputs : op_.outputs),
        out_(to_index(op_.batch * op_.m() * op_.outputs)) {}

  std::vector<int8_t> compute_all() {
    for (int64_t b = 0; b < op_.batch; ++b)
      for (int64_t i = 0; i < op_.images; ++i)
        for (int64_t z = 0; z < op_.out[0]; ++z)
          for (int64_t y = 0; y < op_.out[1]; ++y)
            for (int64_t x = 0; x < op_.out[2]; ++x) compute_pixel(b, i, {z, y, x});
    return std::move(out_);
  }

 private:
  /// All outputs of a batch entry or group at an output pixel.
  void compute_pixel(int64_t batch, int64_t image, const sim::Extent3& o) {
    std::ranges::fill(sums_, 0);
    int64_t tap = 0;
    for (int64_t kz = 0; kz < op_.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < op_.kernel[1]; ++ky)
        for (int64_t kx = 0; kx < op_.kernel[2]; ++kx)
          add_tap(batch, image, tap_place(o, {kz, ky, kx}), tap++);
    const int64_t position = (o[0] * op_.out[1] + o[1]) * op_.out[2] + o[2];
    const int64_t row = image * op_.out[0] * op_.out[1] * op_.out[2] + position;
    const int64_t first = op_.grouped ? row * out_pixel_ + batch * op_.outputs
                                      : (batch * op_.m() + row) * op_.outputs;
    for (int64_t n = 0; n < op_.outputs; ++n) {
      const int64_t channel = op_.grouped ? batch * op_.outputs + n : n;
      out_[to_index(first + n)] = result_at(n, channel, first + n);
    }
  }

  sim::Extent3 tap_place(const sim::Extent3& o, const sim::Extent3& k) const {
    sim::Extent3 in{};
    for (size_t d = 0; d < 3; ++d)
      in[d] = o[d] * op_.stride[d] + k[d] * op_.dilation[d] - op_.pad[d];
    return in;
  }

  void add_tap(int64_t batch, int64_t image, const sim::Extent3& in, int64_t tap) {
    bool inside = true;
    for (size_t d = 0; d < 3; ++d) inside = inside && in[d] >= 0 && in[d] < op_.in[d];
    const int64_t pixels = op_.in[0] * op_.in[1] * op_.in[2];
    const int64_t position = image * pixels + (in[0] * op_.in[1] + in[1]) * op_.in[2] + in[2];
    const int64_t taps = op_.kernel[0] * op_.kernel[1] * op_.kernel[2];
    const int64_t weight_batch = op_.b_shared ? 0 : batch;
    const int8_t* w = p_.weights.data() + (weight_batch * taps + tap) * op_.channels * op_.outputs;
    for (int64_t c = 0; c < op_.channels; ++c, w += op_.outputs) {
      const int32_t a = inside ? p_.a[to_index(a_element(batch, position, c))] : p_.a_zero;
      uint32_t* sums = sums_.data() + c / group_ * op_.outputs;
      for (int64_t n = 0; n < op_.outputs; ++n) sums[n] += static_cast<uint32_t>(a * w[n]);
    }
  }

  int64_t a_element(int64_t batch, int64_t position, int64_t c) const {
    if (op_.grouped) return position * pixel_ + batch * op_.channels + c;
    const int64_t positions = op_.images * op_.in[0] * op_.in[1] * op_.in[2];
    const int64_t entry = op_.a_shared ? 0 : batch;
    if (op_.a_transposed) return (entry * op_.channels + c) * positions + position;
    return (entry * positions + position) * op_.channels + c;
  }

  int8_t result_at(int64_t n, int64_t channel, int64_t where) const {
    const IntegerChannel& c = p_.channels[to_index(channel)];
    const auto sum = [&](int64_t group) {
      return static_cast<int32_t>(sums_[to_index(group * op_.outputs + n)]);
    };
    const auto first = static_cast<int32_t>(sums_[to_index(n)] + static_cast<uint32_t>(c.bias));
    int64_t scaled = int64_t{first} * c.multiplier;
    for (int64_t g = 1; g < groups_; ++g)
      scaled += int64_t{sum(g)} * p_.scales[to_index((g - 1) * op_.outputs + n)];
    const bool wide = p_.addend && p_.table.empty();
    const int32_t low = wide ? INT16_MIN : INT8_MIN, high = wide ? INT16_MAX : INT8_MAX;
    int32_t v = clamp_int32(rounded_shift(scaled, c.shift) + p_.out_zero,
                            p_.relu ? std::max(low, p_.out_zero) : low, high);
    if (!p_.table.empty()) v = p_.table[to_index(v + 128)];
    if (!p_.addend) return static_cast<int8_t>(v);
    const IntegerAddend& r = *p_.addend;
    const int64_t added =
        rounded_shift(int64_t{r.values[to_index(where)] - r.zero} * r.multiplier, r.shift);
    return static_cast<int8_t>(
        clamp_int32(v + added, p_.clips_sum ? p_.out_zero : INT8_MIN, INT8_MAX));
  }

  const IntegerProduct& p_;
  const sim::GemmOp& op_;
  const int64_t group_, groups_;  ///< channels that share a scale, how many of those
  std::vector<uint32_t> sums_;    ///< of a pixel, by group and output; they wrap
  const int64_t pixel_, out_pixel_;
  std::vector<int8_t> out_;
};

}  // namespace

std::vector<int8_t> integer_product(const IntegerProduct& p) {
  const sim::GemmOp& op = p.op;
  const int64_t pixels = op.images * op.in[0] * op.in[1] * op.in[2];
  check(std::ssize(p.a) == (op.a_shared ? 1 : op.batch) * pixels * op.channels,
        "activations of another size");
  check(std::ssize(p.weights) == (op.b_shared ? 1 : op.batch) * op.k() * op.outputs,
        "weights of another size");
  return Product(p).compute_all();
}

}  // namespace accsim::sim::ref
