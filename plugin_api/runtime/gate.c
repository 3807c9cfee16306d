/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The gate: nothing of a sample starts before everything is queued. */
#include "cuda_session.h"
#include "peers.h"

static const uint64_t gate_limit_ns = UINT64_C(2000000000);
/* The display's watchdog ends kernels, and with them the context, after some
 * two seconds. */
static const uint64_t gate_limit_watchdog_ns = UINT64_C(500000000);

uint64_t gate_limit(const struct cuda_session *cuda, const struct gpu *gpu)
{
    if (cuda->peers != NULL) {
        return cuda->peers->step_ns + gate_limit_ns;
    }
    return gpu->facts->display_watchdog == 1 ? gate_limit_watchdog_ns
                                             : gate_limit_ns;
}

static int32_t close_one(
    struct cuda_session *cuda, struct cuda_flow *flow, struct error *err)
{
    const struct engine *const engine = cuda->engine;
    struct gate_args args = {
        .release = team_release(cuda),
        .outcome = engine_word(engine, WORD_OUTCOME + flow->slot),
        .limit_ns = gate_limit(cuda, flow->gpu),
    };

    TRY(gpu_use(flow->gpu, err));
    return gpu_launch(flow->gpu, GPU_KERNEL_gate, flow->stream, &args, 0, err);
}

int32_t gate_close(struct cuda_session *cuda, struct error *err)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        TRY(close_one(cuda, &cuda->flows[i], err));
    }
    return NVBW_OK;
}

void gate_open(struct cuda_session *cuda)
{
    __atomic_store_n(&cuda->engine->words[WORD_RELEASE], 1, __ATOMIC_SEQ_CST);
}

int gate_timed_out(const struct cuda_session *cuda)
{
    for (uint32_t i = 0; i < cuda->count; i++) {
        const uint32_t word = WORD_OUTCOME + cuda->flows[i].slot;

        if (cuda->engine->words[word] == GATE_TIMED_OUT) {
            return 1;
        }
    }
    return 0;
}
