/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "report_formats.h"

#include <string.h>

/* Nothing failed, but nothing was held against a limit either. */
static int is_unchecked(const struct verdicts *verdicts)
{
    return verdicts->exit_code == EXIT_PASSED &&
           verdicts->accepted_count == 0 &&
           verdicts->by_state[STATE_PASS] + verdicts->by_state[STATE_WARN] == 0;
}

const struct exit_words *report_words_of(int32_t exit_code)
{
    static const struct exit_words words[] = {
        { EXIT_PASSED, "PASSED", "every limit was met" },
        { EXIT_FAILED, "FAILED", "a limit or a data verification failed" },
        { EXIT_USAGE, "USAGE", "nothing ran" },
        { EXIT_HEALTH, "UNHEALTHY", "the machine is not fit to be measured" },
        { EXIT_INCOMPLETE, "INCOMPLETE",
            "not all that was asked for could be measured" },
        { EXIT_CONTRACT, "CONTRACT",
            "a plugin was refused or broke its contract" },
    };

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].code == exit_code) {
            return &words[i];
        }
    }
    return &words[EXIT_INCOMPLETE];
}

const struct exit_words *report_exit_words(const struct verdicts *verdicts)
{
    static const struct exit_words unchecked = { EXIT_PASSED, "PASSED",
        "nothing failed, and nothing was checked against a limit" };

    return is_unchecked(verdicts) ? &unchecked
                                  : report_words_of(verdicts->exit_code);
}

/* Cells that have a limit and a figure that may be a cache's. */
static uint32_t count_cached(const struct verdicts *verdicts)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < verdicts->count; i++) {
        const char *const reason = verdicts->list[i].reason;

        count += verdicts->list[i].state == STATE_UNCHECKED && reason != NULL &&
                 strcmp(reason, "cache_bound") == 0;
    }
    return count;
}

/* A pass says how much of the machine it speaks of. */
static void add_scope(struct strbuf *out, const struct verdicts *verdicts)
{
    const uint32_t checked =
        verdicts->by_state[STATE_PASS] + verdicts->by_state[STATE_WARN];

    if (verdicts->exit_code != EXIT_PASSED || checked == verdicts->count) {
        return;
    }
    if (verdicts->by_state[STATE_FAIL] + verdicts->by_state[STATE_MISMATCH] >
        verdicts->accepted_count) {
        strbuf_add(out, " that is required");
    }
    if (verdicts->accepted_count > 0) {
        strbuf_format(out, ", but for %u accepted failure%s",
            verdicts->accepted_count, verdicts->accepted_count == 1 ? "" : "s");
    }
    if (verdicts->by_state[STATE_SKIP] > 0) {
        strbuf_format(out, ", %u skipped", verdicts->by_state[STATE_SKIP]);
    }

    const uint32_t cached = count_cached(verdicts);
    const uint32_t unlimited = verdicts->by_state[STATE_UNCHECKED] - cached;

    if (checked > 0 && unlimited > 0) {
        strbuf_format(out, ", %u without a limit", unlimited);
    }
    if (cached > 0) {
        strbuf_format(out, ", %u not held to theirs (cache_bound)", cached);
    }
}

void report_verdict_add(const struct report_input *input, struct strbuf *out)
{
    const struct verdicts *const verdicts = input->verdicts;
    const struct exit_words *const words = report_exit_words(verdicts);

    strbuf_format(out, "%s: %s", words->word, words->text);
    add_scope(out, verdicts);
    strbuf_format(out, ", exit %d", verdicts->exit_code);
}

void report_simulated_add(const struct facts *facts, struct strbuf *out)
{
    if (facts->simulated) {
        strbuf_format(out, " (SIMULATED, profile %s)",
            facts->profile == NULL ? "unknown" : facts->profile);
    }
}

int32_t report_verdict(
    const struct report_input *input, struct strbuf *out, struct error *err)
{
    (void)err;
    report_verdict_add(input, out);
    report_simulated_add(&input->evidence->facts, out);
    strbuf_add(out, "\n");
    return NVBW_OK;
}
