#pragma once
#include <string>

#include "sim/program/network_range.h"
#include "sim/verify/verify.h"
#include "sim/verify/verify_network.h"

namespace accsim::sim {

/// A program with its memory, on the machine that runs it.
struct VectorCase {
  std::string what;  ///< "gemm 100x200x300", "resnet50.onnx from conv1 to pool"
  hw::HwConfig hw;
  hw::Program program;
  hw::MemoryImage image;
};

/// A case's of the index that it has among those of one call.
VectorCase vector_case(const VerifyCase& c, uint64_t seed, uint64_t index);

/// A network's layers as a program of its own: golden runs what stands before it.
Result<VectorCase> vector_case(const NetworkCase& c, const VerifiedLayers& layers);

}  // namespace accsim::sim
