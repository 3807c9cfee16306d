/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "plan_check_parts.h"

#include <string.h>

#include "limit.h"
#include "nearest.h"
#include "plan_value.h"
#include "quantity.h"
#include "select.h"
#include "state.h"

/* Below the first a percentage of the link says nothing, above the second it
 * cannot be met. */
static const double least_plausible = 0.2;
static const double most_plausible = 1.0;

/* What was found while a limit was held against testcases and metrics. */
struct finding {
    const struct plan_checker *checker;
    const struct plan_limit *limit;
    uint32_t testcases; /* that match */
    uint32_t metrics;   /* that match */
    uint32_t bound;     /* metrics that the limit can bind */
    uint32_t elsewhere; /* testcases of that name in suites that are off */
    uint32_t metrics_elsewhere; /* metrics that match, of those */
    uint32_t unchecked;         /* plugins that could not be asked */
    const struct metric_schema *misfit;
    const char *misfit_of; /* testcase */
    struct nearest nearest_testcase, nearest_metric;
};

static const char *unit_word(uint32_t unit)
{
    static const char *const words[] = {
        [NVBW_UNIT_NONE] = "plain numbers",
        [NVBW_UNIT_BYTES_PER_SECOND] = "bytes per second",
        [NVBW_UNIT_NANOSECONDS] = "nanoseconds",
        [NVBW_UNIT_BYTES] = "bytes",
        [NVBW_UNIT_RATIO] = "percent",
        [NVBW_UNIT_COUNT] = "count",
    };

    return unit < sizeof words / sizeof *words ? words[unit] : "?";
}

/* The part of match before the slash. */
static void testcase_part(const char *match, char *out, size_t size)
{
    const size_t length = strcspn(match, "/");
    const size_t kept = length < size ? length : size - 1;

    memcpy(out, match, kept);
    out[kept] = '\0';
}

/* Whether the text is right in itself; if not, plan_load has said so. */
static int is_read(const char *text)
{
    return text == NULL || plan_value_limit(text, NULL) == NVBW_OK;
}

/* ---- Against metrics ---------------------------------------------------- */

static int can_bind(
    const struct plan_limit *limit, const struct metric_schema *metric)
{
    enum limit_base base = LIMIT_ABSOLUTE;
    double value = 0;
    uint32_t unit = 0;
    const char *const text = limit_text(limit, metric->better);

    if (text == NULL || quantity_limit(text, &base, &value, &unit, NULL) < 0) {
        return 0;
    }
    if (base == LIMIT_ABSOLUTE) {
        return unit == metric->unit;
    }
    return base == LIMIT_SIBLINGS || base == LIMIT_BASELINE ||
           metric->unit == NVBW_UNIT_BYTES_PER_SECOND;
}

static void look_at_metrics(
    struct finding *finding, const struct testcase_schema *testcase)
{
    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        const struct metric_schema *const metric = &testcase->metrics[i];

        nearest_offer(&finding->nearest_metric, metric->name);
        if (!limit_matches_name(
                finding->limit->match, testcase->name, metric->name)) {
            continue;
        }
        finding->metrics++;
        if (can_bind(finding->limit, metric)) {
            finding->bound++;
        } else {
            finding->misfit = metric;
            finding->misfit_of = testcase->name;
        }
    }
}

static void look_elsewhere(
    struct finding *finding, const struct testcase_schema *testcase)
{
    finding->elsewhere++;
    for (uint32_t i = 0; i < testcase->metrics_count; i++) {
        finding->metrics_elsewhere += (uint32_t)limit_matches_name(
            finding->limit->match, testcase->name, testcase->metrics[i].name);
    }
}

static void look_at_plugin(struct finding *finding,
    const struct plan_suite *suite, const struct plugin_schema *plugin)
{
    char part[256];

    testcase_part(finding->limit->match, part, sizeof part);
    for (uint32_t i = 0; i < plugin->testcases_count; i++) {
        const struct testcase_schema *const testcase = &plugin->testcases[i];

        nearest_offer(&finding->nearest_testcase, testcase->name);
        if (!limit_matches_name(part, testcase->name, "")) {
            continue;
        }
        if (!suite->enabled || !select_in_suite(suite, testcase->name)) {
            look_elsewhere(finding, testcase);
            continue;
        }
        finding->testcases++;
        look_at_metrics(finding, testcase);
    }
}

static void look_at_suite(
    struct finding *finding, const struct plan_suite *suite)
{
    const struct plugin_schema *const plugin = select_plugin(
        suite, finding->checker->plugins, finding->checker->plugins_count);

    if (plugin == NULL || plugin->state != STATE_NONE) {
        finding->unchecked++;
        return;
    }
    look_at_plugin(finding, suite, plugin);
}

/* ---- What to say -------------------------------------------------------- */

static void say_no_testcase(const struct finding *finding)
{
    const struct plan_limit *const limit = finding->limit;
    char hint[NEAREST_HINT_BYTES];

    if (finding->elsewhere != 0) {
        return; /* its suite is only switched off */
    }
    problem_add(finding->checker->problems, limit->origin,
        !limit_is_exact(limit) || finding->unchecked != 0,
        "limit \"%s\" matches no testcase%s", limit->match,
        nearest_hint(&finding->nearest_testcase, hint));
}

static void say_no_metric(const struct finding *finding)
{
    const struct plan_limit *const limit = finding->limit;
    char hint[NEAREST_HINT_BYTES];

    if (finding->metrics_elsewhere != 0) {
        return; /* the suite that has it is only switched off */
    }
    problem_add(finding->checker->problems, limit->origin,
        !limit_is_exact(limit), "limit \"%s\" matches no metric%s",
        limit->match, nearest_hint(&finding->nearest_metric, hint));
}

static void say_misfit(const struct finding *finding)
{
    const struct metric_schema *const metric = finding->misfit;
    const char *const side = metric->better == NVBW_LOWER ? "max" : "min";

    problem_add(finding->checker->problems, finding->limit->origin, 0,
        "limit \"%s\" cannot bind %s/%s, which is in %s and better when %s: "
        "write %s with a value in its unit",
        finding->limit->match, finding->misfit_of, metric->name,
        unit_word(metric->unit),
        metric->better == NVBW_LOWER ? "lower" : "higher", side);
}

static void check_plausible(const struct plan_checker *checker,
    const struct plan_limit *limit, const char *text)
{
    enum limit_base base = LIMIT_ABSOLUTE;
    double value = 0;
    uint32_t unit = 0;

    if (text == NULL || quantity_limit(text, &base, &value, &unit, NULL) < 0 ||
        (base != LIMIT_EXPECTED && base != LIMIT_LINK) ||
        (value >= least_plausible && value <= most_plausible)) {
        return;
    }
    problem_add(checker->problems, limit->origin, 1,
        "limit \"%s\": \"%s\" is not plausible, %s", limit->match, text,
        value < least_plausible ? "a link at that speed needs triage"
                                : "no link carries more than it can");
}

static void check_limit(const struct plan_checker *checker,
    const struct plan_suite *suite, const struct plan_limit *limit)
{
    struct finding finding = { .checker = checker, .limit = limit };
    const char *const slash = strchr(limit->match, '/');
    char part[256];

    testcase_part(limit->match, part, sizeof part);
    nearest_begin(&finding.nearest_testcase, part);
    nearest_begin(&finding.nearest_metric, slash == NULL ? "" : slash + 1);
    if (suite != NULL) {
        look_at_suite(&finding, suite);
    }
    for (uint32_t i = 0; suite == NULL && i < checker->plan->suites_count;
         i++) {
        look_at_suite(&finding, &checker->plan->suites[i]);
    }
    if (finding.testcases == 0) {
        say_no_testcase(&finding);
    } else if (finding.metrics == 0) {
        say_no_metric(&finding);
    } else if (finding.bound == 0) {
        say_misfit(&finding);
    }
    check_plausible(checker, limit, limit->min);
    check_plausible(checker, limit, limit->max);
}

void check_limits(
    const struct plan_checker *checker, const struct plan_suite *suite)
{
    const struct plan_limit *const limits =
        suite == NULL ? checker->plan->limits : suite->limits;
    const uint32_t count =
        suite == NULL ? checker->plan->limits_count : suite->limits_count;

    for (uint32_t i = 0; i < count; i++) {
        if (is_read(limits[i].min) && is_read(limits[i].max)) {
            check_limit(checker, suite, &limits[i]);
        }
    }
}
