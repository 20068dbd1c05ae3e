/* The text of a tensor: options, elements between brackets, and what is said after them. */
#include "core/print.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"
#include "core/lazy.h"

enum { PRECISION = 4, THRESHOLD = 1000, EDGEITEMS = 3, LINEWIDTH = 80 };

enum { INDENT = 7, /* of "tensor(" */ PIECE = 1024 };

static _Thread_local tn_print_options print_options
    __attribute__((tls_model("initial-exec"))) = {PRECISION, TN_SCI_AUTOMATIC, THRESHOLD, EDGEITEMS, LINEWIDTH};

tn_print_options tn_print_options_of(tn_print_profile profile)
{
    tn_print_options options = {PRECISION, TN_SCI_AUTOMATIC, THRESHOLD, EDGEITEMS, LINEWIDTH};
    if (profile == TN_PRINT_SHORT) {
        options.precision = 2;
        options.edgeitems = 2;
    } else if (profile == TN_PRINT_FULL) {
        options.threshold = INT64_MAX;
    }
    return options;
}

tn_print_options tn_get_print_options(void)
{
    return print_options;
}

tn_status tn_set_print_options(const tn_print_options *options)
{
    const char *function = "set_print_options";
    if (tni_pending())
        return tni_pending();
    if (options && (options->precision < 0 || options->precision > TNI_MOST_PRECISION))
        return TNI_FAIL(TN_ERROR_ARGUMENT, function, "precision is %d, needed 0 .. %d", options->precision,
                        TNI_MOST_PRECISION);
    if (options && options->edgeitems < 0)
        return TNI_FAIL(TN_ERROR_ARGUMENT, function, "edgeitems is %lld, needed 0 or more",
                        (long long)options->edgeitems);
    if (options && (unsigned)options->sci_mode > TN_SCI_ON)
        return TNI_FAIL(TN_ERROR_ARGUMENT, function, "sci_mode is %d, needed one of tn_sci_mode",
                        (int)options->sci_mode);
    print_options = options ? *options : tn_print_options_of(TN_PRINT_DEFAULT);
    return TN_OK;
}

/* One tensor on its way to text. */
typedef struct printer {
    const tn_tensor *x;
    const tn_print_options *options;
    tni_out *out;
    tni_format real, imaginary; /* the second for complex numbers alone */
    tn_dtype dtype;
    double zero;   /* the float that PyTorch takes for 0 besides 0 */
    int64_t bytes; /* of an element; 0 for a zero tensor, which has none */
    bool complex;
    bool summarize;
} printer;

/* Which of a dim's elements are shown: all, or `edge` at each end. */
typedef struct shown {
    int64_t size, edge, count;
    bool cut;
} shown;

static shown shown_of(const printer *p, int dim)
{
    int64_t size = p->x->sizes[dim], edge = p->options->edgeitems;
    bool cut = p->summarize && size / 2 >= edge && size > 2 * edge;
    return (shown){size, edge, cut ? 2 * edge : size, cut};
}

static const char *shown_at(const printer *p, int dim, const shown *s, int64_t i, const char *at)
{
    int64_t index = s->cut && i >= s->edge ? s->size - s->count + i : i;
    int64_t by = index * p->x->strides[dim] * p->bytes;
    return (const char *)((uintptr_t)at + (uintptr_t)by); /* a zero tensor has no memory: a number, not a place */
}

static tn_scalar element_of(const tn_tensor *x, const char *at)
{
    char element[16];
    if (!tni_is_lazy(x))
        return tni_scalar_load((tn_dtype)x->dtype, at);
    tni_read_element(x, at, element);
    return tni_scalar_load((tn_dtype)x->dtype, element);
}

static void see(const printer *p, int dim, const char *at, tni_seen seen[2])
{
    if (dim < p->x->ndim) {
        shown s = shown_of(p, dim);
        for (int64_t i = 0; i < s.count; i++)
            see(p, dim + 1, shown_at(p, dim, &s, i, at), seen);
        return;
    }
    tn_scalar number = element_of(p->x, at);
    if (number.kind == TN_SCALAR_FLOAT) {
        tni_see_float(seen, number.value.f, p->zero);
    } else if (number.kind == TN_SCALAR_COMPLEX) {
        tni_see_float(seen, number.value.c.re, 0);
        tni_see_float(seen + 1, number.value.c.im, 0);
    } else {
        tni_see_integer(seen, p->dtype, number);
    }
}

static void put_complex(const printer *p, double re, double im)
{
    tni_put_float(p->out, &p->real, re, false);
    if (isnan(im) || !signbit(im))
        tni_put(p->out, "+", 1);
    tni_put_float(p->out, &p->imaginary, im, true);
    tni_put(p->out, "j", 1);
}

static void put_element(const printer *p, const char *at)
{
    tn_scalar number = element_of(p->x, at);
    if (number.kind == TN_SCALAR_FLOAT)
        tni_put_float(p->out, &p->real, number.value.f, false);
    else if (number.kind == TN_SCALAR_COMPLEX)
        put_complex(p, number.value.c.re, number.value.c.im);
    else
        tni_put_integer(p->out, &p->real, number);
}

static void put_vector(const printer *p, int dim, const char *at, int64_t indent)
{
    shown s = shown_of(p, dim);
    int64_t wide = p->real.width + 2 + (p->complex ? p->imaginary.width + 1 : 0);
    int64_t room = p->options->linewidth > indent ? p->options->linewidth - indent : 0;
    int64_t per_line = room > wide ? room / wide : 1, column = 0;
    if (s.cut && s.edge == 0)
        tni_put_text(p->out, "...");
    for (int64_t i = 0; i < s.count && !p->out->refused; i++) {
        for (int mark = s.cut && i == s.edge; mark >= 0; mark--, column++) {
            if (column == per_line) {
                tni_put(p->out, ",", 1);
                tni_put_newlines(p->out, 1);
                tni_put_spaces(p->out, indent + 1);
                column = 0;
            } else if (column > 0) {
                tni_put(p->out, ", ", 2);
            }
            if (mark)
                tni_put_text(p->out, " ...");
            else
                put_element(p, shown_at(p, dim, &s, i, at));
        }
    }
}

static void put_dims(const printer *p, int dim, const char *at, int64_t indent)
{
    int left = p->x->ndim - dim;
    if (left == 0) {
        put_element(p, at);
        return;
    }
    tni_put(p->out, "[", 1);
    if (left == 1) {
        put_vector(p, dim, at, indent);
        tni_put(p->out, "]", 1);
        return;
    }
    shown s = shown_of(p, dim);
    if (s.cut && s.edge == 0)
        tni_put_text(p->out, "...");
    for (int64_t i = 0; i < s.count && !p->out->refused; i++) {
        for (int mark = s.cut && i == s.edge; mark >= 0; mark--) {
            if (i > 0) {
                tni_put(p->out, ",", 1);
                tni_put_newlines(p->out, left - 1);
                tni_put_spaces(p->out, indent + 1);
            }
            if (mark)
                tni_put_text(p->out, "...");
        }
        put_dims(p, dim + 1, shown_at(p, dim, &s, i, at), indent + 1);
    }
    tni_put(p->out, "]", 1);
}

/* "(2, 3)", "(3,)", "()": Python's tuple. */
static void put_tuple(tni_out *out, const int64_t *sizes, int ndim)
{
    char text[24];
    tni_put(out, "(", 1);
    for (int i = 0; i < ndim; i++) {
        if (i > 0)
            tni_put(out, ", ", 2);
        tni_put(out, text, (size_t)tni_text_unsigned(text, sizeof text, (uint64_t)sizes[i]));
    }
    tni_put_text(out, ndim == 1 ? ",)" : ")");
}

/* What follows the elements: each on the last line while it fits. */
typedef struct suffixes {
    tni_out *out;
    int64_t last, linewidth; /* columns used, by PyTorch's count, which is 2 too many at first */
} suffixes;

static void put_separator(suffixes *s, size_t length)
{
    int64_t bytes = (int64_t)length;
    if (s->last + bytes + 2 > s->linewidth) {
        tni_put(s->out, ",", 1);
        tni_put_newlines(s->out, 1);
        tni_put_spaces(s->out, INDENT);
        s->last = INDENT + bytes;
    } else {
        tni_put(s->out, ", ", 2);
        s->last += bytes + 2;
    }
}

static void put_suffix(suffixes *s, const char *before, const char *text, const char *after)
{
    put_separator(s, strlen(before) + strlen(text) + strlen(after));
    tni_put_text(s->out, before);
    tni_put_text(s->out, text);
    tni_put_text(s->out, after);
}

static void put_size(suffixes *s, const tn_tensor *x)
{
    tni_out count = {.buf = NULL};
    put_tuple(&count, x->sizes, x->ndim);
    put_separator(s, strlen("size=") + count.whole);
    tni_put_text(s->out, "size=");
    put_tuple(s->out, x->sizes, x->ndim);
}

static const char *first_of(const tn_tensor *x)
{
    return x->keys & TNI_KEY_ZERO ? NULL : tni_data(x);
}

static void put_tangent(suffixes *s, const tn_tensor *tangent)
{
    char text[TNI_ELEMENT_TEXT];
    if (tangent->ndim == 0 && !tni_is_meta(tangent)) { /* Python formats a 0-dim tensor as its number */
        tni_number_text((tn_dtype)tangent->dtype, element_of(tangent, first_of(tangent)), text);
        put_suffix(s, "tangent=", text, "");
        return;
    }
    tni_out count = {.buf = NULL};
    tni_put_tensor(&count, tangent);
    put_separator(s, strlen("tangent=") + count.whole);
    tni_put_text(s->out, "tangent=");
    tni_put_tensor(s->out, tangent);
}

static void put_autograd(suffixes *s, const tn_tensor *x)
{
    tni_autograd_facts facts = {.grad_fn = NULL};
    const tni_autograd_meta *meta = x->autograd ? x->autograd : x->base ? x->base->autograd : NULL;
    if (meta && meta->type->facts)
        meta->type->facts(x, &facts);
    if (facts.grad_fn)
        put_suffix(s, "grad_fn=<", facts.grad_fn, ">");
    else if (facts.requires_grad)
        put_suffix(s, "requires_grad=True", "", "");
    if (facts.tangent)
        put_tangent(s, facts.tangent);
}

static void put_elements(tni_out *out, const tn_tensor *x)
{
    tni_seen seen[2] = {{.fraction = false}};
    tn_dtype dtype = (tn_dtype)x->dtype;
    printer p = {
        .x = x, .options = &print_options, .out = out, .dtype = dtype, .summarize = x->numel > print_options.threshold};
    p.complex = tni_dtype_kind(dtype) == TNI_COMPLEX;
    p.zero = dtype == TN_FLOAT8_E8M0FNU ? 0x1p-127 : 0;
    p.bytes = x->keys & TNI_KEY_ZERO ? 0 : tni_itemsize(dtype);
    see(&p, 0, first_of(x), seen);
    p.real = tni_format_of(dtype, &seen[0], &print_options);
    p.imaginary = tni_format_of(dtype, &seen[1], &print_options);
    put_dims(&p, 0, first_of(x), INDENT);
}

/* Whether readers know the dtype without being told. */
static bool is_usual(tn_dtype dtype)
{
    tn_dtype real = tn_get_default_dtype();
    return dtype == real || dtype == TN_INT64 || dtype == TN_BOOL ||
           dtype == (real == TN_FLOAT64 ? TN_COMPLEX128 : TN_COMPLEX64);
}

void tni_put_tensor(tni_out *out, const tn_tensor *x)
{
    tn_dtype dtype = (tn_dtype)x->dtype;
    bool meta = tni_is_meta(x), empty = x->numel == 0, quantized = tni_dtype_kind(dtype) == TNI_QUANTIZED;
    out->line = out->whole;
    tni_put_text(out, "tensor(");
    if (meta)
        tni_put_text(out, "...");
    else if (empty)
        tni_put_text(out, "[]");
    else
        put_elements(out, x);

    suffixes s = {out, (int64_t)(out->whole - out->line) + 2, print_options.linewidth};
    if (meta)
        put_suffix(&s, "device='", tn_device_type_name((tn_device_type)x->device), "'");
    if (meta || quantized || (empty ? x->ndim != 1 : print_options.edgeitems == 0))
        put_size(&s, x);
    if (meta || empty ? dtype != tn_get_default_dtype() : !is_usual(dtype))
        put_suffix(&s, "dtype=torch.", tn_dtype_name(dtype), "");
    put_autograd(&s, x);
    tni_put(out, ")", 1);
}

int tn_tensor_text(const tn_tensor *x, char *buf, size_t size)
{
    tni_out out = tni_out_buffer(buf, size);
    if (tni_check_tensor("tensor_text", 1, "x", x) == TN_OK)
        tni_put_tensor(&out, x);
    return tni_out_end(&out);
}

tn_status tn_tensor_write(const tn_tensor *x, tn_text_writer write, void *context)
{
    char piece[PIECE];
    tni_out out = {.buf = piece, .size = sizeof piece, .write = write, .context = context};
    if (tni_check_tensor("tensor_write", 1, "x", x))
        return tni_pending();
    if (!write)
        return TNI_FAIL_NULL("tensor_write", 2, "write");
    tni_put_tensor(&out, x);
    tni_flush(&out);
    if (out.refused)
        return TNI_FAIL(TN_ERROR_FILE, "tensor_write", "write did not take the text");
    return TN_OK;
}
