/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Trap: makes described bytes real when somebody touches them by an address,
 * be it the CPU, a kernel in C or a library. */
#ifndef SIM_TRAP_H
#define SIM_TRAP_H

/* Makes sure of it, since others set handlers too. Faults elsewhere go to whom
 * they went before. */
void trap_set(void);

#endif
