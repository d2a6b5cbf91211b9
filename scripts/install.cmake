# What `cmake --install` puts where:
#   bin/accsim                       the program
#   include/accsim/{sim,hw}/         headers, included as "sim/flow/cost.h"
#   lib/libaccsim_*.a                a library a folder
#   lib/cmake/accsim/                find_package(accsim); target accsim::accsim
#   share/man/man1/                  a manual page a command
#   share/{bash-completion,zsh,fish} completion for these shells
#   share/accsim/{rtl,hw,configs}/   the core, the sources that co-simulation compiles it with,
#                                    machines
#   share/accsim/python/             what exports TorchScript files
#   share/doc/accsim/                licence, README, documents
include(CMakePackageConfigHelpers)
set(data ${CMAKE_INSTALL_DATADIR}/accsim)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/accsim)

get_property(libraries GLOBAL PROPERTY ACCSIM_LIBRARIES)
set_target_properties(accsim_all PROPERTIES EXPORT_NAME accsim)
install(TARGETS accsim_all ${libraries} EXPORT accsimTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT accsimTargets NAMESPACE accsim:: DESTINATION ${package})
configure_package_config_file(scripts/accsimConfig.cmake.in ${PROJECT_BINARY_DIR}/accsimConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/accsimConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/accsimConfig.cmake
  ${PROJECT_BINARY_DIR}/accsimConfigVersion.cmake DESTINATION ${package})

install(DIRECTORY sim hw DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/accsim
  FILES_MATCHING PATTERN "*.h" PATTERN sim/app EXCLUDE PATTERN hw/cosim/model EXCLUDE)
install(DIRECTORY rtl configs DESTINATION ${data})
install(FILES hw/cosim/rtl_abi.h DESTINATION ${data}/hw/cosim)
install(DIRECTORY hw/cosim/model DESTINATION ${data}/hw/cosim)
install(FILES python/accsim/_export.py DESTINATION ${data}/python/accsim)
install(FILES README.md CHANGELOG.md LICENSE CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(ACCSIM_PROGRAM)
  install(TARGETS accsim RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # Pages and completions are what the program says of itself, made when it is installed.
  set(made ${PROJECT_BINARY_DIR}/documents)
  install(CODE "
    set(program \"$<TARGET_FILE:accsim>\")
    set(made \"${made}\")
    file(REMOVE_RECURSE \"\${made}\")
    file(MAKE_DIRECTORY \"\${made}\")
    execute_process(COMMAND \"\${program}\" manual --folder \"\${made}/man1\"
      COMMAND_ERROR_IS_FATAL ANY)
    foreach(shell bash zsh fish)
      execute_process(COMMAND \"\${program}\" completion \${shell}
        OUTPUT_FILE \"\${made}/accsim.\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
  install(DIRECTORY ${made}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${made}/accsim.bash RENAME accsim
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${made}/accsim.zsh RENAME _accsim
    DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${made}/accsim.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
