/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* A session on GPUs of which every rank of an MPI job carries out its own
 * flows:
 *
 *   laid      all wait for the links of a random chain, whose owner then
 *             empties its cache (emptied); not for each sample (chase_lay.c)
 *   contents  owners fill sources; rank 0 clears the flag
 *   filled    all wait before a load is measured alone, by the rank that
 *             carries it out; before the first sample only
 *   cleared   all wait, for a gate must not see the flag of the last sample
 *   queue     rank 0 what sets the flag, a word of its GPU that all have
 *             mapped; each rank its own flows behind gates that look at it
 *   queued    all wait; then rank 0's host opens rank 0's own gate, behind
 *             which the flag is set, and with it the gates of all ranks
 *   times     each rank watches its streams and gives the others its times and
 *             what it saw of its background, so that all have the same figures
 *             and take the same decisions
 *   found     owners compare destinations and give the others what they found
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_session.h"
#include "flow.h"
#include "peers.h"

/* Of the words that flows have, the last is the flag's. */
enum { WORD_FLAG_OUTCOME = WORD_OUTCOME + WORD_FLOWS - 1, FLAG_BYTES = 4096 };

static const uint64_t flag_limit_ns = UINT64_C(10) * 1000 * 1000 * 1000;

int team_owns(const struct cuda_session *cuda, const struct gpu *gpu)
{
    return cuda->peers == NULL || gpu == NULL ||
           gpu->position == cuda->peers->rank;
}

static int leads(const struct cuda_session *cuda)
{
    return cuda->peers != NULL && cuda->peers->rank == 0;
}

static const struct gpu *own_gpu(const struct cuda_session *cuda)
{
    return &cuda->engine->gpus[cuda->peers->rank];
}

int32_t team_agree(const struct cuda_session *cuda, const char *step,
    int32_t status, struct error *err)
{
    return cuda->peers == NULL ? status
                               : peers_agree(cuda->peers, step, status, err);
}

int32_t team_meet(
    const struct cuda_session *cuda, const char *step, struct error *err)
{
    return cuda->peers == NULL ? NVBW_OK
                               : peers_check(cuda->peers, step, NVBW_OK, err);
}

/* ---- The flag ---- */

int32_t team_open(struct cuda_session *cuda, struct error *err)
{
    const struct buffer_want want = { .facts = cuda->session->facts,
        .engine = cuda->engine,
        .bytes = FLAG_BYTES };

    if (cuda->peers == NULL) {
        return NVBW_OK;
    }
    cuda->rank_seconds = arena_alloc(
        cuda->session->arena, cuda->peers->ranks, sizeof *cuda->rank_seconds);
    FAIL_IF(cuda->rank_seconds == NULL, err, NVBW_E_SYSTEM,
        "no memory for the times of all ranks");
    return buffer_get(
        cuda->session->pool, NVBW_MEM_FABRIC, &want, &cuda->flag, err);
}

void team_close(struct cuda_session *cuda)
{
    buffer_put(cuda->session->pool, cuda->flag);
    cuda->flag = NULL;
}

cu_address team_release(const struct cuda_session *cuda)
{
    return cuda->peers == NULL ? engine_word(cuda->engine, WORD_RELEASE)
                               : cuda->flag->device;
}

static int32_t set_flag(
    const struct cuda_session *cuda, uint32_t value, struct error *err)
{
    const struct gpu *const gpu = own_gpu(cuda);

    TRY(gpu_use(gpu, err));
    CUDA_TRY(gpu->api, err,
        gpu->api->set_words_async(cuda->flag->device, value, 1, gpu->stream),
        "GPU %d: the word that opens the gates", gpu->facts->index);
    return NVBW_OK;
}

int32_t team_clear(struct cuda_session *cuda, struct error *err)
{
    if (cuda->peers == NULL) {
        return NVBW_OK;
    }
    if (leads(cuda)) {
        const struct gpu *const gpu = own_gpu(cuda);

        TRY(set_flag(cuda, 0, err));
        TRY(gpu_wait(gpu, gpu->stream, flag_limit_ns,
            "clearing the word that opens the gates", err));
    }
    return team_meet(cuda, "cleared", err);
}

/* On the engine's own stream: what closes here is opened by the host's word.
 * Before the flows' own gates: streams may share a connection, and what is
 * behind a gate on it would not start. */
int32_t team_queue(struct cuda_session *cuda, struct error *err)
{
    if (!leads(cuda)) {
        return NVBW_OK;
    }

    const struct gpu *const gpu = own_gpu(cuda);
    struct gate_args args = {
        .release = engine_word(cuda->engine, WORD_RELEASE),
        .outcome = engine_word(cuda->engine, WORD_FLAG_OUTCOME),
        .limit_ns = gate_limit(cuda, gpu),
    };

    cuda->engine->words[WORD_RELEASE] = 0;
    TRY(gpu_use(gpu, err));
    TRY(gpu_launch(gpu, GPU_KERNEL_gate, gpu->stream, &args, 0, err));
    return set_flag(cuda, 1, err);
}

int32_t team_opened(struct cuda_session *cuda, struct error *err)
{
    if (cuda->peers == NULL || !cuda->session->facts->simulated) {
        return NVBW_OK;
    }
    if (leads(cuda)) {
        const struct gpu *const gpu = own_gpu(cuda);

        TRY(gpu_wait(
            gpu, gpu->stream, flag_limit_ns, "opening the gates", err));
    }
    return team_meet(cuda, "opened", err);
}

/* ---- Times ---- */

/* What a rank tells of a sample; after it the seconds of its own flows, by
 * number, and then what it saw of its background flows. */
struct times {
    uint64_t state;
    double seconds, clock_gap_ns, cover_margin, step_bytes;
    double flows[];
};

/* Of one background flow; these are in order of numbers. */
struct behind {
    double rate, full_rate;
    uint64_t ended;
};

static size_t times_bytes(const struct cuda_session *cuda)
{
    return sizeof(struct times) + cuda->all_count * sizeof(double) +
           cuda->background_count * sizeof(struct behind);
}

static const struct times *times_of(
    const unsigned char *all, size_t bytes, uint32_t rank)
{
    return (const void *)(all + rank * bytes);
}

static const struct behind *behind_of(
    const struct cuda_session *cuda, const struct times *times)
{
    return (const void *)&times->flows[cuda->all_count];
}

static void write_background(const struct cuda_session *cuda, struct times *out)
{
    struct behind *behind = (void *)&out->flows[cuda->all_count];

    for (uint32_t i = 0; i < cuda->all_count; i++) {
        const struct cuda_flow *const flow = cuda_flow_at(cuda, i);

        if (flow->background) {
            *behind++ =
                (struct behind){ flow->rate, flow->full_rate, flow->ended };
        }
    }
}

static void write_times(const struct cuda_session *cuda,
    const struct sample *sample, struct times *out)
{
    out->state = (uint64_t)sample->state;
    out->seconds = sample->seconds;
    out->clock_gap_ns = sample->clock_gap_ns;
    out->cover_margin = sample->cover_margin;
    out->step_bytes = cuda->hub != NULL ? cuda->step_bytes : 0.0;
    for (uint32_t i = 0; i < cuda->count; i++) {
        out->flows[cuda->flows[i].number] = cuda->flows[i].seconds;
    }
    write_background(cuda, out);
}

static double larger(double one, double other)
{
    return isnan(one) || other > one ? other : one;
}

/* As the rank saw it that carries it out: what the next sample needs of it
 * follows from that, and all have to come to the same. */
static void read_background(
    struct cuda_session *cuda, const unsigned char *all, size_t bytes)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < cuda->all_count; i++) {
        struct cuda_flow *const flow = cuda_flow_at(cuda, i);

        if (flow->background) {
            const struct behind *const behind = &behind_of(
                cuda, times_of(all, bytes, flow->gpu->position))[at++];

            flow->rate = behind->rate;
            flow->full_rate = behind->full_rate;
            flow->ended = (uint32_t)behind->ended;
        }
    }
}

/* The first rank whose sample does not count speaks for all. */
static void read_times(struct cuda_session *cuda, const unsigned char *all,
    size_t bytes, struct sample *sample)
{
    sample->state = SAMPLE_GOOD;
    sample->seconds = 0.0;
    sample->clock_gap_ns = NAN;
    sample->cover_margin = NAN;
    cuda->step_bytes = 0.0;
    for (uint32_t i = 0; i < cuda->peers->ranks; i++) {
        const struct times *const times = times_of(all, bytes, i);

        if (sample->state == SAMPLE_GOOD && times->state <= SAMPLE_SERIALISED) {
            sample->state = (enum sample_state)times->state;
        }
        cuda->rank_seconds[i] = times->seconds;
        sample->seconds = larger(sample->seconds, times->seconds);
        sample->cover_margin = fmin(sample->cover_margin, times->cover_margin);
        cuda->step_bytes = larger(cuda->step_bytes, times->step_bytes);
        if (!isnan(times->clock_gap_ns)) {
            sample->clock_gap_ns =
                larger(sample->clock_gap_ns, times->clock_gap_ns);
        }
    }
    for (uint32_t i = 0; i < cuda->all_count; i++) {
        struct cuda_flow *const flow = &cuda->flows[i];

        flow->seconds =
            times_of(all, bytes, flow->gpu->position)->flows[flow->number];
    }
    read_background(cuda, all, bytes);
}

int32_t team_share_sample(
    struct cuda_session *cuda, struct sample *sample, struct error *err)
{
    struct peers *const peers = cuda->peers;

    if (peers == NULL) {
        return NVBW_OK;
    }

    const size_t bytes = times_bytes(cuda);
    struct times *const mine = calloc(1, bytes);
    unsigned char *const all = calloc(peers->ranks, bytes);
    int32_t status =
        mine == NULL || all == NULL
            ? error_set(err, NVBW_E_SYSTEM, "no memory for times of all ranks")
            : NVBW_OK;

    if (status >= 0) {
        write_times(cuda, sample, mine);
        status = peers_gather_long(peers, "times", mine, all, bytes, err);
    }
    if (status >= 0) {
        read_times(cuda, all, bytes, sample);
    }
    free(mine);
    free(all);
    return status;
}

/* Background goes on all the time, at the rate that was seen. */
static double moved_in(
    const struct cuda_flow *flow, uint32_t unit, double seconds)
{
    return flow->background ? flow->rate * seconds : cuda_amount(flow, unit);
}

/* A rank's own flows of the target go from its first start to its last end. */
void team_total(
    const struct cuda_session *cuda, uint32_t target, struct sample_figure *out)
{
    const struct session *const session = cuda->session;
    const struct target *const what = &session->targets[target];
    const int in_parts = flow_parts(session->request) > 1;
    double rate = 0.0;
    double longest = 0.0;

    for (uint32_t rank = 0; rank < cuda->peers->ranks; rank++) {
        double amount = 0.0;
        double seconds = in_parts ? 0.0 : cuda->rank_seconds[rank];

        for (uint32_t i = 0; i < cuda->all_count; i++) {
            const struct cuda_flow *const flow = cuda_flow_at(cuda, i);

            if (flow->gpu->position == rank && target_totals(what, flow->run)) {
                amount += moved_in(flow, what->unit, seconds);
                seconds = in_parts ? larger(seconds, flow->seconds) : seconds;
            }
        }
        if (amount > 0.0 && seconds > 0.0) {
            rate += amount / seconds;
            longest = larger(longest, seconds);
        }
    }
    out->seconds = longest;
    out->amount = rate * longest;
}

/* ---- What owners found ---- */

/* Of one target. */
struct found {
    uint64_t how; /* position in `ways_to_verify` */
    uint64_t bytes, wrong;
    uint64_t offset, expected, actual;
    uint64_t units_missed;          /* of a chase */
    double spread_low, spread_high; /* likewise */
};

static const char *const ways_to_verify[] = { NULL, "all", "last copy", "sum" };
enum { WAYS_TO_VERIFY = sizeof ways_to_verify / sizeof *ways_to_verify };

static uint64_t how_of(const struct record *record)
{
    for (uint64_t i = 1; i < WAYS_TO_VERIFY; i++) {
        if (record->verified != NULL &&
            strcmp(record->verified, ways_to_verify[i]) == 0) {
            return i;
        }
    }
    return 0;
}

static void read_record(const struct record *record, struct found *out)
{
    *out = (struct found){ how_of(record), record->verified_bytes,
        record->mismatches, record->mismatch_offset, record->mismatch_expected,
        record->mismatch_actual, 0, record->spread_low, record->spread_high };
}

static void add_found(const struct found *found, struct record *record)
{
    if (found->how > 0 && found->how < WAYS_TO_VERIFY) {
        record->verified = ways_to_verify[found->how];
    }
    record->verified_bytes += found->bytes;
    if (found->wrong > 0 && record->mismatches == 0) {
        record->mismatch_offset = found->offset;
        record->mismatch_expected = found->expected;
        record->mismatch_actual = found->actual;
    }
    record->mismatches += found->wrong;
    record->spread_low = fmin(record->spread_low, found->spread_low);
    record->spread_high = fmax(record->spread_high, found->spread_high);
}

/* Of one target, what all ranks found. */
struct findings {
    const struct found *all;
    uint32_t target, targets;
};

static int is_right(const void *about, uint32_t rank)
{
    const struct findings *const findings = about;

    return findings->all[(size_t)rank * findings->targets + findings->target]
               .wrong == 0;
}

static void name_finders(
    struct session *session, uint32_t ranks, const struct found *all)
{
    for (uint32_t i = 0; i < session->targets_count; i++) {
        const struct findings findings = { all, i, session->targets_count };
        const char *const list =
            peers_list_others(ranks, is_right, &findings, session->arena);

        if (list != NULL) {
            session->targets[i].found_by = list;
        }
    }
}

/* Sets the records back and adds what every rank found since, this one
 * included, so that all come to the same. Who compared nothing has no say in
 * how it was done. */
static int32_t share_found(struct cuda_session *cuda,
    const struct found *before, struct found *mine, struct found *all,
    struct error *err)
{
    struct session *const session = cuda->session;
    const uint32_t count = session->targets_count;

    for (uint32_t i = 0; i < count; i++) {
        struct record *const record = session->targets[i].record;

        read_record(record, &mine[i]);
        mine[i].bytes -= before[i].bytes;
        mine[i].wrong -= before[i].wrong;
        mine[i].how = mine[i].bytes > 0 ? mine[i].how : 0;
        mine[i].units_missed = session->targets[i].units_missed;
        session->targets[i].units_missed = 0;
        record->verified_bytes = before[i].bytes;
        record->mismatches = before[i].wrong;
    }
    TRY(peers_gather_long(
        cuda->peers, "found", mine, all, count * sizeof *mine, err));
    for (uint32_t rank = 0; rank < cuda->peers->ranks; rank++) {
        for (uint32_t i = 0; i < count; i++) {
            const struct found *const found = &all[(size_t)rank * count + i];

            add_found(found, session->targets[i].record);
            session->targets[i].units_missed += (uint32_t)found->units_missed;
        }
    }
    name_finders(session, cuda->peers->ranks, all);
    return NVBW_OK;
}

int32_t team_verify(struct cuda_session *cuda,
    int32_t (*verify)(struct cuda_session *cuda, struct error *err),
    struct error *err)
{
    const uint32_t count = cuda->session->targets_count;

    if (cuda->peers == NULL) {
        return verify(cuda, err);
    }

    struct found *const rooms =
        calloc((size_t)(cuda->peers->ranks + 2) * count + 1, sizeof *rooms);

    FAIL_IF(rooms == NULL, err, NVBW_E_SYSTEM,
        "no memory for what all ranks found");
    for (uint32_t i = 0; i < count; i++) {
        read_record(cuda->session->targets[i].record, &rooms[i]);
    }

    int32_t status = verify(cuda, err);

    if (status >= 0) {
        status = share_found(
            cuda, rooms, rooms + count, rooms + (size_t)2 * count, err);
    }
    free(rooms);
    return status;
}
