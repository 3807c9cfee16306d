/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "run.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "progress.h"
#include "quantity.h"

/* What a worker is wrapped in has its say after the worker's end: checkers sum
 * up what they found. */
enum { GRACE_SECONDS = 2, GRACE_WRAPPED_SECONDS = 300 };

/* A signalfd for SIGINT and SIGTERM, which are blocked from here on; workers
 * start with an empty mask. */
int run_open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int32_t run_budget(const struct plan *plan, uint64_t *out_ns, struct error *err)
{
    const struct plan_value *const budget = plan_option(plan, "budget");

    *out_ns = UINT64_MAX;
    return budget == NULL ? NVBW_OK
                          : quantity_duration(budget->texts[0], out_ns, err);
}

int32_t run_units(const struct options *options, const struct run_parts *run,
    struct error *err)
{
    struct progress progress;
    struct conduct_request request = {
        .setup = run->setup,
        .evidence = run->evidence,
        .arena = run->arena,
        .journal = run->journal,
        .journal_most_bytes = JOURNAL_LIMIT_BYTES,
        .grace_ns =
            UINT64_C(1000000000) *
            (run->setup->wrap != NULL ? GRACE_WRAPPED_SECONDS : GRACE_SECONDS),
        .has_telemetry = 1,
        .rerun_failed = (uint32_t)options->rerun_failed,
        .signal_fd = run_open_signals(),
        .team = run->team,
    };

    TRY(run_budget(&run->evidence->plan, &request.budget_ns, err));
    progress_open(&progress, run->evidence, options->quiet, options->verbose);
    if (options->watch) {
        progress_add_lines(&progress);
    }

    const struct conduct_watch watch = progress_watch(&progress);

    request.watch = &watch;

    const int32_t status = conduct_run(&request, err);

    progress_close(&progress);
    close(request.signal_fd);
    return status;
}
