#include "sim/lower/plain_forms.h"

#include <utility>

#include "sim/lower/index_forms.h"
#include "sim/lower/kept_codes.h"
#include "sim/lower/late_products.h"
#include "sim/lower/move_forms.h"
#include "sim/lower/node_rewrites.h"
#include "sim/lower/pixel_shuffles.h"
#include "sim/lower/recurrent_steps.h"
#include "sim/lower/repeat_forms.h"
#include "sim/lower/resize_products.h"
#include "sim/lower/rotation_products.h"
#include "sim/lower/row_forms.h"
#include "sim/lower/transposed_convolutions.h"
#include "sim/lower/vector_forms.h"
#include "sim/lower/volume_convolutions.h"

namespace accsim::sim {

Graph plain_forms(Graph graph) {
  const auto rewritten = [](Graph of, auto... plans) {
    NodeRewrites rewrites(of);
    (plans(rewrites), ...);
    return rewrites.is_empty() ? std::move(of) : rewrites.take_graph();
  };
  graph = rewritten(std::move(graph), plan_softmaxes, plan_unit_rows, plan_index_forms,
                    plan_volume_convolutions, plan_pixel_shuffles, plan_transposed_convolutions,
                    plan_rotation_products, plan_recurrent_steps, plan_repeat_forms);
  // Behind them, as these take nodes along.
  return rewritten(std::move(graph), plan_kept_codes, plan_resize_products, plan_vector_forms,
                   plan_move_forms, plan_late_products);
}

}  // namespace accsim::sim
