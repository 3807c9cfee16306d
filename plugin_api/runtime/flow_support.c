/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* What the contract has and this build has not. A flow that asks for it is
 * skipped with a sentence: a wish that is silently ignored would make its
 * figure a lie. */
#include "flow.h"
#include "session_build.h"
#include "state.h"

#define BIT(number) (1u << (number))
#define BY_KERNELS  (BIT(NVBW_BY_SM) | BIT(NVBW_BY_TMA))
#define ON_GPU      (BIT(NVBW_BY_CE) | BIT(NVBW_BY_SM) | BIT(NVBW_BY_TMA))
#define ALL_FLOWS   (ON_GPU | BIT(NVBW_BY_CPU) | BIT(NVBW_BY_PLUGIN))

enum { LOAD_FULL_PERMILLE = 1000 };

static int is_blocking(const struct flow_record *flow)
{
    return (flow->flags & NVBW_FLOW_SYNC) != 0;
}

static int is_by_host(const struct flow_record *flow)
{
    return (flow->flags & NVBW_FLOW_HOST_CLOCK) != 0;
}

static int is_staged(const struct flow_record *flow)
{
    return (flow->flags & NVBW_FLOW_STAGED) != 0;
}

static int is_partial_load(const struct flow_record *flow)
{
    return !flow_is_load(flow) && flow->load_permille != 0 &&
           flow->load_permille != LOAD_FULL_PERMILLE;
}

/* Its size would follow from the measured flows, a chain's does not. */
static int is_chase_behind(const struct flow_record *flow)
{
    return flow->operation == NVBW_OP_CHASE &&
           (flow->flags & NVBW_FLOW_BACKGROUND) != 0;
}

/* Nor does that of arrays that are gone through again and again. */
static int is_stream_behind(const struct flow_record *flow)
{
    return (flow_is_stream(flow) || flow_is_access(flow)) &&
           (flow->flags & NVBW_FLOW_BACKGROUND) != 0;
}

static int has_pattern(const struct flow_record *flow)
{
    return flow->stride != 0 || flow->element != 0;
}

static const struct unsupported {
    uint32_t initiators;
    int (*asks)(const struct flow_record *flow);
    const char *what;
} unsupported[] = {
    { ALL_FLOWS & ~BIT(NVBW_BY_CE), is_blocking,
        "blocking calls (NVBW_FLOW_SYNC)" },
    { BIT(NVBW_BY_CPU), is_by_host,
        "other clock than the host's (NVBW_FLOW_HOST_CLOCK)" },
    { ALL_FLOWS, is_partial_load,
        "part of full load (load_permille), which reads by sm in the "
        "background "
        "have" },
    { BIT(NVBW_BY_PLUGIN), flow_has_third, "operations on three arrays" },
    { BY_KERNELS, is_staged, "way around peer access (NVBW_FLOW_STAGED)" },
    { ON_GPU, is_chase_behind, "chains of loads in the background" },
    { ON_GPU, is_stream_behind,
        "strides and operations of STREAM in the background" },
    { BIT(NVBW_BY_CE), has_pattern,
        "strides or element sizes (they need an initiator with kernels)" },
};

static int32_t check_flow(
    const struct flow_record *flow, uint32_t at, struct error *err)
{
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++) {
        const struct unsupported *const one = &unsupported[i];

        if ((one->initiators & BIT(flow->initiator)) == 0 || !one->asks(flow)) {
            continue;
        }
        error_set(err, NVBW_E_SKIPPED,
            "flow %u: flows by %s have no %s in this build", at,
            name_of(initiator_names, flow->initiator), one->what);
        if (err != NULL) {
            err->code = NVBW_SKIP_NOT_BUILT;
        }
        return NVBW_E_SKIPPED;
    }
    return NVBW_OK;
}

static int is_shareable(uint32_t memory)
{
    return memory == NVBW_MEM_NONE || memory == NVBW_MEM_FABRIC ||
           memory == NVBW_MEM_MULTICAST;
}

static int is_carried_out_by_one(const struct session *session)
{
    for (uint32_t i = 1; i < session->flows_count; i++) {
        if (session->flows[i].record.executor !=
            session->flows[0].record.executor) {
            return 0;
        }
    }
    return 1;
}

/* A background is covered where who carries it out measures beside it and sees
 * its progress; who does not takes its rate from there (session_team.c). */
static int is_background_of_one(
    const struct session *session, const struct flow_record *flow)
{
    return (flow->flags & NVBW_FLOW_BACKGROUND) == 0 ||
           (flow_is_load(flow) && is_carried_out_by_one(session));
}

/* Between ranks there is only memory that they share, and no kernel of a
 * plugin, which compares what arrived where it runs and not where the memory
 * is. */
static int32_t check_between_ranks(
    const struct session *session, uint32_t at, struct error *err)
{
    const struct flow_record *const flow = &session->flows[at].record;

    if ((ON_GPU & BIT(flow->initiator)) != 0 &&
        is_shareable(flow->src_memory) && is_shareable(flow->dst_memory) &&
        !flow_is_stream(flow) && !flow_is_access(flow) &&
        is_background_of_one(session, flow) &&
        (flow->flags & (NVBW_FLOW_SYNC | NVBW_FLOW_HOST_CLOCK)) == 0) {
        return NVBW_OK;
    }
    error_set(err, NVBW_E_SKIPPED,
        "flow %u: between MPI ranks this build has copies, reads and writes by "
        "the engine and chains of loads in memory that the ranks share, in the "
        "background only reads with a load_permille by the rank that carries "
        "out all flows, and no host's clock",
        at);
    if (err != NULL) {
        err->code = NVBW_SKIP_NOT_BUILT;
    }
    return NVBW_E_SKIPPED;
}

int32_t flow_support_check(const struct session *session, struct error *err)
{
    for (uint32_t i = 0; i < session->flows_count; i++) {
        const struct flow_record *const flow = &session->flows[i].record;

        TRY(check_flow(flow, i, err));
        if (session->facts->ranks > 0) {
            TRY(check_between_ranks(session, i, err));
        }
    }
    return NVBW_OK;
}
