/* Files as the readers of formats see them. */
#include "input.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_BLOCK = 64 * 1024, MESSAGE = 256 };

/* A pipe, to its end: in blocks that double, so that no more is allocated than twice what came, and once more while a
 * block moves. */
static tn_status read_stream(tni_input *input)
{
    size_t room = FIRST_BLOCK, used = 0, got;
    unsigned char *memory = tn_allocate(room, input->file.function);
    while (memory && !tn_file_read(&input->file, memory + used, room - used - 1, &got)) {
        used += got;
        if (used < room - 1) {
            input->memory = memory;
            input->memory_bytes = room;
            input->size = (int64_t)used;
            return TN_OK;
        }
        unsigned char *larger = room > SIZE_MAX / 2 ? NULL : tn_allocate(2 * room, input->file.function);
        if (larger)
            memcpy(larger, memory, used);
        tn_deallocate(memory, room);
        memory = larger;
        room *= 2;
    }
    tn_deallocate(memory, room);
    return tn_error_code();
}

tn_status tni_input_open(tni_input *input, const char *path, const char *function)
{
    *input = (tni_input){.file = {.handle = -1, .path = path, .function = function}};
    if (tn_file_open(&input->file, path, function))
        return tn_error_code();
    input->size = input->file.size;
    if (input->size < 0 && read_stream(input))
        tni_input_close(input);
    return tn_error_code();
}

tn_status tni_input_read(tni_input *input, void *buffer, size_t bytes, int64_t offset)
{
    if (!input->memory)
        return tn_file_read_exact(&input->file, buffer, bytes, offset);
    if (bytes > 0)
        memcpy(buffer, input->memory + offset, bytes);
    return TN_OK;
}

tn_status tni_input_slurp(tni_input *input)
{
    if (input->memory)
        return TN_OK;
    size_t bytes = (size_t)input->size + 1;
    unsigned char *memory = tn_allocate(bytes, input->file.function);
    if (!memory)
        return tn_error_code();
    if (tn_file_read_exact(&input->file, memory, bytes - 1, 0)) {
        tn_deallocate(memory, bytes);
        return tn_error_code();
    }
    input->memory = memory;
    input->memory_bytes = bytes;
    return TN_OK;
}

void tni_input_close(tni_input *input)
{
    tn_deallocate(input->memory, input->memory_bytes);
    input->memory = NULL;
    tn_file_close(&input->file);
}

const char *tni_shown(char text[TNI_SHOWN], const void *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *byte = bytes;
    size_t used = 0, i = 0;
    for (; i < count && i < 40 && used < TNI_SHOWN - 8; i++) {
        if (byte[i] >= ' ' && byte[i] < 127 && byte[i] != '\'' && byte[i] != '\\') {
            text[used++] = (char)byte[i];
        } else {
            memcpy(text + used, (char[]){'\\', 'x', digits[byte[i] >> 4], digits[byte[i] & 15]}, 4);
            used += 4;
        }
    }
    memcpy(text + used, i < count ? "..." : "", i < count ? 4 : 1);
    return text;
}

tn_status tni_input_fail(const tni_input *input, tn_status code, const char *source, int line, const char *format, ...)
{
    char text[MESSAGE], path[TNI_SHOWN];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = strlen(input->file.path), skip = length > 40 ? length - 37 : 0;
    tni_shown(path, input->file.path + skip, length - skip);
    return tn_fail(code, input->file.function, source, line, "'%s%s' %s", skip > 0 ? "..." : "", path, text);
}

const char *tni_looks_like(const tni_input *input)
{
    static const struct {
        const char *magic;
        size_t bytes;
        const char *text;
    } kinds[] = {
        {"\x1f\x8b", 2, " (it is gzipped: gunzip it first)"},
        {"PK\x03\x04", 4, " (it is a zip archive, such as an .npz or a PyTorch .pt file)"},
        {"\x80\x02", 2, " (it is a Python pickle: save it again in this format)"},
        {"\x80\x03", 2, " (it is a Python pickle: save it again in this format)"},
        {"\x80\x04", 2, " (it is a Python pickle: save it again in this format)"},
        {"\x80\x05", 2, " (it is a Python pickle: save it again in this format)"},
        {"\x93NUMPY", 6, " (it is an .npy file)"},
        {"\x89PNG", 4, " (it is a PNG image)"},
        {"\xff\xd8\xff", 3, " (it is a JPEG image)"},
        {"{\"", 2, " (it is JSON)"},
        {"{\n", 2, " (it is JSON)"},
        {"{\r", 2, " (it is JSON)"},
        {"{ ", 2, " (it is JSON)"},
        {"\xff\xfe", 2, " (it is UTF-16: save it as UTF-8)"},
        {"\xfe\xff", 2, " (it is UTF-16: save it as UTF-8)"},
    };
    unsigned char start[8] = {0};
    size_t bytes = input->size < 8 ? (size_t)input->size : 8;
    tn_error pending;
    tn_error_push(&pending);
    tni_input_read((tni_input *)input, start, bytes, 0);
    tn_error_pop(&pending);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].bytes <= bytes && memcmp(start, kinds[i].magic, kinds[i].bytes) == 0)
            return kinds[i].text;
    return "";
}

bool tni_array_bytes(const int64_t *size, int ndim, size_t itemsize, int64_t *bytes)
{
    int64_t room = (int64_t)itemsize, exact = (int64_t)itemsize;
    for (int i = 0; i < ndim; i++) {
        if (__builtin_mul_overflow(room, size[i] > 1 ? size[i] : 1, &room))
            return false;
        exact *= size[i]; /* at most room */
    }
    *bytes = exact;
    return room < INT64_C(1) << 62;
}

bool tni_is_utf8(const unsigned char *text, size_t bytes, size_t *bad)
{
    for (size_t i = 0; i < bytes;) {
        *bad = i;
        unsigned lead = text[i++];
        if (lead < 0x80)
            continue;
        int more = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
        if (lead < 0xc2 || lead > 0xf4 || bytes - i < (size_t)more)
            return false;
        uint32_t point = lead & (0x3fu >> more);
        for (int j = 0; j < more; j++, i++) {
            if ((text[i] & 0xc0) != 0x80)
                return false;
            point = point << 6 | (text[i] & 0x3f);
        }
        if ((more == 2 && (point < 0x800 || (point >= 0xd800 && point < 0xe000))) ||
            (more == 3 && (point < 0x10000 || point > 0x10ffff)))
            return false;
    }
    return true;
}

void tni_swap_bytes(void *data, size_t itemsize, int64_t count)
{
    unsigned char *item = data;
    for (int64_t i = 0; i < count; i++, item += itemsize)
        for (size_t j = 0; j < itemsize / 2; j++) {
            unsigned char byte = item[j];
            item[j] = item[itemsize - 1 - j];
            item[itemsize - 1 - j] = byte;
        }
}

void tni_normalise_bools(void *data, int64_t count)
{
    unsigned char *byte = data;
    for (int64_t i = 0; i < count; i++)
        byte[i] = byte[i] != 0;
}
