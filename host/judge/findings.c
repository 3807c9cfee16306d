/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "findings.h"

#include <string.h>

#include "expect.h"

static int32_t add(const struct judging *judging, struct verdicts *out,
    const struct finding *finding)
{
    struct finding *const list = arena_append(
        judging->arena, out->findings, &out->findings_count, sizeof *list);

    FAIL_IF(list == NULL || finding->what == NULL, judging->err, NVBW_E_SYSTEM,
        "no memory to judge");
    out->findings = list;
    list[out->findings_count - 1] = *finding;
    return NVBW_OK;
}

static const char *or_text(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

static int32_t find_driver(const struct judging *judging, struct verdicts *out)
{
    const char *const trouble = judging->evidence->facts.driver_trouble;
    const struct finding finding = { .id = "driver",
        .gpu = -1,
        .peer = -1,
        .what = trouble,
        .action = "install the NVIDIA driver or see what nvidia-smi says; "
                  "--driver rehearses without one" };

    return trouble == NULL ? NVBW_OK : add(judging, out, &finding);
}

/* Only what the plan asks for: a refused plugin then has a placeholder unit,
 * and so has a refused testcase. */
static int32_t find_refused_plugins(
    const struct judging *judging, struct verdicts *out)
{
    for (uint32_t i = 0; i < judging->evidence->units_count; i++) {
        const struct unit *const unit = &judging->evidence->units[i];

        if (unit->state != STATE_ERROR || unit->reason == NULL ||
            (strcmp(unit->reason, "refused") != 0 &&
                strcmp(unit->reason, "contract") != 0)) {
            continue;
        }

        const int is_whole = strcmp(unit->testcase, "*") == 0;
        const struct finding finding = { .id = "plugin_refused",
            .gpu = -1,
            .peer = -1,
            .what = arena_format(judging->arena,
                "plugin %s%s%s was refused: %s", unit->plugin,
                is_whole ? "" : ", testcase ", is_whole ? "" : unit->testcase,
                or_text(unit->message, "no reason was given")),
            .action = "run `nvbw-host check-plugin` on its file",
            .exit_code = EXIT_CONTRACT };

        TRY(add(judging, out, &finding));
    }
    return NVBW_OK;
}

static int32_t find_gpu_trouble(
    const struct judging *judging, struct verdicts *out)
{
    const struct facts *const facts = &judging->evidence->facts;

    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        const struct gpu_facts *const gpu = &facts->gpus[i];
        const struct finding finding = { .id = "gpu_unusable",
            .gpu = (int32_t)i,
            .peer = -1,
            .what = arena_format(judging->arena, "GPU %d cannot be used: %s",
                gpu->index, or_text(gpu->trouble, "")),
            .action = "look for Xid messages in the kernel log",
            /* Who chose devices may have chosen others because of it. */
            .exit_code = judging->evidence->plan.devices == NULL
                             ? EXIT_HEALTH
                             : EXIT_PASSED };

        if (gpu->trouble != NULL) {
            TRY(add(judging, out, &finding));
        }
    }
    return NVBW_OK;
}

static int32_t find_unexpected(
    const struct judging *judging, struct verdicts *out)
{
    struct expect_fault *faults = NULL;
    uint32_t count = 0;

    TRY(expect_check(&judging->evidence->plan, &judging->evidence->facts,
        judging->arena, &faults, &count, judging->err));
    for (uint32_t i = 0; i < count; i++) {
        const struct finding finding = { .id = "expect",
            .gpu = faults[i].gpu,
            .peer = -1,
            .what = faults[i].what,
            .action = "mend the machine, or correct the plan's expect",
            .exit_code = EXIT_HEALTH };

        TRY(add(judging, out, &finding));
    }
    return NVBW_OK;
}

/* A resumed run looks anew. */
static uint32_t last_beginning(const struct evidence *evidence)
{
    for (uint32_t i = evidence->events_count; i > 0; i--) {
        const char *const what = evidence->events[i - 1].what;

        if (what != NULL && strcmp(what, "resumed") == 0) {
            return i;
        }
    }
    return 0;
}

/* What the run found in use that the plan expects to be idle. */
static int32_t find_busy(const struct judging *judging, struct verdicts *out)
{
    const struct evidence *const evidence = judging->evidence;

    for (uint32_t i = last_beginning(evidence); i < evidence->events_count;
         i++) {
        const struct event *const event = &evidence->events[i];
        const struct finding finding = { .id = "expect",
            .gpu = event->gpu,
            .peer = -1,
            .what = or_text(event->text, "a GPU is not idle"),
            .action = "end what uses the GPU, or correct the plan's expect",
            .next = "`nvidia-smi pmon` names who uses it",
            .exit_code = EXIT_HEALTH };

        if (event->what != NULL && strcmp(event->what, "busy") == 0) {
            TRY(add(judging, out, &finding));
        }
    }
    return NVBW_OK;
}

/* The last word on whether a GPU still answers. */
static const struct event *last_taint(
    const struct evidence *evidence, int32_t gpu)
{
    for (uint32_t i = evidence->events_count; i > 0; i--) {
        const struct event *const event = &evidence->events[i - 1];

        if (event->gpu == gpu && event->what != NULL &&
            strcmp(event->what, "tainted") == 0) {
            return event;
        }
        if (event->gpu == gpu && event->what != NULL &&
            strcmp(event->what, "untainted") == 0) {
            return NULL;
        }
    }
    return NULL;
}

static int32_t find_tainted(const struct judging *judging, struct verdicts *out)
{
    const struct facts *const facts = &judging->evidence->facts;

    for (uint32_t i = 0; i < facts->gpus_count; i++) {
        const struct event *const event =
            last_taint(judging->evidence, (int32_t)i);

        if (event == NULL) {
            continue;
        }

        const struct finding finding = { .id = "gpu_lost",
            .gpu = (int32_t)i,
            .peer = -1,
            .what = arena_format(judging->arena,
                "GPU %d stopped responding: %s", facts->gpus[i].index,
                or_text(event->text, "its worker could not be ended")),
            .action = "look for Xid messages in the kernel log, then reset "
                      "the GPU or the machine",
            .exit_code = EXIT_HEALTH };

        TRY(add(judging, out, &finding));
    }
    return NVBW_OK;
}

int32_t findings_add(const struct judging *judging, struct verdicts *out)
{
    static int32_t (*const rules[])(
        const struct judging *, struct verdicts *) = {
        find_driver,
        find_unexpected,
        find_busy,
        find_gpu_trouble,
        find_tainted,
        find_refused_plugins,
    };

    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        TRY(rules[i](judging, out));
    }
    return NVBW_OK;
}
