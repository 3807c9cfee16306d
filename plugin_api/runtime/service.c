/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "service.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cancel.h"
#include "clock.h"

int32_t service_broken(struct service *service, const char *format, ...)
{
    struct task_run *const run = service->run;

    if (run != NULL && run->broken.status == NVBW_OK) {
        va_list args;

        va_start(args, format);
        vsnprintf(run->broken.text, sizeof run->broken.text, format, args);
        va_end(args);
        run->broken.status = NVBW_E_INVALID;
    }
    return NVBW_E_INVALID;
}

int32_t service_check_idle(struct service *service, const char *function)
{
    return service->run != NULL && service->run->measuring
               ? service_broken(service,
                     "C13: %s() was called from enqueue or verify", function)
               : NVBW_OK;
}

int service_is_over(const struct service *service)
{
    const struct task_run *const run = service->run;

    return run == NULL || run->broken.status < 0 || run->poisoned ||
           run->host_gone;
}

void service_send(struct service *service, uint32_t type, const void *object)
{
    if (service->run != NULL && service->run->silent) {
        return;
    }
    if (wire_send(service->out_fd, type, object, NULL) < 0 &&
        service->run != NULL) {
        service->run->host_gone = 1;
    }
}

static void send_line(void *user, uint32_t level, const char *text,
    uint64_t now_ns, uint32_t dropped)
{
    const struct log_frame frame = { level, text, now_ns, dropped };

    service_send(user, FRAME_LOG, &frame);
}

void service_flush_log(struct service *service)
{
    log_buffer_drain(service->log, send_line, service);
}

void service_between_samples(void *user)
{
    service_flush_log(user);
}

void service_restart_clock(struct service *service)
{
    const uint64_t timeout_ns = service->run->unit.timeout_ns;

    atomic_store(&service->deadline_ns,
        timeout_ns == 0 || timeout_ns > INT64_MAX / 2
            ? INT64_MAX
            : (int64_t)(clock_machine_ns() + timeout_ns));
}

static void add_log(struct nvbw_ctx *ctx, int32_t level, const char *text)
{
    const int is_known = level >= NVBW_LOG_ERROR && level <= NVBW_LOG_INFO;

    log_buffer_add(service_of(ctx)->log,
        is_known ? (uint32_t)level : NVBW_LOG_INFO, text, clock_machine_ns());
}

static int32_t is_cancelled(struct nvbw_ctx *ctx)
{
    (void)ctx;
    return cancel_requested();
}

static int64_t time_left(struct nvbw_ctx *ctx)
{
    const int64_t deadline = atomic_load(&service_of(ctx)->deadline_ns);

    return deadline == INT64_MAX ? deadline
                                 : deadline - (int64_t)clock_machine_ns();
}

/* Objects of multicast can take a host's GPUs out of service for others: they
 * are made behind a guard (multicast_guard.h), and no plugin gets around it. */
static const char multicast[] = "cuMulticast";

static nvbw_driver_fn *driver(
    struct nvbw_ctx *ctx, const char *name, uint32_t cuda_version)
{
    const struct task_run *const run = service_of(ctx)->run;

    if (name == NULL || run == NULL || run->engine == NULL ||
        strncmp(name, multicast, sizeof multicast - 1) == 0) {
        return NULL;
    }

    void *const found = engine_driver_function(run->engine, name, cuda_version);
    nvbw_driver_fn *function = NULL;

    /* ISO C has no conversion between the two kinds of pointer. */
    _Static_assert(sizeof function == sizeof found, "pointers are alike");
    __builtin_memcpy(&function, &found, sizeof function);
    return function;
}

static int32_t lend(struct nvbw_ctx *ctx, nvbw_allgather_fn *allgather)
{
    struct service *const service = service_of(ctx);

    if (service->run != NULL || allgather == NULL ||
        (service->plugin.own.flags & NVBW_PLUGIN_MPI) == 0) {
        return service_broken(
            service, "C5: lend() is for plugins with NVBW_PLUGIN_MPI, in init");
    }
    service->allgather = allgather;
    return NVBW_OK;
}

static int32_t join(struct nvbw_ctx *ctx, uint32_t rank, uint32_t ranks)
{
    struct service *const service = service_of(ctx);

    if (service->run != NULL || rank >= ranks ||
        (service->plugin.own.flags & NVBW_PLUGIN_MPI) == 0) {
        return service_broken(
            service, "C5: join() is for plugins with NVBW_PLUGIN_MPI, in init");
    }
    service->rank = rank;
    service->ranks = ranks;
    return NVBW_OK;
}

const struct nvbw_host service_host = {
    .size = sizeof service_host,
    .abi_minor = NVBW_ABI_MINOR,
    .log = add_log,
    .cancelled = is_cancelled,
    .time_left_ns = time_left,
    .places = service_places,
    .param_count = service_param_count,
    .param_int = service_param_int,
    .param_real = service_param_real,
    .param_text = service_param_text,
    .measure = service_measure,
    .wanted = service_wanted,
    .figure = service_figure,
    .quantile = service_quantile,
    .put = service_put,
    .skip = service_skip,
    .fail = service_fail,
    .labels = service_labels,
    .driver = driver,
    .lend = lend,
    .join = join,
    .refuse = service_refuse,
};
