# Libraries of others. They are linked statically where the static archive is
# there, so that a bundle runs with nothing installed.
function(nvbw_find name header library)
  find_path(NVBW_${name}_INCLUDE ${header})
  if(NVBW_STATIC_LIBS)
    find_library(NVBW_${name}_LIBRARY NAMES lib${library}.a ${library})
  else()
    find_library(NVBW_${name}_LIBRARY NAMES ${library})
  endif()
  if(NOT NVBW_${name}_INCLUDE OR NOT NVBW_${name}_LIBRARY)
    message(FATAL_ERROR "${header} or lib${library} is missing: install "
      "lib${library}-dev (Debian, Ubuntu) or ${library}-devel (Fedora, RHEL), "
      "or run ./quickstart.sh")
  endif()
  add_library(nvbw::${name} UNKNOWN IMPORTED)
  set_target_properties(nvbw::${name} PROPERTIES
    IMPORTED_LOCATION ${NVBW_${name}_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${NVBW_${name}_INCLUDE})
endfunction()

nvbw_find(config libconfig.h config)
nvbw_find(jansson jansson.h jansson)
nvbw_find(numa numa.h numa)
nvbw_find(md sha256.h md)
nvbw_find(mxml mxml.h mxml)
find_package(Threads REQUIRED)

# nvbw_install_shared(FILE FOLDER COMPONENT): ships a shared library of others
# beside what needs it, under the name that the loader looks for.
function(nvbw_install_shared file folder component)
  file(REAL_PATH ${file} real)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${real} OUTPUT_VARIABLE head)
  if(head MATCHES "SONAME +([^ \n]+)")
    install(PROGRAMS ${real} DESTINATION ${folder} RENAME ${CMAKE_MATCH_1}
      COMPONENT ${component})
  endif()
endfunction()
