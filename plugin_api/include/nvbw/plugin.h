/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors
 *
 * nvbw/plugin.h: the whole of what a plugin sees, and its manual.
 *
 * A plugin says which bytes move, moved by whom, which of them at once, and
 * which cell of a result gets the figure. Everything else is the host's:
 * memory, streams, the gate, warm-up, sampling, verification, statistics,
 * the wording of a skip, limits, confirming, resuming and reporting.
 *
 * A plugin is one shared object that exports one read-only data symbol,
 * nvbw_plugin_v1, and nothing else. It links no library of ours: whatever it
 * wants done it asks for through ctx->host. A whole plugin fits on a page;
 * plugins/skeleton is one, with comments.
 *
 * Rules that hold everywhere
 *
 * - 64-bit only. Fixed-width integers, double, pointers and const char *
 *   cross the boundary, nothing else.
 * - Every struct begins with size (its sizeof) and flags. An unknown bit in
 *   flags refuses the testcase it stands in, not the plugin.
 * - Members are only ever appended. Zero means absent or default, so a
 *   designated initialiser that names what it needs stays right for ever.
 * - Lists are NULL-terminated arrays of pointers, so that their elements can
 *   grow. A NULL list is an empty one.
 * - Units are bytes, nanoseconds and bytes per second. Only reports scale.
 * - What you pass is copied before the call returns. What you are given
 *   lives until your function returns. Descriptors live as long as the
 *   process. Nothing allocated on one side is freed on the other.
 * - A status is NVBW_OK (0) or negative; see NVBW_STATUS_LIST.
 * - Calls marked [any] may come from any thread, all others only from the
 *   thread on which the host called you. The host calls you on one thread,
 *   never from two at once. A CUDA context is current only in enqueue and
 *   verify.
 * - Numbers in the enums below are written out and are never reused.
 *
 * A plugin must not install signal handlers, fork, exec, exit, change the
 * working directory, umask or locale, register atexit functions, carry
 * constructors, or write to descriptors that it did not open.
 */
#ifndef NVBW_PLUGIN_H
#define NVBW_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

/* ---- Version ------------------------------------------------------------
 *
 * This is version 1.0 of the contract. The major version is in the name of the
 * exported symbol and stays; NVBW_ABI_MINOR counts what has been added since. A
 * host accepts every plugin whose min_host_minor is not above its own minor,
 * however old or new the plugin is.
 */
#define NVBW_MAGIC     UINT64_C(0x47554c505742564e) /* "NVBWPLUG" */
#define NVBW_ABI_MINOR 0

/* ---- Numbers ------------------------------------------------------------ */

/* What functions return: X(name, value, meaning). */
#define NVBW_STATUS_LIST(X)                                                    \
    X(OK, 0, "done")                                                           \
    X(E_SKIPPED, -1, "does not apply here; the reason was told")               \
    X(E_CANCELLED, -2, "the host asked to stop")                               \
    X(E_INVALID, -3, "the contract was broken, a bug in the plugin")           \
    X(E_CUDA, -4, "the CUDA driver failed; code is a CUresult")                \
    X(E_SYSTEM, -5, "the system failed; code is an errno")                     \
    X(E_DEVICE, -6, "what is under test failed: wrong data")

#define NVBW_STATUS_ENUM(name, value, text) NVBW_##name = value,
enum { NVBW_STATUS_LIST(NVBW_STATUS_ENUM) NVBW_STATUS_END = 1 };

/* Levels of log(). An error logged settles nothing: use fail() for that. */
enum { NVBW_LOG_ERROR = 1, NVBW_LOG_WARN = 2, NVBW_LOG_INFO = 3 };

/* Units of metrics and of INT and REAL parameters. */
enum {
    NVBW_UNIT_NONE = 0,
    NVBW_UNIT_BYTES_PER_SECOND = 1, /* payload: each byte counts once */
    NVBW_UNIT_NANOSECONDS = 2,
    NVBW_UNIT_BYTES = 3,
    NVBW_UNIT_RATIO = 4, /* 1.0 is a hundred percent */
    NVBW_UNIT_COUNT = 5
};

/* Which way a metric is better. */
enum { NVBW_HIGHER = 1, NVBW_LOWER = 2 };

/* Types of parameters. Every value is text in the descriptor and in the plan
 * and goes through one parser of the host:
 *   BOOL      true, false, on, off, yes, no
 *   INT       -12, 4096
 *   SIZE      "512 MiB", "1 GB", "4096 B"; a bare number is an error
 *   DURATION  "60 s", "250 ms", "2 h"; a bare number is an error
 *   REAL      0.25; with unit RATIO also "0.5 %"
 *   TEXT      anything
 *   ENUM      one of choices
 *   GROUP     a list of groups, ( { key = value; ... }, ... ), whose keys are
 *             the members */
enum {
    NVBW_TYPE_BOOL = 1,
    NVBW_TYPE_INT = 2,
    NVBW_TYPE_SIZE = 3,
    NVBW_TYPE_DURATION = 4,
    NVBW_TYPE_REAL = 5,
    NVBW_TYPE_TEXT = 6,
    NVBW_TYPE_ENUM = 7,
    NVBW_TYPE_GROUP = 8
};

/* Initiator: who moves the bytes. */
enum {
    NVBW_BY_CE = 1,    /* cuMemcpyAsync: the driver's choice of engine */
    NVBW_BY_SM = 2,    /* a kernel of the host's */
    NVBW_BY_TMA = 3,   /* a bulk-copy kernel, compute capability 9.0 up */
    NVBW_BY_CPU = 4,   /* threads of the host on the executor's node */
    NVBW_BY_PLUGIN = 5 /* your kernel, through enqueue */
};

/* Operation: what is done to the bytes. */
enum {
    NVBW_OP_COPY = 1,  /* source to destination */
    NVBW_OP_READ = 2,  /* source only */
    NVBW_OP_WRITE = 3, /* destination only */
    NVBW_OP_SPLIT = 4, /* half the warps copy forward, half back */
    NVBW_OP_CHASE = 5, /* dependent loads, figure in ns per access */
    /* Those of STREAM and BabelStream: arrays of doubles, the same ones for all
     * copies of a sample. Their figure counts all arrays. */
    NVBW_OP_TRIAD = 6,       /* a = b + s * c, three arrays */
    NVBW_OP_SCALE = 7,       /* a = s * b */
    NVBW_OP_ADD = 8,         /* a = b + c */
    NVBW_OP_DOT = 9,         /* sum of a * b */
    NVBW_OP_STREAM_COPY = 10 /* a = b; not by CPUs */
};

/* Kinds of memory. */
enum {
    NVBW_MEM_NONE = 0, /* this side has no memory, as a READ's destination */
    NVBW_MEM_PINNED = 1,
    NVBW_MEM_PAGEABLE = 2,
    NVBW_MEM_WRITE_COMBINED = 3,
    NVBW_MEM_HUGE_PAGE = 4,
    NVBW_MEM_MANAGED = 5,
    NVBW_MEM_DEVICE = 6,
    NVBW_MEM_VMM = 7,      /* device memory that other processes can map */
    NVBW_MEM_FABRIC = 8,   /* shareable: a fabric handle, else a descriptor */
    NVBW_MEM_MULTICAST = 9 /* its place is the whole team */
};

/* A flow's stride that means: to random places, each element once. For copies,
 * reads and writes by an SM. */
#define NVBW_STRIDE_RANDOM UINT32_MAX

/* A place that means: the NUMA node nearest to the executor. */
enum { NVBW_NEAR = -1 };

/* Bits of flags, each with the struct that it belongs to. */
enum {
    NVBW_PARAM_LIST = 1,      /* param: takes a list whole, can be an axis */
    NVBW_PLACE_MIG = 1,       /* place: a slice of a GPU */
    NVBW_PLACE_NO_MEMORY = 2, /* place: a NUMA node without memory */
    NVBW_FLOW_BACKGROUND = 1, /* flow: not counted, outlasts the counted */
    NVBW_FLOW_SYNC = 2,       /* flow: blocking calls; by the host's clock */
    NVBW_FLOW_STAGED = 4,     /* flow: leave peer access off on purpose */
    NVBW_FLOW_DEFAULT_STREAM = 8, /* flow: on the legacy default stream */
    NVBW_FLOW_HOST_CLOCK = 16,    /* flow: ungated and timed by the host, from
                                     before its first call to when its stream
                                     is empty; so are flows of pageable,
                                     huge-page and managed memory */
    NVBW_MEASURE_ANY_ORDER = 1,   /* measurement: its flows may well run one
                                     after another, that is what it asks */
    NVBW_METRIC_PAIRS = 1,        /* metric: no diagonal */
    NVBW_METRIC_DERIVED = 2,      /* metric: computed from other cells */
    NVBW_PLUGIN_MPI = 1           /* plugin: links MPI, which may do forbidden
                                 things such as start threads and handlers */
};

/* Features a testcase can need. */
enum {
    NVBW_NEED_PEER = 1,
    NVBW_NEED_NVLINK = 2,
    NVBW_NEED_MULTICAST = 4,
    NVBW_NEED_FABRIC = 8,
    NVBW_NEED_MPI = 16
};

/* Why something is skipped: X(name, number, code in reports, words). */
#define NVBW_SKIP_LIST(X)                                                      \
    X(NO_DEVICE, 1, "no_device", "no GPU can be used here")                    \
    X(TOO_FEW_DEVICES, 2, "too_few_devices", "needs more GPUs")                \
    X(NO_PEER_ACCESS, 3, "no_peer_access",                                     \
        "the GPUs cannot address each other's memory")                         \
    X(NO_NVLINK, 4, "no_nvlink", "no NVLink between the GPUs")                 \
    X(NO_MULTICAST, 5, "no_multicast", "the GPU has no NVLink multicast")      \
    X(NO_FABRIC, 6, "no_fabric", "not part of an NVLink fabric")               \
    X(NO_MPI, 7, "no_mpi", "MPI is not there or not in use")                   \
    X(ARCH_TOO_OLD, 8, "arch_too_old", "needs a newer GPU architecture")       \
    X(DRIVER_TOO_OLD, 9, "driver_too_old", "needs a newer driver")             \
    X(MEMORY, 10, "memory", "not enough memory")                               \
    X(PERMISSION, 11, "permission", "the system does not permit it")           \
    X(NO_IMEX_CHANNEL, 12, "no_imex_channel", "no usable IMEX channel")        \
    X(MIG, 13, "mig", "does not apply to a MIG slice")                         \
    X(PEER_NOT_VISIBLE, 14, "peer_not_visible",                                \
        "the other rank's GPU is not visible to this process")                 \
    X(NOT_BUILT, 15, "not_built", "this build has no kernels for it")          \
    X(MISSING_LIBRARY, 16, "missing_library", "a needed library is missing")   \
    X(EXCLUDED, 17, "excluded", "the plan excludes it")                        \
    X(MULTICAST_DISABLED, 18, "multicast_disabled",                            \
        "NVLink multicast is switched off on this machine")                    \
    X(CONFIDENTIAL_COMPUTING, 19, "confidential_computing",                    \
        "not possible in confidential-computing mode")                         \
    X(NO_CPU, 20, "no_cpu", "the NUMA node has no CPUs that can be used")

#define NVBW_SKIP_ENUM(name, number, code, text) NVBW_SKIP_##name = number,
enum { NVBW_SKIP_LIST(NVBW_SKIP_ENUM) NVBW_SKIP_END = 21 };

struct nvbw_ctx;
struct nvbw_work;

/* Your functions. A call is init, fini, probe or run; an enqueue puts work
 * on a stream or checks what it left behind. */
typedef int32_t nvbw_call_fn(struct nvbw_ctx *);
typedef int32_t nvbw_enqueue_fn(struct nvbw_ctx *, const struct nvbw_work *);
typedef void nvbw_driver_fn(void);

/* ---- Descriptors --------------------------------------------------------
 *
 * Constants. The host reads them before any of your code runs, in a process
 * without CUDA, and plans, checks, estimates, lists and explains from them.
 */

/* A parameter. The standard ones (buffer_size, samples, mode, ...; see
 * `nvbw-host help parameters`) belong to the host and every testcase has
 * them; declare only your own. A list in a plan for a parameter that takes
 * one value is a sweep: the host makes one unit of work per value.
 *
 * A GROUP parameter p is a LIST without a default, of as many elements as the
 * plan has groups. Read as text, an element of it is where the plan has that
 * group, "plan.cfg:12", for messages; the value that the group has for a key is
 * that element of "p.key". */
struct nvbw_param {
    uint32_t size, flags;     /* NVBW_PARAM_LIST */
    uint32_t type;            /* NVBW_TYPE_* */
    uint32_t unit;            /* NVBW_UNIT_* of an INT or REAL, else 0 */
    const char *name;         /* lower_snake_case */
    const char *help;         /* one sentence */
    const char *default_text; /* as a plan spells it; a LIST separates its
                                 elements by commas */
    const char *min_text, *max_text; /* inclusive, or NULL */
    const char *const *choices; /* ENUM: name, help, name, help, ..., NULL */
    const struct nvbw_param *const *members; /* GROUP: its keys, each of one
                            value; a key without a default must be
                            given */
};

/* A metric: a figure, a row, a column or a matrix of them. Its axes say
 * which cells exist before anything runs:
 *   "gpu"   the GPUs that the plan selected
 *   "numa"  the NUMA nodes with memory
 *   "rank"  the MPI ranks
 *   "name"  the elements of your LIST parameter of that name
 *   "sizes" those of the standard parameter: its ladders as single sizes
 *   "#name" as many as your INT parameter of that name says
 *   "text"  entries that labels() names, settled in the recorded run
 *   NULL    one entry
 * Every cell must be settled by run(), by figure, skip or error. */
struct nvbw_metric {
    uint32_t size, flags; /* NVBW_METRIC_* */
    uint32_t unit;        /* NVBW_UNIT_* */
    uint32_t better;      /* NVBW_HIGHER or NVBW_LOWER */
    const char *name;     /* "bandwidth", "latency", "total", ... */
    const char *help;     /* one sentence: what is counted, from where */
    const char *rows, *cols;
};

/* What a testcase needs before it makes sense. The host checks it and words
 * the skip; zero means no such need. */
struct nvbw_needs {
    uint32_t size, flags;
    uint64_t features;     /* NVBW_NEED_PEER | ... */
    uint32_t min_gpus;     /* selected GPUs */
    uint32_t min_ranks;    /* MPI ranks */
    uint32_t min_compute;  /* 90: compute capability 9.0 */
    uint32_t min_driver;   /* 12040: CUDA 12.4 */
    uint64_t gpu_bytes;    /* free on each GPU, beyond what flows ask for */
    uint64_t pinned_bytes; /* host memory, likewise */
};

/* A testcase: one name in a plan. */
struct nvbw_testcase {
    uint32_t size, flags;
    const char *name;    /* lower_snake_case, unique over all plugins */
    const char *summary; /* one line, for lists */
    const char *help;    /* paragraphs, for `help NAME`; may be NULL */
    const char *const *tags;
    const struct nvbw_needs *needs; /* may be NULL */
    const struct nvbw_param *const *params;
    const struct nvbw_metric *const *metrics;
    const void *user;    /* yours: many testcases can share one run() */
    nvbw_call_fn *probe; /* can it run here, as only you can know: NVBW_OK,
                            or skip(ctx, NULL, ...); may be NULL */
    nvbw_call_fn *run;   /* may be called again, in another process, for
                            some of the cells; what it begins it ends */
    nvbw_call_fn *check; /* whether the values of the parameters make sense
                            together: calls refuse() for each that does not and
                            returns NVBW_OK. Called before anything runs, also
                            by check-plan, in a process without CUDA and
                            without facts: it may read parameters, log and
                            refuse, no more. May be NULL */
};

/* The plugin. init and fini may be NULL; init must not touch CUDA. */
struct nvbw_plugin {
    uint32_t size, flags;    /* NVBW_PLUGIN_* */
    uint64_t magic;          /* NVBW_MAGIC */
    uint32_t abi_minor;      /* NVBW_ABI_MINOR: what it was built with */
    uint32_t min_host_minor; /* from which host on it works */
    const char *name;        /* lower_snake_case: plugin = "name" */
    const char *version, *summary, *licence;
    const struct nvbw_testcase *const *testcases;
    nvbw_call_fn *init, *fini;
};

/* ---- What to measure ---------------------------------------------------- */

/* One figure of one metric. It ends in exactly one state; the first word on
 * it stands. */
struct nvbw_cell {
    uint32_t size, flags;
    const char *metric;
    uint32_t row, col; /* index on the axis, 0 where there is none */
};
#define NVBW_CELL(metric, row, col)                                            \
    {                                                                          \
        sizeof(struct nvbw_cell), 0, (metric), (row), (col)                    \
    }

/* One initiator moving bytes from a source to a destination. */
struct nvbw_flow {
    uint32_t size, flags;            /* NVBW_FLOW_* */
    uint32_t initiator, operation;   /* NVBW_BY_*, NVBW_OP_* */
    uint32_t src_memory, dst_memory; /* NVBW_MEM_* */
    int32_t src_place, dst_place;    /* index of the GPU or of the NUMA node,
                                        whichever the memory lives on, or
                                        NVBW_NEAR */
    int32_t executor; /* index of the GPU; of the node for NVBW_BY_CPU; of
                          the rank under NVBW_NEED_MPI */
    uint32_t stride;  /* CHASE and strided access: bytes between accesses;
                          0: a random cycle (CHASE), contiguous (others) */
    uint64_t bytes;   /* per copy; 0: the parameter buffer_size where the
                          flow has memory, and no bytes where it has none */
    const struct nvbw_cell *cell; /* where this flow's figure goes, or NULL:
                                     it counts only for the total */
    const struct nvbw_cell *reverse_cell; /* SPLIT: the other direction */
    uint64_t repeats;         /* copies per sample; 0: the pilot decides */
    uint32_t load_permille;   /* offered load of its own full rate; 0: full. A
                               part of it: background reads by SM alone */
    uint32_t element;         /* bytes per access, 0: the widest */
    uint64_t offset;          /* bytes by which both sides are misaligned */
    nvbw_enqueue_fn *enqueue; /* NVBW_BY_PLUGIN: puts your kernel on work's
                                 stream */
    nvbw_enqueue_fn *verify;  /* NVBW_BY_PLUGIN: checks the destination; NULL:
                                 the host's own comparison with the source */
    void *user;               /* passed on in work */
    uint64_t ring; /* CE between pageable memory and a GPU: bytes of a ring of
                      page-locked memory through which a thread of the host
                      passes the copies on; 0: the driver's own way */
};

/* What enqueue and verify get. The engine owns stream and buffers. The first
 * call of enqueue comes before the gate closes, so modules load there. Put
 * the work on the stream and return; do not wait for it, unless the flow is one
 * of NVBW_FLOW_HOST_CLOCK, which is not gated, and waiting is what it times. */
struct nvbw_work {
    uint32_t size, flags;
    void *stream;      /* CUstream of the executor, its context current */
    uint64_t src, dst; /* device addresses of the first slice */
    uint64_t src_step, dst_step; /* from one copy's slice to the next */
    uint64_t bytes;              /* to touch per copy */
    uint64_t repeats;            /* copies */
    uint64_t scratch; /* device address of 64 KiB of your own, zeroed once */
    void *user;       /* of the flow */
};

/* The flows that run at the same time. */
struct nvbw_measurement {
    uint32_t size, flags; /* NVBW_MEASURE_* */
    const struct nvbw_flow *const *flows;
    const struct nvbw_cell *total; /* all counted bytes over first start to
                                      last end, or NULL; in ns for a metric
                                      of that unit */
    /* Others that run at the same time, NULL-terminated, or NULL; each keeps
     * its own cells and total, and has no beside of its own. No two of all
     * these may use the same GPU, none may use host memory or have background
     * flows. Their cells are flagged "concurrent". Where one of them cannot be
     * measured the host measures them one after another instead, so that each
     * cell gets its own word. */
    const struct nvbw_measurement *const *beside;
};

/* ---- The host ----------------------------------------------------------- */

/* A GPU, NUMA node or rank that the plan selected. */
struct nvbw_place {
    uint32_t size, flags;   /* NVBW_PLACE_* */
    const char *name;       /* "NVIDIA H200", "node 0", "rank 3" */
    const char *uuid, *pci; /* of a GPU, else NULL */
    int32_t near_node;      /* GPU: index among "numa", or -1 if unknown */
    int32_t device;         /* CUdevice, or the system's number of the node */
    uint32_t compute;       /* 90: compute capability 9.0 */
    uint32_t units;         /* SMs or cores */
    uint64_t memory;        /* bytes in all */
    uint64_t cache;         /* bytes of L2 or L3 */
    const char *rack;       /* rank: its rack's name, else NULL */
    uint64_t clique;        /* rank: NVLink clique, else 0 */
    int64_t number;         /* what plans and reports call it: of a GPU, a node
                               or a rank */
};

/* MPI plugins lend the runtime one collective: gathers `bytes` from every
 * rank into out (ranks x bytes, in rank order), at the latest by deadline
 * (CLOCK_MONOTONIC). Returns a status. out is zeroed before the call; where
 * not all ranks answered in time the entries of those that did should be
 * there, so that the host can name the others. Waiting must let MPI go on, and
 * sleep rather than spin: the ranks may share cores. */
typedef int32_t nvbw_allgather_fn(struct nvbw_ctx *, const void *in, void *out,
    uint64_t bytes, int64_t deadline_ns);

/* The service table. Look at abi_minor before using a member that is newer
 * than your min_host_minor. */
struct nvbw_host {
    uint32_t size, flags;
    uint64_t abi_minor;

    /* [any] Adds a line to the run's log. Never blocks; past 1 MiB per unit
     * lines are counted and dropped. */
    void (*log)(struct nvbw_ctx *, int32_t level, const char *text);
    /* [any] 1 when the host asked to stop: settle nothing more, return
     * NVBW_E_CANCELLED soon. */
    int32_t (*cancelled)(struct nvbw_ctx *);
    /* [any] Nanoseconds until the current cell's deadline. */
    int64_t (*time_left_ns)(struct nvbw_ctx *);

    /* The entries of the axis "gpu", "numa" or "rank"; NULL-terminated,
     * empty where there are none. */
    const struct nvbw_place *const *(*places)(
        struct nvbw_ctx *, const char *axis);

    /* Values of parameters, standard ones and yours. All were checked before
     * this process began, so these cannot fail; an undeclared name is a
     * broken contract: they return 0, "" and the testcase ends as an error.
     * i is 0 unless the parameter is a LIST. param_int serves bool, int,
     * size (bytes), duration (ns) and the index of a choice. */
    uint32_t (*param_count)(struct nvbw_ctx *, const char *name);
    int64_t (*param_int)(struct nvbw_ctx *, const char *name, uint32_t i);
    double (*param_real)(struct nvbw_ctx *, const char *name, uint32_t i);
    const char *(*param_text)(struct nvbw_ctx *, const char *name, uint32_t i);

    /* Allocates, warms up, gates, samples, verifies and settles every cell
     * of the flows: with a figure, as a skip or as an error. Returns at once
     * if none of those cells is wanted. Negative only if the testcase cannot
     * go on: return that value. */
    int32_t (*measure)(struct nvbw_ctx *, const struct nvbw_measurement *);
    /* 1 if this run is asked for the cell and it is not settled yet. */
    int32_t (*wanted)(struct nvbw_ctx *, const struct nvbw_cell *);
    /* The median (or any quantile, q in 0..1) of a settled cell, also one
     * that an earlier process settled, for figures derived from it.
     * NVBW_E_SKIPPED if it has none. While a run is only recorded both give
     * NVBW_OK and 1.0. */
    int32_t (*figure)(
        struct nvbw_ctx *, const struct nvbw_cell *, double *out_value);
    int32_t (*quantile)(struct nvbw_ctx *, const struct nvbw_cell *, double q,
        double *out_value);
    /* A derived figure (count 1), or raw samples of a clock of your own, in
     * the metric's unit. Settles the cell. */
    int32_t (*put)(struct nvbw_ctx *, const struct nvbw_cell *,
        const double *samples, uint64_t count);
    /* Settles one cell and returns NVBW_OK: go on. With cell NULL settles all
     * that is left of the testcase and returns NVBW_E_SKIPPED or the given
     * status: return it too. A cell of a DERIVED metric skipped since figure()
     * found none ends as the cell did that was asked. */
    int32_t (*skip)(struct nvbw_ctx *, const struct nvbw_cell *, int32_t reason,
        const char *text);
    int32_t (*fail)(struct nvbw_ctx *, const struct nvbw_cell *, int32_t status,
        int64_t code, const char *text);
    /* Names the entries of a "text" axis (0: rows, 1: cols), before its first
     * cell; NULL-terminated. Must be the same in every run. */
    int32_t (*labels)(struct nvbw_ctx *, const char *metric, uint32_t axis,
        const char *const *names);
    /* A function of the CUDA driver, as cuGetProcAddress gives it, or NULL;
     * NULL while a run is only recorded. */
    nvbw_driver_fn *(*driver)(
        struct nvbw_ctx *, const char *name, uint32_t cuda_version);
    /* MPI plugins only, in init. */
    int32_t (*lend)(struct nvbw_ctx *, nvbw_allgather_fn *allgather);
    /* MPI plugins only, in init: which rank this process is, of how many. What
     * lend gave is then used for all that ranks have to agree on. init of an
     * MPI plugin is called in one process of each rank, and only there. */
    int32_t (*join)(struct nvbw_ctx *, uint32_t rank, uint32_t ranks);
    /* In check only: element i of a parameter, or of a key of a GROUP, is
     * wrong; text says what and what to do. The host puts the place in the plan
     * before it. Where the plan does not give the element the place is that of
     * the parameter, or of the suite. Returns NVBW_OK. */
    int32_t (*refuse)(
        struct nvbw_ctx *, const char *name, uint32_t i, const char *text);
};

/* The one argument of your functions. */
struct nvbw_ctx {
    uint32_t size, flags;
    const struct nvbw_host *host;
    const struct nvbw_testcase *testcase; /* yours; NULL in init and fini */
    void *state;                          /* yours, set by init */
};

#ifdef __cplusplus
#define NVBW_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define NVBW_EXPORT extern __attribute__((visibility("default")))
#endif

/* The one symbol that you export. */
NVBW_EXPORT const struct nvbw_plugin nvbw_plugin_v1;

#endif
