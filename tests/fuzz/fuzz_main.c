/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
/* Plain runs of a fuzz target:
 *
 *   fuzz_NAME [-m mutations per file] [-s seed] FILE|FOLDER...
 *
 * Every file as it is; every beginning of a short one, some of a long one; and
 * seeded mutations, made of one file and pieces of another. What is being tried
 * stands in a file of the current folder until it is through: after a crash
 * `fuzz_NAME -m 0 FILE` repeats it. */
#include "fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FILE_LIMIT = 1 << 20,
    FILES_MOST = 256,
    BEGINNINGS = 256, /* of one file */
    CHANGES_MOST = 8, /* of one mutation */
    PIECE_MOST = 64,  /* bytes that are moved, doubled, left out */
    PATH_BYTES = 512
};

struct input {
    uint8_t *bytes;
    size_t length;
};

static struct input inputs[FILES_MOST];
static unsigned inputs_count;
static uint64_t seed = 1;
static unsigned mutations = 100;

static size_t random_below(size_t limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return limit == 0 ? 0 : (size_t)(seed % limit);
}

/* ---- One trial ---------------------------------------------------------- */

static int trial_fd = -1;
static char trial_path[PATH_BYTES];

static void open_trial(const char *program)
{
    const char *const slash = strrchr(program, '/');

    snprintf(trial_path, sizeof trial_path, "%.200s.%ld.input",
        slash == NULL ? program : slash + 1, (long)getpid());
    trial_fd = open(trial_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    fuzz_claim(trial_fd >= 0, "no file can be made in the current folder");
}

/* The target gets memory of exactly that size, so that a sanitizer sees a byte
 * too far. */
static void try(const uint8_t *bytes, size_t length)
{
    uint8_t *const copy = malloc(length > 0 ? length : 1);

    fuzz_claim(copy != NULL, "no memory for an input");
    fuzz_claim(ftruncate(trial_fd, 0) == 0 &&
                   pwrite(trial_fd, bytes, length, 0) == (ssize_t)length,
        "the input cannot be kept");
    memcpy(copy, bytes, length);
    LLVMFuzzerTestOneInput(copy, length);
    free(copy);
}

/* ---- Mutations ---------------------------------------------------------- */

static const char *const words[] = { "0", "-1", "4294967296",
    "18446744073709551615", "1e999", "nan", "null", "{", "}", "[", "]", "\"",
    "\\u0000", "\x1b[2J", "\xff", "%%\n", "\n", "GPU 0", " % of expected",
    "99999999999999999999" };
enum { WORDS = sizeof words / sizeof words[0] };

static void insert(struct input *it, size_t at, const void *from, size_t bytes)
{
    if (it->length + bytes <= 2 * FILE_LIMIT) {
        memmove(it->bytes + at + bytes, it->bytes + at, it->length - at);
        memcpy(it->bytes + at, from, bytes);
        it->length += bytes;
    }
}

static void leave_out(struct input *it, size_t at, size_t bytes)
{
    const size_t most = it->length - at;
    const size_t taken = bytes < most ? bytes : most;

    memmove(it->bytes + at, it->bytes + at + taken, most - taken);
    it->length -= taken;
}

static void change(struct input *it)
{
    const size_t at = random_below(it->length);
    const size_t piece = 1 + random_below(PIECE_MOST);
    const struct input *const other = &inputs[random_below(inputs_count)];
    const size_t from = random_below(other->length);
    const size_t rest = other->length - from;
    const char *const word = words[random_below(WORDS)];

    switch (it->length == 0 ? 4 : random_below(6)) {
    case 0:
        it->bytes[at] = (uint8_t)(it->bytes[at] ^ (1U << random_below(8)));
        break;
    case 1:
        it->bytes[at] = (uint8_t)random_below(256);
        break;
    case 2:
        leave_out(it, at, piece);
        break;
    case 3:
        insert(it, at, other->bytes + from, piece < rest ? piece : rest);
        break;
    case 4:
        insert(it, at, word, strlen(word));
        break;
    default:
        leave_out(it, at, piece);
        insert(it, at, word, strlen(word));
        break;
    }
}

static void try_all(const struct input *input, uint8_t *room)
{
    const size_t step = input->length / BEGINNINGS + 1;

    try(input->bytes, input->length);
    for (size_t end = 0; mutations > 0 && end < input->length; end += step) {
        try(input->bytes, end);
    }
    for (unsigned i = 0; i < mutations; i++) {
        struct input it = { room, input->length };
        const size_t changes = 1 + random_below(CHANGES_MOST);

        memcpy(room, input->bytes, input->length);
        for (size_t k = 0; k < changes; k++) {
            change(&it);
        }
        try(it.bytes, it.length);
    }
}

/* ---- Files -------------------------------------------------------------- */

static void load(const char *path)
{
    FILE *const file = fopen(path, "rbe");
    uint8_t *const bytes = malloc(FILE_LIMIT);

    if (file == NULL || bytes == NULL || inputs_count == FILES_MOST) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    inputs[inputs_count].length = fread(bytes, 1, FILE_LIMIT, file);
    inputs[inputs_count++].bytes = bytes;
    fclose(file);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* In order of names: the same run everywhere. */
static void load_all(const char *path)
{
    struct dirent **entries;
    struct stat about;

    if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode)) {
        load(path);
        return;
    }
    const int count = scandir(path, &entries, is_shown, alphasort);

    if (count <= 0) {
        fprintf(stderr, "%s: no files\n", path);
        exit(2);
    }
    for (int i = 0; i < count; i++) {
        char file[PATH_BYTES];

        snprintf(file, sizeof file, "%s/%s", path, entries[i]->d_name);
        if (stat(file, &about) == 0 && S_ISREG(about.st_mode)) {
            load(file);
        }
        free(entries[i]);
    }
    free(entries);
}

int main(int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "m:s:")) != -1) {
        if (option == '?') {
            return 2;
        }
        const unsigned long value = strtoul(optarg, NULL, 10);

        if (option == 'm') {
            mutations = (unsigned)value;
        } else {
            seed = value == 0 ? 1 : value;
        }
    }
    for (int i = optind; i < argc; i++) {
        load_all(argv[i]);
    }
    uint8_t *const room = malloc(2 * FILE_LIMIT);

    if (inputs_count == 0 || room == NULL) {
        fprintf(
            stderr, "%s [-m mutations] [-s seed] FILE|FOLDER...\n", argv[0]);
        return 2;
    }
    open_trial(argv[0]);
    for (unsigned i = 0; i < inputs_count; i++) {
        try_all(&inputs[i], room);
    }
    for (unsigned i = 0; i < inputs_count; i++) {
        free(inputs[i].bytes);
    }
    free(room);
    close(trial_fd);
    unlink(trial_path);
    return 0;
}
