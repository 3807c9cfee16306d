/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Each rule of descriptors that the host can check, broken by one member of a
 * good plugin. */
#include "schema_check.h"
#include "plan.h"
#include "state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *choices[] = { "one", "two" };
static const char *helps[] = { "First.", "Second." };

/* A good plugin: parameter 0 an ENUM, 1 an INT, 2 a LIST of sizes. */
struct sample {
    struct param_schema params[3];
    struct metric_schema metrics[2];
    struct testcase_schema testcases[2];
    struct plugin_schema plugin;
};

static void sample_init(struct sample *s)
{
    *s = (struct sample){
        .params = { { .name = "kind",
                        .type = NVBW_TYPE_ENUM,
                        .default_text = "two",
                        .choices = choices,
                        .choices_count = 2,
                        .choices_help = helps,
                        .choices_help_count = 2 },
            { .name = "lanes",
                .type = NVBW_TYPE_INT,
                .unit = NVBW_UNIT_COUNT,
                .default_text = "4",
                .min_text = "1",
                .max_text = "16" },
            { .name = "ladder",
                .type = NVBW_TYPE_SIZE,
                .flags = NVBW_PARAM_LIST,
                .default_text = "4 KiB, 1 MiB",
                .min_text = "1 KiB" } },
        .metrics = { { .name = "bandwidth",
                         .unit = NVBW_UNIT_BYTES_PER_SECOND,
                         .better = NVBW_HIGHER,
                         .flags = NVBW_METRIC_PAIRS,
                         .rows = "gpu",
                         .cols = "gpu" },
            { .name = "latency",
                .unit = NVBW_UNIT_NANOSECONDS,
                .better = NVBW_LOWER,
                .rows = "#lanes",
                .cols = "ladder" } },
    };
    s->testcases[0] = (struct testcase_schema){
        .name = "acme_read",
        .params = s->params,
        .params_count = 3,
        .metrics = s->metrics,
        .metrics_count = 2,
    };
    s->testcases[1] = s->testcases[0];
    s->testcases[1].name = "acme_write";
    s->plugin = (struct plugin_schema){
        .name = "acme",
        .version = "1",
        .file = "/p/acme.so",
        .abi_minor = NVBW_ABI_MINOR,
        .testcases = s->testcases,
        .testcases_count = 2,
    };
}

/* Wants the first testcase's problem to hold these words, or none. */
static void expect_problem(struct sample *s, const char *words)
{
    struct arena arena;
    struct error err = { 0 };
    arena_init(&arena, 1 << 20);
    assert_int_equal(
        schema_check(&s->plugin, standard_params, &arena, &err), NVBW_OK);
    assert_int_equal(s->plugin.state, STATE_NONE);
    const char *problem = s->testcases[0].problem;
    if (words == NULL && problem != NULL) {
        fail_msg("a good testcase has the problem %s", problem);
    }
    if (words != NULL && (problem == NULL || strstr(problem, words) == NULL)) {
        fail_msg("\"%s\" lacks \"%s\"", problem == NULL ? "" : problem, words);
    }
    arena_clear(&arena);
}

static void a_good_plugin_has_no_problem(void **state)
{
    (void)state;
    struct sample s;
    sample_init(&s);
    expect_problem(&s, NULL);
    assert_null(s.testcases[1].problem);
}

#define BREAK(member, value, words)                                            \
    do {                                                                       \
        struct sample s;                                                       \
        sample_init(&s);                                                       \
        s.member = (value);                                                    \
        expect_problem(&s, (words));                                           \
    } while (0)

static void names_are_checked(void **state)
{
    (void)state;
    BREAK(testcases[0].name, "Acme", "(rule C8)");
    BREAK(testcases[0].name, NULL, "(testcase 1)");
    BREAK(testcases[0].name, "_read", "(rule C8)");
    BREAK(params[0].name, "my kind", "(rule C10)");
    BREAK(metrics[0].name, "Band-width", "(rule C11)");
    BREAK(params[0].name, "buffer_size", "standard one");
    BREAK(params[0].name, "lanes", "declared twice (rule C10)");
    BREAK(metrics[0].name, "latency", "declared twice (rule C11)");
}

static void doubled_testcases_refuse_the_later(void **state)
{
    (void)state;
    struct sample s;
    struct arena arena;
    sample_init(&s);
    arena_init(&arena, 1 << 20);
    s.testcases[1].name = "acme_read";
    assert_int_equal(schema_check(&s.plugin, NULL, &arena, NULL), NVBW_OK);
    assert_null(s.testcases[0].problem);
    assert_non_null(s.testcases[1].problem);
    assert_non_null(strstr(s.testcases[1].problem, "(rule C8)"));
    arena_clear(&arena);
}

static void parameters_are_checked(void **state)
{
    (void)state;
    BREAK(params[0].type, 99, "type 99");
    BREAK(params[0].flags, 8, "flags 0x8");
    BREAK(params[1].unit, 99, "unit 99");
    BREAK(params[0].unit, NVBW_UNIT_COUNT, "only INT and REAL");
    BREAK(params[0].default_text, NULL, "no default");
    BREAK(params[0].default_text, "three", "its default");
    BREAK(params[1].default_text, "17", "its default");
    BREAK(params[1].default_text, "0", "its default");
    BREAK(params[1].min_text, "a few", "its minimum");
    BREAK(params[1].max_text, "many", "its maximum");
    BREAK(params[1].max_text, "0", "below its minimum");
    BREAK(params[0].min_text, "one", "has no minimum");
    BREAK(params[2].default_text, "4 KiB, 512 B", "its default");
    BREAK(params[2].default_text, "4 KiB,,1 MiB", "its default");
}

static void choices_are_checked(void **state)
{
    (void)state;
    static const char *twice[] = { "two", "two" };
    static const char *empty[] = { "two", "" };
    BREAK(params[0].choices_count, 0, "without choices");
    BREAK(params[0].choices, twice, "stands twice");
    BREAK(params[0].choices, empty, "choice 1 is empty");
    BREAK(params[0].choices_help_count, 1, "a name and its help");
    BREAK(params[1].choices_count, 1, "only an ENUM");
}

static void metrics_are_checked(void **state)
{
    (void)state;
    BREAK(testcases[0].metrics_count, 0, "no metric");
    BREAK(metrics[0].unit, 99, "unit 99");
    BREAK(metrics[0].better, 0, "higher or lower");
    BREAK(metrics[0].flags, 0x80, "flags 0x80");
    BREAK(metrics[0].cols, "numa", "PAIRS");
    BREAK(metrics[0].cols, NULL, "PAIRS");
}

static void axes_are_checked(void **state)
{
    (void)state;
    BREAK(metrics[1].cols, "gpus", "axis \"gpus\"");
    BREAK(metrics[1].cols, "text", NULL);
    BREAK(metrics[1].cols, "numa", NULL);
    BREAK(metrics[1].cols, NULL, NULL);
    BREAK(metrics[1].cols, "lanes", "axis \"lanes\"");
    BREAK(metrics[1].cols, "#ladder", "no INT parameter");
    BREAK(metrics[1].cols, "#", "no INT parameter");
    BREAK(metrics[1].cols, "rank", "need MPI");
    BREAK(params[1].min_text, NULL, "a minimum of 1");
    BREAK(params[1].min_text, "0", "a minimum of 1");
}

static void needs_are_checked(void **state)
{
    (void)state;
    BREAK(testcases[0].need_features, UINT64_C(1) << 40, "(rule C9)");
    BREAK(testcases[0].need_features, NVBW_NEED_MPI, NULL);
}

static void known_problems_are_kept(void **state)
{
    (void)state;
    struct sample s;
    sample_init(&s);
    s.testcases[0].problem = "known";
    s.testcases[0].metrics_count = 0;
    expect_problem(&s, "known");
}

static void expect_refused(struct sample *s, const char *words)
{
    struct arena arena;
    struct error err = { 0 };
    arena_init(&arena, 1 << 20);
    assert_int_equal(
        schema_check(&s->plugin, standard_params, &arena, &err), NVBW_OK);
    assert_int_equal(s->plugin.state, STATE_ERROR);
    assert_string_equal(s->plugin.reason, "refused");
    if (strstr(s->plugin.message, words) == NULL) {
        fail_msg("\"%s\" lacks \"%s\"", s->plugin.message, words);
    }
    arena_clear(&arena);
}

#define REFUSE(member, value, words)                                           \
    do {                                                                       \
        struct sample s;                                                       \
        sample_init(&s);                                                       \
        s.plugin.member = (value);                                             \
        expect_refused(&s, (words));                                           \
    } while (0)

static void plugins_are_checked(void **state)
{
    (void)state;
    REFUSE(name, "Acme", "(rule C2)");
    REFUSE(name, NULL, "(rule C2)");
    REFUSE(version, NULL, "no version");
    REFUSE(flags, 0x80, "flags 0x80");
    REFUSE(min_host_minor, NVBW_ABI_MINOR + 1, "(rule C6)");
    REFUSE(testcases_count, 0, "no testcases");
}

static void refused_plugins_are_left_alone(void **state)
{
    (void)state;
    struct sample s;
    struct arena arena;
    sample_init(&s);
    arena_init(&arena, 1 << 20);
    s.plugin.state = STATE_SKIP;
    s.plugin.name = NULL;
    assert_int_equal(schema_check(&s.plugin, NULL, &arena, NULL), NVBW_OK);
    assert_int_equal(s.plugin.state, STATE_SKIP);
    assert_null(s.plugin.message);
    arena_clear(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_plugin_has_no_problem),
        cmocka_unit_test(names_are_checked),
        cmocka_unit_test(doubled_testcases_refuse_the_later),
        cmocka_unit_test(parameters_are_checked),
        cmocka_unit_test(choices_are_checked),
        cmocka_unit_test(metrics_are_checked),
        cmocka_unit_test(axes_are_checked),
        cmocka_unit_test(needs_are_checked),
        cmocka_unit_test(known_problems_are_kept),
        cmocka_unit_test(plugins_are_checked),
        cmocka_unit_test(refused_plugins_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
