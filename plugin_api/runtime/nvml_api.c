/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "nvml_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* Stand-ins of the right type, one per function. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define MISSING_FUNCTION(member, symbol, parameters)                           \
    static nvml_result missing_##member parameters                             \
    {                                                                          \
        return NVML_FUNCTION_NOT_FOUND;                                        \
    }
NVML_FUNCTIONS(MISSING_FUNCTION)
#pragma GCC diagnostic pop

static void look_up(struct nvml_api *api)
{
    void *address;

    /* The copy avoids a cast from object to function that ISO C lacks. */
#define LOOK_UP(member_, symbol_, parameters_)                                 \
    api->member_ = missing_##member_;                                          \
    address = dlsym(api->library, #symbol_);                                   \
    if (address != NULL) {                                                     \
        memcpy(&api->member_, &address, sizeof address);                       \
    }
    NVML_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
}

/* "libnvml_sim.so" in the folder of the driver that was given. */
static void library_name(const char *driver_file, char *out, size_t size)
{
    const char *const slash =
        driver_file == NULL ? NULL : strrchr(driver_file, '/');

    if (driver_file == NULL) {
        snprintf(out, size, "libnvidia-ml.so.1");
    } else {
        snprintf(out, size, "%.*slibnvml_sim.so",
            slash == NULL ? 0 : (int)(slash - driver_file + 1), driver_file);
    }
}

static const char *cause_of(nvml_result result)
{
    static const struct {
        nvml_result result;
        const char *text;
    } known[] = {
        { NVML_NO_PERMISSION, "no permission for the driver's device files" },
        { NVML_DRIVER_NOT_LOADED,
            "the kernel module is not loaded; see modprobe nvidia and dmesg" },
        { NVML_FUNCTION_NOT_FOUND, "the library is not NVML" },
        { NVML_GPU_IS_LOST,
            "a GPU fell off the bus; see dmesg for Xid 79 and power-cycle" },
        { NVML_LIB_RM_VERSION_MISMATCH,
            "library and kernel module are of different versions; reboot or "
            "reload the module after a driver update" },
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].result == result) {
            return known[i].text;
        }
    }
    return "see nvidia-smi";
}

int32_t nvml_open(
    const char *driver_file, struct nvml_api *out, struct error *err)
{
    char file[PATH_BYTES];

    library_name(driver_file, file, sizeof file);
    *out = (struct nvml_api){ .library = dlopen(file, RTLD_NOW | RTLD_LOCAL) };
    FAIL_IF(out->library == NULL, err, NVBW_E_SYSTEM,
        "%s was not found: NVML is not installed", file);
    look_up(out);

    const nvml_result result = out->init();

    FAIL_IF(result != NVML_DONE, err, NVBW_E_SYSTEM,
        "%s: nvmlInit failed with %u: %s", file, result, cause_of(result));
    return NVBW_OK;
}

int nvml_field_number(const struct nvml_field *field, uint64_t *out_value)
{
    if (field->result != NVML_DONE) {
        return 0;
    }
    switch (field->value_type) {
    case NVML_VALUE_DOUBLE:
        *out_value = (uint64_t)field->value.real;
        return field->value.real >= 0.0;
    case NVML_VALUE_UINT:
        *out_value = field->value.uint;
        return 1;
    case NVML_VALUE_ULONG:
    case NVML_VALUE_ULONGLONG:
        *out_value = field->value.ulonglong;
        return 1;
    case NVML_VALUE_LONGLONG:
        *out_value = (uint64_t)field->value.longlong;
        return field->value.longlong >= 0;
    case NVML_VALUE_INT:
        *out_value = (uint64_t)field->value.integer;
        return field->value.integer >= 0;
    case NVML_VALUE_USHORT:
        *out_value = field->value.ushort;
        return 1;
    default:
        return 0;
    }
}
