/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "evidence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PENDING_LIMIT = 256 << 20, /* one line is never larger */
    PENDING_FULL = 1 << 20     /* written without waiting for the tick */
};
static const uint64_t SYNC_EVERY_NS = 250000000;

struct journal {
    int fd;
    struct strbuf pending;
    size_t written;   /* of pending */
    uint64_t size;    /* of the file with all that was added */
    uint64_t tick_ns; /* of the last tick */
    uint64_t due_ns;  /* of the next sync, UINT64_MAX: none */
    char path[4096 + 32];
};

/* ---- opening ---- */

/* Length up to and with the last newline. */
static int32_t whole_length(const struct journal *journal, off_t size,
    off_t *out_length, struct error *err)
{
    char chunk[4096];

    while (size > 0) {
        const size_t want =
            size < (off_t)sizeof chunk ? (size_t)size : sizeof chunk;
        const ssize_t got = pread(journal->fd, chunk, want, size - (off_t)want);

        if (got != (ssize_t)want) {
            return error_system(err, "reading %s", journal->path);
        }

        const char *const newline = memrchr(chunk, '\n', want);

        if (newline != NULL) {
            *out_length = size - (off_t)want + (newline - chunk) + 1;
            return NVBW_OK;
        }
        size -= (off_t)want;
    }
    *out_length = 0;
    return NVBW_OK;
}

static int32_t cut_torn_line(struct journal *journal, struct error *err)
{
    const off_t size = lseek(journal->fd, 0, SEEK_END);
    off_t length = 0;

    if (size < 0) {
        return error_system(err, "reading %s", journal->path);
    }
    TRY(whole_length(journal, size, &length, err));
    if (length < size && ftruncate(journal->fd, length) != 0) {
        return error_system(err, "cutting a torn line off %s", journal->path);
    }
    journal->size = (uint64_t)length;
    return NVBW_OK;
}

int32_t journal_open(
    const char *run_dir, struct journal **out, struct error *err)
{
    struct journal *const journal = calloc(1, sizeof *journal);
    int32_t status = NVBW_OK;

    FAIL_IF(journal == NULL, err, NVBW_E_SYSTEM, "no memory for a journal");
    strbuf_init(&journal->pending, PENDING_LIMIT);
    journal->due_ns = UINT64_MAX;
    if (strlen(run_dir) >= 4096) {
        status = error_set(err, NVBW_E_INVALID,
            "the name of the run directory is longer than 4095 bytes");
        goto free_journal;
    }
    snprintf(journal->path, sizeof journal->path, "%s/journal.ndjson", run_dir);
    journal->fd = open(journal->path,
        O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (journal->fd < 0) {
        status = error_system(err, "opening %s", journal->path);
        goto free_journal;
    }
    status = cut_torn_line(journal, err);
    if (status < 0) {
        goto close_file;
    }
    *out = journal;
    return NVBW_OK;

close_file:
    close(journal->fd);
free_journal:
    free(journal);
    return status;
}

/* ---- writing ---- */

/* What was written is never written again. */
int32_t journal_write(struct journal *journal, struct error *err)
{
    struct strbuf *const pending = &journal->pending;

    while (journal->written < pending->length) {
        const ssize_t put = write(journal->fd, pending->text + journal->written,
            pending->length - journal->written);

        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return error_system(err, "writing %s", journal->path);
        }
        journal->written += (size_t)put;
    }
    strbuf_reset(pending);
    journal->written = 0;
    return NVBW_OK;
}

int32_t journal_add(struct journal *journal, uint32_t line_type,
    const void *object, struct error *err)
{
    const size_t before = journal->pending.length;

    TRY(line_format(&journal->pending, line_type, object, err));
    journal->size += journal->pending.length - before;
    if (journal->due_ns == UINT64_MAX) {
        journal->due_ns = journal->tick_ns + SYNC_EVERY_NS;
    }
    if (journal->pending.length - journal->written < PENDING_FULL) {
        return NVBW_OK;
    }
    return journal_write(journal, err);
}

uint64_t journal_size(const struct journal *journal)
{
    return journal->size;
}

const char *journal_file(const struct journal *journal)
{
    return journal->path;
}

int journal_fd(const struct journal *journal)
{
    return journal->fd;
}

uint64_t journal_written(const struct journal *journal)
{
    return journal->size - (journal->pending.length - journal->written);
}

int32_t journal_flush(struct journal *journal, struct error *err)
{
    TRY(journal_write(journal, err));
    if (journal->due_ns != UINT64_MAX && fdatasync(journal->fd) != 0 &&
        errno != EINVAL && errno != EROFS) {
        return error_system(err, "syncing %s", journal->path);
    }
    journal->due_ns = UINT64_MAX;
    return NVBW_OK;
}

int32_t journal_tick(struct journal *journal, uint64_t now_ns,
    uint64_t *out_due_ns, struct error *err)
{
    int32_t status = NVBW_OK;

    journal->tick_ns = now_ns;
    if (journal->due_ns <= now_ns) {
        status = journal_flush(journal, err);
        if (status < 0) {
            journal->due_ns = now_ns + SYNC_EVERY_NS;
        }
    }
    *out_due_ns = journal->due_ns;
    return status;
}

void journal_close(struct journal *journal)
{
    if (journal == NULL) {
        return;
    }
    (void)journal_flush(journal, NULL);
    close(journal->fd);
    strbuf_free(&journal->pending);
    free(journal);
}
