# cmake -DPROGRAM=print_layout -DPINNED=layout.txt -P compare_layout.cmake
execute_process(COMMAND ${PROGRAM} OUTPUT_VARIABLE seen RESULT_VARIABLE failed)
file(READ ${PINNED} pinned)
if(failed OR NOT seen STREQUAL pinned)
  message(FATAL_ERROR "the layout of nvbw/plugin.h is not that of ${PINNED}. "
    "The contract only grows, at the end of its structs (rule C4): where that "
    "is what happened, raise NVBW_ABI_MINOR and write the new layout "
    "there:\n${seen}")
endif()
