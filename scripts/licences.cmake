# Licences of what the program and the Python module are made of beside our own sources: packages
# that are given to others bring them along. accsim_licences(FOLDER COMPONENT...): puts them into
# FOLDER. Debian keeps them with its packages; elsewhere they are to be looked for.
function(accsim_licences folder)
  install(FILES ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../web/dist/LICENSES.txt DESTINATION ${folder}
    RENAME page.txt ${ARGN})
  foreach(package libfmt-dev libyaml-cpp-dev libsqlite3-dev libxxhash-dev nlohmann-json3-dev
      libcli11-dev libeigen3-dev libjemalloc-dev)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION ${folder}
      RENAME ${package}.txt OPTIONAL ${ARGN})
  endforeach()
endfunction()
