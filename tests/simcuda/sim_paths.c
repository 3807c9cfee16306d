/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_paths.h"

#include <string.h>

struct path {
    struct sim_machine *machine;
    struct sim_op *op;
    double load; /* on links that both directions share */
    double part; /* of the payload that goes this way */
};

static const enum place_kind place_kinds[] = {
    [MEMORY_DEVICE] = PLACE_DEVICE,
    [MEMORY_PINNED] = PLACE_PINNED,
    [MEMORY_REGISTERED] = PLACE_PINNED,
    [MEMORY_MANAGED] = PLACE_MANAGED,
    [MEMORY_MAPPED] = PLACE_DEVICE,
};

static int has_bit(const uint64_t *bits, uint32_t number)
{
    return (bits[number / 64] >> (number % 64) & 1) != 0;
}

static int is_accessible(struct sim_machine *machine, uint32_t executor,
    const struct memory_range *range)
{
    if (range->kind == MEMORY_MAPPED) {
        return range->allowed != NULL && has_bit(range->allowed, executor);
    }
    return range->kind != MEMORY_DEVICE || range->gpu == executor ||
           has_bit(machine->gpus[executor].context.peers, range->gpu);
}

int place_find(struct sim_machine *machine, uint32_t executor, uint64_t address,
    uint64_t bytes, struct place *out)
{
    const struct memory_range *range =
        memory_find(&machine->memory, address, bytes);

    *out = (struct place){ .node = MEMORY_NEAR };
    if (range == NULL) {
        out->kind = PLACE_PAGEABLE;
        out->accessible = machine->gpus[executor].profile->coherent != 0;
        return memory_is_pageable(&machine->memory, address, bytes);
    }
    if (range->kind == MEMORY_RESERVED || range->multicast != NULL) {
        return 0;
    }
    out->kind = place_kinds[range->kind];
    out->gpu = range->gpu;
    out->node = range->node;
    out->accessible = is_accessible(machine, executor, range);
    out->strict = range->kind == MEMORY_MAPPED;
    return 1;
}

struct multicast *place_multicast(struct sim_machine *machine,
    uint32_t executor, uint64_t address, uint64_t bytes, uint64_t *out_at)
{
    const struct memory_range *range =
        memory_find(&machine->memory, address, bytes);

    if (range == NULL || range->multicast == NULL ||
        !is_accessible(machine, executor, range)) {
        return NULL;
    }
    *out_at = range->multicast_at + (address - range->base);
    return range->multicast;
}

int place_extent(struct sim_machine *machine, uint64_t address,
    uint64_t *out_base, uint64_t *out_bytes)
{
    const struct memory_range *range =
        memory_find(&machine->memory, address, 1);

    if (range == NULL) {
        return 0;
    }
    *out_base = range->base;
    *out_bytes = range->bytes;
    return 1;
}

/* What crosses a resource twice, as both halves of a split do, has one claim
 * to it: the mean of its weights. Two claims would let the lesser one hold the
 * flow back while others take what it leaves. */
static void use(
    const struct path *path, uint32_t resource, double cost, double weight)
{
    struct transfer_load *load = &path->op->load;
    const double own = cost * path->part;

    for (uint32_t i = 0; i < load->uses_count; i++) {
        struct resource_use *const at = &load->uses[i];

        if (at->resource == resource) {
            at->weight =
                (at->weight * at->cost + weight * own) / (at->cost + own);
            at->cost += own;
            return;
        }
    }
    if (load->uses_count < SIM_USES_MAX) {
        load->uses[load->uses_count++] = (struct resource_use){
            .resource = resource, .cost = own, .weight = weight
        };
    }
}

static void use_gpu(const struct path *path, uint32_t gpu,
    enum gpu_resource resource, double cost)
{
    use(path, sim_gpu_resource(gpu, resource), cost, 1);
}

static uint32_t host_node(
    const struct path *path, const struct place *place, uint32_t gpu)
{
    const struct profile_host *host = &path->machine->profile.host;

    if (place->node >= 0) {
        return (uint32_t)place->node % host->nodes;
    }
    const uint32_t near = path->machine->gpus[gpu].profile->node;

    return (near + (host->far ? 1 : 0)) % host->nodes;
}

/* The host's side of a transfer with a GPU. */
static void use_host(const struct path *path, const struct place *place,
    uint32_t gpu, int writes)
{
    const struct profile_host *host = &path->machine->profile.host;
    const uint32_t node = host_node(path, place, gpu);
    const double weight = writes ? host->weight_up : host->weight_down;

    use(path, sim_node_resource(node, writes ? NODE_WRITE : NODE_READ), 1, 1);
    use(path, sim_node_resource(node, NODE_TOTAL), 1, weight);
    if (node != path->machine->gpus[gpu].profile->node) {
        use(path, sim_node_resource(node, writes ? NODE_IN : NODE_OUT), 1, 1);
    }
}

static void use_uplink(const struct path *path, uint32_t gpu, int towards)
{
    const uint32_t uplink = path->machine->gpus[gpu].profile->pcie.uplink;

    if (uplink > 0 && uplink <= path->machine->profile.count) {
        use_gpu(path, uplink - 1, towards ? GPU_UPLINK_DOWN : GPU_UPLINK_UP, 1);
    }
}

static void use_pcie(const struct path *path, uint32_t gpu, int towards)
{
    use_gpu(path, gpu, towards ? GPU_PCIE_DOWN : GPU_PCIE_UP, 1);
    use_gpu(path, gpu, GPU_PCIE_DUPLEX, path->load);
}

/* The whole way to the host. */
static void use_root(const struct path *path, uint32_t gpu, int towards)
{
    use_pcie(path, gpu, towards);
    use_uplink(path, gpu, towards);
}

/* 1 if no switch passes a copy on from GPU to GPU: its bridges send it up, or
 * its address is one that only the IOMMU can tell. */
static int is_redirected(const struct path *path, const struct profile_gpu *a,
    const struct profile_gpu *b)
{
    const int is_behind_switch =
        a->pcie.uplink > 0 && a->pcie.uplink == b->pcie.uplink;

    return (is_behind_switch && (a->pcie.acs || b->pcie.acs)) ||
           strcmp(path->machine->profile.host.iommu, "translated") == 0;
}

static void use_peer(const struct path *path, uint32_t from, uint32_t to)
{
    const struct profile_gpu *a = path->machine->gpus[from].profile;
    const struct profile_gpu *b = path->machine->gpus[to].profile;

    if (a->nvlink.active > 0 && b->nvlink.active > 0) {
        use_gpu(path, from, GPU_NVLINK_OUT, 1);
        use_gpu(path, from, GPU_NVLINK_DUPLEX, path->load);
        use_gpu(path, to, GPU_NVLINK_IN, 1);
        use_gpu(path, to, GPU_NVLINK_DUPLEX, path->load);
    } else {
        use_pcie(path, from, 0);
        use_pcie(path, to, 1);
        const int redirected = is_redirected(path, a, b);

        if (redirected) {
            use_gpu(path, from, GPU_REDIRECT, 1);
        }
        /* Behind one switch peers do not cross its uplink. */
        if (redirected || a->pcie.uplink != b->pcie.uplink) {
            use_uplink(path, from, 0);
            use_uplink(path, to, 1);
        }
        if (a->node != b->node) {
            use(path, sim_node_resource(a->node, NODE_OUT), 1, 1);
            use(path, sim_node_resource(b->node, NODE_IN), 1, 1);
        }
    }
    use_gpu(path, from, GPU_MEMORY, 1);
    use_gpu(path, to, GPU_MEMORY, 1);
}

/* Peer memory that may not be addressed goes through the host. */
static void use_staged(const struct path *path, uint32_t from, uint32_t to)
{
    const struct place near = { .node = MEMORY_NEAR };

    use_root(path, from, 0);
    use_host(path, &near, from, 1);
    use_host(path, &near, to, 0);
    use_root(path, to, 1);
}

struct choice {
    enum transfer_class class;
    uint32_t gpu; /* whose class it is */
    int32_t slot; /* enum gpu_slot, -1: none */
};

static const enum transfer_class kernel_classes[TRANSFER_CLASSES_END] = {
    [TRANSFER_H2D] = TRANSFER_H2D_SM,
    [TRANSFER_D2H] = TRANSFER_D2H_SM,
    [TRANSFER_PEER_READ] = TRANSFER_PEER_READ_SM,
    [TRANSFER_PEER_WRITE] = TRANSFER_PEER_WRITE_SM,
    [TRANSFER_LOCAL] = TRANSFER_LOCAL_SM,
    [TRANSFER_PAGEABLE_H2D] = TRANSFER_H2D_SM,
    [TRANSFER_PAGEABLE_D2H] = TRANSFER_D2H_SM,
    [TRANSFER_MANAGED] = TRANSFER_MANAGED,
    [TRANSFER_STAGED] = TRANSFER_STAGED,
    [TRANSFER_HOST] = TRANSFER_HOST,
};

static enum transfer_class host_class(const struct place *host,
    enum transfer_class pinned, enum transfer_class pageable)
{
    if (host->kind == PLACE_MANAGED) {
        return TRANSFER_MANAGED;
    }
    return host->kind == PLACE_PAGEABLE ? pageable : pinned;
}

static struct choice choose(
    uint32_t executor, const struct place *dst, const struct place *src)
{
    if (dst->kind != PLACE_DEVICE && src->kind != PLACE_DEVICE) {
        return (struct choice){ TRANSFER_HOST, executor, -1 };
    }
    if (src->kind != PLACE_DEVICE) {
        return (struct choice){ host_class(
                                    src, TRANSFER_H2D, TRANSFER_PAGEABLE_H2D),
            dst->gpu, SLOT_H2D };
    }
    if (dst->kind != PLACE_DEVICE) {
        return (struct choice){ host_class(
                                    dst, TRANSFER_D2H, TRANSFER_PAGEABLE_D2H),
            src->gpu, SLOT_D2H };
    }
    if (dst->gpu == src->gpu) {
        return (struct choice){ TRANSFER_LOCAL, dst->gpu, SLOT_LOCAL };
    }
    if (!dst->accessible || !src->accessible) {
        return (struct choice){ TRANSFER_STAGED, executor, SLOT_PEER };
    }
    return (struct choice){ src->gpu == executor ? TRANSFER_PEER_WRITE
                                                 : TRANSFER_PEER_READ,
        executor, SLOT_PEER };
}

static void use_all(const struct path *path, enum transfer_class class,
    uint32_t executor, const struct place *dst, const struct place *src)
{
    if (class == TRANSFER_HOST) {
        use_host(path, src, executor, 0);
        use_host(path, dst, executor, 1);
    } else if (src->kind != PLACE_DEVICE) {
        use_host(path, src, dst->gpu, 0);
        use_root(path, dst->gpu, 1);
    } else if (dst->kind != PLACE_DEVICE) {
        use_host(path, dst, src->gpu, 1);
        use_root(path, src->gpu, 0);
    } else if (class == TRANSFER_LOCAL) {
        use_gpu(path, dst->gpu, GPU_MEMORY, 2);
    } else if (class == TRANSFER_STAGED) {
        use_staged(path, src->gpu, dst->gpu);
    } else {
        use_peer(path, src->gpu, dst->gpu);
    }
}

static void set_class(struct sim_machine *machine, uint32_t gpu,
    enum transfer_class number, uint64_t bytes, struct sim_op *op)
{
    const struct profile_class *class =
        &machine->gpus[gpu].profile->classes[number];

    op->kind = SIM_OP_TRANSFER;
    op->fixed_ns = class->cost_us * 1e3;
    op->work_bytes = (double)bytes;
    op->load.limit = class->rate;
}

void path_copy(struct sim_machine *machine, uint32_t executor,
    const struct place *dst, const struct place *src, uint64_t bytes,
    enum path_initiator initiator, struct sim_op *op)
{
    const struct choice choice = choose(executor, dst, src);
    const enum transfer_class class =
        initiator == BY_KERNEL ? kernel_classes[choice.class] : choice.class;
    const struct path path = { .machine = machine,
        .op = op,
        .load = machine->gpus[choice.gpu].profile->classes[class].load,
        .part = 1 };

    set_class(machine, choice.gpu, class, bytes, op);
    use_all(&path, choice.class, executor, dst, src);
    if (initiator == BY_KERNEL) {
        op->fixed_ns += machine->gpus[executor].profile->kernel_us * 1e3;
    } else if (choice.slot >= 0) {
        op->slot = sim_gpu_slot(choice.gpu, (enum gpu_slot)choice.slot);
    }
}

/* Half of the bytes go each way, each at the rate that its way has alone. */
void path_split(struct sim_machine *machine, uint32_t executor,
    const struct place *dst, const struct place *src, uint64_t bytes,
    struct sim_op *op)
{
    const struct place *const ends[][2] = { { dst, src }, { src, dst } };
    double limit = 0;
    double cost_us = 0;

    for (uint32_t i = 0; i < 2; i++) {
        const struct choice choice = choose(executor, ends[i][0], ends[i][1]);
        const struct profile_class *class =
            &machine->gpus[choice.gpu]
                 .profile->classes[kernel_classes[choice.class]];
        const struct path path = {
            .machine = machine, .op = op, .load = class->load, .part = 0.5
        };

        use_all(&path, choice.class, executor, ends[i][0], ends[i][1]);
        limit += class->rate;
        cost_us = class->cost_us > cost_us ? class->cost_us : cost_us;
    }
    op->kind = SIM_OP_TRANSFER;
    op->fixed_ns = (cost_us + machine->gpus[executor].profile->kernel_us) * 1e3;
    op->work_bytes = (double)bytes;
    op->load.limit = limit;
}

/* A kernel that touches one side only: over the link to it, or the GPU's own
 * memory. */
static void path_one_side(struct sim_machine *machine, uint32_t executor,
    const struct place *place, uint64_t bytes, int writes, struct sim_op *op)
{
    const struct place own = {
        .kind = PLACE_DEVICE, .gpu = executor, .accessible = 1
    };

    if (place->kind != PLACE_DEVICE || place->gpu != executor) {
        path_copy(machine, executor, writes ? place : &own,
            writes ? &own : place, bytes, BY_KERNEL, op);
        return;
    }
    const struct path path = {
        .machine = machine, .op = op, .load = 1, .part = 1
    };

    set_class(machine, executor, writes ? TRANSFER_WRITE_SM : TRANSFER_READ_SM,
        bytes, op);
    use_gpu(&path, executor, GPU_MEMORY, 1);
    op->fixed_ns += machine->gpus[executor].profile->kernel_us * 1e3;
}

void path_read(struct sim_machine *machine, uint32_t executor,
    const struct place *src, uint64_t bytes, struct sim_op *op)
{
    path_one_side(machine, executor, src, bytes, 0, op);
}

void path_write(struct sim_machine *machine, uint32_t executor,
    const struct place *dst, uint64_t bytes, struct sim_op *op)
{
    path_one_side(machine, executor, dst, bytes, 1, op);
}

void path_arrays(struct sim_machine *machine, uint32_t executor,
    uint64_t footprint, uint64_t bytes, int only_reads, struct sim_op *op)
{
    const struct profile_gpu *const profile = machine->gpus[executor].profile;
    const struct path path = {
        .machine = machine, .op = op, .load = 1, .part = 1
    };

    set_class(machine, executor,
        only_reads ? TRANSFER_READ_SM : TRANSFER_LOCAL_SM, bytes, op);
    op->fixed_ns += profile->kernel_us * 1e3;
    if (!only_reads) {
        op->load.limit *= 2; /* a copy's bytes count once */
    }
    if (profile->l2_rate > 0 && footprint <= (uint64_t)profile->l2_kib << 10) {
        op->load.limit = profile->l2_rate;
    } else {
        use_gpu(&path, executor, GPU_MEMORY, 1);
    }
}

int path_blocks(const struct place *dst, const struct place *src)
{
    return dst->kind == PLACE_PAGEABLE || src->kind == PLACE_PAGEABLE;
}
