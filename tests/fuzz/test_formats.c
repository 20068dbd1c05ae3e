/* Readers against mutated files: seeds from tests/hostile, served from memory, cut, flipped, spliced, doubled.
 *
 * Nothing crashes or leaks; a result comes or an error, never both; an error is of the file's content, tells its name
 * and, for CSV, a line; and before it at most 4 times the file and 1 MB were allocated. Every other file is a pipe.
 * TENON_FUZZ_ROUNDS: mutations of each format (3000). The seed is told on failure. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tenon/tenon.h>

#include "support/draw.h"
#include "support/test.h"

enum { SEEDS = 160, LARGEST = 1 << 16 };

static uint64_t random_state;

static uint32_t draw(uint32_t n)
{
    return (uint32_t)draw_below(&random_state, n);
}

static struct {
    char *data;
    size_t bytes;
} seeds[SEEDS];
static uint32_t n_seeds, n_good; /* the first n_good are valid files */

static char content[LARGEST];
static size_t content_bytes, stream_at;
static bool is_pipe;

static void load_seeds(const char *format)
{
    char folder[512], path[1024];
    for (n_good = 0; n_seeds > 0; n_seeds--)
        free(seeds[n_seeds - 1].data);
    snprintf(folder, sizeof folder, "%s/tests/hostile/%s", TENON_SOURCE_DIR, format);
    DIR *directory = opendir(folder);
    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) && n_seeds < SEEDS;) {
        struct stat info;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > LARGEST / 4)
            continue;
        FILE *file = fopen(path, "rb");
        seeds[n_seeds].data = malloc((size_t)info.st_size + 1);
        seeds[n_seeds].bytes = fread(seeds[n_seeds].data, 1, (size_t)info.st_size, file);
        fclose(file);
        if (strncmp(entry->d_name, "ok_", 3) == 0) {
            char *data = seeds[n_good].data;
            size_t bytes = seeds[n_good].bytes;
            seeds[n_good] = seeds[n_seeds];
            if (n_good != n_seeds) {
                seeds[n_seeds].data = data;
                seeds[n_seeds].bytes = bytes;
            }
            n_good++;
        }
        n_seeds++;
    }
    closedir(directory);
    assert_true(n_seeds > 10);
}

static void put(size_t at, const void *data, size_t bytes)
{
    bytes = content_bytes + bytes > LARGEST ? LARGEST - content_bytes : bytes;
    memmove(content + at + bytes, content + at, content_bytes - at);
    memmove(content + at, data, bytes);
    content_bytes += bytes;
}

static void cut(size_t at, size_t bytes)
{
    bytes = at + bytes > content_bytes ? content_bytes - at : bytes;
    memmove(content + at, content + at + bytes, content_bytes - at - bytes);
    content_bytes -= bytes;
}

static void mutate_once(void)
{
    static const char *const words[] = {"9223372036854775807",
                                        "18446744073709551616",
                                        "-1",
                                        "00",
                                        "\"",
                                        "'",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "(",
                                        ")",
                                        ",",
                                        ":",
                                        "\\u0000",
                                        "\\ud83d",
                                        "\xff",
                                        "nan",
                                        "1e309",
                                        "\r",
                                        "\n",
                                        "\"\"",
                                        "L",
                                        "0",
                                        "4294967296",
                                        "__metadata__",
                                        "\\",
                                        "<f8",
                                        "F64"};
    size_t at = content_bytes ? draw((uint32_t)content_bytes) : 0;
    const char *word = words[draw(sizeof words / sizeof *words)];
    uint32_t other = draw(n_seeds);
    char copy[64];
    switch (draw(8)) {
    case 0:
        if (content_bytes)
            content[at] ^= (char)(1 << draw(8));
        break;
    case 1:
        if (content_bytes)
            content[at] = (char)draw(256);
        break;
    case 2:
        put(at, word, strlen(word));
        break;
    case 3:
        cut(at, 1 + draw(12));
        break;
    case 4:
        cut(at, strlen(word));
        put(at, word, strlen(word));
        break;
    case 5:
        if (seeds[other].bytes > 0) {
            size_t from = draw((uint32_t)seeds[other].bytes);
            put(at, seeds[other].data + from, draw((uint32_t)(seeds[other].bytes - from) + 1));
        }
        break;
    case 6:
        memcpy(copy, content + at, content_bytes - at < sizeof copy ? content_bytes - at : sizeof copy);
        put(at, copy, content_bytes - at < sizeof copy ? content_bytes - at : 1 + draw(sizeof copy));
        break;
    default:
        content_bytes = draw(4) ? content_bytes : at;
    }
}

static int memory_open(void *context, const char *path, int flags, uint32_t mode)
{
    (void)context, (void)path, (void)flags, (void)mode;
    stream_at = 0;
    return 7;
}

static int64_t memory_pread(void *context, int file, void *buffer, size_t bytes, int64_t offset)
{
    (void)context, (void)file;
    size_t left = offset < (int64_t)content_bytes ? content_bytes - (size_t)offset : 0;
    bytes = bytes < left ? bytes : left;
    if (bytes > 0)
        memcpy(buffer, content + offset, bytes);
    return (int64_t)bytes;
}

static int64_t memory_read(void *context, int file, void *buffer, size_t bytes)
{
    int64_t got = memory_pread(context, file, buffer, bytes, (int64_t)stream_at);
    stream_at += (size_t)got;
    return got;
}

static int memory_close(void *context, int file)
{
    (void)context, (void)file;
    return 0;
}

static int memory_fstat(void *context, int file, tn_file_info *info)
{
    (void)context, (void)file;
    *info = (tn_file_info){.size = (int64_t)content_bytes, .mode = is_pipe ? 0 : 0100000}; /* 0100000: a regular file */
    return 0;
}

static bool read_npy(void)
{
    return tn_load_npy("fuzz") != NULL;
}

static bool read_safetensors(void)
{
    tn_safetensors *file = tn_load_safetensors("fuzz", &(tn_safetensors_options){.sum = draw(8) == 0});
    for (int64_t i = 0; i < tn_safetensors_count(file); i++)
        assert_ptr_equal(tn_safetensors_find(file, tn_safetensors_at(file, i).name), tn_safetensors_at(file, i).tensor);
    return file != NULL;
}

/* Into a net; the seeds that fit none are told apart by their sums. */
static bool read_checkpoint(void)
{
    tn_module *net = tn_mlp((int64_t[]){2, 4, 1}, 3, TN_FLOAT32);
    tn_progress progress;
    const tn_checkpoint all = {.module = net, .progress = draw(2) ? &progress : NULL};
    return draw(2) ? tn_load(net, "fuzz") == TN_OK : tn_checkpoint_load("fuzz", &all) == TN_OK;
}

static tn_csv_options csv;
static const char *const first_column = "0";

static bool read_csv(void)
{
    return tn_load_csv("fuzz", &csv) != NULL;
}

/* One file, read within its bound; a valid one may need more for its result. */
static void try_file(const char *format, bool (*read)(void), uint64_t seed)
{
    tn_scope scope = tn_scope_begin();
    tn_trim_memory();
    int64_t before = tn_get_memory_stats().live_blocks;
    uint64_t random_before = random_state;
    tn_set_memory_limit((size_t)tn_get_memory_stats().reserved_bytes + 4 * content_bytes + (1u << 20));
    bool done = read();
    tn_set_memory_limit(SIZE_MAX);
    if (tn_error_code() == TN_ERROR_MEMORY) {
        tn_error_clear();
        random_state = random_before;
        done = read();
        if (!done)
            fail_msg("%s, seed %llu: refused, but after too much memory", format, (unsigned long long)seed);
    }
    tn_error error;
    tn_error_push(&error);
    bool fits_not = error.code == TN_ERROR_NAME || error.code == TN_ERROR_SHAPE || error.code == TN_ERROR_DTYPE;
    bool known = error.code == TN_ERROR_DATA || (error.code == TN_ERROR_NAME && csv.label) ||
                 (fits_not && read == read_checkpoint);
    if (done != (error.code == TN_OK) || (!done && (!known || !strstr(error.message, "'fuzz' "))))
        fail_msg("%s, seed %llu: %d, %s: %s", format, (unsigned long long)seed, done, tn_status_name(error.code),
                 error.message);
    if (!done && read == read_csv && error.code == TN_ERROR_DATA && !strstr(error.message, " line "))
        fail_msg("%s, seed %llu: no line in: %s", format, (unsigned long long)seed, error.message);
    tn_scope_end(scope);
    if (tn_get_memory_stats().live_blocks > before)
        fail_msg("%s, seed %llu: memory leaked", format, (unsigned long long)seed);
}

/* Puts the right sum into a mutated checkpoint, so that what lies behind the sum is tried too. */
static void mend_sum(void)
{
    static const char key[] = "\"sum\":\"";
    const size_t n = sizeof key - 1;
    size_t at = 0;
    uint32_t crc = 0xffffffffu;
    char digits[9];
    while (at + n + 8 <= content_bytes && memcmp(content + at, key, n) != 0)
        at++;
    if (at + n + 8 > content_bytes)
        return;
    memset(content + at + n, '0', 8);
    for (size_t i = 0; i < content_bytes; i++) {
        crc ^= (unsigned char)content[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    snprintf(digits, sizeof digits, "%08x", (unsigned)~crc);
    memcpy(content + at + n, digits, 8);
}

static void fuzz(const char *format, bool (*read)(void))
{
    const char *rounds = getenv("TENON_FUZZ_ROUNDS");
    tn_file_operations real = tn_get_file_operations(), table = real;
    table.open = memory_open;
    table.read = memory_read;
    table.pread = memory_pread;
    table.close = memory_close;
    table.fstat = memory_fstat;
    load_seeds(format);
    tn_set_file_operations(&table);
    for (uint64_t seed = 0; seed < (rounds ? strtoull(rounds, NULL, 10) : 3000); seed++) {
        random_state = (seed + 1) * 0x9E3779B97F4A7C15u; /* not 0 */
        uint32_t chosen = draw(draw(4) ? n_good : n_seeds);
        content_bytes = seeds[chosen].bytes;
        memcpy(content, seeds[chosen].data, content_bytes);
        for (uint32_t i = draw(2) ? 1 : draw(6); i > 0; i--)
            mutate_once();
        if (read == read_checkpoint && draw(4))
            mend_sum();
        is_pipe = draw(2);
        csv = (tn_csv_options){.dtype = draw(2) ? TN_FLOAT32 : TN_FLOAT64,
                               .header = (tn_csv_header)draw(3),
                               .label = draw(3)   ? NULL
                                        : draw(2) ? "0"
                                                  : "-1",
                               .target = (tn_csv_target)draw(4),
                               .usecols = draw(3) ? NULL : &first_column};
        csv.n_usecols = csv.usecols != NULL;
        csv.label = read == read_csv ? csv.label : NULL;
        try_file(format, read, seed);
    }
    tn_set_file_operations(&real);
    for (; n_seeds > 0; n_seeds--)
        free(seeds[n_seeds - 1].data);
}

static void npy(void **state)
{
    (void)state;
    fuzz("npy", read_npy);
}

static void safetensors(void **state)
{
    (void)state;
    fuzz("safetensors", read_safetensors);
}

static void comma_separated(void **state)
{
    (void)state;
    fuzz("csv", read_csv);
}

static void checkpoint(void **state)
{
    (void)state;
    fuzz("ckpt", read_checkpoint);
}

TEST_MAIN(test(npy), test(safetensors), test(comma_separated), test(checkpoint))
