# What CPack makes packages of; scripts/package calls it, with the components of each kind.
set(CPACK_PACKAGE_NAME accsim)
set(CPACK_PACKAGE_VENDOR "The accsim authors")
set(CPACK_PACKAGE_CONTACT "The accsim authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "what a neural network costs on a systolic-array accelerator, proved on RTL")
set(CPACK_PACKAGE_DESCRIPTION "accsim describes an accelerator in one YAML file and costs any ONNX
network on it: cycles, stalls, bandwidth, utilisation and energy, layer by layer. The tile
programs that it times also run on a bit-exact C++ model and on the core in SystemVerilog.")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_GENERATOR TGZ DEB)
# All components of a package are one file.
set(CPACK_COMPONENTS_ALL program licences)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
# `accsim verify` needs both, the compiler by the name that the program was built with.
get_filename_component(compiler "${RTL_COMPILER}" NAME)
string(REPLACE "++" "" compiler "${compiler}")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "verilator, ${compiler}, zlib1g-dev")
include(CPack)
