/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Why are reads both ways at once slower between two processes than within
 * one? (2 x H200: 373.8 against 390.6 GB/s a direction; all other traffic
 * agrees within 0.4 %.) Two GPUs read each other's memory by copy engine, in
 * variants that differ in one thing each from the one before, or from the one
 * that they name. `read_both_ways --help` says how to read the table.
 *
 *   cc -O2 -D_GNU_SOURCE -o read_both_ways read_both_ways.c -ldl
 *   ./read_both_ways                     on two GPUs that nobody else uses
 *   ./read_both_ways DRIVER MIB          another driver, smaller copies: for a
 *                                        rehearsal with the simulated one
 *
 * About a minute. Only the CUDA driver, by dlopen; each variant in processes of
 * its own. Makes no multicast objects. */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SAMPLES = 9,
    SIDES = 2,
    POSIX_FD = 1,
    AT_DEVICE = 1,
    PINNED = 1,
    READ_WRITE = 3,
    NON_BLOCKING = 1,
    WAIT_GEQ = 0,
    REGISTER_MAPPED = 3, /* portable, too */
    HIGHEST = -5,        /* the driver takes its own highest for it */
    LIMIT_S = 60
};

#define PAGE_BYTES 4096

typedef uint64_t address;

static uint64_t copy_bytes = UINT64_C(1) << 30;

struct location {
    int type, id;
};
struct prop {
    int type, handle_types;
    struct location location;
    void *unused;
    unsigned char flags[8];
    unsigned char reserved[24];
};
struct access {
    struct location location;
    int flags;
};

/* ---- The driver --------------------------------------------------------- */

/* X(member, symbol, parameters) */
#define DRIVER(X)                                                              \
    X(init, cuInit, (unsigned))                                                \
    X(device, cuDeviceGet, (int *, int))                                       \
    X(retain, cuDevicePrimaryCtxRetain, (void **, int))                        \
    X(use, cuCtxSetCurrent, (void *))                                          \
    X(enable, cuCtxEnablePeerAccess, (void *, unsigned))                       \
    X(alloc, cuMemAlloc_v2, (address *, size_t))                               \
    X(fill, cuMemsetD32Async, (address, unsigned, size_t, void *))             \
    X(fetch, cuMemcpyDtoHAsync_v2, (void *, address, size_t, void *))          \
    X(copy, cuMemcpyAsync, (address, address, size_t, void *))                 \
    X(reg, cuMemHostRegister_v2, (void *, size_t, unsigned))                   \
    X(mapped, cuMemHostGetDevicePointer_v2, (address *, void *, unsigned))     \
    X(stream, cuStreamCreate, (void **, unsigned))                             \
    X(sync, cuStreamSynchronize, (void *))                                     \
    X(event, cuEventCreate, (void **, unsigned))                               \
    X(record, cuEventRecord, (void *, void *))                                 \
    X(elapsed, cuEventElapsedTime, (float *, void *, void *))                  \
    X(create, cuMemCreate,                                                     \
        (uint64_t *, size_t, const struct prop *, unsigned long long))         \
    X(reserve, cuMemAddressReserve,                                            \
        (address *, size_t, size_t, address, unsigned long long))              \
    X(map, cuMemMap, (address, size_t, size_t, uint64_t, unsigned long long))  \
    X(grant, cuMemSetAccess, (address, size_t, const struct access *, size_t)) \
    X(give, cuMemExportToShareableHandle,                                      \
        (void *, uint64_t, int, unsigned long long))                           \
    X(take, cuMemImportFromShareableHandle, (uint64_t *, void *, int))

#define MEMBER(member, symbol, parameters) int(*member) parameters;
static struct {
    DRIVER(MEMBER)
    /* May be missing: then the host starts each side by itself, and streams
     * have no priorities. */
    int (*wait)(void *, address, unsigned, unsigned);
    int (*urgent)(void **, unsigned, int);
} cu;

static void *library;

/* By the name that a driver has it by: with its version, or without. */
static void *look_for(const char *symbol)
{
    char plain[64];
    void *found = dlsym(library, symbol);
    char *end = NULL;

    snprintf(plain, sizeof plain, "%s", symbol);
    end = strstr(plain, "_v2");
    if (found == NULL && end != NULL) {
        *end = '\0';
        found = dlsym(library, plain);
    }
    return found;
}

static void *find(const char *symbol)
{
    void *const found = look_for(symbol);

    if (found == NULL) {
        fprintf(stderr, "the driver has no %s\n", symbol);
        _exit(2);
    }
    return found;
}

#define FIND(member, symbol, parameters)                                       \
    do {                                                                       \
        void *const found_ = find(#symbol);                                    \
        memcpy(&cu.member, &found_, sizeof found_);                            \
    } while (0);

static void open_driver(const char *file)
{
    void *wait = NULL;

    library = dlopen(file, RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(77);
    }
    DRIVER(FIND)
    wait = look_for("cuStreamWaitValue32_v2");
    memcpy(&cu.wait, &wait, sizeof wait);
    wait = look_for("cuStreamCreateWithPriority");
    memcpy(&cu.urgent, &wait, sizeof wait);
}

static void must(int result, const char *what)
{
    if (result != 0) {
        fprintf(stderr, "%s: CUDA error %d\n", what, result);
        _exit(2);
    }
}
#define OK(call) must((call), #call)

/* ---- Variants ----------------------------------------------------------- */

struct variant {
    const char *name, *asks;
    int processes;
    int src_vmm, dst_vmm; /* 0: cuMemAlloc */
    int shareable;        /* vmm: with a handle type */
    int both;             /* vmm: access for both GPUs, not the user only */
    unsigned copies, slices;
    unsigned late_us; /* side 1 is queued so much after side 0 is released */
    int urgent;       /* streams of the highest priority */
};

static const struct variant variants[] = {
    { "one process, cuMemAlloc", "what one process gives", 1, 0, 0, 0, 0, 4, 4,
        0, 0 },
    { "  source vmm", "is it the source's memory", 1, 1, 0, 0, 0, 4, 4, 0, 0 },
    { "  destination vmm", "is it the destination's", 1, 0, 1, 0, 0, 4, 4, 0,
        0 },
    { "  both vmm", "is it both", 1, 1, 1, 0, 0, 4, 4, 0, 0 },
    { "  both vmm, shareable", "is it the handle type", 1, 1, 1, 1, 0, 4, 4, 0,
        0 },
    { "  both vmm, access for both", "is it who has access", 1, 1, 1, 1, 1, 4,
        4, 0, 0 },
    { "two processes", "what two processes give", 2, 1, 1, 1, 0, 4, 4, 0, 0 },
    { "  access for both", "is it who has access", 2, 1, 1, 1, 1, 4, 4, 0, 0 },
    { "  destination cuMemAlloc", "is it the destination's memory", 2, 1, 0, 1,
        0, 4, 4, 0, 0 },
    { "  urgent streams", "is it a priority", 2, 1, 1, 1, 0, 4, 4, 0, 1 },
    { "  one slice", "is it the reach of address translation", 2, 1, 1, 1, 0, 4,
        1, 0, 0 },
    { "  32 copies", "is it the start: a skew fades with length", 2, 1, 1, 1, 0,
        32, 4, 0, 0 },
    { "one process, 32 copies", "the same", 1, 0, 0, 0, 0, 32, 4, 0, 0 },
    { "one process, 500 us late", "what a skew of 500 us would do", 1, 0, 0, 0,
        0, 4, 4, 500, 0 },
    { "one process, cuMemAlloc", "again: has the machine changed", 1, 0, 0, 0,
        0, 4, 4, 0, 0 },
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

/* ---- Both processes ----------------------------------------------------- */

struct shared {
    volatile unsigned release[PAGE_BYTES / sizeof(unsigned)];
    atomic_uint arrived;
    double rates[SAMPLES][SIDES];
    double begun[SAMPLES][SIDES]; /* seconds of the host */
    unsigned right[SIDES];
};

static struct shared *shared;
static int line[SIDES]; /* a socket of each process */

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* All processes; *round counts the times. */
static void meet(const struct variant *variant, unsigned *round)
{
    const unsigned wanted = ++*round * (unsigned)variant->processes;

    atomic_fetch_add(&shared->arrived, 1);
    while (atomic_load(&shared->arrived) < wanted) {
        sched_yield();
    }
}

static void send_descriptor(int to, int what)
{
    union {
        struct cmsghdr first;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };
    char byte = 0;
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes };
    struct cmsghdr *const head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof what);
    memcpy(CMSG_DATA(head), &what, sizeof what);
    must(sendmsg(to, &message, 0) != 1, "sending a descriptor");
}

static int receive_descriptor(int from)
{
    union {
        struct cmsghdr first;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control = { .bytes = { 0 } };
    char byte = 0;
    int what = -1;
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes };

    must(recvmsg(from, &message, 0) != 1, "receiving a descriptor");
    memcpy(&what, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof what);
    return what;
}

/* ---- One side: the GPU of this number, which reads the other's ---------- */

struct side {
    int gpu, late;
    void *context, *stream, *start, *end;
    uint64_t handle; /* of its source, if that is vmm */
    address source;  /* its own */
    address peer;    /* the other's source, as it reads it */
    address to;
    address release;
};

static uint64_t buffer_bytes(const struct variant *variant)
{
    return copy_bytes * variant->slices;
}

static address map_for(const struct variant *variant, uint64_t handle, int user)
{
    const struct access both[SIDES] = { { { AT_DEVICE, user }, READ_WRITE },
        { { AT_DEVICE, 1 - user }, READ_WRITE } };
    address at = 0;

    OK(cu.reserve(&at, buffer_bytes(variant), 0, 0, 0));
    OK(cu.map(at, buffer_bytes(variant), 0, handle, 0));
    OK(cu.grant(at, buffer_bytes(variant), both, variant->both ? 2 : 1));
    return at;
}

static uint64_t make_vmm(const struct variant *variant, int gpu)
{
    const struct prop prop = { .type = PINNED,
        .handle_types = variant->shareable ? POSIX_FD : 0,
        .location = { AT_DEVICE, gpu } };
    uint64_t handle = 0;

    OK(cu.create(&handle, buffer_bytes(variant), &prop, 0));
    return handle;
}

static void open_side(const struct variant *variant, struct side *side, int gpu)
{
    int device = 0;

    *side = (struct side){ .gpu = gpu };
    OK(cu.device(&device, gpu));
    OK(cu.retain(&side->context, device));
    OK(cu.use(side->context));
    if (variant->urgent && cu.urgent != NULL) {
        OK(cu.urgent(&side->stream, NON_BLOCKING, HIGHEST));
    } else {
        OK(cu.stream(&side->stream, NON_BLOCKING));
    }
    OK(cu.event(&side->start, 0));
    OK(cu.event(&side->end, 0));
    if (variant->src_vmm) {
        side->handle = make_vmm(variant, gpu);
        side->source = map_for(variant, side->handle, gpu);
    } else {
        OK(cu.alloc(&side->source, buffer_bytes(variant)));
    }
    if (variant->dst_vmm) {
        side->to = map_for(variant, make_vmm(variant, gpu), gpu);
    } else {
        OK(cu.alloc(&side->to, buffer_bytes(variant)));
    }
    OK(cu.fill(side->source, 0x1000u + (unsigned)gpu,
        buffer_bytes(variant) / sizeof(unsigned), side->stream));
    OK(cu.fill(
        side->to, 7, buffer_bytes(variant) / sizeof(unsigned), side->stream));
    OK(cu.sync(side->stream));
}

/* Within one process. */
static void reach(
    const struct variant *variant, struct side *side, const struct side *other)
{
    OK(cu.use(side->context));
    if (variant->src_vmm) {
        side->peer = map_for(variant, other->handle, side->gpu);
        return;
    }
    OK(cu.enable(other->context, 0));
    side->peer = other->source;
}

/* Between two. */
static void exchange(const struct variant *variant, struct side *side)
{
    uint64_t handle = 0;
    int descriptor = -1;

    OK(cu.give(&descriptor, side->handle, POSIX_FD, 0));
    send_descriptor(line[side->gpu], descriptor);
    close(descriptor);
    descriptor = receive_descriptor(line[side->gpu]);
    OK(cu.take(&handle, (void *)(intptr_t)descriptor, POSIX_FD));
    close(descriptor);
    side->peer = map_for(variant, handle, side->gpu);
}

static void queue(
    const struct variant *variant, struct side *side, unsigned sample)
{
    OK(cu.use(side->context));
    if (cu.wait != NULL) {
        OK(cu.wait(side->stream, side->release, sample + 1, WAIT_GEQ));
    }
    OK(cu.copy(side->to, side->peer, copy_bytes, side->stream));
    OK(cu.record(side->start, side->stream));
    for (unsigned i = 0; i < variant->copies; i++) {
        const uint64_t at = copy_bytes * (i % variant->slices);

        OK(cu.copy(side->to + at, side->peer + at, copy_bytes, side->stream));
    }
    OK(cu.record(side->end, side->stream));
}

static void finish(
    const struct variant *variant, struct side *side, unsigned sample)
{
    float ms = 0.0f;

    OK(cu.use(side->context));
    OK(cu.sync(side->stream));
    OK(cu.elapsed(&ms, side->start, side->end));
    shared->rates[sample][side->gpu] =
        (double)variant->copies * (double)copy_bytes / (double)ms * 1e-6;
}

static void pause_us(unsigned us)
{
    const double until = now() + us * 1e-6;

    while (now() < until) {
    }
}

/* Queues behind the word, which all then see at once; or, where a side is to be
 * late, it after the word. */
static void take_sample(const struct variant *variant, struct side *sides,
    int count, unsigned sample, unsigned *round)
{
    const int waits = variant->late_us > 0 ? 1 : count;

    for (int i = 0; i < waits; i++) {
        queue(variant, &sides[i], sample);
    }
    meet(variant, round);
    if (sides[0].gpu == 0) {
        shared->release[0] = sample + 1;
    }
    for (int i = waits; i < count; i++) {
        pause_us(variant->late_us);
        queue(variant, &sides[i], sample);
    }
    for (int i = 0; i < count; i++) {
        finish(variant, &sides[i], sample);
    }
    meet(variant, round);
}

static void check(struct side *side)
{
    unsigned word = 0;

    OK(cu.use(side->context));
    OK(cu.fetch(
        &word, side->to + copy_bytes - sizeof word, sizeof word, side->stream));
    OK(cu.sync(side->stream));
    shared->right[side->gpu] = word == 0x1000u + (unsigned)(1 - side->gpu);
}

/* What one process does: both sides, or the one of that number. */
static void work(const struct variant *variant, const char *driver, int first)
{
    const int count = variant->processes == 1 ? SIDES : 1;
    struct side sides[SIDES];
    unsigned round = 0;

    alarm(LIMIT_S);
    open_driver(driver);
    OK(cu.init(0));
    for (int i = 0; i < count; i++) {
        open_side(variant, &sides[i], first + i);
    }
    if (count == 1) {
        exchange(variant, &sides[0]);
    } else {
        reach(variant, &sides[0], &sides[1]);
        reach(variant, &sides[1], &sides[0]);
    }
    OK(cu.use(sides[0].context));
    OK(cu.reg((void *)shared->release, PAGE_BYTES, REGISTER_MAPPED));
    for (int i = 0; i < count; i++) {
        OK(cu.use(sides[i].context));
        OK(cu.mapped(&sides[i].release, (void *)shared->release, 0));
    }
    meet(variant, &round);
    for (unsigned i = 0; i < SAMPLES; i++) {
        take_sample(variant, sides, count, i, &round);
    }
    for (int i = 0; i < count; i++) {
        check(&sides[i]);
    }
    _exit(0);
}

/* ---- Telling ------------------------------------------------------------ */

static int by_value(const void *one, const void *other)
{
    const double a = *(const double *)one;
    const double b = *(const double *)other;

    return (a > b) - (a < b);
}

static double median(int side)
{
    double values[SAMPLES];

    for (int i = 0; i < SAMPLES; i++) {
        values[i] = shared->rates[i][side];
    }
    qsort(values, SAMPLES, sizeof *values, by_value);
    return values[SAMPLES / 2];
}

static int run_variant(const struct variant *variant, const char *driver)
{
    pid_t children[SIDES];
    int failed = 0;

    memset(shared, 0, sizeof *shared);
    must(socketpair(AF_UNIX, SOCK_DGRAM, 0, line), "socketpair");
    for (int i = 0; i < variant->processes; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            work(variant, driver, i);
        }
    }
    for (int i = 0; i < variant->processes; i++) {
        int status = 0;

        waitpid(children[i], &status, 0);
        failed |= status;
    }
    close(line[0]);
    close(line[1]);
    if (failed != 0) {
        printf("%-30s failed (%d)\n", variant->name, failed);
        return 1;
    }
    printf("%-30s %7.2f %7.2f  sum %7.2f  data %s   %s?\n", variant->name,
        median(0), median(1), median(0) + median(1),
        shared->right[0] && shared->right[1] ? "right" : "WRONG",
        variant->asks);
    return !shared->right[0] || !shared->right[1];
}

static void explain(void)
{
    puts("GB/s of GPU 0 reading and of GPU 1 reading, at once; medians.\n"
         "Noise is what the first and the last line differ by. Of the lines\n"
         "under \"one process\" the first that falls to what two processes "
         "give\n"
         "names the cause; of those under \"two processes\" the first that\n"
         "rises. If only \"32 copies\" rises it is the start. If none does, "
         "the\n"
         "driver chooses other engines for memory of another process.");
}

int main(int argc, char **argv)
{
    const char *const driver = argc > 1 ? argv[1] : "libcuda.so.1";
    int failed = 0;

    if (strcmp(driver, "--help") == 0) {
        explain();
        return 0;
    }
    if (argc > 2) {
        copy_bytes = strtoull(argv[2], NULL, 10) << 20;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    shared = mmap(NULL, sizeof *shared + PAGE_BYTES, PROT_READ | PROT_WRITE,
        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(shared == MAP_FAILED, "shared memory");
    for (int i = 0; i < VARIANTS; i++) {
        failed |= run_variant(&variants[i], driver);
    }
    explain();
    return failed;
}
