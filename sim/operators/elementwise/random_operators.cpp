#include "sim/operators/elementwise/random_rules.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr std::string_view kRandomNumbers = "its numbers are random, no two runtimes agree on them";

constexpr OpRow kRandomOperators[] = {
    {.name = "Bernoulli",
     .since = 15,
     .attributes = {"dtype", "seed"},
     .shape = random_like_shape,
     .cost = bernoulli_cost,
     .random = true,
     .no_kernel = kRandomNumbers},
    {.name = "Multinomial",
     .since = 7,
     .attributes = {"dtype", "sample_size", "seed"},
     .shape = multinomial_shape,
     .cost = multinomial_cost,
     .random = true,
     .no_kernel = kRandomNumbers},
    {.name = "RandomNormal",
     .max_inputs = 0,
     .attributes = {"dtype", "mean", "scale", "seed", "shape"},
     .shape = random_shape,
     .cost = random_normal_cost,
     .random = true,
     .no_kernel = kRandomNumbers},
    {.name = "RandomNormalLike",
     .attributes = {"dtype", "mean", "scale", "seed"},
     .shape = random_like_shape,
     .cost = random_normal_cost,
     .random = true,
     .no_kernel = kRandomNumbers},
    {.name = "RandomUniform",
     .max_inputs = 0,
     .attributes = {"dtype", "high", "low", "seed", "shape"},
     .shape = random_shape,
     .cost = random_uniform_cost,
     .random = true,
     .no_kernel = kRandomNumbers},
    {.name = "RandomUniformLike",
     .attributes = {"dtype", "high", "low", "seed"},
     .shape = random_like_shape,
     .cost = random_uniform_cost,
     .random = true,
     .no_kernel = kRandomNumbers},
};

}  // namespace

std::span<const OpRow> random_rows() { return kRandomOperators; }

}  // namespace accsim::sim
