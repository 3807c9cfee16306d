execute_process(COMMAND git -C ${SOURCE} describe --always --dirty
  OUTPUT_VARIABLE id OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT id)
  set(id "release")
endif()
set(text "#define NVBW_VERSION \"${VERSION}\"
#define NVBW_BUILD \"${VERSION} (${id})\"
")
set(old "")
if(EXISTS ${OUT})
  file(READ ${OUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUT} "${text}")
endif()
