#include "hw/cosim/descriptors.h"

#include <fmt/format.h>

#include <algorithm>

namespace accsim::hw {
namespace {

constexpr uint32_t kDmaShared = 1u << 2;
constexpr uint32_t kDmaBufferShift = 3;
constexpr uint32_t kGemmOverwrite = 1u << 6, kDrainOverwrite = 1u << 7, kGemmDrain = 1u << 8;
constexpr uint32_t kPostTransposed = 1u << 6;
constexpr size_t kGemmAccumulatorRow = 4;
constexpr size_t kWindowLines = 4;

uint32_t word(int64_t value) { return static_cast<uint32_t>(value); }

Error unsupported(std::string message) {
  return {Errc::unsupported, std::move(message), "co-simulation"};
}

/// Appends words in the order of the structs.
class Writer {
 public:
  explicit Writer(Descriptor& d) : d_(d) {}
  Writer& operator<<(int64_t value) {
    d_.words.at(next_++) = word(value);
    return *this;
  }

 private:
  Descriptor& d_;
  size_t next_ = 0;
};

bool overwrites(const std::vector<int>& first_of, bool accumulate,
                std::span<const int64_t> indices) {
  return !accumulate && std::all_of(first_of.begin(), first_of.end(), [&](int loop) {
    return indices[static_cast<size_t>(loop)] == 0;
  });
}

Result<Descriptor> transfer(const Program& p, int tensor, int64_t offset, int64_t slot_offset,
                            const Walk& walk, Buffer buffer) {
  if (walk.levels.size() > rtl::kLevels)
    return unsupported(
        fmt::format("a walk of {} levels; the core has {}", walk.levels.size(), rtl::kLevels));
  Descriptor d;
  const bool shared = p.tensors[static_cast<size_t>(tensor)].memory == Memory::shared;
  const int64_t address = (int64_t{tensor} << rtl::kTensorShift) + offset;
  Writer w(d);
  w << (shared ? kDmaShared : 0) + (static_cast<uint32_t>(buffer) << kDmaBufferShift) << address
    << (address >> 32) << slot_offset << walk.run;
  const auto level = [&](size_t i) {  // the core counts from the innermost
    return i < walk.levels.size() ? walk.levels[walk.levels.size() - 1 - i] : Walk::Level{1, 0};
  };
  for (size_t i = 0; i < rtl::kLevels; ++i) w << level(i).count;
  for (size_t i = 0; i < rtl::kLevels; ++i) w << level(i).stride;
  return d;
}

/// The window as rtl/window_walk.sv wants it: everything in bytes from lane 0 of the first row.
Status window(Writer& w, const OperandWindow& v, int64_t k, std::span<const int64_t> indices) {
  const int64_t line = v.tile[2] * v.pixel, plane = v.tile[1] * line;
  const int64_t offset = evaluate(v.offset, indices);
  const int64_t first_line = offset / v.line, in_line = offset % v.line;
  const int64_t z = evaluate(v.origin[0], indices);
  const int64_t y = evaluate(v.origin[1], indices) + first_line * v.line_step;
  const int64_t x = evaluate(v.origin[2], indices) * v.pixel + in_line;
  const auto seg_end = [&](size_t s) {
    return std::min(k, (static_cast<int64_t>(s) + 1) * v.line - in_line);
  };
  if (seg_end(kWindowLines - 1) < k)
    return unsupported(
        fmt::format("{} bytes of {}-byte kernel lines; the core reads {} lines a cycle", k, v.line,
                    kWindowLines));
  w << z * plane + y * line + x << x << y << z;
  w << line << v.tile[1] << v.tile[0] << v.count[2] << v.count[1];
  w << v.stride[2] * v.pixel << v.stride[1] << v.stride[1] * line << v.stride[0]
    << v.stride[0] * plane;
  w << v.line_step << -v.line << v.line_step * line - v.line;
  for (size_t s = 0; s < kWindowLines; ++s) w << seg_end(s);
  w << v.pad_value;
  return ok();
}

struct Describe {
  const Program& program;
  std::span<const int64_t> indices;

  int64_t at(const Affine& a) const { return evaluate(a, indices); }

  Result<Descriptor> operator()(const LoadCommand& c) const {
    if (c.padded) return unsupported("explicit im2col loads are not in the core");
    return transfer(program, c.tensor, at(c.source), at(c.slot_offset), c.walk, c.buffer);
  }
  Result<Descriptor> operator()(const StoreCommand& c) const {
    return transfer(program, c.tensor, at(c.target), at(c.slot_offset), c.walk, Buffer::activation);
  }
  Result<Descriptor> operator()(const GemmCommand& c) const {
    Descriptor d;
    Writer w(d);
    w << (overwrites(c.first_of, c.accumulate, indices) ? kGemmOverwrite : 0) << c.m << c.k << c.n
      << at(c.accumulator_row) << at(c.weights.offset) << c.weights.pitch;
    if (Status s = window(w, c.window, c.k, indices); !s) return s.errors();
    return d;
  }
  Result<Descriptor> operator()(const PostCommand& c) const {
    if (!c.has_parameters) return unsupported("a post without parameters");
    Descriptor d;
    Writer w(d);
    w << (c.transposed ? kPostTransposed : 0) << c.rows << c.cols << at(c.accumulator_row)
      << at(c.parameter_offset) << at(c.slot_offset) << c.pitch << c.output_zero << c.lowest()
      << c.high;
    return d;
  }
  Result<Descriptor> operator()(const DrainCommand&) const {
    return unsupported("a drain that doesn't follow its gemm");
  }
  Result<Descriptor> operator()(const VectorCommand&) const {
    return unsupported("vector commands are not in the core");
  }
};

}  // namespace

rtl::CommandPort port_of(Queue q) {
  switch (q) {
    case Queue::load:
      return rtl::kLoad;
    case Queue::execute:
      return rtl::kGemm;
    case Queue::post:
      return rtl::kPost;
    case Queue::store:
      return rtl::kStore;
  }
  check(false, "unknown queue");
  return rtl::kLoad;
}

uint32_t Descriptor::bit(rtl::CommandPort port, Buffer b, bool signal) {
  const auto pick = [&](std::initializer_list<Buffer> order) {
    const auto at = std::find(order.begin(), order.end(), b);
    check(at != order.end(), "a token that this queue has no bit for");
    return 1u << (static_cast<size_t>(at - order.begin()) + (signal ? order.size() : 0));
  };
  switch (port) {
    case rtl::kGemm:
      return pick({Buffer::activation, Buffer::weight, Buffer::accumulator});
    case rtl::kPost:
      return pick({Buffer::accumulator, Buffer::output, Buffer::parameter});
    default:
      return signal ? 2 : 1;
  }
}

int64_t evaluate(const Affine& a, std::span<const int64_t> indices) {
  int64_t value = a.base;
  for (const Affine::Term& t : a.terms) value += t.coeff * indices[static_cast<size_t>(t.loop)];
  return value;
}

Result<Descriptor> describe(const Program& program, const Command& command,
                            std::span<const int64_t> indices) {
  return std::visit(Describe{program, indices}, command);
}

void add_drain(Descriptor& gemm, const DrainCommand& drain, std::span<const int64_t> indices) {
  gemm.words[0] |= kGemmDrain;
  if (overwrites(drain.first_of, drain.accumulate, indices)) gemm.words[0] |= kDrainOverwrite;
  gemm.words[kGemmAccumulatorRow] = word(evaluate(drain.accumulator_row, indices));
}

}  // namespace accsim::hw
