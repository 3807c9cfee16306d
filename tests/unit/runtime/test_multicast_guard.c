/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* No multicast object is made that may not be: the driver here is a function
 * that counts, and nothing of it is real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "multicast_guard.h"

static uint32_t made;

static cu_result count(cu_memory *out, const struct cu_multicast_prop *prop)
{
    (void)prop;
    made++;
    *out = 1;
    return CU_SUCCESS;
}

static const struct refused {
    int32_t multicast; /* of the GPU */
    uint32_t allowed;  /* by the plan */
    const char *name, *value;
    int32_t reason; /* 0: it is made */
    const char *words;
} cases[] = {
    { 1, 1, NULL, NULL, 0, "" },
    { 1, 1, "NCCL_NVLS_ENABLE", "1", 0, "" },
    { 1, 1, "NVBW_DISABLE_MULTICAST", "0", 0, "" },
    { 1, 1, "NVBW_DISABLE_MULTICAST", "", 0, "" },
    { 1, 0, NULL, NULL, NVBW_SKIP_MULTICAST_DISABLED,
        "allow_multicast = true" },
    { 1, 2, NULL, NULL, NVBW_SKIP_MULTICAST_DISABLED,
        "allow_multicast = true" },
    { 1, 1, "NCCL_NVLS_ENABLE", "0", NVBW_SKIP_MULTICAST_DISABLED,
        "NCCL_NVLS_ENABLE=0" },
    { 1, 1, "NVBW_DISABLE_MULTICAST", "1", NVBW_SKIP_MULTICAST_DISABLED,
        "NVBW_DISABLE_MULTICAST" },
    { 1, 1, "NVBW_DISABLE_MULTICAST", "yes", NVBW_SKIP_MULTICAST_DISABLED,
        "NVBW_DISABLE_MULTICAST" },
    { 0, 1, NULL, NULL, NVBW_SKIP_NO_MULTICAST, "GPU 5" },
    { -1, 1, NULL, NULL, NVBW_SKIP_NO_MULTICAST, "GPU 5" },
    { 0, 0, NULL, NULL, NVBW_SKIP_NO_MULTICAST, "GPU 5" },
};

static void try_case(const struct refused *one)
{
    const struct cuda_api api = { .multicast_create = count };
    const struct gpu_facts facts = { .index = 5, .multicast = one->multicast };
    const struct gpu gpu = { .api = &api, .facts = &facts };
    const struct cu_multicast_prop prop = { .devices = 2 };
    struct error err = { 0 };
    cu_memory object = 0;

    unsetenv("NCCL_NVLS_ENABLE");
    unsetenv("NVBW_DISABLE_MULTICAST");
    if (one->name != NULL) {
        setenv(one->name, one->value, 1);
    }
    made = 0;

    const int32_t status =
        multicast_create(&gpu, one->allowed, &prop, &object, &err);

    assert_int_equal(made, one->reason == 0 ? 1 : 0);
    assert_int_equal(status, one->reason == 0 ? NVBW_OK : NVBW_E_SKIPPED);
    assert_int_equal(err.code, one->reason);
    assert_non_null(strstr(err.text, one->words));
    assert_int_equal(multicast_permitted(&gpu, one->allowed, NULL), status);
}

static void only_what_is_permitted_is_made(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        try_case(&cases[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_permitted_is_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
