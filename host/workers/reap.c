/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "reap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    SWEEP_ROUNDS = 32, /* generations of processes */
    DEATH_WAITS = 200, /* of WAIT_NS each, for one round */
    WAIT_NS = 5000000
};

void pid_list_add(struct pid_list *list, pid_t pid)
{
    if (list->count < REAP_LIST_LIMIT) {
        list->pids[list->count++] = pid;
    }
}

int pid_list_has(const struct pid_list *list, pid_t pid)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->pids[i] == pid) {
            return 1;
        }
    }
    return 0;
}

void pid_list_remove(struct pid_list *list, pid_t pid)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->pids[i] == pid) {
            list->pids[i] = list->pids[--list->count];
            return;
        }
    }
}

int reap_peek(pid_t pid, struct death *out)
{
    siginfo_t info = { 0 };

    if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
        /* Someone else has taken it away: dead, in an unknown manner. */
        *out = (struct death){ .exit_code = -1 };
        return errno == ECHILD;
    }
    if (info.si_pid == 0) {
        return 0;
    }
    *out = info.si_code == CLD_EXITED
               ? (struct death){ .exit_code = info.si_status }
               : (struct death){ .signal_number = info.si_status };
    return 1;
}

void reap_take(pid_t pid)
{
    siginfo_t info = { 0 };

    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG);
}

/* The parent's number from /proc/PID/stat: the second field after the name,
 * which is in parentheses and may hold any character. */
static pid_t parent_of(const char *pid_text)
{
    char path[64];
    char stat[512];

    snprintf(path, sizeof path, "/proc/%.20s/stat", pid_text);

    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return -1;
    }

    const ssize_t length = read(fd, stat, sizeof stat - 1);

    close(fd);
    if (length <= 0) {
        return -1;
    }
    stat[length] = '\0';

    const char *const after_name = strrchr(stat, ')');

    if (after_name == NULL || strlen(after_name) < 5) {
        return -1;
    }
    return (pid_t)strtol(after_name + 4, NULL, 10);
}

/* From the kernel's own list, where it is built to give one. The host has one
 * thread and takes its children away itself, so none is missed. */
static int read_children(struct pid_list *out)
{
    FILE *const children = fopen("/proc/thread-self/children", "re");
    int pid = 0;

    if (children == NULL) {
        return 0;
    }
    while (fscanf(children, "%d", &pid) == 1) {
        pid_list_add(out, pid);
    }
    fclose(children);
    return 1;
}

/* By looking at every process there is, which takes long where there are
 * many. */
static void find_children(struct pid_list *out)
{
    const pid_t own = getpid();
    DIR *const proc = opendir("/proc");

    if (proc == NULL) {
        return;
    }
    for (const struct dirent *entry = readdir(proc); entry != NULL;
         entry = readdir(proc)) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            parent_of(entry->d_name) == own) {
            pid_list_add(out, (pid_t)strtol(entry->d_name, NULL, 10));
        }
    }
    closedir(proc);
}

void reap_children(struct pid_list *out)
{
    out->count = 0;
    if (!read_children(out)) {
        find_children(out);
    }
}

static void drop_kept(struct pid_list *list, const struct pid_list *kept)
{
    for (uint32_t i = list->count; i > 0; i--) {
        if (pid_list_has(kept, list->pids[i - 1])) {
            list->pids[i - 1] = list->pids[--list->count];
        }
    }
}

static void take_dead(struct pid_list *list)
{
    struct death death;

    for (uint32_t i = list->count; i > 0; i--) {
        if (reap_peek(list->pids[i - 1], &death)) {
            reap_take(list->pids[i - 1]);
            list->pids[i - 1] = list->pids[--list->count];
        }
    }
}

static void kill_all(struct pid_list *list)
{
    const struct timespec wait = { .tv_nsec = WAIT_NS };

    for (uint32_t i = 0; i < list->count; i++) {
        kill(list->pids[i], SIGKILL);
    }
    take_dead(list);
    for (int i = 0; i < DEATH_WAITS && list->count > 0; i++) {
        nanosleep(&wait, NULL);
        take_dead(list);
    }
}

void reap_sweep(struct pid_list *kept)
{
    struct pid_list strays;

    for (int round = 0; round < SWEEP_ROUNDS; round++) {
        reap_children(&strays);
        drop_kept(&strays, kept);
        if (strays.count == 0) {
            return;
        }
        kill_all(&strays);
        for (uint32_t i = 0; i < strays.count; i++) {
            pid_list_add(kept, strays.pids[i]);
        }
    }
}
