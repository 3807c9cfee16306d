/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Multicast objects: what is stored at an address of one arrives in the memory
 * that each GPU of its team has bound there, whichever process did so. What
 * processes have to know of it stands in the object's file, behind its bytes;
 * the bytes themselves are nowhere.
 *
 * Where the real driver would wait for GPUs that are still to be added, this
 * one ends the call with an error: its callers are to know. */
#ifndef SIM_MULTICAST_H
#define SIM_MULTICAST_H

#include <stdint.h>

struct multicast;

/* Room for what is known of an object, a multiple of a page. */
uint64_t multicast_state_bytes(void);
/* The state that stands in a file from `at` on. NULL: it cannot be used. */
struct multicast *multicast_open(int descriptor, uint64_t at);
/* Memory that this process has bound is not bound any more. */
void multicast_close(struct multicast *multicast);

/* 1 if all GPUs were added: it may be mapped then, and memory bound. */
int multicast_is_complete(const struct multicast *multicast);
/* 1 if the GPU with this number is of the team. */
int multicast_has(const struct multicast *multicast, uint32_t gpu_number);

/* How many GPUs have been added, and the number of each. */
uint32_t multicast_members(const struct multicast *multicast);
uint32_t multicast_gpu(const struct multicast *multicast, uint32_t member);
/* Where bytes of the object from `at` on are for this member, as memory of this
 * process, or NULL: nothing is bound there. */
unsigned char *multicast_part(
    struct multicast *multicast, uint32_t member, uint64_t at, uint64_t bytes);

#endif
