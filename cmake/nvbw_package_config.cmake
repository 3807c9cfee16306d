# Read by cpack once per generator: distribution packages install to /usr, the
# bundle is a folder of its own.
if(CPACK_GENERATOR MATCHES "DEB|RPM")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_SET_DESTDIR OFF)
endif()
