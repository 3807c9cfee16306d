/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "kernel_images.h"

#include <stddef.h>

#include "args.h"

#define SIM_IMAGE             "NVBWSIM1\n"
#define SIM_LINE(name_)       "nvbw_" #name_ "\n"
#define SM_LINE(name_, args_) SIM_LINE(name_)

extern const unsigned char engine_fatbin[];
extern const unsigned char sm_fatbin[];
extern const unsigned char chase_fatbin[];
extern const char engine_ptx[];

__asm__(".pushsection .rodata\n"
        ".globl engine_ptx\n"
        ".hidden engine_ptx\n"
        "engine_ptx:\n"
        ".incbin \"" NVBW_ENGINE_PTX "\"\n"
        ".byte 0\n"
        ".popsection\n");

#if NVBW_HAVE_KERNELS
#define FATBIN(name) name##_fatbin
#else
#define FATBIN(name) NULL
#endif

const int kernel_images_built = NVBW_HAVE_KERNELS;
const int kernel_images_hopper = NVBW_HAVE_HOPPER;

const struct kernel_family kernel_families[KERNEL_FAMILIES] = {
    [KERNEL_FAMILY_ENGINE] = {
        .name = "engine",
        .fatbin = FATBIN(engine),
        .ptx = engine_ptx,
        .names = SIM_IMAGE ENGINE_KERNELS(SIM_LINE),
    },
    [KERNEL_FAMILY_SM] = {
        .name = "sm",
        .fatbin = FATBIN(sm),
        .names = SIM_IMAGE SM_KERNELS(SM_LINE),
    },
    [KERNEL_FAMILY_CHASE] = {
        .name = "chase",
        .fatbin = FATBIN(chase),
        .names = SIM_IMAGE CHASE_KERNELS(SM_LINE),
    },
};
