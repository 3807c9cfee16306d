/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "peers_socket.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"

#define NS_PER_MS UINT64_C(1000000)

/* Room for a descriptor and for who sent it. */
union control {
    struct cmsghdr first; /* for alignment */
    unsigned char
        bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

static socklen_t make_address(uint64_t name, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){ .sun_family = AF_UNIX };

    const int length = snprintf(
        out->sun_path + 1, sizeof out->sun_path - 1, "nvbw-%016" PRIx64, name);

    return (
        socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int32_t peers_socket_open(int *out_fd, uint64_t *out_name, struct error *err)
{
    struct sockaddr_un address;
    const int on = 1;

    if (getrandom(out_name, sizeof *out_name, 0) != (ssize_t)sizeof *out_name) {
        return error_system(err, "no random name for a socket");
    }
    *out_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (*out_fd < 0) {
        return error_system(err, "no socket for the other ranks");
    }

    const socklen_t length = make_address(*out_name, &address);

    if (setsockopt(*out_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
        bind(*out_fd, (const struct sockaddr *)&address, length) != 0) {
        error_system(err, "the socket for the other ranks has no name");
        close(*out_fd);
        *out_fd = -1;
        return NVBW_E_SYSTEM;
    }
    return NVBW_OK;
}

int32_t peers_socket_send(
    int fd, uint64_t name, uint64_t number, int what, struct error *err)
{
    struct sockaddr_un address;
    union control control = { .bytes = { 0 } };
    struct iovec part = { &number, sizeof number };
    struct msghdr message = { .msg_name = &address,
        .msg_namelen = make_address(name, &address),
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = CMSG_SPACE(sizeof what) };
    struct cmsghdr *const head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof what);
    memcpy(CMSG_DATA(head), &what, sizeof what);
    while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) {
            return error_system(
                err, "a descriptor cannot be sent to another rank");
        }
    }
    return NVBW_OK;
}

/* The descriptor of a message, or -1; *out_is_own: whether this user sent
 * it. */
static int take_control(struct msghdr *message, int *out_is_own)
{
    int what = -1;

    *out_is_own = 0;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL;
         head = CMSG_NXTHDR(message, head)) {
        struct ucred sender;

        if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
            head->cmsg_len == CMSG_LEN(sizeof what)) {
            memcpy(&what, CMSG_DATA(head), sizeof what);
        }
        if (head->cmsg_level == SOL_SOCKET &&
            head->cmsg_type == SCM_CREDENTIALS &&
            head->cmsg_len == CMSG_LEN(sizeof sender)) {
            memcpy(&sender, CMSG_DATA(head), sizeof sender);
            *out_is_own = sender.uid == geteuid() || sender.uid == getuid();
        }
    }
    return what;
}

/* One message, if it is the one that is waited for; else -1. */
static int take_message(int fd, uint64_t number)
{
    uint64_t got = 0;
    union control control = { .bytes = { 0 } };
    struct iovec part = { &got, sizeof got };
    struct msghdr message = { .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes };
    int is_own = 0;

    if (recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT) !=
        (ssize_t)sizeof got) {
        return -1;
    }

    const int what = take_control(&message, &is_own);

    if (what >= 0 && (!is_own || got != number)) {
        close(what);
        return -1;
    }
    return what;
}

int32_t peers_socket_receive(int fd, uint64_t number, uint64_t limit_ns,
    int *out_what, struct error *err)
{
    const uint64_t until_ns = clock_machine_ns() + limit_ns;

    for (;;) {
        const uint64_t now_ns = clock_machine_ns();
        struct pollfd wait = { .fd = fd, .events = POLLIN };

        FAIL_IF(now_ns >= until_ns, err, NVBW_E_SYSTEM,
            "no descriptor came from the rank that owns the memory");
        if (poll(&wait, 1, (int)((until_ns - now_ns) / NS_PER_MS) + 1) < 0 &&
            errno != EINTR) {
            return error_system(err, "waiting for a descriptor");
        }
        *out_what = take_message(fd, number);
        if (*out_what >= 0) {
            return NVBW_OK;
        }
    }
}
