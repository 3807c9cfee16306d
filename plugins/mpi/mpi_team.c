/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "mpi_team.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

enum {
    TAG_ROLL = 1,
    NAP_LEAST_NS = 20000, /* between two looks at what MPI has done */
    NAP_MOST_NS = 1000000,
    NAPS_SHORT = 200 /* looks before they get rarer */
};
/* How long rank 0 lets the others tell that they are there, after a collective
 * that did not come to its end; and how long these try to. */
static const int64_t roll_call_ns = 2 * NS_PER_S;
static const int64_t roll_answer_ns = NS_PER_S;
static const int64_t goodbye_ns = NS_PER_S;

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* Lets MPI go on; ranks may share cores, so it sleeps in between. *out_done
 * stays 0 where the deadline comes first. */
static int32_t wait_for(
    MPI_Request *request, int64_t deadline_ns, int *out_done)
{
    *out_done = 0;
    for (uint32_t looks = 0;; looks++) {
        const struct timespec nap = {
            .tv_nsec = looks < NAPS_SHORT ? NAP_LEAST_NS : NAP_MOST_NS
        };

        if (MPI_Test(request, out_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            return NVBW_E_SYSTEM;
        }
        if (*out_done) {
            return NVBW_OK;
        }
        if (now_ns() >= deadline_ns) {
            return NVBW_E_SYSTEM;
        }
        nanosleep(&nap, NULL);
    }
}

/* ---- Who is there ---- */

static void answer_roll(const void *in, int bytes)
{
    MPI_Request request;
    int done = 0;

    if (MPI_Isend(in, bytes, MPI_BYTE, 0, TAG_ROLL, MPI_COMM_WORLD, &request) ==
        MPI_SUCCESS) {
        wait_for(&request, now_ns() + roll_answer_ns, &done);
    }
}

/* Requests that are still open at the end are left alone, for a rank that is
 * lost cannot be told. */
static void call_roll(const void *in, unsigned char *out, int bytes, int ranks)
{
    MPI_Request *const requests = calloc((size_t)ranks, sizeof *requests);
    const int64_t until_ns = now_ns() + roll_call_ns;

    memcpy(out, in, (size_t)bytes);
    for (int i = 1; requests != NULL && i < ranks; i++) {
        memset(out + (size_t)i * (size_t)bytes, 0, (size_t)bytes);
        if (MPI_Irecv(out + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, i,
                TAG_ROLL, MPI_COMM_WORLD, &requests[i]) != MPI_SUCCESS) {
            requests[i] = MPI_REQUEST_NULL;
        }
    }
    for (int i = 1; requests != NULL && i < ranks; i++) {
        int done = 0;

        wait_for(&requests[i], until_ns, &done);
    }
    free(requests);
}

/* Memory that MPI may still write to. */
static const void *abandoned;

/* ---- The collective ---- */

static int32_t fail_open(const void *in, void *out, int bytes)
{
    /* MPI may still write into its own buffers, never into the caller's. */
    int rank = 0;
    int ranks = 0;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank != 0) {
        answer_roll(in, bytes);
    } else {
        unsigned char *const seen = calloc((size_t)ranks, (size_t)bytes);

        abandoned = seen;
        if (seen != NULL) {
            call_roll(in, seen, bytes, ranks);
            memcpy(out, seen, (size_t)ranks * (size_t)bytes);
        }
    }
    return NVBW_E_SYSTEM;
}

/* On buffers of its own: a collective that was given up may go on in them, so
 * these are then never freed. */
static int32_t allgather(struct nvbw_ctx *ctx, const void *in, void *out,
    uint64_t bytes, int64_t deadline_ns)
{
    MPI_Request request;
    int ranks = 0;
    int done = 0;

    (void)ctx;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (bytes == 0 || bytes > INT_MAX) {
        return NVBW_E_INVALID;
    }

    const size_t all_bytes = (size_t)ranks * bytes;
    unsigned char *const mine = malloc(bytes);
    unsigned char *const all = malloc(all_bytes);

    if (mine == NULL || all == NULL) {
        free(mine);
        free(all);
        return NVBW_E_SYSTEM;
    }
    memcpy(mine, in, bytes);
    if (MPI_Iallgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE,
            MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
        wait_for(&request, deadline_ns, &done) < 0) {
        return fail_open(in, out, (int)bytes);
    }
    memcpy(out, all, all_bytes);
    free(mine);
    free(all);
    return NVBW_OK;
}

/* ---- Start and end ---- */

int32_t mpi_team_init(struct nvbw_ctx *ctx)
{
    const struct nvbw_host *const host = ctx->host;
    int level = 0;
    int rank = 0;
    int ranks = 0;

    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) !=
        MPI_SUCCESS) {
        return host->fail(ctx, NULL, NVBW_E_SYSTEM, 0,
            "MPI does not start: run it under mpirun or srun");
    }
    /* A lost rank is to be reported, not to end the others. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    const int32_t lent = host->lend(ctx, allgather);

    return lent < 0 ? lent : host->join(ctx, (uint32_t)rank, (uint32_t)ranks);
}

int32_t mpi_team_fini(struct nvbw_ctx *ctx)
{
    MPI_Request request;
    int done = 0;

    (void)ctx;
    if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS ||
        wait_for(&request, now_ns() + goodbye_ns, &done) < 0) {
        return NVBW_E_SYSTEM;
    }
    return MPI_Finalize() == MPI_SUCCESS ? NVBW_OK : NVBW_E_SYSTEM;
}
