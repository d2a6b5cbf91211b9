#pragma once
#include <string>
#include <utility>
#include <vector>

#include "hw/config/hw_config.h"
#include "sim/base/variant.h"

namespace accsim::hw {

/// What an edit sets a field to: a number as it was written, a word, or a list of words.
using FieldText = Variant<std::monostate, double, std::string, std::vector<std::string>>;
/// Fields by path, "array.rows".
using MachineEdits = std::vector<std::pair<std::string, FieldText>>;

/// Something wrong with a machine, and the field that it stands beside; "" for none.
struct FieldError {
  std::string path, message;
};

/// A machine with some of its fields set, or everything that is wrong with it.
struct EditedMachine {
  HwConfig hw;
  std::vector<FieldError> errors;  ///< empty: `hw` is good
};

/// `base` with the edits, checked as a file is: types, ranges and cross-field rules. Fields that
/// only another model of DRAM has come with dram.model.
EditedMachine edit_machine(const HwConfig& base, const MachineEdits& edits);

}  // namespace accsim::hw
