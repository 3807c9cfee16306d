# cpack -G TGZ: a bundle that runs with nothing installed.
set(CPACK_PACKAGE_NAME nvbw-host)
set(CPACK_PACKAGE_VENDOR "The nvbw-host authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME
  nvbw-host-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_GENERATOR TGZ)
set(CPACK_STRIP_FILES ON)

# What the licences of linked libraries ask for.
set(doc_dir share/doc/nvbw-host)
install(FILES LICENSE README.md cmake/third_party.txt DESTINATION ${doc_dir})
foreach(package config jansson md mxml numa)
  set(text /usr/share/doc/lib${package}-dev/copyright)
  if(EXISTS ${text})
    install(FILES ${text} DESTINATION ${doc_dir}/licenses
      RENAME lib${package}.txt)
  endif()
endforeach()
include(CPack)
