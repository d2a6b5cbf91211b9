#include "hw/dot_product/division.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sim/base/sums.h"

namespace accsim::hw {
namespace {

int64_t entries_per_line(const Convolution& conv, const DotProductEngine& engine) {
  const int64_t atom = ceil_div(engine.atom_channels * engine.element_bytes, engine.entry_bytes);
  const int64_t deep = ceil_div(conv.sizes.channels, engine.atom_channels);
  return multiply_counts(multiply_counts(deep, conv.sizes.width), atom);
}

/// Banks of weights for all kernels, and for one group.
struct WeightBanks {
  int64_t all = 0, group = 0;
};

WeightBanks weight_banks(const Convolution& conv, const DotProductEngine& engine) {
  const ConvolutionSizes& s = conv.sizes;
  const int64_t taps = multiply_counts(s.kernel_width, s.kernel_height);
  const int64_t kernel = multiply_counts(multiply_counts(s.channels, taps), engine.element_bytes);
  const int64_t bank = engine.bank_entries * engine.entry_bytes;
  const int64_t bytes = multiply_counts(kernel, s.kernels);
  const int64_t padded = multiply_counts(ceil_div(bytes, engine.weight_align), engine.weight_align);
  const int64_t group = multiply_counts(kernel, std::min(s.kernels, engine.atom_kernels));
  return {ceil_div(padded, bank), ceil_div(group, bank)};
}

Status check_convolution(const Convolution& conv) {
  const ConvolutionSizes& s = conv.sizes;
  const int64_t least = std::min({s.width, s.height, s.channels, s.kernels, s.kernel_width,
                                  s.kernel_height, s.out_width, s.out_height, conv.stride});
  if (least >= 1 && conv.reach >= s.kernel_height && conv.pad >= 0) return ok();
  return Error{Errc::invalid, "sizes, stride, reach and pad of a convolution contradict", {}};
}

Error lines_do_not_fit(const Convolution& conv, int64_t banks) {
  return {Errc::capacity,
          fmt::format("the lines of an output, {} of {} entries or more, don't fit into {} banks",
                      conv.reach, conv.sizes.width, banks),
          {}};
}

/// Banks that leave a division possible, dearest first, as the compiler tries them.
std::array<int64_t, 3> compiler_choices(const Convolution& conv, const DotProductEngine& engine) {
  const WeightBanks banks = weight_banks(conv, engine);
  return {banks.all, multiply_counts(2, banks.group), banks.group};
}

}  // namespace

Result<std::vector<DotProductLayer>> cut_by_lines(const Convolution& conv, BankDivision banks,
                                                  const DotProductEngine& engine) {
  if (Status sizes = check_convolution(conv); !sizes) return sizes.errors();
  const ConvolutionSizes& s = conv.sizes;
  const int64_t most = banks.features * engine.bank_entries / entries_per_line(conv, engine);
  std::vector<DotProductLayer> parts;
  if (most >= s.height) return std::vector{DotProductLayer{s, banks}};
  for (int64_t line = 0; line < s.out_height;) {
    const int64_t top = line * conv.stride - conv.pad;  // above the input where its pad is read
    const int64_t first = std::clamp<int64_t>(top, 0, s.height - 1);
    const int64_t read = std::min(most, s.height - first);
    const int64_t spare = first + read - top - conv.reach;  // lines beyond its first output's
    int64_t written = spare < 0 ? 0 : spare / conv.stride + 1;
    if (first + read == s.height) written = s.out_height - line;
    if (read == 0 || written == 0) return lines_do_not_fit(conv, banks.features);
    written = std::min(written, s.out_height - line);
    DotProductLayer part{s, banks};
    part.sizes.height = read;
    part.sizes.out_height = written;
    parts.push_back(part);
    line += written;
    if (static_cast<int64_t>(parts.size()) > kMostParts)
      return Error{Errc::capacity, fmt::format("a layer has more than {} parts", kMostParts), {}};
  }
  return parts;
}

void keep_weights(std::vector<DotProductLayer>& parts, const DotProductEngine& engine) {
  for (size_t i = 0; i + 1 < parts.size(); ++i) {
    DotProductLayer with = parts[i];
    with.keeps_weights = true;
    if (!cut_layer(with, engine)) return;  // all parts have the same weights and banks
    parts[i].keeps_weights = parts[i + 1].has_weights = true;
  }
}

Result<BankDivision> compiler_division(const Convolution& conv, const DotProductEngine& engine) {
  if (Status sizes = check_convolution(conv); !sizes) return sizes.errors();
  const int64_t entries = multiply_counts(conv.sizes.height, entries_per_line(conv, engine));
  const int64_t features = ceil_div(entries, engine.bank_entries);
  const std::array<int64_t, 3> choices = compiler_choices(conv, engine);
  for (const int64_t weights : choices)
    if (add_counts(features, weights) <= engine.banks) return BankDivision{features, weights};
  for (const int64_t weights : choices)
    if (weights <= std::min(kSplitWeightBanks, engine.banks - 1))
      return BankDivision{engine.banks - weights, weights};
  return Error{Errc::capacity,
               fmt::format("a kernel group needs {} banks, more than {} beside a layer that is "
                           "cut by lines",
                           choices.back(), kSplitWeightBanks),
               {}};
}

Result<ConvolutionPlan> divide(const Convolution& conv, BankDivision banks,
                               const DotProductEngine& engine, PartWeights weights) {
  if (Status fields = check_engine(engine); !fields) return fields.errors();
  if (banks.features < 1 || banks.features > engine.banks)
    return Error{
        Errc::invalid,
        fmt::format("features have {} banks; they need 1 to {}", banks.features, engine.banks),
        {}};
  Result<std::vector<DotProductLayer>> layers = cut_by_lines(conv, banks, engine);
  if (!layers) return layers.errors();
  if (weights == PartWeights::kept) keep_weights(*layers, engine);
  const Result<std::vector<LayerEvents>> events = time_overlapped(*layers, engine);
  if (!events) return events.errors();
  ConvolutionPlan plan{banks, *std::move(layers), Cycles(events->back().last_write)};
  for (const LayerEvents& layer : *events) plan.read_wait += layer.read_wait;
  return plan;
}

Result<ConvolutionPlan> search_division(const Convolution& conv, const DotProductEngine& engine) {
  if (Status fields = check_engine(engine); !fields) return fields.errors();
  if (Status sizes = check_convolution(conv); !sizes) return sizes.errors();
  const WeightBanks needed = weight_banks(conv, engine);
  const int64_t entries = multiply_counts(conv.sizes.height, entries_per_line(conv, engine));
  const int64_t features = ceil_div(entries, engine.bank_entries);
  std::optional<ConvolutionPlan> best;
  std::optional<Error> why;  // the last division has most room for weights
  const auto try_banks = [&](BankDivision banks) {
    Result<ConvolutionPlan> tried = divide(conv, banks, engine);
    if (!tried) why = tried.errors().front();
    if (tried && (!best || tried->cycles < best->cycles)) best = *std::move(tried);
  };
  for (int64_t weights = 1; weights <= std::min(needed.all, engine.banks - 1); ++weights)
    try_banks({std::min(features, engine.banks - weights), weights});
  if (best) {  // smaller parts wait for fewer features before their first block
    const BankDivision most = best->banks;
    for (int64_t fewer = most.features - 1; fewer > 0; --fewer) try_banks({fewer, most.weights});
    return *std::move(best);
  }
  return Error{
      Errc::capacity,
      fmt::format("no division of {} banks has room for a kernel group and the lines of "
                  "an output{}",
                  engine.banks, why ? "; the last one that was tried: " + why->message : ""),
      {}};
}

}  // namespace accsim::hw
