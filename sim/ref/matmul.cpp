#include "sim/ref/matmul.h"

#include <Eigen/LU>
#include <algorithm>
#include <utility>

#include "sim/operators/matmul/einsum_rules.h"
#include "sim/operators/matmul/matmul_rules.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {

namespace {

/// sum + a b; integers wrap, so that they are exact to the bits that an element type has.
template <class T>
T add_product(T sum, T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(sum) +
                          static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  else
    return sum + a * b;
}

void multiply(ThreadPool&, const MatMulShape& s, const int64_t* a, const int64_t* b, int64_t* c) {
  check(!s.a_turned && !s.b_turned, "integers are multiplied as they lie");
  std::fill_n(c, s.m * s.n, 0);
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t k = 0; k < s.k; ++k)
      for (int64_t j = 0; j < s.n; ++j)
        c[i * s.n + j] = add_product(c[i * s.n + j], a[i * s.k + k], b[k * s.n + j]);
}

/// Input i as numbers of T, which is double or int64_t.
template <class T>
std::vector<T> input_numbers(const KernelContext& step, size_t i) {
  if constexpr (std::is_integral_v<T>)
    return step.integers(i);
  else
    return step.reals(i);
}

/// NumPy's matmul of two arrays of T.
template <class T>
void matmul_arrays(ThreadPool& pool, Dims a_dims, const T* a, Dims b_dims, const T* b, T* out) {
  if (a_dims.size() == 1) a_dims.insert(a_dims.begin(), 1);
  if (b_dims.size() == 1) b_dims.push_back(1);
  MatMulShape shape{a_dims[a_dims.size() - 2], a_dims.back(), b_dims.back(), false, false};
  const Dims a_batch(a_dims.begin(), a_dims.end() - 2), b_batch(b_dims.begin(), b_dims.end() - 2);
  if (elements(b_batch) == 1) {  // all of a's rows meet the same b
    shape.m *= elements(a_batch);
    return multiply(pool, shape, a, b, out);
  }
  const Dims batch = broadcast_dims(a_batch, b_batch).value_or(Dims{0});
  const auto a_at = strided_offsets(batch, broadcast_strides(a_batch, batch));
  const auto b_at = strided_offsets(batch, broadcast_strides(b_batch, batch));
  const auto one = [&](int64_t i) {
    const auto n = static_cast<size_t>(i);
    multiply(pool, shape, a + a_at[n] * shape.m * shape.k, b + b_at[n] * shape.k * shape.n,
             out + i * shape.m * shape.n);
  };
  const auto count = static_cast<int64_t>(a_at.size());
  if (count >= pool.thread_count())
    pool.parallel_for(count, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) one(i);
    });
  else
    for (int64_t i = 0; i < count; ++i) one(i);
}

}  // namespace

std::vector<double> matmul_reals(KernelContext& step, const std::vector<double>& a,
                                 const Dims& a_dims, const std::vector<double>& b,
                                 const Dims& b_dims) {
  const Result<MatMulPlan> plan = plan_matmul(step, a_dims, b_dims);
  check(plan.ok(), "operands that the shape rule accepted don't multiply");
  std::vector<double> out(static_cast<size_t>(elements(plan->out)));
  if (!out.empty()) matmul_arrays(step.pool(), a_dims, a.data(), b_dims, b.data(), out.data());
  return out;
}

namespace {

Status matmul_inputs(KernelContext& step) {
  if (!step.has_output(0) || step.output_array(0).size() == 0) return ok();
  if (step.input_array(0).kind() == ElementKind::f32)
    return matmul_arrays(step.pool(), step.dims(0), step.data<float>(0), step.dims(1),
                         step.data<float>(1), step.result<float>(0)),
           ok();
  const auto multiplied = [&]<class T>(T) {
    const std::vector<T> a = input_numbers<T>(step, 0), b = input_numbers<T>(step, 1);
    std::vector<T> out(static_cast<size_t>(step.output_array(0).size()));
    matmul_arrays(step.pool(), step.dims(0), a.data(), step.dims(1), b.data(), out.data());
    step.put_output(0, out);
  };
  if (step.input_array(0).kind() == ElementKind::f64)
    multiplied(double{});
  else
    multiplied(int64_t{});
  return ok();
}

}  // namespace

Status gemm_kernel(KernelContext& step) {
  const Result<GemmPlan> plan = plan_gemm(step, 0, 1, 2);
  if (!plan) return plan.errors();
  if (!step.has_output(0) || step.output_array(0).size() == 0) return ok();
  const double alpha = real_attr(step, "alpha", 1), beta = real_attr(step, "beta", 1);
  const MatMulShape shape{plan->m, plan->k, plan->n, plan->a_transposed, plan->b_transposed};
  const auto finish = [&]<class T>(T* out, const T* c) {
    const Dims dims{plan->m, plan->n};
    const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
    if (alpha != 1)
      map_elements(step.pool(), out, out, plan->m * plan->n, [=](T v) { return a * v; });
    if (c != nullptr)
      broadcast_binary<T>(step.pool(), {out, dims}, {c, step.dims(2)}, out, dims,
                          [=](T x, T y) { return x + b * y; });
  };
  if (step.input_array(0).kind() == ElementKind::f32) {
    float* out = step.result<float>(0);
    multiply(step.pool(), shape, step.data<float>(0), step.data<float>(1), out);
    const Array c = step.has_input(2) ? step.input_array(2).converted_to(DType::float32) : Array();
    finish(out, c.empty() ? nullptr : std::as_const(c).data<float>());
    return ok();
  }
  const std::vector<double> a = step.reals(0), b = step.reals(1), c = step.reals(2);
  std::vector<double> out(static_cast<size_t>(plan->m * plan->n));
  multiply(step.pool(), shape, a.data(), b.data(), out.data());
  finish(out.data(), c.empty() ? nullptr : c.data());
  return step.put_output(0, out), ok();
}

namespace {

Strides label_strides(const std::vector<int>& labels, const std::vector<int>& term,
                      const Dims& dims) {
  const Strides own = row_major(dims);
  Strides out(labels.size(), 0);
  for (size_t i = 0; i < labels.size(); ++i)
    for (size_t d = 0; d < term.size(); ++d)  // a label that occurs twice walks the diagonal
      if (term[d] == labels[i] && dims[d] != 1) out[i] += own[d];
  return out;
}

/// An operand on the way.
template <class T>
struct Operand {
  std::vector<int> labels;
  Dims dims;
  std::vector<T> values;
  std::shared_ptr<const Held> held{};  ///< its values, unless they are an input's
};

/// The elements of dims as memory of the step, each of so many bytes.
std::shared_ptr<const Held> hold_elements(const KernelContext& step, const Dims& dims,
                                          int64_t each) {
  return std::make_shared<Held>(step.memory(), elements(dims) * each);
}

/// Sums a * b over the labels that `keep` doesn't have, element by element.
template <class T>
Operand<T> contract_operands(const KernelContext& step, const Operand<T>& a, const Operand<T>* b,
                             const std::vector<int>& keep, const EinsumEquation& eq) {
  std::vector<int> labels = keep;
  for (const Operand<T>* o : {&a, b})
    if (o != nullptr)
      for (int l : o->labels)
        if (std::ranges::find(labels, l) == labels.end()) labels.push_back(l);
  Dims all;
  for (int l : labels) all.push_back(eq.size.at(l));
  const Strides a_by = label_strides(labels, a.labels, a.dims);
  const Strides b_by = b != nullptr ? label_strides(labels, b->labels, b->dims) : Strides{};
  const auto split = static_cast<ptrdiff_t>(keep.size());
  Operand<T> out{keep, Dims(all.begin(), all.begin() + split), {}};
  out.held = hold_elements(step, out.dims, sizeof(T));
  const Dims summed(all.begin() + split, all.end());
  const int64_t place = (b == nullptr ? 1 : 2) * int64_t{sizeof(int64_t)};
  const auto places = hold_elements(step, out.dims, place),
             places_summed = hold_elements(step, summed, place);
  const auto part = [&](const Strides& s, bool tail) {
    return tail ? Strides(s.begin() + split, s.end()) : Strides(s.begin(), s.begin() + split);
  };
  const auto a_out = strided_offsets(out.dims, part(a_by, false)),
             a_sum = strided_offsets(summed, part(a_by, true));
  std::vector<int64_t> b_out, b_sum;
  if (b != nullptr) {
    b_out = strided_offsets(out.dims, part(b_by, false));
    b_sum = strided_offsets(summed, part(b_by, true));
  }
  out.values.resize(a_out.size(), 0);
  for (size_t o = 0; o < out.values.size(); ++o)
    for (size_t s = 0; s < a_sum.size(); ++s) {
      const T left = a.values[static_cast<size_t>(a_out[o] + a_sum[s])];
      const T right = b == nullptr ? T{1} : b->values[static_cast<size_t>(b_out[o] + b_sum[s])];
      out.values[o] = add_product(out.values[o], left, right);
    }
  return out;
}

/// The labels of a contraction by what they are to a product of matrices.
struct ProductLabels {
  std::vector<int> batch, m, n, k;
};

Dims label_sizes(const std::vector<int>& labels, const EinsumEquation& eq) {
  Dims out;
  for (const int l : labels) out.push_back(eq.size.at(l));
  return out;
}

template <class T>
ProductLabels product_labels(const Operand<T>& a, const Operand<T>& b,
                             const std::vector<int>& keep) {
  const auto in = [](int l, const std::vector<int>& labels) {
    return std::ranges::find(labels, l) != labels.end();
  };
  ProductLabels out;
  for (const int l : keep) {
    const bool left = in(l, a.labels), right = in(l, b.labels);
    (left && right ? out.batch : left ? out.m : out.n).push_back(l);
  }
  for (const int l : a.labels)
    if (!in(l, keep) && in(l, b.labels) && !in(l, out.k)) out.k.push_back(l);
  return out;
}

/// contract_operands() of two operands, by products of matrices where these are large.
template <class T>
Operand<T> multiply(KernelContext& step, const Operand<T>& a, const Operand<T>& b,
                    const std::vector<int>& keep, const EinsumEquation& eq) {
  constexpr int64_t kLarge = 512;  // multiply-accumulates; below, turning operands costs more
  const ProductLabels labels = product_labels(a, b, keep);
  const auto count = [&](const std::vector<int>& of) { return elements(label_sizes(of, eq)); };
  const int64_t batch = count(labels.batch), m = count(labels.m), n = count(labels.n),
                k = count(labels.k);
  if (m * n * k < kLarge) return contract_operands<T>(step, a, &b, keep, eq);
  const auto joined = [](std::vector<int> all, const std::vector<int>& x,
                         const std::vector<int>& y) {
    all.insert(all.end(), x.begin(), x.end());
    all.insert(all.end(), y.begin(), y.end());
    return all;
  };
  const Operand<T> left =
      contract_operands<T>(step, a, nullptr, joined(labels.batch, labels.m, labels.k), eq);
  const Operand<T> right =
      contract_operands<T>(step, b, nullptr, joined(labels.batch, labels.k, labels.n), eq);
  Operand<T> out{joined(labels.batch, labels.m, labels.n), {}, {}};
  out.dims = label_sizes(out.labels, eq);
  out.held = hold_elements(step, out.dims, sizeof(T));
  out.values.resize(static_cast<size_t>(batch * m * n));
  for (int64_t i = 0; i < batch; ++i)
    multiply(step.pool(), {m, k, n, false, false}, left.values.data() + i * m * k,
             right.values.data() + i * k * n, out.values.data() + i * m * n);
  if (out.labels == keep) return out;
  return contract_operands<T>(step, out, nullptr, keep, eq);
}

/// What an equation says of all inputs, as numbers of T.
template <class T>
void sum_products(KernelContext& step, const EinsumEquation& eq) {
  const auto operand = [&](size_t i) {
    return Operand<T>{eq.terms[i], step.dims(i), input_numbers<T>(step, i)};
  };
  Operand<T> all = operand(0);
  if (step.input_count() == 1) all = contract_operands<T>(step, all, nullptr, eq.output, eq);
  for (size_t i = 1; i < step.input_count(); ++i) {
    // Labels that a later operand or the output still needs stay.
    std::vector<int> keep;
    const auto wanted = [&](int l) {
      bool needed = std::ranges::find(eq.output, l) != eq.output.end();
      for (size_t later = i + 1; later < step.input_count(); ++later)
        needed = needed || std::ranges::find(eq.terms[later], l) != eq.terms[later].end();
      return needed && std::ranges::find(keep, l) == keep.end();
    };
    const Operand<T> next = operand(i);
    if (i + 1 == step.input_count())
      keep = eq.output;
    else
      for (const Operand<T>* o : std::initializer_list<const Operand<T>*>{&all, &next})
        for (int l : o->labels)
          if (wanted(l)) keep.push_back(l);
    all = multiply(step, all, next, keep, eq);
  }
  step.put_output(0, all.values);
}

Status einsum_kernel(KernelContext& step) {
  const Result<EinsumEquation> eq = parse_einsum(step);
  if (!eq) return eq.errors();
  const ElementKind kind = step.input_array(0).kind();
  if (kind == ElementKind::f64 || kind == ElementKind::f32)
    sum_products<double>(step, *eq);
  else
    sum_products<int64_t>(step, *eq);
  return ok();
}

Status det_kernel(KernelContext& step) {
  const Dims& x = step.dims(0);
  const int64_t n = x.back(), each = n * n;
  const std::vector<double> in = step.reals(0);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (size_t i = 0; i < out.size(); ++i)
    out[i] =
        Eigen::Map<const Matrix>(in.data() + static_cast<int64_t>(i) * each, n, n).determinant();
  return step.put_output(0, out), ok();
}

Status matmul_integer(KernelContext& step) {
  std::vector<double> a = step.reals(0), b = step.reals(1);
  subtract_zero(a, step.dims(0), step.reals(2), true);
  subtract_zero(b, step.dims(1), step.reals(3), false);
  return step.put_output(0, matmul_reals(step, a, step.dims(0), b, step.dims(1))), ok();
}

constexpr KernelRow kMatmulKernels[] = {
    {"Det", det_kernel},       {"Einsum", einsum_kernel},         {"Gemm", gemm_kernel},
    {"MatMul", matmul_inputs}, {"MatMulInteger", matmul_integer},
};

}  // namespace

void subtract_zero(std::vector<double>& values, const Dims& dims, const std::vector<double>& zero,
                   bool rows) {
  if (zero.empty() || dims.empty()) return;
  // A vector is a row of a, or a column of b.
  const bool is_column = dims.size() == 1 && !rows;
  const auto columns = is_column ? 1 : static_cast<size_t>(dims.back());
  const auto lines = static_cast<size_t>(dims.size() > 1 ? dims[dims.size() - 2] : dims.back());
  for (size_t i = 0; i < values.size(); ++i) {
    // One for all, one a row (of a), or one a column (of b), the latter with a's batch in front.
    size_t at = 0;
    if (zero.size() > 1 && rows)
      at = i / columns % zero.size();
    else if (zero.size() > 1)
      at = zero.size() == columns ? i % columns : i / (columns * lines) * columns + i % columns;
    if (at < zero.size()) values[i] -= zero[at];
  }
}

std::span<const KernelRow> matmul_kernels() { return kMatmulKernels; }

}  // namespace accsim::sim::ref
