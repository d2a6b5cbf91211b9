#pragma once
#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "hw/cosim/queue_unroller.h"
#include "hw/program/program.h"

namespace accsim::hw {

/// "load", "gemm", "drain", "post", "vector", "store", "table", "lane", "row", "stage".
std::string_view kind_of(const Command& command);

/// A descriptor's words, as numbers with a sign.
std::array<int32_t, rtl::kWords> words_of(const QueueUnroller::Entry& entry);

/// The fields of a command's descriptor by their names in docs/descriptors.md: a number, or a list
/// where there are several.
nlohmann::ordered_json fields_of(const Command& command, const Descriptor& descriptor);

}  // namespace accsim::hw
