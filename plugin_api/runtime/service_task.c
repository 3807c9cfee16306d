/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* probe() and run() of one testcase, and what their return means. */
#include "service.h"

#include "cancel.h"
#include "state.h"

static const char *words_of(const struct task_run *run, int32_t status)
{
    if (run->trouble.status == status && run->trouble.text[0] != '\0') {
        return run->trouble.text;
    }
    return NULL;
}

static int32_t call(
    struct service *service, const struct loaded_testcase *testcase)
{
    if (testcase->own.probe != NULL) {
        TRY(testcase->own.probe(&service->ctx));
    }
    return testcase->own.run(&service->ctx);
}

/* A negative return is the word on all cells that have none. After a skip or
 * OK what is left stays with the host, which records `unsettled`. */
static void word_rest(
    struct service *service, int32_t status, struct done_frame *out)
{
    struct task_run *const run = service->run;
    const struct status_meaning meaning = service_meaning(status);
    const int is_known = service_is_error(service, status);

    out->state = is_known ? meaning.state : STATE_ERROR;
    out->reason = is_known ? meaning.reason : "contract";
    out->code = run->trouble.code;
    out->message = words_of(run, status);
    if (out->message == NULL && status == NVBW_E_CANCELLED) {
        out->message = is_known ? "the host asked to stop"
                                : "C18: the testcase returned "
                                  "NVBW_E_CANCELLED unasked";
    } else if (out->message == NULL && !is_known) {
        out->message = arena_format(run->arena,
            "C7: testcase %s returned %d, which is no status",
            run->unit.testcase, status);
    } else if (out->message == NULL) {
        out->message = arena_format(run->arena,
            "testcase %s returned %s without saying why", run->unit.testcase,
            status_name(status));
    }
}

void service_carry_out(struct service *service,
    const struct loaded_testcase *testcase, struct done_frame *out)
{
    struct task_run *const run = service->run;
    const int32_t status = call(service, testcase);

    service_flush_log(service);
    *out = (struct done_frame){ .status = status,
        .calls = atomic_load(&run->calls),
        .failed_call = run->failed_call };
    if (run->broken.status < 0) {
        out->status = NVBW_E_INVALID;
        out->state = STATE_ERROR;
        out->reason = "contract";
        out->message = arena_format(run->arena, "plugin %s, testcase %s: %s",
            service->plugin.schema.name, run->unit.testcase, run->broken.text);
    } else if (status < 0 && status != NVBW_E_SKIPPED) {
        word_rest(service, status, out);
    }
}
