#include "sim/lower/layout.h"

#include <algorithm>

#include "sim/operators/fold.h"

namespace accsim::sim {

int64_t place_of(int64_t index, const Layout& layout) {
  int64_t out = 0, stride = 1;
  for (size_t i = layout.size(); i-- > 0; stride *= layout[i].count)
    out += index / layout[i].stride % layout[i].count * stride;
  return out;
}

std::optional<int64_t> pitch_of(const MoveAxis& axis, const Layout& layout) {
  const int64_t pitch = place_of(axis.stride, layout);
  // An index is a number with a digit for each of the layout's axes: the elements are evenly spaced
  // if they are in each of them.
  const bool even = std::ranges::all_of(layout, [&](const MoveAxis& m) {
    if (m.count == 1 || m.stride <= axis.stride || m.stride >= axis.stride * axis.count)
      return true;
    return m.stride % axis.stride == 0 &&
           place_of(m.stride, layout) == m.stride / axis.stride * pitch;
  });
  return even ? std::optional(pitch) : std::nullopt;
}

Layout row_major_layout(const Dims& dims) { return joined_axes({{elements(dims), 1}}); }

Layout layout_in_order(const Dims& dims, const DimOrder& order) {
  const Strides strides = row_major(dims);
  std::vector<MoveAxis> axes;
  for (const size_t d : order) axes.push_back({dims[d], strides[d]});
  return joined_axes(axes);
}

DimOrder channels_last_order(size_t rank) {
  DimOrder order{0};
  for (size_t d = 2; d < rank; ++d) order.push_back(d);
  order.push_back(1);
  return order;
}

Layout channels_last_layout(const Dims& dims) {
  return dims.size() < 3 ? row_major_layout(dims)
                         : layout_in_order(dims, channels_last_order(dims.size()));
}

namespace {

/// The dim that elements `stride` apart differ in.
std::optional<size_t> dim_of_stride(int64_t stride, const Dims& dims, const Strides& strides) {
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] > 1 && stride >= strides[d] && stride < strides[d] * dims[d])
      return stride % strides[d] == 0 ? std::optional(d) : std::nullopt;
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<DimPiece>> pieces_of(const Layout& layout, const Dims& dims) {
  const Strides strides = row_major(dims);
  std::vector<DimPiece> out;
  for (const MoveAxis& axis : layout) {
    std::vector<DimPiece> inner;  // innermost first
    auto [count, stride] = axis;
    while (count > 1) {
      const std::optional<size_t> d = dim_of_stride(stride, dims, strides);
      if (!d) return std::nullopt;
      const int64_t step = stride / strides[*d], room = dims[*d] / step;
      const int64_t part = std::min(count, room);
      if (dims[*d] % step != 0 || room % part != 0 || count % part != 0) return std::nullopt;
      inner.push_back({*d, step, part});
      count /= part;
      stride *= part;
    }
    out.insert(out.end(), inner.rbegin(), inner.rend());
  }
  return out;
}

Layout layout_of(std::span<const DimPiece> pieces, const Dims& dims) {
  const Strides strides = row_major(dims);
  std::vector<MoveAxis> axes;
  for (const DimPiece& p : pieces) axes.push_back({p.count, p.step * strides[p.dim]});
  return joined_axes(axes);
}

DimOrder nearest_order(const Layout& layout, const Dims& dims) {
  DimOrder order;
  if (const auto pieces = pieces_of(layout, dims))
    for (const DimPiece& p : *pieces) {
      std::erase(order, p.dim);
      order.push_back(p.dim);
    }
  for (size_t d = dims.size(); d-- > 0;)
    if (std::ranges::find(order, d) == order.end())
      order.insert(std::ranges::find(order, d + 1), d);
  return order;
}

std::optional<DimOrder> order_of(const Layout& layout, const Dims& dims) {
  DimOrder order = nearest_order(layout, dims);
  return layout_in_order(dims, order) == layout ? std::optional(std::move(order)) : std::nullopt;
}

std::optional<Layout> transposed_layout(const Layout& layout, const Dims& dims,
                                        const std::vector<int64_t>& perm) {
  auto pieces = pieces_of(layout, dims);
  if (!pieces) return std::nullopt;
  Dims turned;
  for (const int64_t d : perm) turned.push_back(dims[static_cast<size_t>(d)]);
  for (DimPiece& p : *pieces)
    p.dim =
        static_cast<size_t>(std::ranges::find(perm, static_cast<int64_t>(p.dim)) - perm.begin());
  return layout_of(*pieces, turned);
}

std::optional<Layout> broadcast_layout(const Layout& layout, const Dims& dims, const Dims& from) {
  auto pieces = pieces_of(layout, dims);
  if (!pieces || from.size() > dims.size()) return std::nullopt;
  const size_t shift = dims.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1 && from[d] != dims[d + shift]) return std::nullopt;
  std::erase_if(*pieces,
                [&](const DimPiece& p) { return p.dim < shift || from[p.dim - shift] == 1; });
  for (DimPiece& p : *pieces) p.dim -= shift;
  return layout_of(*pieces, from);
}

std::optional<Layout> with_innermost(const Layout& layout, const Dims& dims,
                                     std::span<const size_t> inner) {
  auto pieces = pieces_of(layout, dims);
  if (!pieces) return std::nullopt;
  std::erase_if(*pieces,
                [&](const DimPiece& p) { return std::ranges::find(inner, p.dim) != inner.end(); });
  for (const size_t d : inner) pieces->push_back({d, 1, dims[d]});
  return layout_of(*pieces, dims);
}

std::optional<std::vector<MoveAxis>> copy_axes(const Layout& from, const Layout& to) {
  // The axes of `from` are the digits of the index: sorted by weight they are like dims.
  struct Digit {
    MoveAxis axis;
    int64_t pitch;  // in memory
  };
  std::vector<Digit> digits;
  int64_t pitch = 1;
  for (size_t i = from.size(); i-- > 0; pitch *= from[i].count) digits.push_back({from[i], pitch});
  std::ranges::sort(digits,
                    [](const Digit& a, const Digit& b) { return a.axis.stride > b.axis.stride; });
  Dims radix;
  for (const Digit& d : digits) radix.push_back(d.axis.count);
  const auto pieces = pieces_of(to, radix);
  if (!pieces) return std::nullopt;
  std::vector<MoveAxis> axes;
  for (const DimPiece& p : *pieces) axes.push_back({p.count, p.step * digits[p.dim].pitch});
  return joined_axes(axes);
}

namespace {

MemoryOp one_copy(const Layout& from, const Layout& to, int64_t elements, ValuePort in,
                  ValuePort out) {
  MemoryOp op{{{in, elements, 1}}, {{out, elements, 1}}};
  if (auto axes = copy_axes(from, to)) set_axes(op, std::move(*axes));
  return op;
}

/// Cycles an element, up to a factor; nullopt when the two don't divide each other.
std::optional<double> copy_time(const Layout& from, const Layout& to) {
  const auto axes = copy_axes(from, to);
  if (!axes) return std::nullopt;
  return 1.0 / static_cast<double>(turned_side(*axes));
}

/// The layout to go through on the way, if that is faster: `to` with one of its axes innermost.
std::optional<Layout> intermediate_layout(const Layout& from, const Layout& to) {
  auto best = copy_time(from, to);
  std::optional<Layout> out;
  for (size_t i = 0; best && i + 1 < to.size(); ++i) {
    std::vector<MoveAxis> axes = to;
    std::rotate(axes.begin() + static_cast<ptrdiff_t>(i),
                axes.begin() + static_cast<ptrdiff_t>(i) + 1, axes.end());
    Layout between = joined_axes(axes);
    const auto first = copy_time(from, between), second = copy_time(between, to);
    if (!first || !second || *first + *second >= *best) continue;
    best = *first + *second;
    out = std::move(between);
  }
  return out;
}

}  // namespace

Work layout_copy(const Layout& from, const Layout& to, int64_t elements, const CopyPorts& ports) {
  const auto between = intermediate_layout(from, to);
  if (!between) return {one_copy(from, to, elements, ports.in, ports.out)};
  return {one_copy(from, *between, elements, ports.in, ports.between),
          one_copy(*between, to, elements, ports.between, ports.out)};
}

}  // namespace accsim::sim
