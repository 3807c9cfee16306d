/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* The kernels as they are built into the program: families of kernels, each
 * one module, each in up to three forms that are tried in this order. */
#ifndef NVBW_KERNEL_IMAGES_H
#define NVBW_KERNEL_IMAGES_H

struct kernel_family {
    const char *name;
    const unsigned char *fatbin; /* machine code, NULL: built without nvcc */
    const char *ptx;             /* text for the driver's compiler, or NULL */
    const char *names; /* what only the simulated driver accepts: its first
                          line, then one kernel a line */
};

/* Families; a new one is a row in kernel_images.c and its number here. */
enum {
    KERNEL_FAMILY_ENGINE = 0,
    KERNEL_FAMILY_SM,
    KERNEL_FAMILY_CHASE,
    KERNEL_FAMILIES
};
extern const struct kernel_family kernel_families[KERNEL_FAMILIES];

/* 1: this build has machine code for real GPUs. */
extern const int kernel_images_built;
/* 1: it has the kernels that need compute capability 9.0, bulk copies. */
extern const int kernel_images_hopper;

#endif
