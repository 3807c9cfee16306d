/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cmd.h"
#include "help.h"
#include "judge.h"
#include "version.h"

/* What a whole run may hold in memory: plan, evidence, verdicts. */
static const size_t ARENA_LIMIT_BYTES = (size_t)8 << 30;

/* Where stdin, stdout or stderr were closed, the first files opened would get
 * their numbers, and what is printed would go into the journal. */
static int keep_standard_descriptors(void)
{
    int fd = open("/dev/null", O_RDWR);

    while (fd >= 0 && fd <= STDERR_FILENO) {
        fd = open("/dev/null", O_RDWR);
    }
    return fd < 0 ? -1 : close(fd);
}

int main(int argc, char **argv)
{
    struct arena arena;
    struct options options;
    struct error err = { 0 };

    if (keep_standard_descriptors() != 0) {
        return EXIT_USAGE;
    }
    signal(
        SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error like others */
    arena_init(&arena, ARENA_LIMIT_BYTES);
    if (options_parse(argc, argv, &arena, &options, &err) < 0) {
        arena_clear(&arena);
        return command_fail(&err, EXIT_USAGE);
    }

    int exit_code = EXIT_PASSED;

    if (options.help) {
        help_print(options.command);
    } else if (options.version) {
        printf("nvbw-host %s\n", NVBW_BUILD);
    } else {
        exit_code = command_find(options.command)->run(&options, &arena);
    }
    arena_clear(&arena);
    if (fflush(stdout) != 0) {
        error_system(&err, "cannot write to stdout");
        return command_fail(&err, EXIT_INCOMPLETE);
    }
    return exit_code;
}
