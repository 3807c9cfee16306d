/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "sim_trap.h"

#include <signal.h>
#include <stddef.h>

#include "sim_contents.h"
#include "sim_machine.h"

/* Made real at once, so that a sweep costs few faults. */
#define SLAB (UINT64_C(256) << 10)

static struct sigaction before;
static _Thread_local uint64_t last_address;

/* The fault comes from a plain load or store, never from within the C library
 * at work on its own state, so that what is called here may be called. */
static int make_real(uint64_t address)
{
    const int held = sim_is_locked();
    const struct memory_map *map = &sim_machine()->memory;
    int handled = 0;

    if (!held) {
        sim_lock();
    }
    const struct memory_range *range = memory_find(map, address, 1);

    if (range != NULL && range->contents != NULL) {
        const uint64_t left = range->base + range->bytes - address;

        /* Another thread may have been first; the same address twice in a row
         * without anything to do is a fault of another kind. */
        handled = contents_touch(map, address, left < SLAB ? left : SLAB) ||
                  address != last_address;
        last_address = address;
    }
    if (!held) {
        sim_unlock();
    }
    return handled;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 && make_real((uint64_t)(uintptr_t)info->si_addr)) {
        return;
    }
    /* The instruction is tried again and meets the former handler. */
    sigaction(number, &before, NULL);
}

void trap_set(void)
{
    const struct sigaction action = { .sa_sigaction = on_fault,
        .sa_flags = SA_SIGINFO | SA_NODEFER };
    struct sigaction now;

    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction != on_fault) {
        before = now;
        sigaction(SIGSEGV, &action, NULL);
    }
}
