// What libonnx alone needs for a model: read the file, infer every shape. bench/run compares whole
// runs of accsim with it.
#include <cstdio>
#include <exception>
#include <fstream>

#include "onnx/onnx_pb.h"
#include "onnx/shape_inference/implementation.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: libonnx_infer MODEL.onnx\n");
    return 2;
  }
  try {
    std::ifstream file(argv[1], std::ios::binary);
    onnx::ModelProto model;
    if (!file || !model.ParseFromIstream(&file)) {
      std::fprintf(stderr, "libonnx_infer: can't read %s\n", argv[1]);
      return 2;
    }
    onnx::shape_inference::InferShapes(model);
    std::printf("%d values with shapes\n", model.graph().value_info_size());
  } catch (const std::exception& e) {
    std::fprintf(stderr, "libonnx_infer: %s\n", e.what());
    return 1;
  }
  return 0;
}
