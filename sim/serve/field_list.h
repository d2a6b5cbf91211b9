#pragma once
#include <nlohmann/json.hpp>

#include "hw/config/hw_config.h"

namespace accsim::sim {

/// The field table for the page's controls: {"sections": [...], "fields": [...]}, values those of
/// `hw`. docs/serve.md lists the keys.
nlohmann::ordered_json field_list(const hw::HwConfig& hw);

}  // namespace accsim::sim
