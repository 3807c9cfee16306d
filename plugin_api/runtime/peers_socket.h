/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Descriptors between processes of one user on one host: each has a datagram
 * socket with a random name that no file stands for. */
#ifndef NVBW_PEERS_SOCKET_H
#define NVBW_PEERS_SOCKET_H

#include "status.h"

/* Opens a socket of a name that it chooses. */
int32_t peers_socket_open(int *out_fd, uint64_t *out_name, struct error *err);
/* Sends a descriptor, marked with a number, to the socket of that name. */
int32_t peers_socket_send(
    int fd, uint64_t name, uint64_t number, int what, struct error *err);
/* Waits for the descriptor with that number, which is then the caller's. What
 * comes from another user or with another number is dropped. */
int32_t peers_socket_receive(int fd, uint64_t number, uint64_t limit_ns,
    int *out_what, struct error *err);

#endif
