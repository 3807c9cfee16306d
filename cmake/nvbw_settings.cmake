# Language, warnings and folders that hold for every target.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion
  -Wstrict-prototypes -Wvla -Wmissing-prototypes -fno-common)
if(NVBW_WERROR)
  add_compile_options(-Werror)
endif()
if(NVBW_NATIVE_ARCH)
  add_compile_options(-march=native)
endif()
if(NVBW_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "NVBW_FUZZ needs clang: -DCMAKE_C_COMPILER=clang")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(NVBW_SANITIZE)
  add_compile_options(-fsanitize=${NVBW_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${NVBW_SANITIZE})
endif()

# The build tree is laid out like an install, so that the programs find each
# other the same way in both.
set(NVBW_BIN_DIR ${CMAKE_BINARY_DIR}/bin)
set(NVBW_WORKER_DIR ${CMAKE_BINARY_DIR}/libexec/nvbw)
set(NVBW_PLUGIN_DIR ${CMAKE_BINARY_DIR}/lib/nvbw/plugins)
set(NVBW_SIM_DIR ${CMAKE_BINARY_DIR}/lib/nvbw/sim)
set(NVBW_INSTALL_WORKER_DIR libexec/nvbw)
set(NVBW_INSTALL_PLUGIN_DIR lib/nvbw/plugins)
set(NVBW_INSTALL_SIM_DIR lib/nvbw/sim)
set(NVBW_INSTALL_DATA_DIR share/nvbw)

# nvbw_library(NAME SOURCES... [LINK libs...]): a static library whose folder
# is on the include path of whoever links it. File names are unique in the
# tree, so headers are included by bare name.
function(nvbw_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${arg_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_LINK})
endfunction()
