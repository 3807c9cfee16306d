# nvbw_add_plugin(NAME SOURCES... [KERNELS a.cu ...] [LINK libs...]
#                 [OUTPUT_NAME name] [OUTPUT_DIR dir] [NO_INSTALL])
#
# Builds the plugin NAME.so as the plugin contract asks for (C1, C25): one
# exported symbol, nothing left undefined, never unloaded. NAME is also the
# name of the CMake target.
#
# KERNELS: each a.cu is compiled to a fatbin and embedded; the plugin's C code
# finds it as
#     extern const unsigned char a_fatbin[], a_fatbin_end[];
# The macro NVBW_HAVE_KERNELS is 1 then. Where there is no nvcc, or with
# -DNVBW_CUDA=OFF, the plugin is built all the same with NVBW_HAVE_KERNELS 0;
# its testcases then skip with NVBW_SKIP_NOT_BUILT.
#
# OUTPUT_NAME, OUTPUT_DIR: file name without .so, and folder in the build
# tree. NO_INSTALL: the plugin is for this build tree only. The variable
# NVBW_PLUGIN_COMPONENT names the component that it is installed as.
include(${CMAKE_CURRENT_LIST_DIR}/nvbw_embed_kernels.cmake)

function(nvbw_add_plugin name)
  cmake_parse_arguments(arg "NO_INSTALL" "OUTPUT_NAME;OUTPUT_DIR"
    "KERNELS;LINK" ${ARGN})
  if(NOT arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nvbw_add_plugin(${name}): no sources are named")
  endif()
  if(NOT arg_OUTPUT_NAME)
    set(arg_OUTPUT_NAME ${name})
  endif()
  if(NOT arg_OUTPUT_DIR)
    set(arg_OUTPUT_DIR ${CMAKE_CURRENT_BINARY_DIR})
    if(NVBW_PLUGIN_DIR)
      set(arg_OUTPUT_DIR ${NVBW_PLUGIN_DIR})
    endif()
  endif()

  add_library(${name} MODULE ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE nvbw::plugin_api ${arg_LINK})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" OUTPUT_NAME ${arg_OUTPUT_NAME}
    LIBRARY_OUTPUT_DIRECTORY ${arg_OUTPUT_DIR}
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON)
  if(NOT DEFINED CMAKE_C_STANDARD)
    set_target_properties(${name} PROPERTIES C_STANDARD 17)
  endif()
  nvbw_plugin_link_options(${name})

  nvbw_embed_kernels(${name} ${arg_KERNELS})
  if(NOT arg_NO_INSTALL)
    set(component "")
    if(NVBW_PLUGIN_COMPONENT)
      set(component COMPONENT ${NVBW_PLUGIN_COMPONENT})
    endif()
    install(TARGETS ${name} LIBRARY DESTINATION ${NVBW_INSTALL_PLUGIN_DIR}
      ${component})
  endif()
endfunction()

# The linker's part of the contract. A sanitizer leaves its run-time library's
# symbols undefined in shared objects, so -z defs is left out with one.
function(nvbw_plugin_link_options name)
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/nvbw_plugin.map)
  target_link_options(${name} PRIVATE
    -Wl,--version-script=${map} -Wl,-z,nodelete)
  set_property(TARGET ${name} APPEND PROPERTY LINK_DEPENDS ${map})
  get_target_property(options ${name} COMPILE_OPTIONS)
  set(flags "${options} ${CMAKE_C_FLAGS} ${CMAKE_MODULE_LINKER_FLAGS}")
  if(NOT flags MATCHES "-fsanitize=")
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
endfunction()
