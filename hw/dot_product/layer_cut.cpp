#include "hw/dot_product/layer_cut.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "sim/base/sums.h"
#include "sim/base/units.h"

namespace accsim::hw {
namespace {

constexpr int64_t kMostCycles = int64_t{1} << 60;  // times of several layers still fit

/// Product of counts; kBeyond once it leaves 64 bits.
int64_t product(std::initializer_list<int64_t> counts) {
  int64_t result = 1;
  for (const int64_t count : counts) result = multiply_counts(result, count);
  return result;
}

/// No sum of the layer's cycles is larger: every wait that the rules know, one after the other.
int64_t most_cycles(const DotProductWork& work, const DotProductEngine& e) {
  const int64_t load = std::max(e.load_cycles, e.atom_kernels * e.kernel_cycles);
  const int64_t block = load + e.block_cycles + e.stripe;
  const int64_t atoms = (e.places + e.stripe) * e.atom_cycles;
  const int64_t stripe = add_counts(multiply_counts(work.blocks, block),
                                    atoms + e.issue_to_atom + e.atom_to_place + e.atom_to_write);
  int64_t stripes = 0;
  for (const StripeRun& run : work.stripes) stripes = add_counts(stripes, run.number);
  const int64_t waits = e.load_to_entries + e.read_latency + e.feature_latency + e.weight_start +
                        e.feature_start + e.layer_to_reads;
  const int64_t group = add_counts(multiply_counts(stripes, stripe), waits);
  const int64_t entries = add_counts(work.weight_entries, work.feature_entries);
  return add_counts(multiply_counts(work.groups, group),
                    multiply_counts(entries, e.request_interval));
}

Error too_large(std::string_view what) {
  return {Errc::overflow, fmt::format("{} of a layer leave 64 bits", what), {}};
}

/// Section "What a layer must satisfy": each group's weights may be asked for in time.
Status check_weights(const DotProductLayer& layer, const DotProductWork& work,
                     const DotProductEngine& engine) {
  int64_t freed = 0;
  for (int64_t g = 0; g < work.groups; ++g) {
    const int64_t needed = work.needed(g, engine);
    const int64_t allowed =
        allowed_entries(layer.banks.weights, freed, work.weight_entries, engine);
    if (needed > allowed)
      return Error{Errc::capacity,
                   fmt::format("{} entries of weights of kernel group {} don't fit into {} banks",
                               needed - freed, g, layer.banks.weights),
                   {}};
    if (!layer.keeps_weights) freed = needed;
  }
  return ok();
}

Status check_sizes(const DotProductLayer& layer, const DotProductEngine& engine) {
  const ConvolutionSizes& s = layer.sizes;
  for (const int64_t size : {s.width, s.height, s.channels, s.kernels, s.kernel_width,
                             s.kernel_height, s.out_width, s.out_height})
    if (size < 1) return Error{Errc::invalid, "sizes of a convolution must be positive", {}};
  const BankDivision& b = layer.banks;
  if (b.features < 1 || b.weights < 1 || add_counts(b.features, b.weights) > engine.banks)
    return Error{Errc::invalid,
                 fmt::format("banks for features and weights, {} and {}, must be at least 1 and "
                             "together at most {}",
                             b.features, b.weights, engine.banks),
                 {}};
  return ok();
}

/// Weights of a layer: bytes of a group, entries of all.
Status add_weights(const ConvolutionSizes& s, const DotProductEngine& engine,
                   DotProductWork& work) {
  const int64_t kernel =
      product({s.channels, s.kernel_width, s.kernel_height, engine.element_bytes});
  work.groups = ceil_div(s.kernels, engine.atom_kernels);
  work.last_kernels = s.kernels - (work.groups - 1) * engine.atom_kernels;
  const int64_t bytes = multiply_counts(ceil_div(s.kernels, engine.atom_kernels),
                                        multiply_counts(kernel, engine.atom_kernels));
  if (bytes >= kMostCycles) return too_large("weights");
  if (work.groups > kMostGroups)
    return Error{
        Errc::capacity,
        fmt::format("a layer of {} kernels has more than {} kernel groups", s.kernels, kMostGroups),
        {}};
  const int64_t padded = ceil_div(s.kernels * kernel, engine.weight_align) * engine.weight_align;
  work.weight_entries = ceil_div(padded, engine.entry_bytes);
  work.group_bytes = kernel * engine.atom_kernels;
  return ok();
}

}  // namespace

int64_t DotProductWork::needed(int64_t group, const DotProductEngine& engine) const {
  if (group + 1 == groups) return weight_entries;
  return ceil_div((group + 1) * group_bytes, engine.entry_bytes);
}

std::array<StripeRun, 3> cut_stripes(int64_t outputs, const DotProductEngine& engine) {
  // Less than two stripes are left after the full ones; short ones leave one stripe at most.
  const int64_t full = std::max<int64_t>(0, outputs / engine.stripe - 1);
  const int64_t left = outputs - full * engine.stripe;
  const int64_t cut =
      left > engine.stripe ? ceil_div(left - engine.stripe, engine.short_stripe) : 0;
  return {StripeRun{engine.stripe, full}, StripeRun{engine.short_stripe, cut},
          StripeRun{left - cut * engine.short_stripe, 1}};
}

int64_t allowed_entries(int64_t weight_banks, int64_t freed, int64_t total,
                        const DotProductEngine& engine) {
  const int64_t room = freed + weight_banks * engine.bank_entries + engine.spare_entries;
  if (room >= total) return total;
  return std::max<int64_t>(0, room - room % engine.burst_entries);
}

Result<DotProductWork> cut_layer(const DotProductLayer& layer, const DotProductEngine& engine) {
  if (Status sizes = check_sizes(layer, engine); !sizes) return sizes.errors();
  const ConvolutionSizes& s = layer.sizes;
  DotProductWork work;
  const int64_t deep = ceil_div(s.channels, engine.atom_channels);
  const int64_t atom = ceil_div(engine.atom_channels * engine.element_bytes, engine.entry_bytes);
  work.feature_entries = product({deep, s.width, s.height, atom});
  if (work.feature_entries > layer.banks.features * engine.bank_entries)
    return Error{Errc::capacity,
                 fmt::format("features of {}x{}x{} don't fit into {} banks", s.width, s.height,
                             s.channels, layer.banks.features),
                 {}};
  work.blocks = product({deep, s.kernel_width, s.kernel_height});
  const int64_t outputs = multiply_counts(s.out_width, s.out_height);
  if (outputs >= kMostCycles) return too_large("outputs");
  work.stripes = cut_stripes(outputs, engine);
  for (const StripeRun& run : work.stripes)
    if (run.number > 0 && run.outputs > engine.places)
      return Error{Errc::capacity,
                   fmt::format("a stripe of {} outputs doesn't fit into {} places", run.outputs,
                               engine.places),
                   {}};
  if (Status weights = add_weights(s, engine, work); !weights) return weights.errors();
  if (Status fit = check_weights(layer, work, engine); !fit) return fit.errors();
  if (most_cycles(work, engine) >= kMostCycles) return too_large("cycles");
  return work;
}

}  // namespace accsim::hw
