/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "driver_codes.h"

#include <stddef.h>

struct driver_code {
    int64_t code;
    const char *name;
    int sticky;
    const char *text;
};

static const struct driver_code codes[] = {
    { 1, "CUDA_ERROR_INVALID_VALUE", 0, NULL },
    { 2, "CUDA_ERROR_OUT_OF_MEMORY", 0,
        "not enough free memory; see which processes use the GPU with "
        "nvidia-smi" },
    { 3, "CUDA_ERROR_NOT_INITIALIZED", 0,
        "the driver could not start; see dmesg for lines with NVRM" },
    { 34, "CUDA_ERROR_STUB_LIBRARY", 0,
        "the toolkit's stub was loaded instead of the driver; remove its "
        "folder from LD_LIBRARY_PATH" },
    { 36, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", 0,
        "this call needs a newer driver; update it" },
    { 46, "CUDA_ERROR_DEVICE_UNAVAILABLE", 0,
        "another process holds the GPU exclusively; see its compute mode "
        "with nvidia-smi -q -d COMPUTE" },
    { 100, "CUDA_ERROR_NO_DEVICE", 0,
        "the driver is there but offers no GPU; check CUDA_VISIBLE_DEVICES "
        "and nvidia-smi -L" },
    { 101, "CUDA_ERROR_INVALID_DEVICE", 0,
        "no such GPU; check CUDA_VISIBLE_DEVICES" },
    { 200, "CUDA_ERROR_INVALID_IMAGE", 0, NULL },
    { 201, "CUDA_ERROR_INVALID_CONTEXT", 0, NULL },
    { 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", 0,
        "this build has no kernels for this GPU's architecture" },
    { 214, "CUDA_ERROR_ECC_UNCORRECTABLE", 1,
        "memory of the GPU is damaged: uncorrectable ECC error; see nvidia-smi "
        "-q -d ECC,ROW_REMAPPER and reset or replace the GPU" },
    { 217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", 0, NULL },
    { 220, "CUDA_ERROR_NVLINK_UNCORRECTABLE", 1,
        "an NVLink failed; see nvidia-smi nvlink -e and dmesg for Xid 74" },
    { 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", 0,
        "the kernels were built by a newer toolkit than this driver knows; "
        "update the driver" },
    { 400, "CUDA_ERROR_INVALID_HANDLE", 0, NULL },
    { 500, "CUDA_ERROR_NOT_FOUND", 0, NULL },
    { 600, "CUDA_ERROR_NOT_READY", 0, NULL },
    { 700, "CUDA_ERROR_ILLEGAL_ADDRESS", 1,
        "a kernel or copy used an address that is not mapped" },
    { 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", 0, NULL },
    { 702, "CUDA_ERROR_LAUNCH_TIMEOUT", 1,
        "the display watchdog ended a kernel; run without a display on this "
        "GPU" },
    { 704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", 0, NULL },
    { 709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", 1, NULL },
    { 710, "CUDA_ERROR_ASSERT", 1, NULL },
    { 714, "CUDA_ERROR_HARDWARE_STACK_ERROR", 1, NULL },
    { 715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", 1, NULL },
    { 716, "CUDA_ERROR_MISALIGNED_ADDRESS", 1, NULL },
    { 717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", 1, NULL },
    { 718, "CUDA_ERROR_INVALID_PC", 1, NULL },
    { 719, "CUDA_ERROR_LAUNCH_FAILED", 1,
        "a kernel failed on the GPU; see dmesg for Xid lines" },
    { 800, "CUDA_ERROR_NOT_PERMITTED", 0,
        "not permitted; for fabric memory: no IMEX channel can be used, see "
        "/dev/nvidia-caps-imex-channels" },
    { 801, "CUDA_ERROR_NOT_SUPPORTED", 0, NULL },
    { 802, "CUDA_ERROR_SYSTEM_NOT_READY", 0,
        "the fabric manager is not running or has not finished; start "
        "nvidia-fabricmanager of the driver's very version" },
    { 803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", 0,
        "libcuda.so.1 and the kernel module are of different versions; reboot "
        "or reload the module after a driver update" },
    { 804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", 0,
        "a forward-compatibility libcuda.so.1 is loaded that this GPU does not "
        "support; remove cuda-compat from LD_LIBRARY_PATH" },
    { 805, "CUDA_ERROR_MPS_CONNECTION_FAILED", 0,
        "the MPS server could not be reached; stop or restart it" },
    { 807, "CUDA_ERROR_MPS_SERVER_NOT_READY", 0,
        "the MPS server is not ready; stop it or wait for it" },
    { 999, "CUDA_ERROR_UNKNOWN", 1,
        "the driver failed without saying why; see dmesg for NVRM and Xid "
        "lines, and whether the nvidia_uvm module is loaded" },
};

static const struct driver_code *find(int64_t code)
{
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].code == code) {
            return &codes[i];
        }
    }
    return NULL;
}

const char *driver_code_text(int64_t code)
{
    const struct driver_code *const found = find(code);

    return found == NULL ? NULL : found->text;
}

const char *driver_code_name(int64_t code)
{
    const struct driver_code *const found = find(code);

    return found == NULL ? "CUresult" : found->name;
}

int driver_code_is_sticky(int64_t code)
{
    const struct driver_code *const found = find(code);

    return found != NULL && found->sticky;
}
