/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Descriptors between processes of one user on one host. Each has a datagram
 * socket with a name in a folder that only its user may enter, and a socket
 * connected to each of the others; once all are connected the names go, so
 * that nobody else ever gets at a socket and nothing is left behind. */
#ifndef NVBW_PEERS_SOCKET_H
#define NVBW_PEERS_SOCKET_H

#include "status.h"

enum { PEERS_SOCKET_PATH = 40 };

/* Opens a socket with a name in a folder of its own. */
int32_t peers_socket_open(
    int *out_fd, char out_path[PEERS_SOCKET_PATH], struct error *err);
/* A socket that sends to the one of that name. */
int32_t peers_socket_connect(const char *path, int *out_fd, struct error *err);
/* Takes name and folder away. */
void peers_socket_unname(const char *path);
/* Sends a descriptor, marked with a number, through a connected socket. Waits
 * while the other's queue is full, for so long at most. */
int32_t peers_socket_send(
    int fd, uint64_t number, int what, uint64_t limit_ns, struct error *err);
/* Waits for the descriptor with that number, which is then the caller's. What
 * comes from another user, with another number or with more than one
 * descriptor is dropped, and all that came with it closed. */
int32_t peers_socket_receive(int fd, uint64_t number, uint64_t limit_ns,
    int *out_what, struct error *err);

#endif
