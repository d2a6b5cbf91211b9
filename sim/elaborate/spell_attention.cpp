#include <fmt/format.h>

#include "sim/elaborate/fused_forms.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// Queries, keys and values of sequences that lie behind each other without padding.
struct Packed {
  TensorId query, key, value, bias;  ///< key kNoTensor: all three in the query, head by head
  TensorId offsets, lengths, attention_bias;
};

/// Sequences with their padding: batch x tokens x what a token has.
TensorId with_padding(Spelling& s, const std::string& what, TensorId x, TensorId rows,
                      const Dims& batch) {
  if (x == kNoTensor) return x;
  Dims token = s.dims(x);
  if (token.empty()) return x;
  Dims to = batch;
  to.insert(to.end(), token.begin() + 1, token.end());
  if (rows == kNoTensor) return s.reshape(what, x, to);
  Dims flat = token;
  flat[0] = batch[0] * batch[1];
  const TensorId all =
      s.add("ScatterND", what + "_padded", {s.zeros(what + "_zeros", flat, s.dtype(x)), rows, x});
  return s.reshape(what, all, to);
}

TensorIds packed_attention(Spelling& s, const Packed& p) {
  const Dims batch{s.dim(p.offsets, 0), s.dim(p.offsets, 1)};
  const int64_t tokens = s.dim(p.query, 0);
  // As many tokens as there are places: nothing is padded.
  const bool full = tokens == batch[0] * batch[1];
  const TensorId rows = full ? kNoTensor : token_rows(s, p.offsets, tokens);
  TensorId lengths = kNoTensor;
  if (!full)
    lengths = s.add(op::kSub, "lengths",
                    {s.slice("ends", p.lengths, 0, 1, batch[0] + 1),
                     s.slice("starts", p.lengths, 0, 0, batch[0])});
  std::vector<Attribute> attributes{{"num_heads", "", s.integer("num_heads", 0)}};
  for (const char* name : {"scale", "mask_filter_value"})
    if (const Attribute* a = s.call().find_attribute(name)) attributes.push_back(*a);
  const TensorId y = s.add_all(
      std::string(kMicrosoft), "MultiHeadAttention", "attention",
      {with_padding(s, "query", p.query, rows, batch), with_padding(s, "key", p.key, rows, batch),
       with_padding(s, "value", p.value, rows, batch), p.bias, lengths, p.attention_bias},
      1, attributes)[0];
  const TensorId flat = s.reshape("flat", y, Dims{batch[0] * batch[1], s.dim(y, -1)});
  if (full) return {flat};
  const TensorId column = s.reshape("row_list", rows, Dims{tokens});
  return {s.add(op::kGather, "", {flat, column}, {{"axis", "", int64_t{0}}})};
}

}  // namespace

TensorIds spell_packed_multi_head(Spelling& s) {
  return packed_attention(
      s, {s.input(0), s.input(1), s.input(2), s.input(3), s.input(4), s.input(5), s.input(6)});
}

TensorIds spell_packed_attention(Spelling& s) {
  TensorId all = s.add(op::kMatMul, "projection", {s.input(0), s.input(1)});
  if (s.has(2)) all = s.add(op::kAdd, "biased", {all, s.input(2)});
  const std::vector<int64_t> sizes = s.call().integers_attribute("qkv_hidden_sizes");
  const int64_t third = s.dim(all, -1) / 3;
  const int64_t q = sizes.size() == 3 ? sizes[0] : third, k = sizes.size() == 3 ? sizes[1] : third;
  const TensorId query = s.slice("queries", all, 1, 0, q), key = s.slice("keys", all, 1, q, q + k),
                 value = s.slice("values", all, 1, q + k, s.dim(all, -1));
  return packed_attention(s, {query, key, value, kNoTensor, s.input(3), s.input(4), s.input(5)});
}

TensorIds spell_masked_self_attention(Spelling& s) {
  if (s.has(8)) return s.refuse("its beams take each other's caches"), TensorIds{};
  return s.add_all(
      std::string(kMicrosoft), "Attention", "",
      {s.input(0), s.input(1), s.input(2), s.input(3), s.input(4), s.input(5), s.input(6)}, 2,
      s.call().attributes);
}

TensorIds spell_mrotary(Spelling& s) {
  const std::vector<int64_t> sections = s.call().integers_attribute("mrope_section");
  const TensorId ids = s.input(1);
  const int64_t half = s.dim(s.input(2), -1);
  if (half < 1 || half > s.most_values() || sections.size() != 3 ||
      sections[0] + sections[1] + sections[2] != half || s.rank(ids) != 3)
    return s.refuse("its sections don't make the width of the caches"), TensorIds{};
  const bool interleaved = s.integer("mrope_layout", 0) != 0;
  // Which of the three positions each angle follows.
  std::vector<int64_t> follows(static_cast<size_t>(half), 0);
  for (int64_t i = 0; i < half; ++i) {
    int64_t& of = follows[static_cast<size_t>(i)];
    if (!interleaved)
      of = i < sections[0] ? 0 : i < sections[0] + sections[1] ? 1 : 2;
    else if (i % 3 != 0 && i < 3 * sections[static_cast<size_t>(i % 3)])
      of = i % 3;
  }
  const Dims one{s.dim(ids, 1), s.dim(ids, 2)};
  TensorIds positions;
  for (int64_t i = 0; i < 3; ++i)
    positions.push_back(s.reshape(fmt::format("ids_{}", i),
                                  s.slice(fmt::format("id_{}", i), ids, 0, i, i + 1), one));
  const auto angles = [&](const std::string& what, TensorId cache) {
    TensorIds rows;
    for (size_t i = 0; i < 3; ++i)
      rows.push_back(s.add(op::kGather, fmt::format("{}_{}", what, i), {cache, positions[i]},
                           {{"axis", "", int64_t{0}}}));
    TensorIds parts;
    for (int64_t i = 0; i < half;) {
      int64_t end = i + 1;
      while (end < half && follows[static_cast<size_t>(end)] == follows[static_cast<size_t>(i)])
        ++end;
      parts.push_back(s.slice(fmt::format("{}_from_{}", what, i),
                              rows[static_cast<size_t>(follows[static_cast<size_t>(i)])], 2, i,
                              end));
      i = end;
    }
    if (parts.size() == 1) return parts[0];
    return s.add(op::kConcat, what, parts, {{"axis", "", int64_t{2}}});
  };
  std::vector<Attribute> attributes;
  for (const char* name : {"interleaved", "num_heads", "rotary_embedding_dim"})
    if (const Attribute* a = s.call().find_attribute(name)) attributes.push_back(*a);
  if (s.rank(s.input(0)) == 3 && s.integer("num_heads", 0) == 0)
    attributes.push_back({"num_heads", "", s.dim(s.input(0), 2) / (2 * half)});
  return {s.add("RotaryEmbedding", "",
                {s.input(0), angles("cos", s.input(2)), angles("sin", s.input(3))}, attributes)};
}

}  // namespace accsim::sim
