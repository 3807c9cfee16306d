/* SPDX-License-Identifier: Apache-2.0
 * Copyright The nvbw-host authors */
#include "elf_check.h"

#include <elf.h>
#include <string.h>

#if defined(__x86_64__)
#define ELF_MACHINE      EM_X86_64
#define ELF_MACHINE_NAME "x86-64"
#elif defined(__aarch64__)
#define ELF_MACHINE      EM_AARCH64
#define ELF_MACHINE_NAME "aarch64"
#else
#error "add this machine's ELF number"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define ELF_DATA ELFDATA2LSB
#else
#define ELF_DATA ELFDATA2MSB
#endif

#define EXPORTED "nvbw_plugin_v1"
#define RESERVED "nvbw_"

enum {
    SEGMENT_LIMIT = 256, /* program headers; linkers make about ten */
    DYNAMIC_LIMIT = 4096 /* entries of the dynamic table */
};

/* The file and what was found in it so far. */
struct image {
    const unsigned char *bytes;
    uint64_t length;
    uint64_t segments; /* offset of the program headers */
    uint32_t segments_count;
    uint64_t dynamic, dynamic_count;
    uint64_t names, names_bytes; /* the dynamic string table */
    uint64_t symbols, symbols_count;
};

/* 1 if count elements of size bytes at offset lie inside the file. */
static int is_inside(
    const struct image *image, uint64_t offset, uint64_t count, uint64_t size)
{
    uint64_t bytes = 0;
    return !__builtin_mul_overflow(count, size, &bytes) &&
           offset <= image->length && bytes <= image->length - offset;
}

/* Every read of the file goes through here; structs in it need not be
 * aligned. */
static int read_at(
    const struct image *image, uint64_t offset, void *out, size_t size)
{
    if (!is_inside(image, offset, 1, size)) {
        return 0;
    }
    memcpy(out, image->bytes + offset, size);
    return 1;
}

static int32_t read_header(
    const struct image *image, Elf64_Ehdr *out, struct error *err)
{
    FAIL_IF(image->length < sizeof *out ||
                memcmp(image->bytes, ELFMAG, SELFMAG) != 0,
        err, NVBW_E_INVALID, "is not an ELF file");
    memcpy(out, image->bytes, sizeof *out);
    FAIL_IF(out->e_ident[EI_CLASS] != ELFCLASS64, err, NVBW_E_INVALID,
        "is not a 64-bit ELF file");
    FAIL_IF(out->e_ident[EI_DATA] != ELF_DATA, err, NVBW_E_INVALID,
        "has the byte order of another machine");
    FAIL_IF(out->e_machine != ELF_MACHINE, err, NVBW_E_INVALID,
        "is for another machine (ELF machine %u), this one is "
        "%s: build it for %s",
        out->e_machine, ELF_MACHINE_NAME, ELF_MACHINE_NAME);
    FAIL_IF(
        out->e_ident[EI_VERSION] != EV_CURRENT || out->e_version != EV_CURRENT,
        err, NVBW_E_INVALID, "has an unknown ELF version");
    FAIL_IF(out->e_type != ET_DYN, err, NVBW_E_INVALID,
        "is not a shared object: link it with -shared");
    return NVBW_OK;
}

/* The section headers stand last, so a cut file is told by them even where
 * the loader would not notice. */
static int32_t check_sections(
    const struct image *image, const Elf64_Ehdr *header, struct error *err)
{
    FAIL_IF(header->e_shoff != 0 && !is_inside(image, header->e_shoff,
                                        header->e_shnum, header->e_shentsize),
        err, NVBW_E_INVALID,
        "is cut short: its section table ends past the %llu bytes of the "
        "file; copy it again",
        (unsigned long long)image->length);
    return NVBW_OK;
}

static int read_segment(
    const struct image *image, uint32_t index, Elf64_Phdr *out)
{
    return read_at(
        image, image->segments + index * sizeof *out, out, sizeof *out);
}

/* One PT_LOAD: inside the file, above the one before it, and mapped by pages
 * as the loader does without further questions. */
static int32_t check_load(const struct image *image, uint32_t index,
    const Elf64_Phdr *load, uint64_t *floor, struct error *err)
{
    uint64_t end = 0;
    FAIL_IF(!is_inside(image, load->p_offset, 1, load->p_filesz), err,
        NVBW_E_INVALID,
        "is cut short: segment %u needs %llu bytes at offset %llu, the file "
        "has %llu; copy it again",
        index, (unsigned long long)load->p_filesz,
        (unsigned long long)load->p_offset, (unsigned long long)image->length);
    FAIL_IF(load->p_memsz < load->p_filesz ||
                __builtin_add_overflow(load->p_vaddr, load->p_memsz, &end),
        err, NVBW_E_INVALID, "has an impossible size in segment %u", index);
    FAIL_IF(load->p_vaddr < *floor, err, NVBW_E_INVALID,
        "has segment %u overlap the one before it", index);
    FAIL_IF(load->p_align > 1 && ((load->p_align & (load->p_align - 1)) != 0 ||
                                     ((load->p_vaddr - load->p_offset) &
                                         (load->p_align - 1)) != 0),
        err, NVBW_E_INVALID, "has a wrong alignment in segment %u", index);
    *floor = end;
    return NVBW_OK;
}

static int32_t check_segments(
    struct image *image, const Elf64_Ehdr *header, struct error *err)
{
    FAIL_IF(header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum == 0 ||
                header->e_phnum > SEGMENT_LIMIT ||
                !is_inside(image, header->e_phoff, header->e_phnum,
                    sizeof(Elf64_Phdr)),
        err, NVBW_E_INVALID, "has no usable table of segments");
    image->segments = header->e_phoff;
    image->segments_count = header->e_phnum;

    uint64_t floor = 0;
    uint32_t loads = 0;
    for (uint32_t i = 0; i < image->segments_count; i++) {
        Elf64_Phdr segment;
        FAIL_IF(!read_segment(image, i, &segment), err, NVBW_E_INVALID,
            "has no segment %u", i);
        if (segment.p_type == PT_LOAD) {
            TRY(check_load(image, i, &segment, &floor, err));
            loads++;
        }
    }
    FAIL_IF(loads == 0, err, NVBW_E_INVALID, "has nothing to load");
    return NVBW_OK;
}

/* Where in the file the loader finds these addresses, or 0: the ELF header
 * stands at offset 0, so no table can. */
static uint64_t file_offset(
    const struct image *image, uint64_t address, uint64_t bytes)
{
    for (uint32_t i = 0; i < image->segments_count; i++) {
        Elf64_Phdr load;
        if (!read_segment(image, i, &load) || load.p_type != PT_LOAD ||
            address < load.p_vaddr || address - load.p_vaddr > load.p_filesz) {
            continue;
        }
        const uint64_t into = address - load.p_vaddr;
        if (bytes <= load.p_filesz - into) {
            return load.p_offset + into;
        }
    }
    return 0;
}

static int32_t find_dynamic(struct image *image, struct error *err)
{
    for (uint32_t i = 0; i < image->segments_count; i++) {
        Elf64_Phdr segment;
        if (!read_segment(image, i, &segment) || segment.p_type != PT_DYNAMIC) {
            continue;
        }
        FAIL_IF(
            image->dynamic != 0, err, NVBW_E_INVALID, "has two dynamic tables");
        image->dynamic = file_offset(image, segment.p_vaddr, segment.p_filesz);
        image->dynamic_count = segment.p_filesz / sizeof(Elf64_Dyn);
        FAIL_IF(image->dynamic == 0 || image->dynamic != segment.p_offset ||
                    image->dynamic_count > DYNAMIC_LIMIT,
            err, NVBW_E_INVALID, "has an unusable dynamic table");
    }
    FAIL_IF(image->dynamic == 0, err, NVBW_E_INVALID, "has no dynamic table");
    for (uint64_t i = 0; i < image->dynamic_count; i++) {
        Elf64_Dyn entry;
        if (read_at(image, image->dynamic + i * sizeof entry, &entry,
                sizeof entry) &&
            entry.d_tag == DT_NULL) {
            return NVBW_OK;
        }
    }
    return error_set(err, NVBW_E_INVALID, "has a dynamic table without an end");
}

/* The value of the first entry with this tag: 1 and *out, or 0. */
static int find_tag(const struct image *image, int64_t tag, uint64_t *out)
{
    for (uint64_t i = 0; i < image->dynamic_count; i++) {
        Elf64_Dyn entry;
        if (!read_at(image, image->dynamic + i * sizeof entry, &entry,
                sizeof entry) ||
            entry.d_tag == DT_NULL) {
            return 0;
        }
        if (entry.d_tag == tag) {
            *out = entry.d_un.d_val;
            return 1;
        }
    }
    return 0;
}

static int32_t find_names(struct image *image, struct error *err)
{
    uint64_t address = 0;
    FAIL_IF(!find_tag(image, DT_STRTAB, &address) ||
                !find_tag(image, DT_STRSZ, &image->names_bytes),
        err, NVBW_E_INVALID, "has no table of names");
    image->names = file_offset(image, address, image->names_bytes);
    FAIL_IF(image->names == 0 || image->names_bytes == 0 ||
                image->bytes[image->names + image->names_bytes - 1] != '\0',
        err, NVBW_E_INVALID, "has an unusable table of names");
    return NVBW_OK;
}

/* A name of the string table, or NULL. The table ends with a NUL, so every
 * offset inside it starts a terminated text. */
static const char *name_at(const struct image *image, uint64_t offset)
{
    if (offset >= image->names_bytes) {
        return NULL;
    }
    return (const char *)image->bytes + image->names + offset;
}

/* Counts by DT_HASH, which has one chain entry per symbol. */
static int count_by_hash(
    const struct image *image, uint64_t address, uint64_t *out_count)
{
    uint32_t head[2]; /* buckets, chains */
    const uint64_t at = file_offset(image, address, sizeof head);
    if (at == 0 || !read_at(image, at, head, sizeof head)) {
        return 0;
    }
    *out_count = head[1];
    return 1;
}

/* Counts by DT_GNU_HASH, which says it nowhere: the last symbol is the end of
 * the chain that begins highest. */
static int count_by_gnu_hash(
    const struct image *image, uint64_t address, uint64_t *out_count)
{
    uint32_t head[4]; /* buckets, first hashed symbol, bloom words, shift */
    const uint64_t at = file_offset(image, address, sizeof head);
    if (at == 0 || !read_at(image, at, head, sizeof head)) {
        return 0;
    }
    const uint64_t buckets =
        at + sizeof head + head[2] * (uint64_t)sizeof(uint64_t);
    const uint64_t chains = buckets + head[0] * (uint64_t)sizeof(uint32_t);
    if (!is_inside(image, buckets, head[0], sizeof(uint32_t))) {
        return 0;
    }
    uint32_t last = 0;
    for (uint32_t i = 0; i < head[0]; i++) {
        uint32_t first = 0;
        memcpy(&first, image->bytes + buckets + i * sizeof first, sizeof first);
        last = first > last ? first : last;
    }
    if (last < head[1]) {
        *out_count = head[1];
        return 1;
    }
    for (uint32_t chain = 0; (chain & 1) == 0; last++) {
        const uint64_t entry = chains + (last - head[1]) * sizeof chain;
        if (!read_at(image, entry, &chain, sizeof chain)) {
            return 0;
        }
    }
    *out_count = last;
    return 1;
}

static int32_t find_symbols(struct image *image, struct error *err)
{
    uint64_t table = 0;
    uint64_t hash = 0;
    uint64_t entry_bytes = sizeof(Elf64_Sym);
    int is_counted = 0;
    (void)find_tag(image, DT_SYMENT, &entry_bytes);
    if (find_tag(image, DT_HASH, &hash)) {
        is_counted = count_by_hash(image, hash, &image->symbols_count);
    } else if (find_tag(image, DT_GNU_HASH, &hash)) {
        is_counted = count_by_gnu_hash(image, hash, &image->symbols_count);
    }
    FAIL_IF(!is_counted || !find_tag(image, DT_SYMTAB, &table) ||
                entry_bytes != sizeof(Elf64_Sym) ||
                image->symbols_count > image->length / sizeof(Elf64_Sym),
        err, NVBW_E_INVALID, "has an unusable symbol table");
    image->symbols =
        file_offset(image, table, image->symbols_count * sizeof(Elf64_Sym));
    FAIL_IF(image->symbols == 0, err, NVBW_E_INVALID,
        "has a symbol table outside of its segments");
    return NVBW_OK;
}

/* The descriptor must lie in what is loaded, so that the worker reads data
 * and not whatever is mapped beside it. */
static int32_t check_descriptor(
    const struct image *image, const Elf64_Sym *symbol, struct error *err)
{
    FAIL_IF(ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT, err, NVBW_E_INVALID,
        "exports " EXPORTED ", but not as data (rule C1)");
    FAIL_IF(ELF64_ST_VISIBILITY(symbol->st_other) != STV_DEFAULT &&
                ELF64_ST_VISIBILITY(symbol->st_other) != STV_PROTECTED,
        err, NVBW_E_INVALID, "hides " EXPORTED " (rule C1)");
    FAIL_IF(symbol->st_size < 2 * sizeof(uint32_t) ||
                file_offset(image, symbol->st_value, symbol->st_size) == 0,
        err, NVBW_E_INVALID,
        "has no initialised data behind " EXPORTED " (rule C1)");
    return NVBW_OK;
}

static int32_t check_symbol(const struct image *image, const Elf64_Sym *symbol,
    int *has_descriptor, struct error *err)
{
    const char *name = name_at(image, symbol->st_name);
    FAIL_IF(name == NULL, err, NVBW_E_INVALID,
        "has a symbol without a readable name");
    if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL) {
        return NVBW_OK;
    }
    if (symbol->st_shndx == SHN_UNDEF) {
        FAIL_IF(strncmp(name, RESERVED, strlen(RESERVED)) == 0, err,
            NVBW_E_INVALID,
            "leaves \"%.100s\" undefined: a plugin links nothing of the host, "
            "it calls through ctx->host (rule C1)",
            name);
        return NVBW_OK;
    }
    if (strcmp(name, EXPORTED) == 0) {
        FAIL_IF(*has_descriptor, err, NVBW_E_INVALID,
            "exports " EXPORTED " twice (rule C1)");
        *has_descriptor = 1;
        return check_descriptor(image, symbol, err);
    }
    return error_set(err, NVBW_E_INVALID,
        "exports \"%.100s\" beside " EXPORTED ": build it with "
        "nvbw_add_plugin() or with the SDK's version script (rule C1)",
        name);
}

static int32_t check_symbols(const struct image *image, struct error *err)
{
    int has_descriptor = 0;
    for (uint64_t i = 1; i < image->symbols_count; i++) {
        Elf64_Sym symbol;
        FAIL_IF(!read_at(image, image->symbols + i * sizeof symbol, &symbol,
                    sizeof symbol),
            err, NVBW_E_INVALID, "has an unusable symbol table");
        TRY(check_symbol(image, &symbol, &has_descriptor, err));
    }
    FAIL_IF(!has_descriptor, err, NVBW_E_INVALID,
        "does not export " EXPORTED ": it is no plugin of this contract "
        "(rule C1)");
    return NVBW_OK;
}

static int32_t find_needed(
    const struct image *image, struct elf_report *out, struct error *err)
{
    for (uint64_t i = 0; i < image->dynamic_count; i++) {
        Elf64_Dyn entry;
        if (!read_at(image, image->dynamic + i * sizeof entry, &entry,
                sizeof entry) ||
            entry.d_tag == DT_NULL) {
            break;
        }
        if (entry.d_tag != DT_NEEDED) {
            continue;
        }
        const char *name = name_at(image, entry.d_un.d_val);
        FAIL_IF(name == NULL || *name == '\0', err, NVBW_E_INVALID,
            "needs a library without a readable name");
        FAIL_IF(out->needed_count == ELF_NEEDED_LIMIT, err, NVBW_E_INVALID,
            "needs more than %d libraries", ELF_NEEDED_LIMIT);
        out->needed[out->needed_count++] = name;
    }
    uint64_t offset = 0;
    if (find_tag(image, DT_RUNPATH, &offset)) {
        out->runpath = name_at(image, offset);
    } else if (find_tag(image, DT_RPATH, &offset)) {
        out->rpath = name_at(image, offset);
    }
    return NVBW_OK;
}

int32_t elf_check(
    const void *bytes, size_t length, struct elf_report *out, struct error *err)
{
    struct image image = { .bytes = bytes, .length = length };
    Elf64_Ehdr header;

    *out = (struct elf_report){ .needed_count = 0 };
    TRY(read_header(&image, &header, err));
    TRY(check_segments(&image, &header, err));
    TRY(check_sections(&image, &header, err));
    TRY(find_dynamic(&image, err));
    TRY(find_names(&image, err));
    TRY(find_symbols(&image, err));
    TRY(check_symbols(&image, err));
    return find_needed(&image, out, err);
}

int elf_is_loadable(const void *bytes, size_t length)
{
    const struct image image = { .bytes = bytes, .length = length };
    Elf64_Ehdr header;
    return read_header(&image, &header, NULL) == NVBW_OK;
}
