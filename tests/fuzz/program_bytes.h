#pragma once
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "hw/config/hw_config.h"
#include "hw/program/program.h"

namespace accsim::test {

/// A tile program, the machine that it is for, and how memory is filled when it begins.
struct ProgramCase {
  hw::HwConfig hw;
  hw::Program program;
  int64_t fill = 0;
};

/// Any bytes are a case; numbers are written so that small changes of the bytes are small changes
/// of the case. The machine is one that hw/config would accept, the program anything.
ProgramCase decode(std::string_view bytes);
/// Bytes of which decode() makes this case.
std::string encode(const ProgramCase& c);

/// Changes one thing: a number, or what a list has.
void change(ProgramCase& c, std::mt19937& random);
/// A case that the verifier accepts: one of the generators' programs.
ProgramCase draw_case(std::mt19937& random);

}  // namespace accsim::test
