// Compiled for what every processor of the family has.
#define Eigen EigenBaseline
#include "sim/ref/eigen/product_of_isa.h"

namespace accsim::sim::ref {

MultiplyAddFunction multiply_add_baseline() { return multiply_add; }

}  // namespace accsim::sim::ref
