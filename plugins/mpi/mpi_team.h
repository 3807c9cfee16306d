/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* MPI, as much of it as the host needs: a rank, and one collective. */
#ifndef NVBW_MPI_TEAM_H
#define NVBW_MPI_TEAM_H

#include "nvbw/plugin.h"

/* init: starts MPI and lends the host its collective. */
int32_t mpi_team_init(struct nvbw_ctx *ctx);
/* fini: ends MPI together with the other ranks, or, if they do not come,
 * without them. */
int32_t mpi_team_fini(struct nvbw_ctx *ctx);

#endif
