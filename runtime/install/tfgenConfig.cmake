# find_package(tfgen) gives the target tfgen::tfgen (shared) and, where it was installed, tfgen::static.
get_filename_component(tfgen_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET tfgen::tfgen)
  add_library(tfgen::tfgen SHARED IMPORTED)
  set_target_properties(tfgen::tfgen PROPERTIES
    IMPORTED_LOCATION "${tfgen_prefix}/lib/libtfgen.so"
    INTERFACE_INCLUDE_DIRECTORIES "${tfgen_prefix}/include")
endif()
if(NOT TARGET tfgen::static AND EXISTS "${tfgen_prefix}/lib/libtfgen.a")
  add_library(tfgen::static STATIC IMPORTED)
  set_target_properties(tfgen::static PROPERTIES
    IMPORTED_LOCATION "${tfgen_prefix}/lib/libtfgen.a"
    INTERFACE_INCLUDE_DIRECTORIES "${tfgen_prefix}/include"
    INTERFACE_LINK_LIBRARIES "yaml;jansson;xxhash;dl;m;pthread")
endif()
