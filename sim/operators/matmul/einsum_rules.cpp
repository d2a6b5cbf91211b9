#include "sim/operators/matmul/einsum_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "sim/operators/matmul/matmul_rules.h"
#include "sim/operators/movement/movement_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// A label is its letter; the dims of an ellipsis are kEllipsis + their place from the right.
using Labels = std::vector<int>;
using LabelSet = std::set<int>;
constexpr int kEllipsis = 256;

using Equation = EinsumEquation;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Labels of one term; the ellipsis stands for `ellipsis` dims.
Result<Labels> parse_term(const NodeView& node, std::string_view term, size_t ellipsis) {
  Labels labels;
  bool dots = false;
  for (size_t i = 0; i < term.size(); ++i) {
    if (is_letter(term[i])) {
      labels.push_back(term[i]);
    } else if (term.substr(i, 3) == "..." && !dots) {
      for (size_t e = ellipsis; e-- > 0;) labels.push_back(kEllipsis + static_cast<int>(e));
      dots = true;
      i += 2;
    } else {
      return bad_node(node,
                      fmt::format("equation term '{}' has an unexpected '{}'", term, term[i]));
    }
  }
  return labels;
}

/// Parses the term of input i and notes the sizes of its labels.
Status add_term(const NodeView& node, size_t i, std::string_view term, Equation& eq) {
  const Dims& dims = node.dims(i);
  const auto letters = static_cast<size_t>(std::count_if(term.begin(), term.end(), is_letter));
  const bool dots = term.find('.') != std::string_view::npos;
  if (dots ? dims.size() < letters : dims.size() != letters)
    return bad_node(node, fmt::format("equation term '{}' doesn't fit input {} of shape {}", term,
                                      i, to_string(dims)));
  Result<Labels> labels = parse_term(node, term, dims.size() - letters);
  if (!labels) return labels.errors();
  for (size_t d = 0; d < labels->size(); ++d) {
    int64_t& size = eq.size.try_emplace((*labels)[d], 1).first->second;
    if (size != 1 && dims[d] != 1 && size != dims[d])
      return bad_node(node, fmt::format("equation term '{}' of input {}: dim {} is {}, but the "
                                        "same label is {} elsewhere",
                                        term, i, d, dims[d], size));
    if (size == 1) size = dims[d];
  }
  eq.terms.push_back(std::move(*labels));
  return ok();
}

size_t ellipsis_dims(const Equation& eq) {
  size_t most = 0;
  for (const auto& [label, size] : eq.size)
    if (label >= kEllipsis) most = std::max(most, static_cast<size_t>(label - kEllipsis) + 1);
  return most;
}

/// Ellipsis dims first, then the letters that occur once, in order.
Labels implicit_output(const Equation& eq) {
  Labels output;
  for (size_t e = ellipsis_dims(eq); e-- > 0;) output.push_back(kEllipsis + static_cast<int>(e));
  std::map<int, int> seen;
  for (const Labels& term : eq.terms)
    for (int label : term)
      if (label < kEllipsis) ++seen[label];
  for (const auto& [label, count] : seen)
    if (count == 1) output.push_back(label);
  return output;
}

}  // namespace

Result<EinsumEquation> parse_einsum(const NodeView& node) {
  std::string text = node.attr("equation", "");
  std::erase(text, ' ');
  if (text.empty()) return bad_node(node, "attribute 'equation' is missing");
  const size_t arrow = text.find("->");
  const std::string left = text.substr(0, arrow);
  Equation eq;
  size_t from = 0;
  for (size_t i = 0; i < node.input_count(); ++i) {
    if (from > left.size() || !node.has_input(i))
      return bad_node(node,
                      fmt::format("equation '{}' has fewer terms than there are inputs", text));
    const size_t comma = std::min(left.find(',', from), left.size());
    const std::string term = left.substr(from, comma - from);
    if (Status s = add_term(node, i, term, eq); !s) return s.errors();
    from = comma + 1;
  }
  if (from <= left.size())
    return bad_node(node, fmt::format("equation '{}' has more terms than there are inputs", text));
  if (arrow == std::string::npos) {
    eq.output = implicit_output(eq);
    return eq;
  }
  Result<Labels> output = parse_term(node, text.substr(arrow + 2), ellipsis_dims(eq));
  if (!output) return output.errors();
  eq.output = std::move(*output);
  for (int label : eq.output)
    if (!eq.size.contains(label) || std::count(eq.output.begin(), eq.output.end(), label) > 1)
      return bad_node(node, fmt::format("equation '{}': an output label must occur once in the "
                                        "output and at least once in an input",
                                        text));
  return eq;
}

std::optional<std::vector<int64_t>> einsum_permutation(const NodeView& node) {
  if (node.input_count() != 1 || !node.has_input(0)) return std::nullopt;
  const Result<Equation> eq = parse_einsum(node);
  if (!eq) return std::nullopt;
  const Labels& from = eq->terms[0];
  // Output labels are all different, and each is one of the operand's.
  if (eq->output.size() != from.size()) return std::nullopt;
  std::vector<int64_t> perm;
  for (const int label : eq->output)
    perm.push_back(std::distance(from.begin(), std::ranges::find(from, label)));
  return perm;
}

namespace {

/// An operand on the way: labels along which it varies, and the input or internal port it lies at.
struct Operand {
  LabelSet labels;
  ValuePort port = 0;
};

class Contraction {
 public:
  Contraction(const NodeView& node, const Equation& eq) : node_(node), eq_(eq) {
    for (size_t i = 0; i < eq.terms.size(); ++i) {
      Operand operand{{}, static_cast<int>(i)};
      for (size_t d = 0; d < eq.terms[i].size(); ++d)
        if (node.dims(i)[d] != 1) operand.labels.insert(eq.terms[i][d]);
      operands_.push_back(std::move(operand));
    }
  }

  Work contract_all() {
    Operand left = prepared_operand(0);
    for (size_t i = 1; i < operands_.size(); ++i)
      left = contract_pair(left, prepared_operand(i), i);
    return std::move(work_);
  }

 private:
  int64_t extent_of(const LabelSet& labels) const {
    int64_t product = 1;
    for (int label : labels) product = capped_product({product, eq_.size.at(label)});
    return product;
  }

  /// Labels that the output or an operand from `next` on still needs.
  LabelSet labels_needed(size_t next) const {
    LabelSet all(eq_.output.begin(), eq_.output.end());
    for (size_t i = next; i < operands_.size(); ++i)
      all.insert(operands_[i].labels.begin(), operands_[i].labels.end());
    return all;
  }

  bool is_last(size_t i) const { return i + 1 == operands_.size(); }

  /// Operand i with its diagonal taken and the labels that nobody else has summed out.
  Operand prepared_operand(size_t i) {
    Operand operand = operands_[i];
    const bool single = operands_.size() == 1;
    LabelSet keep(eq_.output.begin(), eq_.output.end());
    for (size_t k = 0; k < operands_.size(); ++k)
      if (k != i) keep.insert(operands_[k].labels.begin(), operands_[k].labels.end());
    const int64_t before = extent_of(operand.labels);
    std::erase_if(operand.labels, [&](int label) { return !keep.contains(label); });
    if (before != extent_of(operand.labels)) {
      VectorOp sum;
      read_part(node_, i, before, has_diagonal(i) ? 1 : 0, sum.inputs);
      sum[VectorClass::reduce] = before;
      set_destination(operand, single, sum.outputs);
      work_.emplace_back(sum);
    } else if (single || has_diagonal(i)) {
      MemoryOp move;
      read_part(node_, i, before, 1, move.inputs);
      set_destination(operand, single, move.outputs);
      work_.emplace_back(move);
    }
    return operand;
  }

  /// Where the prepared operand is written: the node's output when it is all of it.
  void set_destination(Operand& operand, bool single, std::vector<Access>& outputs) const {
    if (single) return write_output(node_, 0, outputs);
    operand.port = ValuePort::made(operand.port, 0);
    outputs.push_back({operand.port, extent_of(operand.labels), 0});
  }

  bool has_diagonal(size_t i) const {
    return LabelSet(eq_.terms[i].begin(), eq_.terms[i].end()).size() != eq_.terms[i].size();
  }

  Operand contract_pair(const Operand& left, const Operand& right, size_t i) {
    const LabelSet keep = labels_needed(i + 1);
    LabelSet batch, inner, rows, columns, result;
    for (int label : left.labels)
      (right.labels.contains(label) ? (keep.contains(label) ? batch : inner) : rows).insert(label);
    for (int label : right.labels)
      if (!left.labels.contains(label)) columns.insert(label);
    result = batch;
    result.insert(rows.begin(), rows.end());
    result.insert(columns.begin(), columns.end());
    const ValuePort written = is_last(i) ? ValuePort(0) : ValuePort::made(static_cast<int>(i), 1);
    if (inner.empty()) {
      VectorOp product;
      for (const Operand* o : {&left, &right})
        product.inputs.push_back({o->port, extent_of(o->labels), 0});
      product.outputs.push_back({written, extent_of(result), 0});
      product[VectorClass::elementwise] = extent_of(result);
      work_.emplace_back(product);
    } else {
      GemmOp gemm =
          matrix_product(extent_of(batch), extent_of(rows), extent_of(inner), extent_of(columns));
      gemm.a_port = left.port;
      gemm.b_port = right.port;
      gemm.out_port = written;
      work_.emplace_back(gemm);
    }
    return {std::move(result), written};
  }

  const NodeView& node_;
  const Equation& eq_;
  std::vector<Operand> operands_;
  Work work_;
};

}  // namespace

Status einsum_rule(InferContext& node) {
  const Result<Equation> eq = parse_einsum(node);
  if (!eq) return eq.errors();
  Dims out;
  for (int label : eq->output) out.push_back(eq->size.at(label));
  return set_shape(node, 0, node.dtype(0), std::move(out));
}

Result<Work> einsum_cost(const NodeView& node) {
  if (const auto perm = einsum_permutation(node)) return permuted_work(node, *perm);
  const Result<Equation> eq = parse_einsum(node);
  if (!eq) return eq.errors();
  return checked_work(node, Contraction(node, *eq).contract_all());
}

}  // namespace accsim::sim
