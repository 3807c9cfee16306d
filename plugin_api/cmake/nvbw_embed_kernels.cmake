# nvbw_embed_kernels(TARGET [a.cu ...]): compiles each file to a fatbin and
# embeds it in the target as a_fatbin[] up to a_fatbin_end[]. Defines
# NVBW_HAVE_KERNELS, 1 or 0, for the target, and NVBW_HAVE_HOPPER, 1 where the
# compiler knows all instructions of compute capability 9.0.

# The architectures that get machine code, as far as this nvcc knows them.
# Newer GPUs translate the PTX of the newest, older ones that of the oldest.
set(NVBW_KERNEL_ARCHS 70 75 80 86 89 90 100 103 120 CACHE STRING
  "Compute capabilities that kernels are compiled for")

# Sets out to the path of nvcc, or to "" where kernels are not to be built.
function(nvbw_find_nvcc out)
  set(${out} "" PARENT_SCOPE)
  if(DEFINED NVBW_CUDA AND NVBW_CUDA STREQUAL "OFF")
    return()
  endif()
  find_program(NVBW_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH
    PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(NVBW_NVCC)
    set(${out} ${NVBW_NVCC} PARENT_SCOPE)
  elseif(DEFINED NVBW_CUDA AND NVBW_CUDA STREQUAL "ON")
    message(FATAL_ERROR "NVBW_CUDA is ON but there is no nvcc: install the "
      "CUDA toolkit, or set NVBW_NVCC to its path, or use -DNVBW_CUDA=OFF")
  endif()
endfunction()

# Bulk copies came with PTX 8.0, stores to multicast memory with 8.1. An older
# compiler that knows sm_90 makes kernels for what was before it.
set(nvbw_hopper_nvcc 12.1)

# Sets out to the version of nvcc, "12.4".
function(nvbw_nvcc_version nvcc out)
  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE words
    RESULT_VARIABLE failed ERROR_QUIET)
  if(failed OR NOT words MATCHES "release ([0-9]+[.][0-9]+)")
    message(FATAL_ERROR "${nvcc} --version tells no release: set NVBW_NVCC to "
      "a working nvcc, version 11.2 or later, or use -DNVBW_CUDA=OFF")
  endif()
  set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
endfunction()

# Sets out to the -gencode options for the wanted architectures that nvcc
# knows.
function(nvbw_kernel_gencode nvcc version out)
  execute_process(COMMAND ${nvcc} --list-gpu-code OUTPUT_VARIABLE known
    RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(FATAL_ERROR "${nvcc} --list-gpu-code failed: set NVBW_NVCC to a "
      "working nvcc, version 11.2 or later, or use -DNVBW_CUDA=OFF")
  endif()
  set(archs "")
  foreach(arch ${NVBW_KERNEL_ARCHS})
    if(arch GREATER_EQUAL 90 AND version VERSION_LESS nvbw_hopper_nvcc)
      continue()
    endif()
    if(known MATCHES "sm_${arch}[\r\n]")
      list(APPEND archs ${arch})
    endif()
  endforeach()
  if(NOT archs)
    message(FATAL_ERROR "${nvcc} knows none of the architectures "
      "${NVBW_KERNEL_ARCHS}")
  endif()
  set(options "")
  foreach(arch ${archs})
    list(APPEND options -gencode=arch=compute_${arch},code=sm_${arch})
  endforeach()
  list(GET archs 0 oldest)
  list(GET archs -1 newest)
  foreach(arch ${oldest} ${newest})
    list(APPEND options -gencode=arch=compute_${arch},code=compute_${arch})
  endforeach()
  list(REMOVE_DUPLICATES options)
  set(${out} ${options} PARENT_SCOPE)
endfunction()

function(nvbw_embed_kernels target)
  set(nvcc "")
  if(ARGN)
    nvbw_find_nvcc(nvcc)
  endif()
  if(NOT nvcc)
    target_compile_definitions(${target} PRIVATE NVBW_HAVE_KERNELS=0
      NVBW_HAVE_HOPPER=0)
    return()
  endif()
  nvbw_nvcc_version(${nvcc} version)
  set(hopper 1)
  if(version VERSION_LESS nvbw_hopper_nvcc)
    set(hopper 0)
    message(STATUS "kernels: nvcc ${version} is older than "
      "${nvbw_hopper_nvcc}, so tma tests will be skipped (not_built)")
  endif()
  target_compile_definitions(${target} PRIVATE NVBW_HAVE_KERNELS=1
    NVBW_HAVE_HOPPER=${hopper})
  nvbw_kernel_gencode(${nvcc} ${version} gencode)
  foreach(file ${ARGN})
    get_filename_component(source ${file} ABSOLUTE)
    get_filename_component(stem ${file} NAME_WE)
    set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${target}_${stem}.fatbin)
    set(holder ${CMAKE_CURRENT_BINARY_DIR}/${target}_${stem}_fatbin.c)
    add_custom_command(OUTPUT ${fatbin}
      COMMAND ${nvcc} -fatbin ${gencode} -O3 -Xfatbin -compress-all
        "-I$<JOIN:$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>,;-I>"
        -MD -MF ${fatbin}.d -o ${fatbin} ${source}
      DEPENDS ${source} DEPFILE ${fatbin}.d COMMAND_EXPAND_LISTS VERBATIM
      COMMENT "Compiling kernels ${file}")
    configure_file(
      ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/fatbin_holder.c.in ${holder} @ONLY)
    target_sources(${target} PRIVATE ${holder})
    set_source_files_properties(${holder} PROPERTIES OBJECT_DEPENDS ${fatbin}
      COMPILE_OPTIONS -fno-lto)
  endforeach()
endfunction()
