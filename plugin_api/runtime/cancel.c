/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "cancel.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t requested;

static void on_signal(int number)
{
    (void)number;
    requested = 1;
}

int32_t cancel_install(struct error *err)
{
    /* Without SA_RESTART, so that a plugin's blocking call comes back. */
    struct sigaction action = { .sa_handler = on_signal };
    const struct sigaction ignore = { .sa_handler = SIG_IGN };

    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTERM, &action, NULL) != 0 ||
        sigaction(SIGPIPE, &ignore, NULL) != 0) {
        return error_system(err, "cannot set the handler of SIGTERM");
    }
    return NVBW_OK;
}

int cancel_requested(void)
{
    return requested != 0;
}
