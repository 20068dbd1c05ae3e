/* Text of tensors and storages against PyTorch's (print_torch.py says how the record is made and read; another file of
 * that form comes through TENON_PRINT_CASES); options, cutting, writers, what autograd adds, failing allocations. */
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

#include "core/lazy.h"
#include "core/print.h"
#include "support/errors.h"
#include "support/test.h"

enum { TEXT = 1 << 20, LINE = 1 << 16 };

static char wanted[TEXT], got[TEXT], line[LINE], fields[LINE], next[LINE];

/* The record reader: a line read ahead tells where a case's text ends. */
typedef struct record {
    FILE *file;
    bool more;
} record;

static void read_ahead(record *r)
{
    r->more = fgets(next, sizeof next, r->file) != NULL;
    if (r->more)
        next[strcspn(next, "\n")] = '\0';
}

static bool next_case(record *r)
{
    if (!r->more)
        return false;
    strcpy(line, next);
    size_t used = 0;
    for (read_ahead(r); r->more && next[0] == '|'; read_ahead(r))
        used += (size_t)snprintf(wanted + used, sizeof wanted - used, "%s%s", used ? "\n" : "", next + 1);
    memcpy(fields, line, sizeof fields);
    return true;
}

static int list(char *text, int64_t *numbers)
{
    int n = 0;
    if (strcmp(text, "-") == 0)
        return 0;
    for (char *at = text;; at++) {
        numbers[n++] = strtoll(at, &at, 10);
        if (*at != ',')
            return n;
    }
}

/* A storage of nbytes with the pattern over and over. */
static tn_storage *storage_of(const char *device, size_t nbytes, const char *hex)
{
    tn_set_default_device(tn_device_from_name(device));
    tn_storage *storage = tn_storage_new(nbytes);
    tn_set_default_device(tn_device_from_name("cpu"));
    assert_non_null(storage);
    if (strcmp(device, "meta") == 0)
        return storage;
    unsigned char *bytes = tn_storage_bytes_mut(storage);
    for (size_t i = 0, n = strlen(hex) / 2; i < nbytes; i++) {
        char digits[3] = {hex[i % n * 2], hex[i % n * 2 + 1], '\0'};
        bytes[i] = (unsigned char)strtoul(digits, NULL, 16);
    }
    return storage;
}

/* Cuts fields into words; returns how many. */
static int words_of(char *words[16])
{
    int n = 0;
    for (char *at = fields; *at && n < 16;) {
        words[n++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
    }
    return n;
}

static void check_text(const char *text, int length)
{
    if (strcmp(text, wanted) != 0 || length != (int)strlen(wanted))
        fail_msg("%s\n%s\n(length %d), needed\n%s", line, text, length, wanted);
}

static void check_tensor(char *words[16])
{
    int64_t sizes[TN_MAX_NDIM], strides[TN_MAX_NDIM];
    tn_print_options options = {.precision = atoi(words[4]),
                                .threshold = strtoll(words[5], NULL, 10),
                                .edgeitems = strtoll(words[6], NULL, 10),
                                .linewidth = strtoll(words[7], NULL, 10),
                                .sci_mode = (tn_sci_mode)atoi(words[8])};
    int ndim = list(words[9], sizes);
    list(words[10], strides);
    tn_storage *storage = storage_of(words[2], strtoull(words[12], NULL, 10), words[13]);
    tn_dtype dtype = tn_dtype_from_name(words[1]);
    tn_tensor *x = tn_from_storage(storage, strtoll(words[11], NULL, 10), sizes, strides, ndim, dtype);
    tn_set_default_dtype(tn_dtype_from_name(words[3]));
    tn_set_print_options(&options);
    int length = tn_tensor_text(x, got, sizeof got);
    const char *kept = tn_repr(x);
    tn_set_default_dtype(TN_FLOAT32);
    tn_set_print_options(NULL);
    if (tn_error_code() != TN_OK)
        fail_msg("%s: %s", line, tn_error_message());
    check_text(got, length);
    check_text(kept, (int)strlen(kept));
}

static void check_storage_text(char *words[16])
{
    tn_dtype dtype = strcmp(words[1], "none") == 0 ? TN_DTYPE_NONE : tn_dtype_from_name(words[1]);
    tn_storage *storage = storage_of(words[2], strtoull(words[3], NULL, 10), words[4]);
    int length = tn_storage_text(storage, dtype, got, sizeof got);
    check_text(got, length);
    check_text(tn_storage_repr(storage, dtype), length);
}

static void against_torch(void **state)
{
    (void)state;
    const char *other = getenv("TENON_PRINT_CASES");
    record r = {.file = fopen(other ? other : TENON_TEST_DATA "/print_torch_2.15.txt", "r")};
    assert_non_null(r.file);
    int cases = 0;
    for (read_ahead(&r); r.more && next[0] == '#';)
        read_ahead(&r);
    for (; next_case(&r); cases++) {
        char *words[16];
        tn_scope scope = tn_scope_begin();
        int n = words_of(words);
        if (strcmp(words[0], "tensor") == 0 && n == 14)
            check_tensor(words);
        else if (strcmp(words[0], "storage") == 0 && n == 5)
            check_storage_text(words);
        else
            fail_msg("not a case: %s", line);
        tn_scope_end(scope);
    }
    fclose(r.file);
    assert_true(cases >= 300);
}

static void options(void **state)
{
    (void)state;
    tn_print_options first = tn_get_print_options(), o = tn_print_options_of(TN_PRINT_SHORT);
    assert_int_equal(first.precision, 4);
    assert_int_equal(first.threshold, 1000);
    assert_int_equal(first.edgeitems, 3);
    assert_int_equal(first.linewidth, 80);
    assert_int_equal(first.sci_mode, TN_SCI_AUTOMATIC);
    assert_int_equal(o.precision, 2);
    assert_int_equal(o.edgeitems, 2);
    assert_true(tn_print_options_of(TN_PRINT_FULL).threshold == INT64_MAX);
    assert_int_equal(tn_set_print_options(&o), TN_OK);
    tn_tensor *x = tn_from_array((float[]){0.126F}, NULL, 0, TN_FLOAT32);
    assert_string_equal(tn_repr(x), "tensor(0.13)");
    tn_print_options bad = o;
    bad.precision = -1;
    assert_int_equal(tn_set_print_options(&bad), TN_ERROR_ARGUMENT);
    expect_error(TN_ERROR_ARGUMENT, "precision is -1");
    bad.precision = TNI_MOST_PRECISION + 1;
    tn_set_print_options(&bad);
    expect_error(TN_ERROR_ARGUMENT, "needed 0 .. 1100");
    bad = o;
    bad.edgeitems = -3;
    tn_set_print_options(&bad);
    expect_error(TN_ERROR_ARGUMENT, "edgeitems is -3");
    bad = o;
    bad.sci_mode = (tn_sci_mode)7;
    tn_set_print_options(&bad);
    expect_error(TN_ERROR_ARGUMENT, "sci_mode is 7");
    assert_int_equal(tn_get_print_options().precision, 2);
    TN_FAIL(TN_ERROR_STATE, "test", "pending");
    assert_int_equal(tn_set_print_options(NULL), TN_ERROR_STATE);
    tn_error_clear();
    assert_int_equal(tn_get_print_options().precision, 2);
    assert_int_equal(tn_set_print_options(NULL), TN_OK);
    assert_string_equal(tn_repr(x), "tensor(0.1260)");
    o = first;
    o.precision = TNI_MOST_PRECISION;
    assert_int_equal(tn_set_print_options(&o), TN_OK);
    double extremes[] = {5e-324, -1.7976931348623157e308};
    o.sci_mode = TN_SCI_OFF;
    assert_int_equal(tn_set_print_options(&o), TN_OK);
    const char *text = tn_repr(tn_from_array(extremes, (int64_t[]){2}, 1, TN_FLOAT64));
    assert_int_equal(strlen(text), strlen("tensor([") + 2 * (1 + 309 + 1 + 1100) +
                                       strlen(",\n        ],\n       dtype=torch.float64)"));
    assert_int_equal(tn_set_print_options(NULL), TN_OK);
}

static void cut(void **state)
{
    (void)state;
    tn_tensor *x = tn_from_array((float[]){1, 2.5F, -3}, (int64_t[]){3}, 1, TN_FLOAT32);
    const char *whole = "tensor([ 1.0000,  2.5000, -3.0000])";
    for (size_t room = 0; room < 50; room++) {
        memset(got, '#', 64);
        assert_int_equal(tn_tensor_text(x, got, room), strlen(whole));
        size_t kept = room == 0 ? 0 : strlen(whole) < room ? strlen(whole) : room - 1;
        assert_memory_equal(got, whole, kept);
        assert_true(room == 0 || got[kept] == '\0');
        assert_int_equal(got[room > kept ? room : kept + 1], '#');
    }
    assert_int_equal(tn_tensor_text(x, NULL, 20), strlen(whole));
}

static void *options_elsewhere(void *x)
{
    tn_print_options short_ones = tn_print_options_of(TN_PRINT_SHORT);
    bool right = tn_get_print_options().precision == 4 && tn_set_print_options(&short_ones) == TN_OK &&
                 strcmp(tn_repr(x), "tensor(0.13)") == 0;
    return right ? x : NULL;
}

static void options_of_a_thread(void **state)
{
    (void)state;
    pthread_t thread;
    void *right;
    tn_tensor *x = tn_from_array((float[]){0.126F}, NULL, 0, TN_FLOAT32);
    assert_int_equal(pthread_create(&thread, NULL, options_elsewhere, x), 0);
    assert_int_equal(pthread_join(thread, &right), 0);
    assert_ptr_equal(right, x);
    assert_string_equal(tn_repr(x), "tensor(0.1260)");
}

typedef struct pieces {
    char text[8192];
    size_t used;
    int calls, refuse_from;
} pieces;

static int gather(void *context, const char *text, size_t bytes)
{
    pieces *p = context;
    if (p->calls++ == p->refuse_from)
        return 1;
    assert_true(p->used + bytes < sizeof p->text);
    memcpy(p->text + p->used, text, bytes);
    p->used += bytes;
    return 0;
}

static void writers(void **state)
{
    (void)state;
    static float many[600];
    for (int i = 0; i < 600; i++)
        many[i] = (float)i / 7;
    tn_tensor *x = tn_from_array(many, (int64_t[]){2, 300}, 2, TN_FLOAT32);
    static pieces p;
    p.refuse_from = -1;
    assert_int_equal(tn_tensor_write(x, gather, &p), TN_OK);
    assert_true(p.calls > 3);
    p.text[p.used] = '\0';
    assert_string_equal(p.text, tn_repr(x));
    for (int k = 0, all = p.calls; k < all; k++) {
        p = (pieces){.refuse_from = k};
        assert_int_equal(tn_tensor_write(x, gather, &p), TN_ERROR_FILE);
        expect_error(TN_ERROR_FILE, "tensor_write: ");
        assert_int_equal(p.calls, k + 1);
    }
    assert_int_equal(tn_tensor_write(x, NULL, NULL), TN_ERROR_NULL);
    expect_error(TN_ERROR_NULL, "argument 2 (write)");
    assert_int_equal(tn_tensor_write(NULL, gather, &p), TN_ERROR_NULL);
    expect_error(TN_ERROR_NULL, "argument 1 (x)");
}

static void refusals(void **state)
{
    (void)state;
    memset(got, '#', 8);
    assert_int_equal(tn_tensor_text(NULL, got, 8), 0);
    assert_string_equal(got, "");
    expect_error(TN_ERROR_NULL, "tensor_text: argument 1 (x)");
    assert_string_equal(tn_repr(NULL), "");
    expect_error(TN_ERROR_NULL, "repr: argument 1 (x)");
    assert_string_equal(tn_storage_repr(NULL, TN_FLOAT32), "");
    expect_error(TN_ERROR_NULL, "storage_repr: argument 1 (storage)");
    tn_tensor *x = tn_zeros((int64_t[]){3}, 1, TN_FLOAT32);
    assert_int_equal(tn_storage_text(tn_storage_of(x), (tn_dtype)99, got, 8), 0);
    expect_error(TN_ERROR_DTYPE, "storage_text: ");
    TN_FAIL(TN_ERROR_STATE, "test", "pending");
    assert_int_equal(tn_tensor_text(x, got, 8), 0);
    assert_string_equal(tn_repr(x), "");
    assert_string_equal(tn_storage_repr(tn_storage_of(x), TN_FLOAT32), "");
    tn_error_clear();
}

static void failing_memory(void **state)
{
    (void)state;
    tn_tensor *x = tn_zeros((int64_t[]){30, 30}, 2, TN_FLOAT32); /* more than the first try holds */
    tn_storage *storage = tn_storage_of(x);
    for (int k = 0, done = 0; !done; k++) {
        tn_scope scope = tn_scope_begin();
        tn_fail_allocation(k, false);
        const char *text = tn_repr(x), *bytes = tn_storage_repr(storage, TN_DTYPE_NONE);
        done = !tn_allocation_failed();
        tn_fail_allocation(-1, false);
        if (done)
            assert_true(strlen(text) > 4096 && strlen(bytes) > 4096);
        else
            expect_error(TN_ERROR_MEMORY, "repr: ");
        tn_scope_end(scope);
        assert_true(k < 20);
    }
}

/* A hundred million elements, of which six are read. */
static void summary_of_much(void **state)
{
    (void)state;
    int64_t sizes[] = {10000, 10000};
    tn_tensor *one = tn_from_array((float[]){2}, NULL, 0, TN_FLOAT32);
    tn_tensor *x = tn_expand(one, sizes, 2);
    for (int i = 0; i < 1000; i++)
        assert_true(tn_tensor_text(x, got, sizeof got) > 100);
    assert_non_null(strstr(got, "tensor([[2., 2., 2.,  ..., 2., 2., 2.],\n        [2."));
}

/* PyTorch cannot show these: what they store is shown. */
static void stored_integers(void **state)
{
    (void)state;
    unsigned char bytes[] = {0, 1, 200, 255};
    int64_t n[] = {4};
    assert_string_equal(tn_repr(tn_from_array(bytes, n, 1, TN_BITS8)),
                        "tensor([  0,   1, 200, 255], dtype=torch.bits8)");
    assert_string_equal(tn_repr(tn_from_array(bytes, n, 1, TN_QINT8)),
                        "tensor([  0,   1, -56,  -1], size=(4,), dtype=torch.qint8)");
    assert_string_equal(tn_repr(tn_from_array(bytes, (int64_t[]){2}, 1, TN_BITS16)),
                        "tensor([  256, 65480], dtype=torch.bits16)");
    assert_string_equal(tn_repr(tn_from_array(bytes, NULL, 0, TN_QINT32)),
                        "tensor(-3669760, size=(), dtype=torch.qint32)");
    assert_string_equal(tn_repr(tn_from_array(NULL, (int64_t[]){0}, 1, TN_BITS4X2)), "tensor([], dtype=torch.bits4x2)");
}

static tni_autograd_facts shown;

static void facts(const tn_tensor *x, tni_autograd_facts *out)
{
    (void)x;
    *out = shown;
}

static void keep(tni_autograd_meta *meta)
{
    (void)meta;
}

static void autograd(void **state)
{
    (void)state;
    static const tni_autograd_class speaking = {.destroy = keep, .facts = facts}, quiet = {.destroy = keep};
    tni_autograd_meta meta = {&speaking}, silent = {&quiet};
    tn_tensor *x = tn_from_array((float[]){1, 2}, (int64_t[]){2}, 1, TN_FLOAT32);
    x->autograd = &silent;
    assert_string_equal(tn_repr(x), "tensor([1., 2.])");
    x->autograd = &meta;
    shown = (tni_autograd_facts){.requires_grad = true};
    assert_string_equal(tn_repr(x), "tensor([1., 2.], requires_grad=True)");
    shown.grad_fn = "AddBackward0";
    assert_string_equal(tn_repr(x), "tensor([1., 2.], grad_fn=<AddBackward0>)");
    shown.tangent = tn_from_array((float[]){1, 0.5F}, (int64_t[]){2}, 1, TN_FLOAT32);
    assert_string_equal(tn_repr(x), "tensor([1., 2.], grad_fn=<AddBackward0>, tangent=tensor([1.0000, 0.5000]))");
    shown = (tni_autograd_facts){.tangent = tn_from_array((float[]){3}, NULL, 0, TN_FLOAT32)};
    assert_string_equal(tn_repr(x), "tensor([1., 2.], tangent=3.0)");
    x->autograd = NULL;
}

static void lazy(void **state)
{
    (void)state;
    double parts[] = {1, 2, 3, -4};
    tn_tensor *x = tn_from_array(parts, (int64_t[]){2}, 1, TN_COMPLEX128),
              *y = tn_from_array(parts, (int64_t[]){4}, 1, TN_FLOAT64);
    x->keys |= TNI_KEY_CONJ;
    assert_string_equal(tn_repr(x), "tensor([1.-2.j, 3.+4.j], dtype=torch.complex128)");
    y->keys |= TNI_KEY_NEG;
    assert_string_equal(tn_repr(y), "tensor([-1., -2., -3.,  4.], dtype=torch.float64)");
    y->keys = (y->keys & ~TNI_KEY_NEG) | TNI_KEY_ZERO;
    assert_string_equal(tn_repr(y), "tensor([0., 0., 0., 0.], dtype=torch.float64)");
    y->keys &= ~TNI_KEY_ZERO;
    x->keys &= ~TNI_KEY_CONJ;
}

static void locale_does_not_matter(void **state)
{
    (void)state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        skip();
    tn_tensor *x = tn_from_array((float[]){1234.5F}, NULL, 0, TN_FLOAT32);
    assert_string_equal(tn_repr(x), "tensor(1234.5000)");
    setlocale(LC_ALL, "C");
}

TEST_MAIN(test(against_torch), test(options), test(options_of_a_thread), test(cut), test(writers), test(refusals),
          test(failing_memory), test(summary_of_much), test(stored_integers), test(autograd), test(lazy),
          test(locale_does_not_matter))
