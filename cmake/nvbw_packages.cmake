# Packages:
#   cpack -G TGZ   one bundle that runs with nothing installed
#   cpack -G DEB   nvbw-host, nvbw-plugins, nvbw-multinode, nvbw-dev, nvbw-sim
#   cpack -G RPM   the same, untried
# Each component below is a package; multinode is there where the plugin is
# built.
set(CPACK_PACKAGE_NAME nvbw-host)
set(CPACK_PACKAGE_VENDOR "The nvbw-host authors")
set(CPACK_PACKAGE_CONTACT "The nvbw-host authors <nvbw-host@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME
  nvbw-host-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_PROJECT_CONFIG_FILE
  ${CMAKE_CURRENT_LIST_DIR}/nvbw_package_config.cmake)

# What the licences of linked libraries ask for.
set(doc_dir share/doc/nvbw-host)
install(FILES LICENSE README.md CHANGELOG.md cmake/third_party.txt
  DESTINATION ${doc_dir})
foreach(package config jansson md mxml numa)
  set(text /usr/share/doc/lib${package}-dev/copyright)
  if(EXISTS ${text})
    install(FILES ${text} DESTINATION ${doc_dir}/licenses
      RENAME lib${package}.txt)
  endif()
endforeach()
install(DIRECTORY docs DESTINATION ${doc_dir}
  PATTERN examples EXCLUDE PATTERN nvbw-host.1 EXCLUDE)
install(FILES docs/nvbw-host.1 DESTINATION share/man/man1)
install(FILES scripts/completion/nvbw-host
  DESTINATION share/bash-completion/completions)

get_cmake_property(CPACK_COMPONENTS_ALL COMPONENTS)
set(CPACK_COMPONENTS_GROUPING IGNORE)

set(CPACK_COMPONENT_HOST_DESCRIPTION
  "Reads run plans, runs testcases in supervised workers, judges and reports.")
set(CPACK_COMPONENT_PLUGINS_DESCRIPTION
  "The bundled testcases: host memory, host to GPU, GPU to GPU, local, latency.")
set(CPACK_COMPONENT_MULTINODE_DESCRIPTION
  "Testcases over several nodes; needs MPI.")
set(CPACK_COMPONENT_DEVEL_DESCRIPTION
  "Header, CMake package and template for plugins.")
set(CPACK_COMPONENT_SIM_DESCRIPTION
  "Simulated CUDA driver and machines, for rehearsal and for tests of plans.")

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.34)")
set(CPACK_DEBIAN_HOST_PACKAGE_NAME nvbw-host)
set(CPACK_DEBIAN_HOST_PACKAGE_RECOMMENDS nvbw-plugins)
set(CPACK_DEBIAN_HOST_PACKAGE_SUGGESTS "nvbw-sim, nvbw-dev")
set(same "nvbw-host (= ${PROJECT_VERSION})")
foreach(component PLUGINS SIM)
  string(TOLOWER ${component} name)
  set(CPACK_DEBIAN_${component}_PACKAGE_NAME nvbw-${name})
  set(CPACK_DEBIAN_${component}_PACKAGE_DEPENDS "libc6 (>= 2.34), ${same}")
endforeach()
# Whichever MPI it was built with.
set(CPACK_DEBIAN_MULTINODE_PACKAGE_NAME nvbw-multinode)
set(CPACK_DEBIAN_MULTINODE_PACKAGE_DEPENDS "${same}")
set(CPACK_DEBIAN_MULTINODE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEVEL_PACKAGE_NAME nvbw-dev)
set(CPACK_DEBIAN_DEVEL_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVEL_PACKAGE_DEPENDS "nvbw-host (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVEL_PACKAGE_SUGGESTS "cmake, pkg-config")

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT host)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_HOST_PACKAGE_NAME nvbw-host)
set(CPACK_RPM_PLUGINS_PACKAGE_NAME nvbw-plugins)
set(CPACK_RPM_MULTINODE_PACKAGE_NAME nvbw-multinode)
set(CPACK_RPM_DEVEL_PACKAGE_NAME nvbw-devel)
set(CPACK_RPM_SIM_PACKAGE_NAME nvbw-sim)
foreach(component PLUGINS MULTINODE DEVEL SIM)
  set(CPACK_RPM_${component}_PACKAGE_REQUIRES
    "nvbw-host = ${PROJECT_VERSION}")
endforeach()
include(CPack)
