# Makes engine.ptx again and compares it with the one in the tree. Only the
# toolkit that made it writes the same text, so with another one the test is
# skipped.
set(made_by 13.0)
execute_process(COMMAND ${NVCC} --version OUTPUT_VARIABLE version)
if(NOT version MATCHES "release ${made_by},")
  message("another toolkit than ${made_by}")
  return()
endif()
execute_process(COMMAND ${FOLDER}/ptx/make_ptx.sh ${NVCC} ${FOLDER}/engine.cu
  ${OUT} RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "make_ptx.sh failed")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -E compare_files
  ${FOLDER}/ptx/engine.ptx ${OUT} RESULT_VARIABLE differs)
if(differs)
  message(FATAL_ERROR "kernels/ptx/engine.ptx is not what engine.cu gives: "
    "run kernels/ptx/make_ptx.sh nvcc kernels/engine.cu "
    "kernels/ptx/engine.ptx")
endif()
