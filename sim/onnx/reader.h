#pragma once
#include <memory>
#include <string>

#include "sim/base/result.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Largest tensors whose elements import keeps, because shapes may depend on them: integers and
/// bools (16 bits and wider), and everything else numeric.
inline constexpr int64_t kMostIntegers = 4096;
inline constexpr int64_t kMostOthers = 64;

/// Reads an .onnx file of any size. The file is mapped, and the bytes of its weights are never
/// touched: only where they are is noted. Values are kept for small tensors (see above), also from
/// an external data file when it exists. Errors name the file and the byte offset.
Result<ModelDef> read_model(const std::string& path);

/// The same of a model whose bytes lie in memory, called `name` in messages; what is read keeps
/// them. No file is opened: elements in an external data file count as not there, whatever lies in
/// the folder that the process runs in.
Result<ModelDef> read_model_bytes(std::shared_ptr<const std::string> bytes,
                                  const std::string& name);

/// Reads a file that holds one TensorProto (ONNX's test data). The payload is not kept, its value
/// is, within the same limits.
Result<StoredTensor> read_tensor(const std::string& path);

}  // namespace accsim::sim
