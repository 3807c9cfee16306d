/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_core.h"

#include <float.h>
#include <stdlib.h>

/* Ends closer together than this are one moment. */
#define SAME_MOMENT_NS 1e-3

/* A machine has thousands of lanes and streams, of which few have anything to
 * do: these are in rings of their own, in the order in which they got it. */
struct ring {
    struct ring *next, *before;
};

struct sim_lane {
    struct ring ring; /* of lanes with operations to start; comes first */
    struct sim_lane *next;
    uint32_t number, depth;
    struct sim_op *first, *last; /* not started */
};

struct sim_stream {
    struct ring ring; /* of streams with operations; comes first */
    struct sim_stream *next;
    struct sim_lane *lane;
    struct sim_op *first, *last;
    uint32_t group, flags, hung;
};

struct sim_slot {
    uint32_t limit, used;
};

struct sim_core {
    double now_ns, quantum_ns;
    double *capacities;
    uint32_t resources_count;
    struct sim_slot *slots;
    uint32_t slots_count;
    struct sim_stream *streams; /* all */
    struct sim_lane *lanes;
    struct ring busy_streams, busy_lanes;
    struct transfer_load **loads;
    uint32_t loads_room;
    uint64_t next_order, next_ready, finished;
    int stale; /* the rates */
};

static void ring_add(struct ring *ring, struct ring *item)
{
    item->next = ring;
    item->before = ring->before;
    ring->before->next = item;
    ring->before = item;
}

static void ring_remove(struct ring *item)
{
    item->before->next = item->next;
    item->next->before = item->before;
    *item = (struct ring){ NULL, NULL };
}

static void stream_done(struct sim_stream *stream)
{
    stream->last = NULL;
    ring_remove(&stream->ring);
}

static struct sim_stream *after(
    const struct sim_core *core, const struct ring *at)
{
    return at->next == &core->busy_streams ? NULL
                                           : (struct sim_stream *)at->next;
}

/* Walks streams with operations; none may end meanwhile. */
#define EACH_BUSY_STREAM(stream, core)                                         \
    struct sim_stream *stream = after((core), &(core)->busy_streams);          \
    stream != NULL;                                                            \
    stream = after((core), &stream->ring)

struct sim_core *core_open(
    uint32_t resources_count, uint32_t slots_count, double quantum_ns)
{
    struct sim_core *core = calloc(1, sizeof *core);

    if (core == NULL) {
        return NULL;
    }
    core->capacities =
        calloc((size_t)resources_count + 1, sizeof *core->capacities);
    core->slots = calloc((size_t)slots_count + 1, sizeof *core->slots);
    core->busy_streams.next = core->busy_streams.before = &core->busy_streams;
    core->busy_lanes.next = core->busy_lanes.before = &core->busy_lanes;
    core->resources_count = resources_count;
    core->slots_count = slots_count;
    core->quantum_ns = quantum_ns;
    if (core->capacities == NULL || core->slots == NULL) {
        core_close(core);
        return NULL;
    }
    return core;
}

void core_close(struct sim_core *core)
{
    if (core == NULL) {
        return;
    }
    while (core->streams != NULL) {
        core_stream_close(core, core->streams);
    }
    while (core->lanes != NULL) {
        struct sim_lane *lane = core->lanes;

        core->lanes = lane->next;
        free(lane);
    }
    free(core->loads);
    free(core->slots);
    free(core->capacities);
    free(core);
}

void core_set_capacity(struct sim_core *core, uint32_t resource, double rate)
{
    if (resource < core->resources_count) {
        core->capacities[resource] = rate;
        core->stale = 1;
    }
}

void core_set_slot(struct sim_core *core, uint32_t slot, uint32_t count)
{
    if (slot < core->slots_count) {
        core->slots[slot].limit = count;
    }
}

double core_now(const struct sim_core *core)
{
    return core->now_ns;
}

uint64_t core_ops_finished(const struct sim_core *core)
{
    return core->finished;
}

static struct sim_lane *find_lane(struct sim_core *core, uint32_t number)
{
    for (struct sim_lane *lane = core->lanes; lane != NULL; lane = lane->next) {
        if (lane->number == number) {
            return lane;
        }
    }
    struct sim_lane *lane = calloc(1, sizeof *lane);

    if (lane != NULL) {
        lane->number = number;
        lane->next = core->lanes;
        core->lanes = lane;
    }
    return lane;
}

struct sim_stream *core_stream_open(
    struct sim_core *core, uint32_t group, uint32_t lane, uint32_t flags)
{
    struct sim_stream *stream = calloc(1, sizeof *stream);

    if (stream == NULL) {
        return NULL;
    }
    stream->lane = find_lane(core, lane);
    if (stream->lane == NULL) {
        free(stream);
        return NULL;
    }
    stream->group = group;
    stream->flags = flags;
    stream->next = core->streams;
    core->streams = stream;
    return stream;
}

static void lane_remove(struct sim_lane *lane, const struct sim_op *op)
{
    struct sim_op *before = NULL;

    for (struct sim_op **at = &lane->first; *at != NULL;
         at = &(*at)->next_in_lane) {
        if (*at == op) {
            *at = op->next_in_lane;
            if (lane->last == op) {
                lane->last = before;
            }
            if (lane->first == NULL) {
                ring_remove(&lane->ring);
            }
            return;
        }
        before = *at;
    }
}

static void release_slot(struct sim_core *core, const struct sim_op *op)
{
    if (op->started && op->slot >= 0) {
        core->slots[op->slot].used--;
    }
}

static void op_free(struct sim_op *op)
{
    if (op->drop != NULL) {
        op->drop(op);
    }
    free(op);
}

void core_stream_close(struct sim_core *core, struct sim_stream *stream)
{
    if (stream->first != NULL) {
        stream_done(stream);
    }
    while (stream->first != NULL) {
        struct sim_op *op = stream->first;

        stream->first = op->next;
        if (!op->started) {
            lane_remove(stream->lane, op);
        }
        release_slot(core, op);
        stream->lane->depth--;
        op_free(op);
    }
    for (struct sim_stream **at = &core->streams; *at != NULL;
         at = &(*at)->next) {
        if (*at == stream) {
            *at = stream->next;
            break;
        }
    }
    core->stale = 1;
    free(stream);
}

void core_stream_hang(struct sim_stream *stream)
{
    stream->hung = 1;
}

struct sim_op *core_op_new(void)
{
    struct sim_op *op = calloc(1, sizeof *op);

    if (op != NULL) {
        op->slot = -1;
    }
    return op;
}

void core_enqueue(
    struct sim_core *core, struct sim_stream *stream, struct sim_op *op)
{
    struct sim_lane *lane = stream->lane;

    op->stream = stream;
    op->order = ++core->next_order;
    if (stream->last != NULL && stream->first != NULL) {
        stream->last->next = op;
    } else {
        stream->first = op;
        ring_add(&core->busy_streams, &stream->ring);
    }
    stream->last = op;
    if (lane->first != NULL) {
        lane->last->next_in_lane = op;
    } else {
        lane->first = op;
        ring_add(&core->busy_lanes, &lane->ring);
    }
    lane->last = op;
    lane->depth++;
    core_settle(core);
}

int core_stream_idle(const struct sim_stream *stream)
{
    return stream->first == NULL;
}

int core_idle(const struct sim_core *core)
{
    return core->busy_streams.next == &core->busy_streams;
}

int core_group_idle(const struct sim_core *core, uint32_t group)
{
    for (EACH_BUSY_STREAM(stream, core)) {
        if (stream->group == group) {
            return 0;
        }
    }
    return 1;
}

uint32_t core_lane_depth(
    const struct sim_core *core, const struct sim_stream *stream)
{
    (void)core;
    return stream->lane->depth;
}

/* The legacy stream waits for what was given to blocking streams before, and
 * they for what was given to it. */
static int legacy_allows(const struct sim_core *core, const struct sim_op *op)
{
    const struct sim_stream *own = op->stream;

    if ((own->flags & (SIM_STREAM_BLOCKING | SIM_STREAM_LEGACY)) == 0) {
        return 1;
    }
    const uint32_t against = (own->flags & SIM_STREAM_LEGACY) != 0
                                 ? SIM_STREAM_BLOCKING
                                 : SIM_STREAM_LEGACY;

    for (EACH_BUSY_STREAM(other, core)) {
        if (other->group == own->group && (other->flags & against) != 0 &&
            other->first->order < op->order) {
            return 0;
        }
    }
    return 1;
}

static int slot_free(const struct sim_core *core, const struct sim_op *op)
{
    if (op->slot < 0) {
        return 1;
    }
    const struct sim_slot *slot = &core->slots[op->slot];

    return slot->limit == 0 || slot->used < slot->limit;
}

/* The head of this lane, if only an engine is missing for it to start. */
static struct sim_op *lane_candidate(
    struct sim_core *core, const struct sim_lane *lane)
{
    struct sim_op *op = lane->first;

    if (op == NULL || op->stream->first != op || op->stream->hung ||
        !legacy_allows(core, op)) {
        return NULL;
    }
    if (op->ready_order == 0) {
        op->ready_order = ++core->next_ready;
    }
    return slot_free(core, op) ? op : NULL;
}

static struct sim_op *next_to_start(struct sim_core *core)
{
    struct sim_op *found = NULL;

    for (struct ring *at = core->busy_lanes.next; at != &core->busy_lanes;
         at = at->next) {
        struct sim_op *op = lane_candidate(core, (struct sim_lane *)at);

        if (op != NULL &&
            (found == NULL || op->ready_order < found->ready_order)) {
            found = op;
        }
    }
    return found;
}

static void end(struct sim_core *core, struct sim_op *op)
{
    struct sim_stream *stream = op->stream;

    stream->first = op->next;
    if (stream->first == NULL) {
        stream_done(stream);
    }
    stream->lane->depth--;
    release_slot(core, op);
    if (op->kind == SIM_OP_TRANSFER) {
        core->stale = 1;
    }
    core->finished++;
    if (op->finish != NULL) {
        op->finish(op);
    }
    op_free(op);
}

static void start(struct sim_core *core, struct sim_op *op)
{
    lane_remove(op->stream->lane, op);
    op->next_in_lane = NULL;
    op->started = 1;
    op->started_ns = core->now_ns;
    if (op->slot >= 0) {
        core->slots[op->slot].used++;
    }
    if (op->kind == SIM_OP_TRANSFER) {
        core->stale = 1;
    }
    if (op->begin != NULL) {
        op->begin(op);
    }
}

/* What a running operation still has to do takes no time any more. */
static int is_over(const struct sim_core *core, struct sim_op *op)
{
    if (op->kind == SIM_OP_INSTANT) {
        return 1;
    }
    if (op->kind == SIM_OP_TRANSFER) {
        return op->fixed_ns <= 0 && op->work_bytes <= 0;
    }
    if (op->over != NULL && op->over(op)) {
        return 1;
    }
    if (op->limit_ns > 0 &&
        core->now_ns - op->started_ns >= op->limit_ns - SAME_MOMENT_NS) {
        op->timed_out = 1;
        return 1;
    }
    return 0;
}

static int end_one(struct sim_core *core)
{
    for (EACH_BUSY_STREAM(stream, core)) {
        struct sim_op *op = stream->first;

        if (op->started && !stream->hung && is_over(core, op)) {
            end(core, op);
            return 1;
        }
    }
    return 0;
}

void core_settle(struct sim_core *core)
{
    for (;;) {
        struct sim_op *op = next_to_start(core);

        if (op != NULL) {
            start(core, op);
        } else if (!end_one(core)) {
            return;
        }
    }
}

static int is_moving(const struct sim_stream *stream)
{
    const struct sim_op *op = stream->first;

    return op != NULL && op->started && !stream->hung &&
           op->kind == SIM_OP_TRANSFER;
}

double core_demand(const struct sim_core *core, uint32_t resource)
{
    double demand = 0;

    for (EACH_BUSY_STREAM(stream, core)) {
        const struct sim_op *op = stream->first;

        for (uint32_t i = 0; is_moving(stream) && i < op->load.uses_count;
             i++) {
            demand += op->load.uses[i].resource == resource
                          ? op->load.uses[i].cost * op->load.limit
                          : 0;
        }
    }
    return core->capacities[resource] > 0 ? demand / core->capacities[resource]
                                          : 0;
}

static int loads_grow(struct sim_core *core)
{
    const uint32_t room = core->loads_room * 2 + 64;
    struct transfer_load **loads = realloc(core->loads, room * sizeof(*loads));

    if (loads == NULL) {
        return 0;
    }
    core->loads = loads;
    core->loads_room = room;
    return 1;
}

static void update_rates(struct sim_core *core)
{
    uint32_t count = 0;

    for (EACH_BUSY_STREAM(stream, core)) {
        if (!is_moving(stream) || stream->first->fixed_ns > 0) {
            continue;
        }
        if (count == core->loads_room && !loads_grow(core)) {
            return;
        }
        core->loads[count++] = &stream->first->load;
    }
    resources_share(
        core->capacities, core->resources_count, core->loads, count);
    core->stale = 0;
}

static double remaining_ns(const struct sim_op *op)
{
    return op->fixed_ns > 0 ? op->fixed_ns : op->work_bytes / op->load.rate;
}

static void advance_op(struct sim_core *core, struct sim_op *op, double ns)
{
    const int ends = remaining_ns(op) - ns <= SAME_MOMENT_NS;

    if (op->fixed_ns > 0) {
        op->fixed_ns = ends ? 0 : op->fixed_ns - ns;
        core->stale |= ends;
    } else {
        op->work_bytes = ends ? 0 : op->work_bytes - ns * op->load.rate;
    }
}

void core_pass(struct sim_core *core, double ns)
{
    for (EACH_BUSY_STREAM(stream, core)) {
        if (is_moving(stream)) {
            advance_op(core, stream->first, ns);
        }
    }
    core->now_ns += ns;
    core_settle(core);
}

struct horizon {
    double transfer_ns, watch_ns;
    int watching;
};

static struct horizon look_ahead(const struct sim_core *core)
{
    struct horizon ahead = { .transfer_ns = DBL_MAX, .watch_ns = DBL_MAX };

    for (EACH_BUSY_STREAM(stream, core)) {
        const struct sim_op *op = stream->first;

        if (is_moving(stream)) {
            const double ns = remaining_ns(op);

            ahead.transfer_ns = ns < ahead.transfer_ns ? ns : ahead.transfer_ns;
        } else if (op != NULL && op->started && !stream->hung &&
                   op->limit_ns > 0) {
            const double ns = op->started_ns + op->limit_ns - core->now_ns;

            ahead.watching = 1;
            ahead.watch_ns = ns < ahead.watch_ns ? ns : ahead.watch_ns;
        }
    }
    return ahead;
}

int core_step(struct sim_core *core)
{
    core_settle(core);
    if (core->stale) {
        update_rates(core);
    }
    const struct horizon ahead = look_ahead(core);

    if (ahead.transfer_ns < DBL_MAX) {
        core_pass(core, ahead.watch_ns < ahead.transfer_ns ? ahead.watch_ns
                                                           : ahead.transfer_ns);
        return 1;
    }
    if (!ahead.watching) {
        return 0;
    }
    core_pass(core,
        ahead.watch_ns < core->quantum_ns ? ahead.watch_ns : core->quantum_ns);
    return 1;
}
