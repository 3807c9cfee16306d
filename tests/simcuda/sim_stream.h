/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Streams as callers know them, and the one way into them. */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include "sim_machine.h"

/* The stream of a handle, NULL meaning the current context's legacy one.
 * CU_SUCCESS, or which error the handle deserves. */
cu_result stream_resolve(struct CUstream_st *handle, struct CUstream_st **out);
/* Gives the operation to the stream, once there is room for it, and takes it
 * over even where it fails. */
cu_result stream_enqueue(struct CUstream_st *stream, struct sim_op *op);
void stream_wait_idle(struct CUstream_st *stream);

#endif
