#pragma once
#include <memory>
#include <string>

#include "hw/config/hw_config.h"
#include "sim/abi/run.h"
#include "sim/work/work.h"

namespace accsim::abi {

/// Runs of what `accsim verify` runs, with the operands that the same seed gives there.
Result<std::unique_ptr<accsim_run>> product_run(const sim::GemmOp& op, const std::string& name,
                                                const hw::HwConfig& hw, uint64_t seed);
/// Number `index` of the seed's random cases.
Result<std::unique_ptr<accsim_run>> random_run(const hw::HwConfig& hw, uint64_t seed,
                                               int64_t index);
/// A model's file as one program, or the product of one layer of it.
Result<std::unique_ptr<accsim_run>> model_run(const std::string& file, const std::string& layer,
                                              const hw::HwConfig& hw, uint64_t seed);

}  // namespace accsim::abi
