#include "hw/config/hw_config.h"

#include <string_view>

namespace accsim {
namespace {

constexpr std::array<std::string_view, kDataflows> kDataflowNames = {
    "weight_stationary", "input_stationary", "output_stationary"};
constexpr std::array<std::string_view, kBuffers> kBufferNames = {
    "activation", "weight", "parameter", "accumulator", "output"};

}  // namespace

std::string_view name(Dataflow d) { return kDataflowNames[static_cast<size_t>(d)]; }
std::string_view name(Buffer b) { return kBufferNames[static_cast<size_t>(b)]; }

}  // namespace accsim
