#pragma once
#include <memory>

#include "hw/config/hw_config.h"
#include "sim/abi/accsim.h"

/// What accsim.h calls a machine.
struct accsim_machine {
  accsim::hw::HwConfig hw;
};
