/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* C20: frames are cut from a stream however its bytes come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <unistd.h>
#include <fcntl.h>

#include "inbox.h"

static void encode_two(struct strbuf *bytes)
{
    const struct log_frame log = { .level = NVBW_LOG_INFO, .text = "hello" };
    const struct bye_frame bye = { .why = "finished" };

    strbuf_init(bytes, 1 << 16);
    assert_int_equal(wire_encode(FRAME_LOG, &log, bytes, NULL), NVBW_OK);
    assert_int_equal(wire_encode(FRAME_BYE, &bye, bytes, NULL), NVBW_OK);
}

static void test_byte_by_byte(void **state)
{
    struct inbox inbox = { .bytes = NULL };
    struct strbuf bytes;
    struct frame frame;
    uint32_t types[3] = { 0 };
    uint32_t count = 0;
    int ends[2];

    (void)state;
    encode_two(&bytes);
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_int_equal(inbox_read(&inbox, ends[0]), 0);
    for (size_t i = 0; i < bytes.length; i++) {
        assert_int_equal(write(ends[1], bytes.text + i, 1), 1);
        assert_int_equal(inbox_read(&inbox, ends[0]), 1);
        while (inbox_next(&inbox, &frame, NULL) == 1) {
            assert_true(count < 2);
            types[count++] = frame.type;
        }
    }
    assert_int_equal(count, 2);
    assert_int_equal(types[0], FRAME_LOG);
    assert_int_equal(types[1], FRAME_BYE);
    close(ends[1]);
    assert_int_equal(inbox_read(&inbox, ends[0]), -1);
    close(ends[0]);
    inbox_free(&inbox);
    strbuf_free(&bytes);
}

static void test_garbage(void **state)
{
    struct inbox inbox = { .bytes = NULL };
    struct frame frame;
    int ends[2];

    (void)state;
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    assert_int_equal(write(ends[1], "no frame, no frame", 18), 18);
    assert_int_equal(inbox_read(&inbox, ends[0]), 18);
    assert_int_equal(inbox_next(&inbox, &frame, NULL), NVBW_E_INVALID);
    close(ends[0]);
    close(ends[1]);
    inbox_free(&inbox);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_by_byte),
        cmocka_unit_test(test_garbage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
