// Times the float products of a network: product_bench MODEL ROUNDS. Every MatMul, Gemm and Conv as
// one matrix product on one thread, by each of Eigen's builds that this processor runs and, when it
// was found, by OpenBLAS. They take turns; prints milliseconds of processor time by round as JSON.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <variant>
#include <vector>
#ifdef ACCSIM_OPENBLAS
#include <cblas.h>
#endif

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/onnx/reader.h"
#include "sim/ref/float_product.h"

namespace {

using namespace accsim;
using namespace accsim::sim;

#ifdef ACCSIM_OPENBLAS
void multiply_add_openblas(const ref::MultiplyAdd& t) {
  const auto turn = [](bool turned) { return turned ? CblasTrans : CblasNoTrans; };
  const auto size = [](int64_t v) { return static_cast<blasint>(v); };
  cblas_sgemm(CblasRowMajor, turn(t.a_turned), turn(t.b_turned), size(t.m), size(t.n), size(t.k), 1,
              t.a, size(t.a_stride), t.b, size(t.b_stride), 1, t.c, size(t.c_stride));
}
#endif

struct Contender {
  std::string name;
  ref::MultiplyAddFunction multiply_add;
  std::string times;
};

std::vector<Contender> contenders() {
  std::vector<Contender> all = {{"eigen baseline", ref::multiply_add_baseline(), {}},
                                {"eigen avx2", ref::multiply_add_avx2(), {}},
                                {"eigen avx512", ref::multiply_add_avx512(), {}}};
#ifdef ACCSIM_OPENBLAS
  openblas_set_num_threads(1);
  all.push_back({"openblas", multiply_add_openblas, {}});
#endif
  std::erase_if(all, [](const Contender& c) { return c.multiply_add == nullptr; });
  return all;
}

struct Shape {
  int64_t m, k, n, times;
};

Result<std::vector<Shape>> shapes_of(const std::string& file) {
  const Result<ModelDef> model = read_model(file);
  if (!model) return model.errors();
  const Result<Graph> graph = elaborate(*model, {});
  if (!graph) return graph.errors();
  const Result<Lowered> lowered = lower(*graph);
  if (!lowered) return lowered.errors();
  std::vector<Shape> out;
  for (const Layer& layer : lowered->layers)
    for (const WorkItem& item : layer.work)
      if (const auto* op = std::get_if<GemmOp>(&item))
        out.push_back({op->m(), op->k(), op->n(), op->batch});
  return out;
}

/// Milliseconds of processor time.
double run(const std::vector<Shape>& shapes, ref::MultiplyAddFunction multiply_add,
           const std::vector<float>& a, const std::vector<float>& b, std::vector<float>& c) {
  ref::ThreadPool alone;
  const std::clock_t start = std::clock();
  for (const Shape& s : shapes) {
    ref::FloatProduct task;
    task.operands = {s.m, s.k, s.n, a.data(), s.k, false, b.data(), s.n, false, c.data(), s.n};
    for (int64_t i = 0; i < s.times; ++i) ref::float_product(alone, task, multiply_add);
  }
  return 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fmt::print(stderr, "product_bench MODEL ROUNDS\n"), 2;
  const Result<std::vector<Shape>> shapes = shapes_of(argv[1]);
  if (!shapes) return fmt::print(stderr, "{}\n", shapes.errors().front().text()), 2;
  size_t most_a = 0, most_b = 0, most_c = 0;
  for (const Shape& s : *shapes) {
    most_a = std::max(most_a, static_cast<size_t>(s.m * s.k));
    most_b = std::max(most_b, static_cast<size_t>(s.k * s.n));
    most_c = std::max(most_c, static_cast<size_t>(s.m * s.n));
  }
  const std::vector<float> a(most_a, 0.5F), b(most_b, 0.25F);
  std::vector<float> c(most_c);
  std::vector<Contender> all = contenders();
  const long rounds = std::strtol(argv[2], nullptr, 10);
  for (long round = 0; round < rounds; ++round)
    for (Contender& one : all)
      one.times +=
          fmt::format("{}{:.3f}", round > 0 ? ", " : "", run(*shapes, one.multiply_add, a, b, c));
  std::string text;
  for (const Contender& one : all)
    text += fmt::format("{}\"{}\": [{}]", text.empty() ? "" : ", ", one.name, one.times);
  fmt::print("{{{}}}\n", text);
  return 0;
}
