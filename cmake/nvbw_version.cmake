# version.h: the version and the git id, made again when either changes.
set(NVBW_VERSION_DIR ${CMAKE_BINARY_DIR}/generated)
add_custom_target(nvbw_version
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR}
    -DOUT=${NVBW_VERSION_DIR}/version.h -DVERSION=${PROJECT_VERSION}
    -P ${CMAKE_SOURCE_DIR}/cmake/make_version.cmake
  BYPRODUCTS ${NVBW_VERSION_DIR}/version.h)
