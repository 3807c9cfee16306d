/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Descriptors between two sockets: the one that is waited for arrives, others
 * are dropped and closed, and waiting has an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "peers_socket.h"

#define SECOND UINT64_C(1000000000)

static void the_awaited_one_arrives(void **state)
{
    struct error err = { 0 };
    int ends[2];
    int from = -1;
    int to = -1;
    int got = -1;
    uint64_t from_name = 0;
    uint64_t to_name = 0;
    char byte = 'x';
    (void)state;

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(peers_socket_open(&from, &from_name, &err), NVBW_OK);
    assert_int_equal(peers_socket_open(&to, &to_name, &err), NVBW_OK);
    assert_int_not_equal(from_name, to_name);
    assert_int_equal(
        peers_socket_send(from, to_name, 6, ends[0], &err), NVBW_OK);
    assert_int_equal(
        peers_socket_send(from, to_name, 7, ends[1], &err), NVBW_OK);
    assert_int_equal(
        peers_socket_receive(to, 7, 10 * SECOND, &got, &err), NVBW_OK);
    assert_int_equal(write(got, &byte, 1), 1);
    byte = 0;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    assert_int_equal(byte, 'x');
    close(got);
    close(ends[0]);
    close(ends[1]);
    close(from);
    close(to);
}

static void nobody_answers(void **state)
{
    struct error err = { 0 };
    uint64_t name = 0;
    int fd = -1;
    int got = -1;
    (void)state;

    assert_int_equal(peers_socket_open(&fd, &name, &err), NVBW_OK);
    assert_int_equal(
        peers_socket_receive(fd, 1, SECOND / 100, &got, &err), NVBW_E_SYSTEM);
    assert_int_equal(got, -1);
    assert_int_equal(
        peers_socket_send(fd, name ^ 1, 1, STDIN_FILENO, &err), NVBW_E_SYSTEM);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_awaited_one_arrives),
        cmocka_unit_test(nobody_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
