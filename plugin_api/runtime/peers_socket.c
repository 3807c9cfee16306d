/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "peers_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "clock.h"

#define NS_PER_MS UINT64_C(1000000)

/* The most descriptors that the kernel lets into one message. */
enum { DESCRIPTORS_MOST = 253 };

/* Room for one descriptor on its way out. */
union outgoing {
    struct cmsghdr first; /* for alignment */
    unsigned char bytes[CMSG_SPACE(sizeof(int))];
};

/* Room for all that a message can bring, so that whatever comes is seen and can
 * be closed. */
union incoming {
    struct cmsghdr first;
    unsigned char bytes[CMSG_SPACE(sizeof(int) * DESCRIPTORS_MOST) +
                        CMSG_SPACE(sizeof(struct ucred))];
};

/* Where names stand, by preference. */
static const char *const folders[] = { "/tmp/nvbw-XXXXXX",
    "/dev/shm/nvbw-XXXXXX" };

static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    return address;
}

/* mkdtemp makes it for this user alone. */
static int32_t make_folder(char out_path[PEERS_SOCKET_PATH], struct error *err)
{
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(out_path, PEERS_SOCKET_PATH, "%s", folders[i]);
        if (mkdtemp(out_path) != NULL) {
            const size_t used = strlen(out_path);

            snprintf(out_path + used, PEERS_SOCKET_PATH - used, "/rank");
            return NVBW_OK;
        }
    }
    return error_system(err, "no folder in /tmp or /dev/shm for a socket");
}

static int32_t new_socket(int *out_fd, struct error *err)
{
    *out_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return *out_fd < 0 ? error_system(err, "no socket for the other ranks")
                       : NVBW_OK;
}

int32_t peers_socket_open(
    int *out_fd, char out_path[PEERS_SOCKET_PATH], struct error *err)
{
    const int on = 1;

    TRY(new_socket(out_fd, err));
    if (make_folder(out_path, err) < 0) {
        goto close_socket;
    }

    const struct sockaddr_un address = address_of(out_path);

    if (setsockopt(*out_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
        bind(*out_fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        error_system(err, "the socket for the other ranks has no name");
        goto remove_folder;
    }
    return NVBW_OK;

remove_folder:
    peers_socket_unname(out_path);
close_socket:
    close(*out_fd);
    *out_fd = -1;
    return NVBW_E_SYSTEM;
}

int32_t peers_socket_connect(const char *path, int *out_fd, struct error *err)
{
    const struct sockaddr_un address = address_of(path);

    TRY(new_socket(out_fd, err));
    if (connect(*out_fd, (const struct sockaddr *)&address, sizeof address) ==
        0) {
        return NVBW_OK;
    }
    error_system(err,
        "the socket %s of another rank on this host: ranks of one host need "
        "one /tmp and one user",
        path);
    close(*out_fd);
    *out_fd = -1;
    return NVBW_E_SYSTEM;
}

void peers_socket_unname(const char *path)
{
    char folder[PEERS_SOCKET_PATH];
    const char *const slash = strrchr(path, '/');

    if (slash == NULL) {
        return;
    }
    unlink(path);
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    rmdir(folder);
}

/* Until the socket may be ready for the event. complaint: if it is not in
 * time. */
static int32_t wait_ready(int fd, short events, uint64_t until_ns,
    const char *complaint, struct error *err)
{
    const uint64_t now_ns = clock_machine_ns();
    struct pollfd wait = { .fd = fd, .events = events };

    FAIL_IF(now_ns >= until_ns, err, NVBW_E_SYSTEM, "%s", complaint);
    if (poll(&wait, 1, (int)((until_ns - now_ns) / NS_PER_MS) + 1) < 0 &&
        errno != EINTR) {
        return error_system(err, "waiting for a socket of another rank");
    }
    return NVBW_OK;
}

int32_t peers_socket_send(
    int fd, uint64_t number, int what, uint64_t limit_ns, struct error *err)
{
    const uint64_t until_ns = clock_machine_ns() + limit_ns;
    union outgoing control = { .bytes = { 0 } };
    struct iovec part = { &number, sizeof number };
    struct msghdr message = { .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = CMSG_SPACE(sizeof what) };
    struct cmsghdr *const head = CMSG_FIRSTHDR(&message);

    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof what);
    memcpy(CMSG_DATA(head), &what, sizeof what);
    while (sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        if (errno == EAGAIN || errno == ENOBUFS) {
            TRY(wait_ready(fd, POLLOUT, until_ns,
                "a rank does not take the descriptor of memory", err));
        } else if (errno != EINTR) {
            return error_system(
                err, "a descriptor cannot be sent to another rank");
        }
    }
    return NVBW_OK;
}

/* What a message brought. */
struct brought {
    int what; /* the first descriptor, or -1 */
    uint32_t descriptors;
    int is_own; /* 1: this user sent it */
};

static void take_descriptors(
    const struct cmsghdr *head, struct brought *brought)
{
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    for (size_t i = 0; i < count; i++) {
        int what = -1;

        memcpy(&what, CMSG_DATA(head) + i * sizeof what, sizeof what);
        if (brought->descriptors++ == 0) {
            brought->what = what;
        } else {
            close(what);
        }
    }
}

static struct brought take_control(struct msghdr *message)
{
    struct brought brought = { .what = -1 };

    for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL;
         head = CMSG_NXTHDR(message, head)) {
        struct ucred sender;

        if (head->cmsg_level != SOL_SOCKET) {
            continue;
        }
        if (head->cmsg_type == SCM_RIGHTS) {
            take_descriptors(head, &brought);
        }
        if (head->cmsg_type == SCM_CREDENTIALS &&
            head->cmsg_len == CMSG_LEN(sizeof sender)) {
            memcpy(&sender, CMSG_DATA(head), sizeof sender);
            brought.is_own = sender.uid == geteuid() || sender.uid == getuid();
        }
    }
    return brought;
}

/* One message, if it is the one that is waited for; else -1. Whatever a message
 * brings is looked at, however short it is. */
static int take_message(int fd, uint64_t number)
{
    uint64_t got = 0;
    union incoming control;
    struct iovec part = { &got, sizeof got };
    struct msghdr message = { .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = control.bytes,
        .msg_controllen = sizeof control.bytes };
    const ssize_t bytes =
        recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

    if (bytes < 0) {
        return -1;
    }

    const struct brought brought = take_control(&message);

    if (brought.what >= 0 && (bytes != (ssize_t)sizeof got || got != number ||
                                 !brought.is_own || brought.descriptors != 1)) {
        close(brought.what);
        return -1;
    }
    return brought.what;
}

int32_t peers_socket_receive(int fd, uint64_t number, uint64_t limit_ns,
    int *out_what, struct error *err)
{
    const uint64_t until_ns = clock_machine_ns() + limit_ns;

    for (;;) {
        TRY(wait_ready(fd, POLLIN, until_ns,
            "no descriptor came from the rank that owns the memory", err));
        *out_what = take_message(fd, number);
        if (*out_what >= 0) {
            return NVBW_OK;
        }
    }
}
