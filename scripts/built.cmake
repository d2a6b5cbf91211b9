# A build folder is a place that another project can be built against without installing it:
# find_package(accsim) with the folder as its path, and accsimFlags.cmake, included before
# project(), for the same compiler and flags. python/ does so for a wheel.
export(EXPORT accsimTargets NAMESPACE accsim:: FILE ${PROJECT_BINARY_DIR}/accsimTargets.cmake)
get_directory_property(ACCSIM_COMPILE_OPTIONS COMPILE_OPTIONS)
set(kept CMAKE_BUILD_TYPE CMAKE_CXX_COMPILER CMAKE_CXX_COMPILER_LAUNCHER CMAKE_CXX_STANDARD
  CMAKE_CXX_STANDARD_REQUIRED CMAKE_CXX_EXTENSIONS CMAKE_CXX_FLAGS CMAKE_EXPORT_COMPILE_COMMANDS
  ACCSIM_COMPILE_OPTIONS ACCSIM_SANITIZE)
if(CMAKE_BUILD_TYPE)
  string(TOUPPER CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE} type_flags)
  list(APPEND kept ${type_flags})
endif()
set(text "# Written by scripts/built.cmake.\n")
foreach(name IN LISTS kept)
  string(APPEND text "set(${name} [==[${${name}}]==])\n")
endforeach()
file(CONFIGURE OUTPUT accsimFlags.cmake CONTENT "@text@" @ONLY)
