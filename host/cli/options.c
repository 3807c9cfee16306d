/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "options.h"

#include <stddef.h>
#include <string.h>

#include "cmd.h"
#include "nearest.h"

#define AT(member) offsetof(struct options, member)

const struct option_spec option_specs[] = {
    { "plan", 'c', OPTION_LIST, AT(plans), "PLAN", NULL,
        "run check-plan check-plugin list help",
        "plan or folder of plans; a later one is laid over the earlier" },
    { "set", 0, OPTION_LIST, AT(sets), "PATH=VALUE", NULL,
        "run check-plan list", "overrides one value of the plan" },
    { "testcase", 't', OPTION_WORDS, AT(only), "NAME...", NULL,
        "run check-plan nvbandwidth",
        "runs only these testcases of the plan; without -c nvbandwidth's, by "
        "name or number" },
    { "tags", 0, OPTION_WORDS, AT(tags), "TAG,...", NULL, "run check-plan",
        "runs only suites and testcases with one of these tags" },
    { "devices", 0, OPTION_TEXT, AT(devices), "LIST", NULL,
        "run check-plan list topo",
        "GPUs to use: index, range, UUID or PCI address" },
    { "report", 0, OPTION_LIST, AT(reports), "FORMAT=FILE", NULL,
        "run resume report merge", "writes a report; - is stdout" },
    { "run-dir", 0, OPTION_TEXT, AT(run_dir), "DIR", NULL, "run",
        "where the run is kept; %h host, %t time" },
    { "budget", 0, OPTION_SET, 0, "DURATION", "budget", "run resume",
        "fits the plan into this time with fewer samples and pairs; what is "
        "left then is not_run" },
    { "baseline", 0, OPTION_SET, 0, "FILE", "baseline", "run check-plan",
        "baseline or run directory that limits in percent of baseline refer "
        "to" },
    { "output", 'o', OPTION_TEXT, AT(output), "FILE", NULL, "baseline merge",
        "where to write; without it HOST.baseline.ndjson, or stdout" },
    { "expect-nodes", 0, OPTION_LIST, AT(expected), "HOSTS", NULL, "merge",
        "hosts that must be there: node[001-064],login1 or @FILE" },
    { "full", 0, OPTION_FLAG, AT(full), NULL, NULL, "merge",
        "reads whole journals and judges them anew, unfinished ones too" },
    { "margin", 0, OPTION_TEXT, AT(margin), "RATIO", NULL, "compare",
        "change that is none (2 %); a baseline that scatters more widens it" },
    { "force", 0, OPTION_FLAG, AT(force), NULL, NULL, "baseline compare",
        "replaces a file; compares runs of other machines and plans" },
    { "mpi", 0, OPTION_SET, 0, NULL, "mpi", "run check-plan",
        "this is one rank of an MPI job" },
    { "dry-run", 0, OPTION_FLAG, AT(dry_run), NULL, NULL, "run",
        "shows what would be measured and measures nothing" },
    { "driver", 0, OPTION_TEXT, AT(driver), "FILE", NULL, "*",
        "library used instead of libcuda.so.1" },
    { "sim-profile", 0, OPTION_TEXT, AT(sim_profile), "NAME", NULL, "*",
        "machine that the simulated driver plays" },
    { "plugin-dir", 0, OPTION_LIST, AT(plugin_dirs), "DIR", NULL, "*",
        "looks for plugins here first" },
    { "trust-plugins", 0, OPTION_FLAG, AT(trust_plugins), NULL, NULL, "*",
        "loads plugins that others could have written to" },
    { "wrap", 0, OPTION_TEXT, AT(wrap), "CMD", NULL, "run resume",
        "starts workers under CMD (gdb, compute-sanitizer, ...)" },
    { "json", 'j', OPTION_FLAG, AT(json), NULL, NULL,
        "list topo compare merge nvbandwidth", "prints JSON" },
    { "explain-limits", 0, OPTION_FLAG, AT(explain_limits), NULL, NULL,
        "check-plan", "prints each limit, its formula and where it stands" },
    { "rerun-failed", 0, OPTION_FLAG, AT(rerun_failed), NULL, NULL, "resume",
        "measures again what did not pass" },
    { "watch", 0, OPTION_FLAG, AT(watch), NULL, NULL, "run resume",
        "prints clocks, links, heat and load of each GPU every second" },
    { "quiet", 'q', OPTION_FLAG, AT(quiet), NULL, NULL, "*",
        "prints the verdict line only" },
    { "verbose", 'v', OPTION_FLAG, AT(verbose), NULL, NULL, "*",
        "prints more: logs of workers, every cell as it settles" },
    { "testcasePrefixes", 'p', OPTION_WORDS, AT(prefixes), "PREFIX...", NULL,
        "nvbandwidth", "testcases whose names begin so" },
    { "bufferSize", 'b', OPTION_TEXT, AT(flags.buffer_mib), "MIB", NULL,
        "nvbandwidth", "MiB of one copy (512); not for latency testcases" },
    { "testSamples", 'i', OPTION_TEXT, AT(flags.samples), "N", NULL,
        "nvbandwidth", "samples per cell (3)" },
    { "loopCount", 0, OPTION_TEXT, AT(flags.loop_count), "N", NULL,
        "nvbandwidth", "copies per sample (16)" },
    { "useMean", 'm', OPTION_FLAG, AT(flags.use_mean), NULL, NULL,
        "nvbandwidth", "mean of the samples instead of their median" },
    { "skipVerification", 's', OPTION_FLAG, AT(flags.skip_verification), NULL,
        NULL, "nvbandwidth", "compares no data" },
    { "disableAffinity", 'd', OPTION_FLAG, AT(flags.disable_affinity), NULL,
        NULL, "nvbandwidth", "leaves threads on any CPU" },
    { "pair", 0, OPTION_WORDS, AT(pair), "A B", NULL, "nvbandwidth",
        "only these two GPUs" },
    { "targetNumPairs", 0, OPTION_TEXT, AT(flags.pairs), "N", NULL,
        "nvbandwidth", "only N pairs of GPUs, chosen by the seed" },
    { "useHugePages", 0, OPTION_FLAG, AT(flags.huge_pages), NULL, NULL,
        "nvbandwidth", "changes nothing: huge pages are asked for anyway" },
    { "list", 'l', OPTION_FLAG, AT(list), NULL, NULL, "nvbandwidth",
        "lists nvbandwidth's testcases with their numbers" },
    { "format", 0, OPTION_TEXT, AT(flags.format), "FORMAT", NULL, "nvbandwidth",
        "text, json or perf" },
    { "perfFormatter", 0, OPTION_FLAG, AT(flags.perf), NULL, NULL,
        "nvbandwidth", "sums as lines that begin with &&&& PERF" },
    { "nvbandwidth-version", 0, OPTION_TEXT, AT(flags.version), "VERSION", NULL,
        "nvbandwidth", "0.8 or 0.10 (the default): whose numbers and format" },
    { "nvbandwidth-exit-zero", 0, OPTION_FLAG, AT(exit_zero), NULL, NULL,
        "nvbandwidth", "exits 0 once a run is over, whatever it found" },
    { "help", 'h', OPTION_FLAG, AT(help), NULL, NULL, "*", "prints this" },
    { "version", 'V', OPTION_FLAG, AT(version), NULL, NULL, "*",
        "prints the version" },
    { NULL, 0, 0, 0, NULL, NULL, NULL, NULL },
};

struct parser {
    char **argv; /* what is left */
    struct arena *arena;
    struct options *options;
    struct error *err;
};

static int32_t append(
    struct parser *parser, struct text_list *list, const char *text)
{
    list->texts = arena_append(
        parser->arena, list->texts, &list->count, sizeof *list->texts);
    FAIL_IF(list->texts == NULL, parser->err, NVBW_E_SYSTEM, "out of memory");
    list->texts[list->count - 1] = text;
    return NVBW_OK;
}

static const struct option_spec *find_long(const char *name, size_t length)
{
    for (const struct option_spec *spec = option_specs; spec->name != NULL;
         spec++) {
        if (strlen(spec->name) == length &&
            memcmp(spec->name, name, length) == 0) {
            return spec;
        }
    }
    return NULL;
}

static const struct option_spec *find_short(char letter)
{
    for (const struct option_spec *spec = option_specs; spec->name != NULL;
         spec++) {
        if (spec->letter == letter) {
            return spec;
        }
    }
    return NULL;
}

static int32_t unknown_option(struct parser *parser, const char *typed)
{
    struct nearest nearest;

    nearest_begin(&nearest, typed + strspn(typed, "-"));
    for (const struct option_spec *spec = option_specs; spec->name != NULL;
         spec++) {
        nearest_offer(&nearest, spec->name);
    }
    FAIL_IF(nearest.best != NULL, parser->err, NVBW_E_INVALID,
        "unknown option \"%s\", did you mean \"--%s\"", typed, nearest.best);
    return error_set(parser->err, NVBW_E_INVALID,
        "unknown option \"%s\"; nvbw-host --help lists all", typed);
}

/* Splits "a,b" and takes the words after it up to the next option. A list of
 * nothing is refused: it would count as not given, and run everything. */
static int32_t take_words(struct parser *parser, const struct option_spec *spec,
    struct text_list *list, const char *value)
{
    const uint32_t before = list->count;

    for (;;) {
        while (*value != '\0') {
            const size_t length = strcspn(value, ",");

            if (length > 0) {
                TRY(append(
                    parser, list, arena_text_n(parser->arena, value, length)));
            }
            value += length + (value[length] == ',');
        }
        if (*parser->argv == NULL || **parser->argv == '-') {
            FAIL_IF(list->count == before, parser->err, NVBW_E_INVALID,
                "option --%s got an empty list: %s", spec->name,
                spec->argument);
            return NVBW_OK;
        }
        value = *parser->argv++;
    }
}

static int32_t store(
    struct parser *parser, const struct option_spec *spec, const char *value)
{
    char *const at = (char *)parser->options + spec->offset;

    switch (spec->kind) {
    case OPTION_FLAG:
        *(int *)at = 1;
        return NVBW_OK;
    case OPTION_TEXT:
        *(const char **)at = value;
        return NVBW_OK;
    case OPTION_LIST:
        if (spec->offset == AT(sets)) {
            TRY(append(parser, &parser->options->givers, "--set"));
        }
        return append(parser, (struct text_list *)at, value);
    case OPTION_WORDS:
        return take_words(parser, spec, (struct text_list *)at, value);
    case OPTION_SET:
        TRY(append(parser, &parser->options->givers,
            arena_format(parser->arena, "--%s", spec->name)));
        return append(parser, &parser->options->sets,
            arena_format(parser->arena, "%s=%s", spec->set,
                spec->argument == NULL ? "true" : value));
    }
    return NVBW_OK;
}

static int32_t take(struct parser *parser, const struct option_spec *spec,
    const char *typed, const char *value)
{
    if (spec->argument == NULL) {
        FAIL_IF(value != NULL, parser->err, NVBW_E_INVALID,
            "option \"%s\" takes no value", typed);
        return store(parser, spec, NULL);
    }
    if (value == NULL) {
        value = *parser->argv;
        FAIL_IF(value == NULL, parser->err, NVBW_E_INVALID,
            "option \"%s\" needs a value: %s", typed, spec->argument);
        parser->argv++;
    }
    return store(parser, spec, value);
}

static int32_t take_long(struct parser *parser, const char *word)
{
    const char *const name = word + 2;
    const size_t length = strcspn(name, "=");
    const struct option_spec *const spec = find_long(name, length);

    if (spec == NULL) {
        return unknown_option(
            parser, arena_text_n(parser->arena, word, length + 2));
    }
    return take(
        parser, spec, word, name[length] == '=' ? name + length + 1 : NULL);
}

/* "-qv", "-cFILE" and "-c FILE". */
static int32_t take_short(struct parser *parser, const char *word)
{
    for (const char *letter = word + 1; *letter != '\0'; letter++) {
        const struct option_spec *const spec = find_short(*letter);
        const char typed[3] = { '-', *letter, '\0' };

        if (spec == NULL) {
            return unknown_option(parser, arena_text(parser->arena, typed));
        }
        if (spec->argument != NULL) {
            return take(
                parser, spec, typed, letter[1] != '\0' ? letter + 1 : NULL);
        }
        TRY(take(parser, spec, typed, NULL));
    }
    return NVBW_OK;
}

static int32_t take_word(struct parser *parser, const char *word)
{
    if (word[0] == '-' && word[1] == '-' && word[2] != '\0') {
        return take_long(parser, word);
    }
    if (word[0] == '-' && word[1] != '\0' && word[1] != '-') {
        return take_short(parser, word);
    }
    if (parser->options->command == NULL) {
        parser->options->command = word;
        return NVBW_OK;
    }
    return append(parser, &parser->options->args, word);
}

static int is_given(const struct options *options, const struct option_spec *s)
{
    const char *const at = (const char *)options + s->offset;

    switch (s->kind) {
    case OPTION_FLAG:
        return *(const int *)at != 0;
    case OPTION_TEXT:
        return *(const char *const *)at != NULL;
    case OPTION_LIST:
    case OPTION_WORDS:
        return ((const struct text_list *)at)->count != 0;
    case OPTION_SET:
        return 0; /* the plan's own check speaks of these */
    }
    return 0;
}

static int has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = words; *at != '\0';) {
        const size_t span = strcspn(at, " ");

        if (span == length && memcmp(at, word, length) == 0) {
            return 1;
        }
        at += span + (at[span] == ' ');
    }
    return 0;
}

int option_goes_with(const struct option_spec *spec, const char *command)
{
    return has_word(spec->commands, command) ||
           (strcmp(spec->commands, "*") == 0 &&
               strcmp(command, "nvbandwidth") != 0);
}

static int32_t refuse_nvbandwidth(
    const struct option_spec *spec, struct error *err)
{
    return error_set(err, NVBW_E_INVALID,
        "option \"--%s\" is one of nvbandwidth's and goes with neither a "
        "command nor -c; a plan and --set say the same",
        spec->name);
}

static int32_t check_command(const struct options *options, struct error *err)
{
    for (const struct option_spec *spec = option_specs; spec->name != NULL;
         spec++) {
        const int is_run = strcmp(options->command, "run") == 0;

        if (!is_given(options, spec) ||
            option_goes_with(spec, options->command) ||
            (options->is_nvbandwidth &&
                option_goes_with(spec, "nvbandwidth"))) {
            continue;
        }
        if (strcmp(spec->commands, "nvbandwidth") == 0 ||
            (is_run && option_goes_with(spec, "nvbandwidth"))) {
            return refuse_nvbandwidth(spec, err);
        }
        return error_set(err, NVBW_E_INVALID,
            "option \"--%s\" does not go with the command \"%s\"; it goes "
            "with: %s",
            spec->name, options->command, spec->commands);
    }
    return NVBW_OK;
}

/* A word that nobody reads is a mistake: most likely a plan without -c. */
static int32_t check_words(const struct options *options, struct error *err)
{
    const struct command *const command = command_find(options->command);

    FAIL_IF(options->args.count > command->most_words, err, NVBW_E_INVALID,
        "the command \"%s\" has no use for \"%s\"; usage: nvbw-host %s %s",
        command->name, options->args.texts[command->most_words], command->name,
        command->usage);
    return NVBW_OK;
}

/* nvbandwidth's users keep their scripts: where one of its flags stands and no
 * plan is given, all are meant as nvbandwidth means them. */
static int means_nvbandwidth(const struct options *options)
{
    if (strcmp(options->command, "run") != 0 || options->plans.count > 0) {
        return 0;
    }
    for (const struct option_spec *spec = option_specs; spec->name != NULL;
         spec++) {
        if (is_given(options, spec) && option_goes_with(spec, "nvbandwidth")) {
            return 1;
        }
    }
    return 0;
}

int32_t options_parse(int argc, char **argv, struct arena *arena,
    struct options *out, struct error *err)
{
    struct parser parser = {
        .argv = argv + (argc > 0), .arena = arena, .options = out, .err = err
    };

    *out = (struct options){ .argc = argc, .argv = argv };
    while (*parser.argv != NULL) {
        TRY(take_word(&parser, *parser.argv++));
    }
    if (out->command == NULL) {
        out->command = "run";
    }
    if (command_find(out->command) == NULL) {
        return command_unknown(out->command, err);
    }
    out->is_nvbandwidth = means_nvbandwidth(out);
    if (out->help || out->version) {
        return NVBW_OK;
    }
    TRY(check_command(out, err));
    return check_words(out, err);
}
