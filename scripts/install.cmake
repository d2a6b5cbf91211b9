# What `cmake --install` puts where:
#   bin/accsim                       the program
#   include/accsim/{sim,hw}/         headers, included as "sim/cost/cost.h"
#   lib/libaccsim_*.a                a library a folder
#   include/accsim.h                 the C interface
#   lib/libaccsim.so                 its library
#   lib/cmake/accsim/                find_package(accsim); target accsim::accsim, and for C
#                                    accsim::c and accsim::c_static
#   lib/pkgconfig/accsim.pc          the same for pkg-config
#   share/man/man1/                  a manual page a command
#   share/{bash-completion,zsh,fish} completion for these shells
#   share/accsim/{rtl,hw,configs}/   the core, the sources that co-simulation compiles it with,
#                                    machines
#   share/accsim/dpi/                the C interface for SystemVerilog
#   share/accsim/python/             what exports TorchScript files
#   share/doc/accsim/                licence, README, documents
# Components: `cpp` is what C and C++ programs are built with, `program` all the rest. Packages
# alone (scripts/package) have `licences`, and where nothing else brings them `libraries`:
# lib/accsim/ with the shared libraries that the program needs.
include(CMakePackageConfigHelpers)
set(data ${CMAKE_INSTALL_DATADIR}/accsim)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/accsim)

get_property(libraries GLOBAL PROPERTY ACCSIM_LIBRARIES)
set_target_properties(accsim_all PROPERTIES EXPORT_NAME accsim)
install(TARGETS accsim_all ${libraries} ${abi_libraries} EXPORT accsimTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cpp)
install(EXPORT accsimTargets NAMESPACE accsim:: DESTINATION ${package} COMPONENT cpp)
configure_package_config_file(scripts/accsimConfig.cmake.in ${PROJECT_BINARY_DIR}/accsimConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/accsimConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/accsimConfig.cmake
  ${PROJECT_BINARY_DIR}/accsimConfigVersion.cmake DESTINATION ${package} COMPONENT cpp)

install(DIRECTORY sim hw DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/accsim COMPONENT cpp
  FILES_MATCHING PATTERN "*.h" PATTERN sim/app EXCLUDE PATTERN hw/cosim/model EXCLUDE)
install(FILES sim/abi/accsim.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cpp)
install(FILES sim/abi/accsim_dpi.sv DESTINATION ${data}/dpi COMPONENT cpp)
if(ACCSIM_SHARED)
  # The file says where it is, so that the folders can be moved.
  file(RELATIVE_PATH pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(scripts/accsim.pc.in accsim.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/accsim.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT cpp)
endif()
install(DIRECTORY rtl configs DESTINATION ${data} COMPONENT program)
install(FILES hw/cosim/rtl_abi.h DESTINATION ${data}/hw/cosim COMPONENT program)
install(DIRECTORY hw/cosim/model DESTINATION ${data}/hw/cosim COMPONENT program)
install(FILES python/accsim/_alone.py python/accsim/_export.py python/accsim/_tensors.py
  DESTINATION ${data}/python/accsim COMPONENT program)
install(FILES README.md CHANGELOG.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT program)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
if(ACCSIM_PROGRAM)
  # Where the package has them, its own libraries are taken.
  set_target_properties(accsim PROPERTIES INSTALL_RPATH "\$ORIGIN/../lib/accsim"
    BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS accsim RUNTIME_DEPENDENCY_SET needed
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
  # Not those of C and C++: Verilated cores are loaded that another compiler has made, and need the
  # system's, which may be newer.
  install(RUNTIME_DEPENDENCY_SET needed DESTINATION lib/accsim COMPONENT libraries EXCLUDE_FROM_ALL
    PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|pthread|rt|stdc\\+\\+|gcc_s)\\.so")
  # Pages and completions are what the program says of itself, made when it is installed; two
  # installations at once don't meet.
  install(CODE "
    set(program \"$<TARGET_FILE:accsim>\")
    string(RANDOM name)
    set(made \"${PROJECT_BINARY_DIR}/documents-\${name}\")
    file(MAKE_DIRECTORY \"\${made}\")
    execute_process(COMMAND \"\${program}\" manual --folder \"\${made}/man1\"
      COMMAND_ERROR_IS_FATAL ANY)
    foreach(shell bash zsh fish)
      execute_process(COMMAND \"\${program}\" completion \${shell}
        OUTPUT_FILE \"\${made}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()
    function(put folder)
      cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
      file(INSTALL \${ARGN} DESTINATION \"\${folder}\")
    endfunction()
    put(\"${CMAKE_INSTALL_MANDIR}\" \"\${made}/man1\")
    put(\"${CMAKE_INSTALL_DATADIR}/bash-completion/completions\" \"\${made}/bash\" RENAME accsim)
    put(\"${CMAKE_INSTALL_DATADIR}/zsh/site-functions\" \"\${made}/zsh\" RENAME _accsim)
    put(\"${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d\" \"\${made}/fish\"
      RENAME accsim.fish)
    file(REMOVE_RECURSE \"\${made}\")" COMPONENT program)
endif()

include(scripts/licences.cmake)
accsim_licences(${CMAKE_INSTALL_DOCDIR}/licences COMPONENT licences EXCLUDE_FROM_ALL)
