#include <fmt/format.h>

#include <algorithm>

#include "sim/abi/boundary.h"
#include "sim/abi/run.h"

namespace accsim::abi {
namespace {

/// Does the run have these bytes of a tensor?
int32_t check_bytes(const Run& run, int64_t tensor, int64_t offset, int64_t bytes) {
  const hw::MemoryImage& image = run.image();
  if (tensor < 0 || tensor >= std::ssize(image))
    return say_range("tensor", tensor, 0, std::ssize(image) - 1);
  const auto i = static_cast<size_t>(tensor);
  const int64_t all = std::ssize(image[i]);
  if (offset >= 0 && bytes >= 0 && offset <= all && bytes <= all - offset) return ACCSIM_OK;
  return say_message(ACCSIM_ARGUMENT,
                     fmt::format("{} bytes from byte {} on of tensor '{}', which has {}", bytes,
                                 offset, run.program().tensors[i].name, all));
}

int32_t read_bytes(const Run& run, int64_t tensor, int64_t offset, int64_t bytes, uint8_t* to) {
  if (const int32_t wrong = check_bytes(run, tensor, offset, bytes); wrong != ACCSIM_OK)
    return wrong;
  std::copy_n(run.image()[static_cast<size_t>(tensor)].begin() + offset, bytes, to);
  return ACCSIM_OK;
}

int32_t write_bytes(Run& run, int64_t tensor, int64_t offset, int64_t bytes, const uint8_t* from) {
  if (const int32_t wrong = check_bytes(run, tensor, offset, bytes); wrong != ACCSIM_OK)
    return wrong;
  if (run.has_begun())
    return say_message(ACCSIM_ORDER, "operands are written before the first accsim_next()");
  std::copy_n(from, bytes, run.image()[static_cast<size_t>(tensor)].begin() + offset);
  return ACCSIM_OK;
}

}  // namespace
}  // namespace accsim::abi

using namespace accsim::abi;

int32_t accsim_tensors(const accsim_run* run, int64_t* tensors) {
  return call_guarded({{"run", run}, {"tensors", tensors}}, [&] {
    *tensors = std::ssize(run->image());
    return int32_t{ACCSIM_OK};
  });
}

int32_t accsim_tensor(const accsim_run* run, int64_t tensor, const char** name, int64_t* bytes) {
  return call_guarded({{"run", run}, {"name", name}, {"bytes", bytes}}, [&] {
    if (const int32_t wrong = check_bytes(*run, tensor, 0, 0); wrong != ACCSIM_OK) return wrong;
    const accsim::hw::ProgramTensor& t = run->program().tensors[static_cast<size_t>(tensor)];
    *name = t.name.c_str();
    *bytes = t.bytes;
    return int32_t{ACCSIM_OK};
  });
}

int32_t accsim_read(const accsim_run* run, int64_t tensor, int64_t offset, int64_t bytes,
                    uint8_t* to) {
  return call_guarded({{"run", run}, {"to", to}},
                      [&] { return read_bytes(*run, tensor, offset, bytes, to); });
}

int32_t accsim_write(accsim_run* run, int64_t tensor, int64_t offset, int64_t bytes,
                     const uint8_t* from) {
  return call_guarded({{"run", run}, {"from", from}},
                      [&] { return write_bytes(*run, tensor, offset, bytes, from); });
}

int32_t accsim_read_byte(const accsim_run* run, int64_t tensor, int64_t offset, int32_t* value) {
  return call_guarded({{"run", run}, {"value", value}}, [&] {
    uint8_t byte = 0;
    const int32_t code = read_bytes(*run, tensor, offset, 1, &byte);
    if (code == ACCSIM_OK) *value = byte;
    return code;
  });
}

int32_t accsim_write_byte(accsim_run* run, int64_t tensor, int64_t offset, int32_t value) {
  return call_guarded({{"run", run}}, [&] {
    if (value < 0 || value > UINT8_MAX) return say_range("value", value, 0, UINT8_MAX);
    const auto byte = static_cast<uint8_t>(value);
    return write_bytes(*run, tensor, offset, 1, &byte);
  });
}
