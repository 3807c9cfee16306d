/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* C12: schemas, facts and recorded runs come from workers, and what a plugin
 * does to its worker becomes a state and a sentence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "stage.h"
#include "state.h"

static const struct spoiled {
    const char *file, *stem;
    uint32_t state;
    const char *reason, *message;
} spoiled[] = {
    { "/fake/well.so", "well", STATE_NONE, NULL, NULL },
    { "/fake/crash.so", "crash", STATE_CRASH, NULL,
        "plugin crash.so: describe worker died of signal 11 (segmentation "
        "fault)" },
    { "/fake/hang.so", "hang", STATE_TIMEOUT, NULL, "plugin hang.so: " },
    { "/fake/exit.so", "exit", STATE_CRASH, NULL,
        "plugin exit.so: describe worker exited with status 0 without a "
        "word" },
    { "/fake/garbage.so", "garbage", STATE_ERROR, "protocol",
        "plugin garbage.so: describe worker: malformed frame" },
    { "/fake/silent.so", "silent", STATE_ERROR, "protocol",
        "plugin silent.so: describe worker ended well but described "
        "nothing" },
    { "/fake/bare.so", "bare", STATE_ERROR, "refused",
        "plugin /fake/bare.so: it has no testcases (rule C2)" },
    { "/fake/refused.so", "refused", STATE_ERROR, "refused",
        "plugin refused.so: it exports no nvbw_plugin_v1" },
};
enum { SPOILED_COUNT = sizeof spoiled / sizeof spoiled[0] };

static void expect_schema(
    const struct plugin_schema *schema, const struct spoiled *wanted)
{
    assert_string_equal(schema->name, wanted->stem);
    assert_string_equal(schema->file, wanted->file);
    assert_int_equal(schema->state, wanted->state);
    assert_int_equal(schema->installed, 1);
    if (wanted->reason == NULL) {
        assert_null(schema->reason);
    } else {
        assert_string_equal(schema->reason, wanted->reason);
    }
    if (wanted->message == NULL) {
        assert_null(schema->message);
    } else if (strstr(schema->message, wanted->message) != schema->message) {
        fail_msg("\"%s\" does not begin with \"%s\"", schema->message,
            wanted->message);
    }
}

static void test_describe(void **state)
{
    struct candidate list[SPOILED_COUNT + 2];
    const struct candidates candidates = { .list = list,
        .count = SPOILED_COUNT + 2 };
    struct stage stage;
    struct plugin_schema *plugins = NULL;
    struct problems problems = { 0 };
    uint32_t count = 0;

    (void)state;
    stage_open(&stage);
    stage.setup.describe_ns = 2000000000u;
    stage.setup.answer_ns = 2000000000u;
    for (uint32_t i = 0; i < SPOILED_COUNT; i++) {
        list[i] = (struct candidate){
            .file = spoiled[i].file, .stem = spoiled[i].stem, .installed = 1
        };
    }
    list[SPOILED_COUNT] = (struct candidate){ .file = "/fake/bad.so",
        .stem = "bad",
        .state = STATE_SKIP,
        .reason = "missing_library",
        .message = "libx.so.1 is missing" };
    list[SPOILED_COUNT + 1] = (struct candidate){
        .file = "/other/well.so", .stem = "well", .source = 1
    };
    problems.arena = &stage.arena;
    assert_int_equal(workers_describe(&stage.setup, &candidates, &stage.arena,
                         &plugins, &count, &problems, NULL),
        NVBW_OK);
    assert_int_equal(problems.count, 1);
    assert_int_equal(problems.errors, 0);
    assert_non_null(strstr(problems.list[0].text, "/other/well.so"));
    assert_int_equal(count, SPOILED_COUNT + 1);
    for (uint32_t i = 0; i < SPOILED_COUNT; i++) {
        expect_schema(&plugins[i], &spoiled[i]);
    }
    assert_string_equal(plugins[SPOILED_COUNT].reason, "missing_library");
    stage_close(&stage);
}

/* Rule C22: two files, one name. */
static void expect_double(const struct candidate *first,
    const struct candidate *second, uint32_t problems_count, uint32_t errors)
{
    struct candidate list[] = { *first, *second };
    const struct candidates candidates = { .list = list, .count = 2 };
    struct stage stage;
    struct plugin_schema *plugins = NULL;
    struct problems problems = { 0 };
    uint32_t count = 0;

    stage_open(&stage);
    problems.arena = &stage.arena;
    assert_int_equal(workers_describe(&stage.setup, &candidates, &stage.arena,
                         &plugins, &count, &problems, NULL),
        NVBW_OK);
    assert_int_equal(count, 1);
    assert_string_equal(plugins[0].file, first->file);
    assert_int_equal(problems.count, problems_count);
    assert_int_equal(problems.errors, errors);
    if (problems_count == 1) {
        assert_non_null(strstr(problems.list[0].text, first->file));
        assert_non_null(strstr(problems.list[0].text, second->file));
    }
    stage_close(&stage);
}

static void test_describe_doubles(void **state)
{
    const struct candidate one = { .file = "/fake/well.so", .stem = "well" };
    const struct candidate beside = { .file = "/a/well.so", .stem = "well" };
    const struct candidate beyond = {
        .file = "/b/well.so", .stem = "well", .source = 1
    };
    const struct candidate pinned = {
        .file = "/p/well.so", .stem = "well", .pinned = 1
    };
    const struct candidate again = {
        .file = "/q/well.so", .stem = "well", .pinned = 1
    };

    (void)state;
    expect_double(&one, &beside, 1, 1);
    expect_double(&one, &beyond, 1, 0);
    expect_double(&pinned, &one, 0, 0);
    expect_double(&pinned, &pinned, 0, 0);
    expect_double(&pinned, &again, 1, 1);
}

static void test_describe_nothing(void **state)
{
    const struct candidates candidates = { .count = 0 };
    struct stage stage;
    struct plugin_schema *plugins = NULL;
    uint32_t count = 7;

    (void)state;
    stage_open(&stage);
    assert_int_equal(workers_describe(&stage.setup, &candidates, &stage.arena,
                         &plugins, &count, NULL, NULL),
        NVBW_OK);
    assert_int_equal(count, 0);
    stage_close(&stage);
}

static void test_facts(void **state)
{
    struct stage stage;
    struct facts facts;

    (void)state;
    stage_open(&stage);
    assert_int_equal(
        workers_facts(&stage.setup, &stage.arena, &facts, NULL), NVBW_OK);
    assert_string_equal(facts.host, "fake");
    assert_null(facts.driver_trouble);
    stage_close(&stage);
}

/* A machine whose driver kills or stops its reader still has a name, memory
 * and a node. */
static void expect_fallback(const char *profile, const char *trouble)
{
    struct stage stage;
    struct facts facts;

    stage_open(&stage);
    stage.setup.describe_ns = 2000000000u;
    stage.setup.answer_ns = 2000000000u;
    stage.setup.sim_profile = profile;
    assert_int_equal(
        workers_facts(&stage.setup, &stage.arena, &facts, NULL), NVBW_OK);
    assert_non_null(facts.driver_trouble);
    assert_non_null(strstr(facts.driver_trouble, trouble));
    assert_non_null(facts.host);
    assert_int_equal(facts.gpus_count, 0);
    assert_int_equal(facts.nodes_count, 1);
    assert_true(facts.memory_bytes > 0);
    assert_true(facts.nodes[0].cpu_count > 0);
    stage_close(&stage);
}

static void test_facts_crash(void **state)
{
    (void)state;
    expect_fallback("crash", "signal 11");
}

static void test_facts_hang(void **state)
{
    (void)state;
    expect_fallback("hang", "said nothing for 2 s");
}

static void test_record(void **state)
{
    struct stage stage;
    struct recording recording;

    (void)state;
    stage_open(&stage);

    const struct unit *const unit = stage_add_unit(&stage, "well", 2);

    assert_int_equal(workers_record(&stage.setup, &stage.evidence.facts, unit,
                         &stage.arena, &recording, NULL),
        NVBW_OK);
    assert_int_equal(recording.status, NVBW_OK);
    assert_int_equal(recording.labels_count, 1);
    assert_string_equal(recording.labels[0].names[1], "right");
    stage_close(&stage);
}

static void test_record_crash(void **state)
{
    struct stage stage;
    struct recording recording;

    (void)state;
    stage_open(&stage);

    const struct unit *const unit = stage_add_unit(&stage, "unrecorded", 2);

    assert_int_equal(workers_record(&stage.setup, &stage.evidence.facts, unit,
                         &stage.arena, &recording, NULL),
        NVBW_OK);
    assert_true(recording.status < 0);
    assert_non_null(strstr(recording.message, "record worker died of signal"));
    stage_close(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_describe_doubles),
        cmocka_unit_test(test_describe_nothing),
        cmocka_unit_test(test_facts),
        cmocka_unit_test(test_facts_crash),
        cmocka_unit_test(test_facts_hang),
        cmocka_unit_test(test_record),
        cmocka_unit_test(test_record_crash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
