/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* stream_like: an independent yardstick for what hostmem says. It shares no
 * code with the engine: plain arrays, plain threads; of N passes it prints the
 * best, as STREAM does, and the median.
 *
 *   stream_like [-t threads] [-s MiB per array] [-n passes] [-i] [-p]
 *
 * The three arrays are populated one after the other, as those of a program
 * that allocates three are. With -i each thread touches all three in one loop,
 * as STREAM does: where a page has 4 KiB, those of the three then lie beside
 * each other in memory, and traffic that meets in a bank is another. With -p
 * the system is asked for huge pages. Without, what pages the arrays get is
 * for the system's free memory to decide, and where that has been in use for
 * hours the same loop is a third slower in one array than in another.
 *
 * Copy, scale, add, triad and write are measured twice: with the compiler's
 * ordinary stores, which read a line before it is overwritten, and with
 * non-temporal stores, which do not (x86 only). Every figure counts the bytes
 * that the loop names, as STREAM does: copy and scale 16 per element, add and
 * triad 24. Prints JSON. */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#define HAVE_STREAMING 1
#else
#define HAVE_STREAMING 0
#endif

enum {
    THREADS_MAX = 1024,
    PASSES_MAX = 1000,
    LINE_DOUBLES = 8,
    CHASE_LOADS = 1 << 20
};

/* One thread's piece of the arrays. */
struct piece {
    double *a, *b, *c;
    size_t count; /* of doubles, a multiple of LINE_DOUBLES */
    double sum;
    uint64_t begin_ns, end_ns;
};

typedef void kernel_fn(struct piece *piece);

struct kernel {
    const char *name, *stores;
    kernel_fn *run;
    uint32_t bytes; /* per element */
    int streaming;
};

/* ---- Kernels with ordinary stores --------------------------------------- */

static void fill(struct piece *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->a[i] = 1.0;
        p->b[i] = 2.0;
        p->c[i] = 0.5;
    }
}

/* Built so that the compiler makes no library call of this loop, which would
 * choose its stores by itself. */
static void copy_plain(struct piece *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->a[i] = p->b[i];
    }
}

static void scale_plain(struct piece *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->a[i] = 3.0 * p->b[i];
    }
}

static void add_plain(struct piece *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->a[i] = p->b[i] + p->c[i];
    }
}

static void triad_plain(struct piece *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->a[i] = p->b[i] + 3.0 * p->c[i];
    }
}

static void write_plain(struct piece *p)
{
    for (size_t i = 0; i < p->count; i++) {
        p->a[i] = 7.0;
    }
}

static void read_all(struct piece *p)
{
    double sums[2 * LINE_DOUBLES] = { 0 };

    for (size_t i = 0; i + 2 * LINE_DOUBLES <= p->count;
         i += 2 * LINE_DOUBLES) {
        for (size_t k = 0; k < 2 * LINE_DOUBLES; k++) {
            sums[k] += p->b[i + k];
        }
    }
    for (size_t k = 0; k < 2 * LINE_DOUBLES; k++) {
        p->sum += sums[k];
    }
}

static void copy_library(struct piece *p)
{
    memcpy(p->a, p->b, p->count * sizeof *p->a);
}

/* ---- Kernels with non-temporal stores ------------------------------------ */

#if HAVE_STREAMING
static void copy_streaming(struct piece *p)
{
    for (size_t i = 0; i < p->count; i += 2) {
        _mm_stream_pd(p->a + i, _mm_load_pd(p->b + i));
    }
    _mm_sfence();
}

static void scale_streaming(struct piece *p)
{
    const __m128d s = _mm_set1_pd(3.0);

    for (size_t i = 0; i < p->count; i += 2) {
        _mm_stream_pd(p->a + i, _mm_mul_pd(s, _mm_load_pd(p->b + i)));
    }
    _mm_sfence();
}

static void add_streaming(struct piece *p)
{
    for (size_t i = 0; i < p->count; i += 2) {
        _mm_stream_pd(
            p->a + i, _mm_add_pd(_mm_load_pd(p->b + i), _mm_load_pd(p->c + i)));
    }
    _mm_sfence();
}

static void triad_streaming(struct piece *p)
{
    const __m128d s = _mm_set1_pd(3.0);

    for (size_t i = 0; i < p->count; i += 2) {
        _mm_stream_pd(p->a + i, _mm_add_pd(_mm_load_pd(p->b + i),
                                    _mm_mul_pd(s, _mm_load_pd(p->c + i))));
    }
    _mm_sfence();
}

static void write_streaming(struct piece *p)
{
    const __m128d seven = _mm_set1_pd(7.0);

    for (size_t i = 0; i < p->count; i += 2) {
        _mm_stream_pd(p->a + i, seven);
    }
    _mm_sfence();
}
#endif

static const struct kernel kernels[] = {
    { "copy", "ordinary", copy_plain, 16, 0 },
    { "scale", "ordinary", scale_plain, 16, 0 },
    { "add", "ordinary", add_plain, 24, 0 },
    { "triad", "ordinary", triad_plain, 24, 0 },
    { "write", "ordinary", write_plain, 8, 0 },
    { "copy", "library", copy_library, 16, 0 },
    { "read", "none", read_all, 8, 0 },
#if HAVE_STREAMING
    { "copy", "streaming", copy_streaming, 16, 1 },
    { "scale", "streaming", scale_streaming, 16, 1 },
    { "add", "streaming", add_streaming, 24, 1 },
    { "triad", "streaming", triad_streaming, 24, 1 },
    { "write", "streaming", write_streaming, 8, 1 },
#endif
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

/* ---- Threads ------------------------------------------------------------- */

struct crew {
    pthread_t threads[THREADS_MAX];
    struct piece pieces[THREADS_MAX];
    pthread_barrier_t barrier;
    unsigned count;
    unsigned passes;
    double rates[KERNELS][PASSES_MAX]; /* bytes per second */
    size_t doubles;
};

struct seat {
    struct crew *crew;
    unsigned number;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void pin(unsigned number)
{
    cpu_set_t all;
    cpu_set_t one;

    if (sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) == 0) {
        return;
    }
    unsigned skip = number % (unsigned)CPU_COUNT(&all);

    CPU_ZERO(&one);
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, &all) && skip-- == 0) {
            CPU_SET(cpu, &one);
            break;
        }
    }
    sched_setaffinity(0, sizeof one, &one);
}

/* First start to last end. */
static void keep(struct crew *crew, unsigned kernel, unsigned pass)
{
    uint64_t begin = UINT64_MAX;
    uint64_t end = 0;

    for (unsigned i = 0; i < crew->count; i++) {
        const struct piece *const p = &crew->pieces[i];

        begin = p->begin_ns < begin ? p->begin_ns : begin;
        end = p->end_ns > end ? p->end_ns : end;
    }
    const double bytes = (double)crew->doubles * kernels[kernel].bytes;

    crew->rates[kernel][pass] = bytes / ((double)(end - begin) * 1e-9);
}

static void *serve(void *argument)
{
    const struct seat *const seat = argument;
    struct crew *const crew = seat->crew;
    struct piece *const piece = &crew->pieces[seat->number];

    pin(seat->number);
    fill(piece);
    for (unsigned pass = 0; pass < crew->passes; pass++) {
        for (unsigned k = 0; k < KERNELS; k++) {
            pthread_barrier_wait(&crew->barrier);
            piece->begin_ns = now_ns();
            kernels[k].run(piece);
            piece->end_ns = now_ns();
            pthread_barrier_wait(&crew->barrier);
            if (seat->number == 0) {
                keep(crew, k, pass);
            }
        }
    }
    return NULL;
}

/* Shares of whole lines; what is left over belongs to nobody. */
static void deal(struct crew *crew, double *arrays, size_t doubles)
{
    const size_t each =
        doubles / crew->count / (2 * LINE_DOUBLES) * (2 * LINE_DOUBLES);

    for (unsigned i = 0; i < crew->count; i++) {
        crew->pieces[i] = (struct piece){ .a = arrays + i * each,
            .b = arrays + doubles + i * each,
            .c = arrays + 2 * doubles + i * each,
            .count = each };
    }
    crew->doubles = each * crew->count;
}

/* Every page gets its memory, in the order of addresses. */
static void populate(double *arrays, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE) / sizeof *arrays;

    for (size_t i = 0; i < bytes / sizeof *arrays; i += page) {
        arrays[i] = 1.0;
    }
}

static int measure_bandwidth(struct crew *crew, double *arrays, size_t doubles)
{
    static struct seat seats[THREADS_MAX];

    deal(crew, arrays, doubles);
    pthread_barrier_init(&crew->barrier, NULL, crew->count);
    for (unsigned i = 0; i < crew->count; i++) {
        seats[i] = (struct seat){ crew, i };
        if (pthread_create(&crew->threads[i], NULL, serve, &seats[i]) != 0) {
            return 0;
        }
    }
    for (unsigned i = 0; i < crew->count; i++) {
        pthread_join(crew->threads[i], NULL);
    }
    pthread_barrier_destroy(&crew->barrier);
    return 1;
}

/* ---- Latency ------------------------------------------------------------- */

static uint64_t random_state = 88172645463325252U;

static uint64_t random_next(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* A cyclic permutation of lines by Sattolo's method, in place; each line's
 * first word is the number of the next. Nanoseconds per load, the best of
 * three walks. */
static double measure_latency(void *memory, size_t bytes)
{
    uint64_t *const words = memory;
    const size_t lines = bytes / 64;
    uint64_t at = 0;
    double best = 1e300;

    for (size_t i = 0; i < lines; i++) {
        words[8 * i] = i;
    }
    for (size_t i = lines - 1; i > 0; i--) {
        const size_t k = random_next() % i;
        const uint64_t other = words[8 * k];

        words[8 * k] = words[8 * i];
        words[8 * i] = other;
    }
    for (int walk = 0; walk < 4; walk++) {
        const uint64_t begin = now_ns();

        for (int i = 0; i < CHASE_LOADS; i++) {
            at = words[8 * at];
        }
        const double each = (double)(now_ns() - begin) / CHASE_LOADS;

        if (walk > 0 && each < best) {
            best = each;
        }
    }
    return at < lines ? best : -1.0;
}

/* ---- Program ------------------------------------------------------------- */

static int order(const void *one, const void *other)
{
    const double a = *(const double *)one;
    const double b = *(const double *)other;

    return (a > b) - (a < b);
}

static void print(struct crew *crew, size_t bytes, double latency)
{
    printf("{\n  \"threads\": %u,\n  \"array_bytes\": %zu,\n"
           "  \"passes\": %u,\n  \"bandwidth\": [\n",
        crew->count, bytes, crew->passes);
    for (unsigned k = 0; k < KERNELS; k++) {
        double *const rates = crew->rates[k];

        qsort(rates, crew->passes, sizeof *rates, order);
        printf("    { \"kernel\": \"%s\", \"stores\": \"%s\", "
               "\"best\": %.0f, \"median\": %.0f }%s\n",
            kernels[k].name, kernels[k].stores, rates[crew->passes - 1],
            rates[crew->passes / 2], k + 1 < KERNELS ? "," : "");
    }
    printf("  ],\n  \"latency_ns\": %.2f\n}\n", latency);
}

int main(int argc, char **argv)
{
    static struct crew crew;
    size_t mib = 256;
    int together = 0;
    int huge = 0;
    int option;

    crew.passes = 10;
    crew.count = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
    while ((option = getopt(argc, argv, "t:s:n:ip")) != -1) {
        if (option == 'i' || option == 'p') {
            together |= option == 'i';
            huge |= option == 'p';
            continue;
        }
        const unsigned long value =
            optarg == NULL ? 0 : strtoul(optarg, NULL, 10);

        if (option == '?' || value == 0 || value > 1000000) {
            fprintf(stderr,
                "usage: %s [-t threads] [-s MiB] [-n passes] [-i] [-p]\n",
                argv[0]);
            return 2;
        }
        if (option == 't') {
            crew.count = (unsigned)value;
        } else if (option == 's') {
            mib = value;
        } else {
            crew.passes = (unsigned)value;
        }
    }
    crew.count = crew.count > THREADS_MAX ? THREADS_MAX : crew.count;
    crew.passes = crew.passes > PASSES_MAX ? PASSES_MAX : crew.passes;
    const size_t bytes = mib << 20;
    double *const arrays = mmap(NULL, 3 * bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (arrays != MAP_FAILED && huge) {
        madvise(arrays, 3 * bytes, MADV_HUGEPAGE);
    }
    if (arrays != MAP_FAILED && !together) {
        populate(arrays, 3 * bytes);
    }
    if (arrays == MAP_FAILED ||
        !measure_bandwidth(&crew, arrays, bytes / sizeof *arrays)) {
        fprintf(stderr, "not enough memory or threads\n");
        return 1;
    }
    print(&crew, bytes, measure_latency(arrays, bytes));
    return 0;
}
