# Writes OUT, a header with the version and a fingerprint of all sources that decide what a network
# costs: stores of a sweep aren't continued by another cost model. Run by the build:
#   cmake -DSOURCE=tree -DVERSION=0.1.0 -DOUT=header -P scripts/model_id.cmake
set(sum "")
foreach(folder hw/config hw/dram hw/program hw/timing hw/energy
    sim/base sim/graph sim/work sim/operators sim/elaborate sim/onnx sim/lower sim/map
    sim/flow sim/sweep)
  file(GLOB files LIST_DIRECTORIES false RELATIVE ${SOURCE}
    ${SOURCE}/${folder}/*.h ${SOURCE}/${folder}/*.cpp
    ${SOURCE}/${folder}/*/*.h ${SOURCE}/${folder}/*/*.cpp)
  foreach(file IN LISTS files)
    file(SHA256 ${SOURCE}/${file} hash)
    string(APPEND sum "${file} ${hash}\n")
  endforeach()
endforeach()
string(SHA256 id "${sum}")
string(SUBSTRING ${id} 0 8 id)
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [[
#pragma once
#include <string_view>

namespace accsim {

inline constexpr std::string_view kVersion = "accsim @VERSION@ (cost model @id@)";

}  // namespace accsim
]])
