/* .npy: one array, as numpy.save writes it.
 *
 *     \x93NUMPY  major minor  length (u16 in version 1, u32 in 2 and 3, little-endian)  header  elements
 *
 * The header is a Python dict {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, spaces and a newline. Here
 * it is read by a grammar of exactly that: nothing is evaluated, each key stands once, in any order.
 * Source: NumPy's NEP 1 and numpy.lib.format. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <tenon/formats.h>
#include <tenon/views.h>

#include "input.h"

enum { LONGEST_HEADER = 10000 }; /* numpy.load's max_header_size */
enum { DESCR = 1, ORDER = 2, SHAPE = 4 };

typedef struct header {
    tn_dtype dtype;
    bool swapped, fortran;
    int64_t size[TN_MAX_NDIM];
    int ndim;
    int64_t data; /* offset of the first element */
    int64_t bytes;
} header;

typedef struct reader {
    const tni_input *input;
    const unsigned char *text;
    size_t bytes, at;
    int64_t offset; /* of text in the file */
    int version;
    int found; /* keys */
} reader;

static const struct {
    const char *name; /* kind and bytes, as NumPy writes them */
    tn_dtype dtype;
} types[] = {
    {"f2", TN_FLOAT16}, {"f4", TN_FLOAT32}, {"f8", TN_FLOAT64}, {"i1", TN_INT8},   {"i2", TN_INT16},  {"i4", TN_INT32},
    {"i8", TN_INT64},   {"u1", TN_UINT8},   {"u2", TN_UINT16},  {"u4", TN_UINT32}, {"u8", TN_UINT64}, {"b1", TN_BOOL},
};

static tn_status wrong(const reader *r, const char *needed)
{
    char text[TNI_SHOWN];
    return INPUT_FAIL(r->input, "has a malformed header at byte %" PRId64 ": found '%s', needed %s",
                      r->offset + (int64_t)r->at, tni_shown(text, r->text + r->at, r->bytes - r->at), needed);
}

static void skip_spaces(reader *r)
{
    while (r->at < r->bytes && (r->text[r->at] == ' ' || (r->text[r->at] >= '\t' && r->text[r->at] <= '\r')))
        r->at++;
}

/* Spaces, then that character. */
static bool take(reader *r, char c)
{
    skip_spaces(r);
    bool there = r->at < r->bytes && r->text[r->at] == (unsigned char)c;
    r->at += there;
    return there;
}

static bool take_word(reader *r, const char *word)
{
    size_t length = strlen(word);
    skip_spaces(r);
    bool there = r->bytes - r->at >= length && memcmp(r->text + r->at, word, length) == 0;
    r->at += there ? length : 0;
    return there;
}

/* A string in either quote, without escapes. */
static tn_status read_string(reader *r, const unsigned char **string, size_t *length)
{
    skip_spaces(r);
    char quote = r->at < r->bytes ? (char)r->text[r->at] : 0;
    if (quote != '\'' && quote != '"')
        return wrong(r, "a string");
    const unsigned char *begin = r->text + r->at + 1, *end = memchr(begin, quote, r->bytes - r->at - 1);
    if (!end || memchr(begin, '\\', (size_t)(end - begin)))
        return wrong(r, "a string that ends, without escapes");
    *string = begin;
    *length = (size_t)(end - begin);
    r->at += *length + 2;
    return TN_OK;
}

/* Why a type is refused. */
static const char *advice(const unsigned char *descr, size_t length)
{
    static const struct {
        char kind;
        const char *text;
    } kinds[] = {
        {'O', ": Python objects (pickle); save numbers instead"},
        {'c', ": complex numbers; save .real and .imag"},
        {'M', ": dates; convert them with astype(\"int64\")"},
        {'m', ": time differences; convert them with astype(\"int64\")"},
        {'S', ": text; tensors hold numbers"},
        {'U', ": text; tensors hold numbers"},
        {'V', ": raw bytes; view them as a number type"},
    };
    for (size_t i = 0; length > 1 && i < sizeof kinds / sizeof *kinds; i++)
        if (descr[1] == (unsigned char)kinds[i].kind)
            return kinds[i].text;
    return ", needed <, >, = or | and one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1";
}

static tn_status read_descr(reader *r, header *h)
{
    const unsigned char *descr;
    size_t length;
    char text[TNI_SHOWN];
    skip_spaces(r);
    if (r->at < r->bytes && r->text[r->at] == '[')
        return INPUT_FAIL(r->input, "holds a structured dtype, which tensors do not have: save its fields one by one");
    if (read_string(r, &descr, &length))
        return tn_error_code();
    if (length == 3 && strchr("<>=|", descr[0]) && descr[0])
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (memcmp(descr + 1, types[i].name, 2) == 0) {
                h->dtype = types[i].dtype;
                h->swapped = tni_is_big_endian() ? descr[0] == '<' : descr[0] == '>';
                return TN_OK;
            }
    return INPUT_FAIL(r->input, "has the unsupported type '%s'%s", tni_shown(text, descr, length),
                      advice(descr, length));
}

static tn_status read_order(reader *r, header *h)
{
    h->fortran = take_word(r, "True");
    return h->fortran || take_word(r, "False") ? TN_OK : wrong(r, "True or False");
}

/* Decimal digits without a leading zero; with an L behind them as Python 2 wrote it. */
static tn_status read_size(reader *r, int64_t *size)
{
    size_t begin = r->at;
    *size = 0;
    for (; r->at < r->bytes && r->text[r->at] >= '0' && r->text[r->at] <= '9'; r->at++)
        if (__builtin_mul_overflow(*size, 10, size) || __builtin_add_overflow(*size, r->text[r->at] - '0', size))
            return INPUT_FAIL(r->input, "has a size that 64 bits cannot hold, at byte %" PRId64 ": overflow",
                              r->offset + (int64_t)begin);
    if (r->at == begin || (r->text[begin] == '0' && r->at > begin + 1)) {
        r->at = begin;
        return wrong(r, "a size in plain decimal digits");
    }
    if (r->version < 3 && r->at < r->bytes && r->text[r->at] == 'L')
        r->at++;
    return TN_OK;
}

static tn_status read_shape(reader *r, header *h)
{
    bool comma = true;
    if (!take(r, '('))
        return wrong(r, "a tuple of sizes");
    h->ndim = 0;
    while (!take(r, ')')) {
        if (!comma)
            return wrong(r, "a comma or the end of the tuple");
        if (h->ndim == TN_MAX_NDIM)
            return INPUT_FAIL(r->input, "has more than %d dims, needed at most as many", TN_MAX_NDIM);
        if (read_size(r, &h->size[h->ndim]))
            return tn_error_code();
        h->ndim++;
        comma = take(r, ',');
    }
    return h->ndim != 1 || comma ? TN_OK : wrong(r, "a tuple: one size is written (n,)");
}

static tn_status read_entry(reader *r, header *h)
{
    static const struct {
        const char *name;
        int bit;
        tn_status (*read)(reader *, header *);
    } keys[] = {{"descr", DESCR, read_descr}, {"fortran_order", ORDER, read_order}, {"shape", SHAPE, read_shape}};
    const unsigned char *name;
    size_t length, begin = r->at;
    if (read_string(r, &name, &length))
        return tn_error_code();
    for (int i = 0; i < 3; i++) {
        if (length != strlen(keys[i].name) || memcmp(name, keys[i].name, length) != 0)
            continue;
        if (r->found & keys[i].bit)
            break;
        r->found |= keys[i].bit;
        return take(r, ':') ? keys[i].read(r, h) : wrong(r, "a colon");
    }
    r->at = begin;
    return wrong(r, "one of the keys descr, fortran_order and shape, each once");
}

static tn_status read_dict(reader *r, header *h)
{
    bool comma = true;
    if (!take(r, '{'))
        return wrong(r, "a dict");
    while (!take(r, '}')) {
        if (!comma)
            return wrong(r, "a comma or the end of the dict");
        skip_spaces(r);
        if (read_entry(r, h))
            return tn_error_code();
        comma = take(r, ',');
    }
    skip_spaces(r);
    if (r->at < r->bytes)
        return wrong(r, "nothing after the dict");
    if (r->found != (DESCR | ORDER | SHAPE))
        return INPUT_FAIL(r->input, "has a malformed header: %s is missing",
                          r->found & DESCR ? r->found & ORDER ? "shape" : "fortran_order" : "descr");
    return TN_OK;
}

/* Finds the header's length and where its text begins. */
static tn_status read_prelude(const tni_input *input, int64_t *length, int64_t *begin, int *version)
{
    unsigned char start[12] = {0};
    if (tni_input_read((tni_input *)input, start, input->size < 12 ? (size_t)input->size : 12, 0))
        return tn_error_code();
    size_t magic = input->size < 6 ? (size_t)input->size : 6;
    if (memcmp(start, "\x93NUMPY", magic) != 0)
        return INPUT_FAIL(input, "is no .npy file: it does not begin with \\x93NUMPY%s", tni_looks_like(input));
    if (input->size >= 8 && (start[6] < 1 || start[6] > 3 || start[7] != 0))
        return INPUT_FAIL(input, "has the unsupported version %d.%d, needed 1.0, 2.0 or 3.0", start[6], start[7]);
    *begin = start[6] == 1 ? 10 : 12;
    if (input->size < *begin)
        return INPUT_FAIL(input, "is truncated: it ends at byte %" PRId64 ", before its header", input->size);
    *version = start[6];
    *length = start[8] | start[9] << 8 | (*version > 1 ? (int64_t)start[10] << 16 | (int64_t)start[11] << 24 : 0);
    if (*length > input->size - *begin)
        return INPUT_FAIL(input, "is truncated: it ends at byte %" PRId64 ", its header at byte %" PRId64, input->size,
                          *begin + *length);
    if (*length > LONGEST_HEADER)
        return INPUT_FAIL(input, "has a header of %" PRId64 " bytes, the limit is %d", *length, LONGEST_HEADER);
    return TN_OK;
}

static tn_status read_header(const tni_input *input, header *h)
{
    unsigned char text[LONGEST_HEADER];
    reader r = {.input = input, .text = text};
    int64_t length = 0;
    if (read_prelude(input, &length, &r.offset, &r.version) ||
        tni_input_read((tni_input *)input, text, (size_t)length, r.offset))
        return tn_error_code();
    r.bytes = (size_t)length;
    if (r.version == 3 && !tni_is_utf8(text, r.bytes, &r.at))
        return wrong(&r, "UTF-8");
    r.at = 0;
    if (read_dict(&r, h))
        return tn_error_code();
    if (!tni_array_bytes(h->size, h->ndim, tn_itemsize(h->dtype), &h->bytes))
        return INPUT_FAIL(input, "has sizes whose product is an overflow");
    h->data = r.offset + length;
    if (h->bytes > input->size - h->data)
        return INPUT_FAIL(input, "is truncated: %" PRId64 " bytes follow the header, its shape needs %" PRId64,
                          input->size - h->data, h->bytes);
    return TN_OK;
}

/* Column-major elements stay where they are: the strides say it. */
static tn_tensor *empty_like_file(const header *h)
{
    tn_device before = tn_get_default_device(), cpu = {TN_CPU, 0};
    int64_t stride[TN_MAX_NDIM], next = 1;
    if (!h->fortran || h->ndim < 2 || h->bytes == 0)
        return tn_empty_on(h->size, h->ndim, h->dtype, cpu);
    for (int i = 0; i < h->ndim; i++) {
        stride[i] = next;
        next *= h->size[i];
    }
    tn_set_default_device(cpu);
    tn_tensor *x = tn_empty_strided(h->size, stride, h->ndim, h->dtype);
    tn_error pending;
    tn_error_push(&pending);
    tn_set_default_device(before);
    tn_error_pop(&pending);
    return x;
}

static tn_tensor *load(tni_input *input)
{
    header h = {0};
    if (read_header(input, &h))
        return NULL;
    tn_tensor *x = empty_like_file(&h);
    void *data = x ? tn_data_mut(x) : NULL;
    int64_t count = h.bytes / (int64_t)tn_itemsize(h.dtype);
    if (!x || (count > 0 && tni_input_read(input, data, (size_t)h.bytes, h.data))) {
        tn_drop(&x);
        return NULL;
    }
    if (h.swapped)
        tni_swap_bytes(data, tn_itemsize(h.dtype), count);
    if (h.dtype == TN_BOOL)
        tni_normalise_bools(data, count);
    return x;
}

tn_tensor *tn_load_npy(const char *path)
{
    tni_input input;
    if (tn_error_code())
        return NULL;
    if (!path) {
        TN_FAIL_NULL("load_npy", 1, "path");
        return NULL;
    }
    if (tni_input_open(&input, path, "load_npy"))
        return NULL;
    tn_tensor *x = load(&input);
    tni_input_close(&input);
    return x;
}

static const char *type_name(tn_dtype dtype)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype)
            return types[i].name;
    return NULL;
}

/* x with its dims in the reverse order. */
static tn_tensor *reversed(tn_tensor *x)
{
    int64_t dims[TN_MAX_NDIM];
    int ndim = tn_ndim(x);
    for (int i = 0; i < ndim; i++)
        dims[i] = ndim - 1 - i;
    return tn_permute(x, dims, ndim);
}

/* Magic, lengths and dict as numpy.save writes them: room for the first dim that grows to have 21 digits, then spaces
 * up to a multiple of 64 bytes. Returns its bytes, within `room` (64 sizes of 20 digits fit 2048). */
static size_t write_header(char *text, size_t room, tn_tensor *x, bool fortran)
{
    size_t itemsize = tn_itemsize(tn_tensor_dtype(x));
    int ndim = tn_ndim(x);
    char order = itemsize == 1 ? '|' : tni_is_big_endian() ? '>' : '<';
    int used = snprintf(text, room, "\x93NUMPY%c%c%c%c{'descr': '%c%s', 'fortran_order': %s, 'shape': (", 1, 0, 0, 0,
                        order, type_name(tn_tensor_dtype(x)), fortran ? "True" : "False");
    for (int i = 0; i < ndim; i++)
        used += snprintf(text + used, room - (size_t)used, "%s%" PRId64, i ? ", " : "", tn_size(x, i));
    used += snprintf(text + used, room - (size_t)used, "%s), }", ndim == 1 ? "," : "");
    char digits[24];
    int spare = ndim ? 21 - snprintf(digits, sizeof digits, "%" PRId64, tn_size(x, fortran ? ndim - 1 : 0)) : 0;
    size_t total = ((size_t)(used + spare) + 1 + 63) / 64 * 64;
    memset(text + used, ' ', total - (size_t)used);
    text[total - 1] = '\n';
    text[8] = (char)((total - 10) & 0xff);
    text[9] = (char)((total - 10) >> 8);
    return total;
}

static tn_status save(tn_tensor *x, const char *path)
{
    const char *name = "save_npy";
    char text[2048 + 128];
    if (tn_tensor_device(x).type != TN_CPU)
        return TN_FAIL(TN_ERROR_DEVICE, name, "x is on %s, needed data", tn_device_type_name(tn_tensor_device(x).type));
    if (!type_name(tn_tensor_dtype(x)))
        return TN_FAIL(TN_ERROR_DTYPE, name, "x is %s, which .npy does not have, convert it first",
                       tn_dtype_name(tn_tensor_dtype(x)));
    tn_tensor *backwards = tn_is_contiguous(x) ? NULL : reversed(x);
    bool fortran = backwards && tn_is_contiguous(backwards);
    tn_tensor *rows = fortran ? backwards : tn_contiguous(x);
    if (!rows)
        return tn_error_code();
    size_t front = write_header(text, sizeof text, x, fortran);
    size_t bytes = (size_t)tn_numel(rows) * tn_itemsize(tn_tensor_dtype(rows));
    tn_file_piece pieces[] = {{text, front}, {tn_data(rows), bytes}};
    return tn_file_replace(path, pieces, 2, name);
}

tn_status tn_save_npy(tn_tensor *x, const char *path)
{
    if (tn_error_code())
        return tn_error_code();
    if (!x || !path)
        return TN_FAIL_NULL("save_npy", x ? 2 : 1, x ? "path" : "x");
    tn_scope scope = tn_scope_begin();
    save(x, path);
    tn_scope_end(scope);
    return tn_error_code();
}
