/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Access of one GPU to the memory of another: switched, and proved. A copy
 * proves nothing, for without access the driver stages it through the host in
 * silence; loads and stores by a kernel cannot be staged. */
#include <stdlib.h>

#include "gpu.h"

enum {
    ACCESS_ENABLED = 1,
    ACCESS_PROVED = 2,
    PROOF_BYTES = 4096,
    PROOF_LOADED = GPU_ROOM_SPARE, /* of the owner: filled by it */
    PROOF_STORED = GPU_ROOM_SPARE + PROOF_BYTES,    /* filled by the other */
    PROOF_RESULT = GPU_ROOM_SPARE + 2 * PROOF_BYTES /* count, first offset */
};

static const uint64_t proof_limit_ns = UINT64_C(10) * 1000 * 1000 * 1000;

static int32_t no_peer(
    const struct gpu *gpu, const struct gpu *peer, struct error *err)
{
    error_set(err, NVBW_E_SKIPPED, "GPU %d cannot address the memory of GPU %d",
        gpu->facts->index, peer->facts->index);
    if (err != NULL) {
        err->code = NVBW_SKIP_NO_PEER_ACCESS;
    }
    return NVBW_E_SKIPPED;
}

int32_t gpu_set_peer(struct gpu *gpu, const struct gpu *peer, uint32_t peers,
    int enabled, struct error *err)
{
    const struct cuda_api *const api = gpu->api;

    if (gpu == peer) {
        return NVBW_OK;
    }
    if (gpu->peers == NULL) {
        gpu->peers = calloc(peers, 1);
        FAIL_IF(gpu->peers == NULL, err, NVBW_E_SYSTEM, "no memory for peers");
    }

    unsigned char *const access = &gpu->peers[peer->position];

    if ((*access & ACCESS_ENABLED) == (enabled != 0)) {
        return NVBW_OK;
    }
    TRY(gpu_use(gpu, err));

    int possible = 0;

    CUDA_TRY(api, err,
        api->device_can_access(&possible, gpu->device, peer->device),
        "GPU %d: peer access is not told", gpu->facts->index);
    if (!possible) {
        return enabled ? no_peer(gpu, peer, err) : NVBW_OK;
    }

    const cu_result result = enabled ? api->peer_enable(peer->context, 0)
                                     : api->peer_disable(peer->context);

    if (result != CU_ERROR_PEER_ACCESS_ALREADY_ENABLED &&
        result != CU_ERROR_PEER_ACCESS_NOT_ENABLED) {
        CUDA_TRY(api, err, result, "GPU %d: peer access to GPU %d",
            gpu->facts->index, peer->facts->index);
    }
    *access = enabled ? ACCESS_ENABLED : 0;
    return NVBW_OK;
}

/* `by` compares memory with the pattern of this key; all of it must match. */
static int32_t compare(const struct gpu *by, cu_address memory, uint64_t key,
    uint64_t *out_wrong, struct error *err)
{
    const cu_address result = by->room + PROOF_RESULT;
    struct compare_args args = { memory, PROOF_BYTES, key, result, result + 8 };

    TRY(gpu_use(by, err));
    CUDA_TRY(by->api, err, by->api->set_words_async(result, 0, 4, by->stream),
        "GPU %d: memory cannot be set", by->facts->index);
    TRY(gpu_launch(by, GPU_KERNEL_compare, by->stream, &args, args.bytes, err));
    TRY(gpu_wait(
        by, by->stream, proof_limit_ns, "the proof of peer access", err));
    CUDA_TRY(by->api, err, by->api->copy_up(out_wrong, result, 8),
        "GPU %d: memory cannot be read", by->facts->index);
    return NVBW_OK;
}

static int32_t fill(
    const struct gpu *by, cu_address memory, uint64_t key, struct error *err)
{
    struct fill_args args = { memory, PROOF_BYTES, key };

    TRY(gpu_use(by, err));
    TRY(gpu_launch(by, GPU_KERNEL_fill, by->stream, &args, args.bytes, err));
    return gpu_wait(
        by, by->stream, proof_limit_ns, "the proof of peer access", err);
}

int32_t gpu_prove_peer(
    const struct gpu *gpu, const struct gpu *peer, struct error *err)
{
    const uint64_t key =
        UINT64_C(0x9d3f) << 32 | gpu->position << 16 | peer->position;
    uint64_t loaded = 0;
    uint64_t stored = 0;

    if (gpu == peer || (gpu->peers[peer->position] & ACCESS_PROVED) != 0) {
        return NVBW_OK;
    }
    TRY(fill(peer, peer->room + PROOF_LOADED, key, err));
    TRY(compare(gpu, peer->room + PROOF_LOADED, key, &loaded, err));
    TRY(fill(gpu, peer->room + PROOF_STORED, ~key, err));
    TRY(compare(peer, peer->room + PROOF_STORED, ~key, &stored, err));
    FAIL_IF(loaded + stored > 0, err, NVBW_E_DEVICE,
        "GPU %d reads %llu and writes %llu of %d words of GPU %d's memory "
        "wrong, through peer access that the driver granted",
        gpu->facts->index, (unsigned long long)loaded,
        (unsigned long long)stored, PROOF_BYTES / 8, peer->facts->index);
    gpu->peers[peer->position] |= ACCESS_PROVED;
    return NVBW_OK;
}
