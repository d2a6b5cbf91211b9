#pragma once
#include <cstddef>

#include "hw/program/program.h"

namespace accsim::hw {

/// Items [first, end) of a program's body as a program of its own, on a machine at rest: for a cut
/// before a layer's head, where all slots and regions have been given back. Tensors keep their
/// numbers. Marks of commands before `first` are reached: they aren't set again, and nothing waits
/// for them. Tensors with an address that hold what those commands have written, and that are used
/// again, are `given`. It starts from the memory that the items before `first` leave behind.
Program cut_program(const Program& program, size_t first, size_t end);

/// Commands that these items of a program's body run, those of loops as often as they do.
int64_t commands_of(const Program& program, size_t first, size_t end);

}  // namespace accsim::hw
