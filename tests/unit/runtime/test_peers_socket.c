/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Descriptors between two sockets: the one that is waited for arrives, others
 * are dropped and closed, neither sending nor receiving waits for ever, and no
 * name is left behind. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "peers_socket.h"

#define SECOND UINT64_C(1000000000)

enum { MANY = 5, QUEUE_MOST = 1000 };

/* One end that sends to another which receives. */
struct line {
    int from, to;
    char path[PEERS_SOCKET_PATH];
};

static struct line open_line(void)
{
    struct line line;

    assert_int_equal(peers_socket_open(&line.to, line.path, NULL), NVBW_OK);
    assert_int_equal(
        peers_socket_connect(line.path, &line.from, NULL), NVBW_OK);
    return line;
}

static void close_line(const struct line *line)
{
    peers_socket_unname(line->path);
    close(line->from);
    close(line->to);
}

static int count_descriptors(void)
{
    DIR *const folder = opendir("/proc/self/fd");
    int count = 0;

    assert_non_null(folder);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static void the_awaited_one_arrives(void **state)
{
    const struct line line = open_line();
    struct error err = { 0 };
    int ends[2];
    int got = -1;
    char byte = 'x';
    (void)state;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(
        peers_socket_send(line.from, 6, ends[0], SECOND, &err), NVBW_OK);
    assert_int_equal(
        peers_socket_send(line.from, 7, ends[1], SECOND, &err), NVBW_OK);
    assert_int_equal(
        peers_socket_receive(line.to, 7, 10 * SECOND, &got, &err), NVBW_OK);
    assert_int_equal(write(got, &byte, 1), 1);
    byte = 0;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, 'x');
    close(got);
    close(ends[0]);
    close(ends[1]);
    close_line(&line);
}

/* Sends so many descriptors in one message, as no rank does. */
static void send_many(int fd, size_t bytes, int count)
{
    union {
        struct cmsghdr first;
        unsigned char room[CMSG_SPACE(sizeof(int) * MANY)];
    } control = { .room = { 0 } };
    uint64_t number = 7;
    struct iovec part = { &number, bytes };
    struct msghdr message = { .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.room,
        .msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count) };
    struct cmsghdr *const head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
    for (int i = 0; i < count; i++) {
        const int what = STDERR_FILENO;

        memcpy(CMSG_DATA(head) + (size_t)i * sizeof what, &what, sizeof what);
    }
    assert_int_equal(sendmsg(fd, &message, MSG_DONTWAIT), (ssize_t)bytes);
}

static void what_is_not_wanted_is_closed(void **state)
{
    const struct line line = open_line();
    struct error err = { 0 };
    int got = -1;
    (void)state;

    const int before = count_descriptors();

    send_many(line.from, sizeof(uint64_t), 2);
    send_many(line.from, sizeof(uint64_t), MANY);
    send_many(line.from, 1, 1); /* too short to say its number */
    assert_int_equal(
        peers_socket_send(line.from, 6, STDERR_FILENO, SECOND, &err), NVBW_OK);
    assert_int_equal(
        peers_socket_send(line.from, 7, STDERR_FILENO, SECOND, &err), NVBW_OK);
    assert_int_equal(
        peers_socket_receive(line.to, 7, 10 * SECOND, &got, &err), NVBW_OK);
    close(got);
    assert_int_equal(count_descriptors(), before);
    close_line(&line);
}

/* A queue that nobody empties is full one day. */
static void sending_has_an_end(void **state)
{
    const struct line line = open_line();
    struct error err = { 0 };
    int32_t status = NVBW_OK;
    (void)state;

    for (int i = 0; i < QUEUE_MOST && status == NVBW_OK; i++) {
        status =
            peers_socket_send(line.from, 1, STDERR_FILENO, SECOND / 100, &err);
    }
    assert_int_equal(status, NVBW_E_SYSTEM);
    assert_non_null(strstr(err.text, "does not take"));
    close_line(&line);
}

static void nobody_answers(void **state)
{
    const struct line line = open_line();
    struct error err = { 0 };
    int got = -1;
    (void)state;

    assert_int_equal(peers_socket_receive(line.to, 1, SECOND / 100, &got, &err),
        NVBW_E_SYSTEM);
    assert_int_equal(got, -1);
    close_line(&line);
}

/* The folder is for one user alone, and once it is gone nobody connects. */
static void names_are_private_and_go(void **state)
{
    const struct line line = open_line();
    char folder[PEERS_SOCKET_PATH];
    struct stat about;
    int fd = -1;
    (void)state;

    memcpy(folder, line.path, sizeof folder);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(stat(folder, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0700);
    peers_socket_unname(line.path);
    assert_int_equal(stat(folder, &about), -1);
    assert_int_equal(peers_socket_connect(line.path, &fd, NULL), NVBW_E_SYSTEM);
    assert_int_equal(fd, -1);
    assert_int_equal(
        peers_socket_send(line.from, 1, STDERR_FILENO, SECOND, NULL), NVBW_OK);
    close_line(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_awaited_one_arrives),
        cmocka_unit_test(what_is_not_wanted_is_closed),
        cmocka_unit_test(sending_has_an_end),
        cmocka_unit_test(nobody_answers),
        cmocka_unit_test(names_are_private_and_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
