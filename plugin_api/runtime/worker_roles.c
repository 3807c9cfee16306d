/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "worker_roles.h"

#include <stdio.h>
#include <string.h>

#include "cancel.h"
#include "peers.h"
#include "state.h"
#include "topology.h"
#include "worker_team.h"

enum { HOST_POOL_SHARE = 8, FOLLOW_ARENA_BYTES = 1 << 30 };
static const uint64_t host_pool_limit_bytes = UINT64_C(16) << 30;
static const uint64_t health_deadline_ns = UINT64_C(10) * 1000 * 1000 * 1000;

/* One task being carried out. */
struct job {
    struct worker *worker;
    uint32_t silent; /* 1: rank 0 speaks for it */
    uint32_t begun;  /* 1: the testcase was called */
    const struct task_frame *task;
    struct arena *arena;
    struct task_end *end;
    struct done_frame done;
};

static void end_with(struct job *job, const char *bye, const char *message)
{
    job->end->bye = bye;
    snprintf(job->end->message, sizeof job->end->message, "%s",
        message == NULL ? "" : message);
}

/* What went wrong before a plugin had a say. */
static void fail_job(
    struct job *job, const char *reason, const struct error *err)
{
    job->done = (struct done_frame){ .status = err->status,
        .code = err->code,
        .state = STATE_ERROR,
        .reason = reason,
        .message = arena_text(job->arena, err->text) };
}

static void send_frame(struct job *job, uint32_t type, const void *object)
{
    if (wire_send(job->worker->out_fd, type, object, NULL) < 0) {
        end_with(job, "finished", "the host is gone");
    }
}

static void describe(struct job *job)
{
    struct loaded_plugin *const plugin =
        arena_alloc(job->arena, 1, sizeof *plugin);
    struct error err = { 0 };

    if (plugin == NULL) {
        error_set(&err, NVBW_E_SYSTEM, "no memory for a plugin");
        fail_job(job, "system", &err);
        return;
    }
    if (loader_load(job->task->plugin_file, &job->worker->arena, plugin, &err) <
        0) {
        fail_job(job, "refused", &err);
        return;
    }
    send_frame(job, FRAME_PLUGIN, &plugin->schema);
}

static void read_facts(struct job *job)
{
    struct error err = { 0 };
    struct facts facts;

    if (topology_read(job->task->driver_file, job->arena, &facts, &err) < 0) {
        fail_job(job, "system", &err);
        return;
    }
    send_frame(job, FRAME_FACTS, &facts);
}

int32_t worker_need_engine(
    struct worker *worker, const struct task_frame *task, struct error *err)
{
    struct engine_setup setup = { .facts = worker->facts,
        .peers = worker->peers };

    FAIL_IF(worker->facts == NULL, err, NVBW_E_INVALID,
        "the worker was given a task before the facts");
    if (worker->engine != NULL) {
        return NVBW_OK;
    }
    setup.driver_file = arena_text(&worker->arena, task->driver_file);
    setup.pool_limit_bytes = worker->facts->memory_bytes / HOST_POOL_SHARE;
    if (setup.pool_limit_bytes > host_pool_limit_bytes) {
        setup.pool_limit_bytes = host_pool_limit_bytes;
    }
    return engine_open(&setup, &worker->engine, err);
}

static int32_t need_engine(struct job *job, struct error *err)
{
    return worker_need_engine(job->worker, job->task, err);
}

static void check_health(struct job *job)
{
    const uint64_t deadline_ns = job->task->budget_ns < health_deadline_ns
                                     ? job->task->budget_ns
                                     : health_deadline_ns;
    struct error err = { 0 };
    int32_t status = need_engine(job, &err);

    if (status == NVBW_OK) {
        status = engine_health(job->worker->engine, job->task->gpus,
            job->task->gpus_count, deadline_ns, &err);
    }
    if (status < 0) {
        err.status = status;
        fail_job(job, service_meaning(status).reason, &err);
    }
}

static void open_watch(struct job *job)
{
    struct error err = { 0 };

    if (worker_open_watch(job->worker, job->task->driver_file, &err) < 0) {
        fail_job(job, "system", &err);
    }
}

static struct service *find_service(
    const struct worker *worker, const char *file)
{
    for (uint32_t i = 0; i < worker->services_count; i++) {
        if (strcmp(worker->services[i]->plugin.schema.file, file) == 0) {
            return worker->services[i];
        }
    }
    return NULL;
}

/* Of a rank that follows: rank 0's path says nothing here, a plugin's name
 * does. */
static struct service *find_named(const struct worker *worker, const char *name)
{
    for (uint32_t i = 0; name != NULL && i < worker->services_count; i++) {
        if (strcmp(worker->services[i]->plugin.schema.name, name) == 0) {
            return worker->services[i];
        }
    }
    return NULL;
}

/* Loads and initialises; a plugin that fails in init is kept, so that its next
 * task hears the same. */
static int32_t open_service(
    struct job *job, const char *file, struct service **out, struct error *err)
{
    struct worker *const worker = job->worker;
    struct service *const service =
        arena_alloc(&worker->arena, 1, sizeof *service);

    FAIL_IF(service == NULL || worker->services_count == WORKER_PLUGINS, err,
        NVBW_E_SYSTEM, "no room for another plugin in this worker");
    TRY(loader_load(file, &worker->arena, &service->plugin, err));
    service->log = worker->log;
    service->out_fd = worker->out_fd;
    service->ctx =
        (struct nvbw_ctx){ .size = sizeof service->ctx, .host = &service_host };
    atomic_store(&service->deadline_ns, INT64_MAX);
    /* MPI can be started once in a rank, and only in its run worker: by the
     * first plugin that can, and others measure with what that one lent. */
    service->has_begun = (service->plugin.own.flags & NVBW_PLUGIN_MPI) == 0 ||
                         (job->task->role == TASK_JOIN &&
                             strcmp(file, job->task->plugin_file) == 0);
    if (service->has_begun && service->plugin.own.init != NULL) {
        service->init_status = service->plugin.own.init(&service->ctx);
        service_flush_log(service);
    }
    worker->services[worker->services_count++] = service;
    *out = service;
    return NVBW_OK;
}

static int32_t need_service(
    struct job *job, struct service **out, struct error *err)
{
    const char *const file = job->task->plugin_file;

    FAIL_IF(file == NULL, err, NVBW_E_INVALID, "the task names no plugin");
    FAIL_IF(job->worker->facts == NULL && job->task->role != TASK_CHECK, err,
        NVBW_E_INVALID, "the worker was given a task before the facts");
    *out = job->silent ? find_named(job->worker, job->task->unit.plugin)
                       : find_service(job->worker, file);
    FAIL_IF(*out == NULL && job->silent, err, NVBW_E_INVALID,
        "this rank has no plugin %s: all ranks need the same plan",
        job->task->unit.plugin);
    return *out != NULL ? NVBW_OK : open_service(job, file, out, err);
}

static void refuse_after_init(struct job *job, const struct service *service)
{
    const int32_t status = service->init_status;
    const struct status_meaning meaning = service_meaning(status);

    job->done = (struct done_frame){ .status = status,
        .code = service->init_code,
        .state = meaning.state,
        .reason = meaning.reason,
        .message = service->init_text };
    if (service->init_text[0] == '\0') {
        job->done.message =
            arena_format(job->arena, "plugin %s: init returned %s",
                service->plugin.schema.name, status_name(status));
    }
    if (status == NVBW_E_SKIPPED && service->skipped_in_init != 0) {
        job->done.state = STATE_SKIP;
        job->done.reason = name_of(skip_names, service->skipped_in_init);
    }
}

/* What a breach of the contract, a sticky error or a signal leaves of the
 * worker. A poisoned one sends no DONE: what is left goes to a fresh one. */
static void judge_end(struct job *job, const struct task_run *run)
{
    const struct peers *const peers = job->worker->peers;

    if (run->poisoned && peers != NULL && peers->lost.status < 0) {
        end_with(job, "team", peers->lost.text);
    } else if (run->poisoned) {
        end_with(job, "poisoned", run->trouble.text);
    } else if (run->broken.status < 0) {
        end_with(job, "contract", run->broken.text);
    } else if (cancel_requested()) {
        end_with(job, "cancelled", NULL);
    } else if (run->host_gone) {
        end_with(job, "finished", "the host is gone");
    }
}

static void carry_out(
    struct job *job, struct service *service, struct task_run *run)
{
    const int32_t at = loader_find(&service->plugin, job->task->unit.testcase);

    service_carry_out(service, &service->plugin.testcases[at], &job->done);
    judge_end(job, run);
    service->run = NULL;
    service->ctx.testcase = NULL;
}

static void run_unit(struct job *job, uint32_t recording)
{
    struct task_run *const run = arena_alloc(job->arena, 1, sizeof *run);
    struct service *service = NULL;
    struct error err = { 0 };

    if (run == NULL || need_service(job, &service, &err) < 0) {
        fail_job(
            job, err.status == NVBW_E_INVALID ? "contract" : "refused", &err);
        return;
    }
    if (service->init_status < 0) {
        refuse_after_init(job, service);
        return;
    }
    *run = (struct task_run){ .task = job->task,
        .facts = job->worker->facts,
        .recording = recording,
        .silent = job->silent,
        .arena = job->arena };
    if (!recording && need_engine(job, &err) < 0) {
        fail_job(job, "system", &err);
        return;
    }
    run->engine = recording ? NULL : job->worker->engine;
    if (service_begin(service, run, &err) < 0) {
        fail_job(job, "contract", &err);
        return;
    }
    job->begun = 1;
    carry_out(job, service, run);
}

static void record_unit(struct job *job)
{
    run_unit(job, 1);
}

/* Why this rank did not go through the task as it should, for the others;
 * status 0: it did. */
static struct error own_failure(const struct job *job)
{
    struct error what = { 0 };

    if (job->end->bye != NULL) {
        error_set(&what, NVBW_E_SYSTEM, "its worker ends (%s)%s%.700s",
            job->end->bye, job->end->message[0] != '\0' ? ": " : "",
            job->end->message);
    } else if (!job->begun) {
        error_set(&what,
            job->done.status < 0 ? job->done.status : NVBW_E_SYSTEM, "%.700s",
            job->done.message != NULL ? job->done.message : "it cannot begin");
    }
    return what;
}

/* After a task all ranks have to stand together. */
static void end_together(struct job *job)
{
    const struct error what = own_failure(job);
    struct error err = { 0 };
    const int32_t status =
        peers_leave(job->worker->peers, what.status < 0 ? &what : NULL, &err);

    if (status < 0 && what.status >= 0) {
        end_with(job, "team", err.text);
    }
}

/* What it refuses was sent; what it returns says whether it could tell. */
static void conclude_check(
    struct job *job, const struct service *service, int32_t status)
{
    const struct task_run *const run = service->run;
    struct error err = { 0 };

    if (run->broken.status < 0) {
        error_set(&err, NVBW_E_INVALID, "plugin %s, testcase %s: %.900s",
            service->plugin.schema.name, run->unit.testcase, run->broken.text);
        fail_job(job, "contract", &err);
    } else if (status != NVBW_OK) {
        error_set(&err, NVBW_E_INVALID,
            "plugin %s, testcase %s: C28: check() returned %d",
            service->plugin.schema.name, run->unit.testcase, status);
        fail_job(job, "contract", &err);
    }
}

static void check_values(struct job *job)
{
    struct task_run *const run = arena_alloc(job->arena, 1, sizeof *run);
    struct service *service = NULL;
    struct error err = { 0 };

    if (run == NULL || need_service(job, &service, &err) < 0) {
        fail_job(job, "refused", &err);
        return;
    }
    if (service->init_status < 0) {
        return; /* its cells will say so */
    }
    *run = (struct task_run){
        .task = job->task, .checking = 1, .arena = job->arena
    };
    if (service_begin(service, run, &err) < 0) {
        fail_job(job, "contract", &err);
        return;
    }

    const int32_t at = loader_find(&service->plugin, job->task->unit.testcase);
    const struct loaded_testcase *const testcase =
        &service->plugin.testcases[at];

    if (testcase->own.check != NULL) {
        const int32_t status = service_check(service, testcase);

        service_flush_log(service);
        conclude_check(job, service, status);
    }
    service->run = NULL;
    service->ctx.testcase = NULL;
}

/* Of an MPI job rank 0 passes the task on. */
static void measure_unit(struct job *job)
{
    struct worker *const worker = job->worker;
    struct error err = { 0 };

    if (worker->peers != NULL && worker->peers->rank == 0 &&
        worker_team_pass(worker, job->task, job->arena, &err) < 0) {
        end_with(job, "team", err.text);
        return;
    }
    run_unit(job, 0);
    if (worker->peers != NULL) {
        end_together(job);
    }
}

/* ---- MPI ---- */

static void send_team(struct job *job, const struct team_frame *team)
{
    send_frame(job, FRAME_TEAM, team);
}

/* The other MPI plugins of the run, so that they are there when rank 0 names
 * them. */
static int32_t open_others(struct job *job, struct error *err)
{
    for (uint32_t i = 0; i < job->task->mpi_plugins_count; i++) {
        const char *const file = job->task->mpi_plugins[i];
        struct service *service = find_service(job->worker, file);

        if (service == NULL) {
            TRY(open_service(job, file, &service, err));
        }
    }
    return NVBW_OK;
}

static void join(struct job *job)
{
    struct worker *const worker = job->worker;
    struct team_frame team = { .ranks = 0 };
    struct service *service = NULL;
    struct error err = { 0 };

    if (need_service(job, &service, &err) < 0 || open_others(job, &err) < 0) {
        fail_job(job, "refused", &err);
        return;
    }
    if (service->init_status < 0) {
        refuse_after_init(job, service);
        return;
    }
    if (worker_team_open(worker, service, &err) < 0) {
        fail_job(job, "contract", &err);
        return;
    }
    team.rank = worker->peers->rank;
    team.ranks = worker->peers->ranks;
    send_team(job, &team); /* whoever fails is to be known by its rank */
    if (worker_team_form(worker, job->task, &team, &err) < 0) {
        fail_job(job, "system", &err);
        return;
    }
    send_team(job, &team);
    send_frame(job, FRAME_FACTS, worker->facts);
}

static void follow_task(
    struct job *job, const struct task_frame *task, struct arena *arena)
{
    struct job one = { .worker = job->worker,
        .silent = 1,
        .task = task,
        .arena = arena,
        .end = job->end };

    measure_unit(&one);
}

/* Until rank 0 has no more tasks, or there is no team any more. */
static void follow(struct job *job)
{
    struct error err = { 0 };
    struct arena arena;

    if (job->worker->peers == NULL) {
        error_set(
            &err, NVBW_E_INVALID, "a worker without a team cannot follow");
        fail_job(job, "system", &err);
        return;
    }
    arena_init(&arena, FOLLOW_ARENA_BYTES);
    while (job->end->bye == NULL) {
        struct task_frame *task = NULL;

        if (worker_team_take(job->worker, &arena, &task, &err) < 0) {
            end_with(job, "team", err.text);
        } else if (task == NULL) {
            end_with(job, "finished", NULL);
        } else {
            follow_task(job, task, &arena);
        }
        arena_clear(&arena);
    }
}

typedef void role_fn(struct job *job);

static role_fn *const roles[] = {
    [TASK_DESCRIBE] = describe,
    [TASK_RECORD] = record_unit,
    [TASK_RUN] = measure_unit,
    [TASK_FACTS] = read_facts,
    [TASK_HEALTH] = check_health,
    [TASK_JOIN] = join,
    [TASK_FOLLOW] = follow,
    [TASK_WATCH] = open_watch,
    [TASK_CHECK] = check_values,
};

void worker_do_task(struct worker *worker, const struct task_frame *task,
    struct arena *arena, struct task_end *out_end)
{
    struct job job = {
        .worker = worker, .task = task, .arena = arena, .end = out_end
    };

    out_end->bye = NULL;
    if (task->role >= sizeof roles / sizeof roles[0] ||
        roles[task->role] == NULL) {
        end_with(&job, "finished", "the task has an unknown role");
        return;
    }
    roles[task->role](&job);
    if (out_end->bye == NULL || (strcmp(out_end->bye, "poisoned") != 0 &&
                                    strcmp(out_end->bye, "team") != 0)) {
        send_frame(&job, FRAME_DONE, &job.done);
    }
}

int worker_leads_team(const struct worker *worker)
{
    return worker->peers != NULL && worker->peers->formed &&
           worker->peers->rank == 0 && worker->peers->lost.status >= 0;
}

/* Rank 0 lets the others go, so that all of them end MPI together. */
static void dismiss(struct worker *worker)
{
    struct arena arena;

    if (!worker_leads_team(worker)) {
        return;
    }
    arena_init(&arena, FOLLOW_ARENA_BYTES);
    worker_team_pass(worker, NULL, &arena, NULL);
    arena_clear(&arena);
}

void worker_end_plugins(struct worker *worker)
{
    dismiss(worker);
    for (uint32_t i = worker->services_count; i > 0; i--) {
        struct service *const service = worker->services[i - 1];

        if (service->plugin.own.fini != NULL && service->has_begun &&
            service->init_status >= 0) {
            service->plugin.own.fini(&service->ctx);
            service_flush_log(service);
        }
    }
}
