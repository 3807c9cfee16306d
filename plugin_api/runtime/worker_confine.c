/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "worker_confine.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static const char *const looking[] = { "describe", "check", "record" };

static int only_looks(const char *role)
{
    for (size_t i = 0; role != NULL && i < sizeof looking / sizeof *looking;
         i++) {
        if (strcmp(role, looking[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* A sanitizer reserves more than any machine has. */
#ifdef __has_feature
#define IS_SANITIZED                                                           \
    (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||    \
        __has_feature(memory_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

static void limit_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    struct rlimit limit;

    if (IS_SANITIZED || pages <= 0 || page_bytes <= 0 ||
        getrlimit(RLIMIT_DATA, &limit) != 0) {
        return;
    }

    const rlim_t half = (rlim_t)pages / 2 * (rlim_t)page_bytes;

    if (limit.rlim_max > half) {
        limit = (struct rlimit){ half, half };
        setrlimit(RLIMIT_DATA, &limit);
    }
}

/* Of those that take all memory the kernel ends the worker first. It inherits
 * the host's score, which may be higher. */
static void stand_first(void)
{
    static const char score[] = "500";
    const int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
    char text[16] = "";

    if (fd < 0) {
        return;
    }
    if (read(fd, text, sizeof text - 1) > 0 &&
        strtol(text, NULL, 10) < strtol(score, NULL, 10)) {
        (void)!pwrite(fd, score, sizeof score - 1, 0);
    }
    close(fd);
}

void worker_confine(const char *role)
{
    stand_first();
    if (!only_looks(role)) {
        return;
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    limit_memory();
}
