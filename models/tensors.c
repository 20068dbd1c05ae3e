/* What a tensor is, in C: the lesson "Tensors" and two articles on strides and slices worked line by line, exercises
 * included. Each part prints what its Python prints; lines that begin with # are titles, indented ones are said
 * besides. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tenon/tenon.h>

enum { TEXT = 64 };

#define SIZES(...) (int64_t[]){__VA_ARGS__}, (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/* Python's tuple: "(3, 4)", "(3,)". */
static const char *tuple(const int64_t *numbers, int n, char buf[TEXT])
{
    int used = snprintf(buf, TEXT, "(");
    for (int i = 0; i < n; i++)
        used += snprintf(buf + used, TEXT - (size_t)used, "%s%" PRId64, i ? ", " : "", numbers[i]);
    snprintf(buf + used, TEXT - (size_t)used, n == 1 ? ",)" : ")");
    return buf;
}

static const char *shape(const tn_tensor *x, char buf[TEXT])
{
    return tuple(tn_sizes(x), tn_ndim(x), buf);
}

static const char *stride(const tn_tensor *x, char buf[TEXT])
{
    return tuple(tn_strides(x), tn_ndim(x), buf);
}

/* The first `digits` digits after the point, those after them left off and not rounded. */
static const char *first_digits(double value, int digits, char buf[TEXT])
{
    snprintf(buf, TEXT, "%.40f", value);
    buf[strcspn(buf, ".") + 1 + (size_t)digits] = '\0';
    return buf;
}

/* Python's repr of a float: "0.3333333333333333", "1.1920928955078125e-07". */
static const char *number(double value, char buf[TEXT])
{
    tn_format_double(buf, TEXT, value);
    return buf;
}

static const char *truth(bool is)
{
    return is ? "True" : "False";
}

static tn_tensor *arange(int64_t n)
{
    return tn_arange(tn_int(0), tn_int(n), tn_int(1), TN_DTYPE_NONE);
}

static tn_tensor *decimal(double value, tn_dtype dtype)
{
    return tn_full(NULL, 0, tn_float(value), dtype);
}

/* The record: dtype, shape, device. NumPy's side is an array of C: the compiler knows its dtype, the program its shape.
 */
static void record(void)
{
    char text[2][TEXT];
    const double n[] = {1, 2, 3};
    tn_tensor *a = tn_to(tn_from_array(n, SIZES(3), TN_FLOAT64), tn_get_default_dtype());
    puts("# The record: dtype, shape, device");
    printf("torch.%s %s %s | %s (%zu,)\n", tn_dtype_name(tn_tensor_dtype(a)), shape(a, text[0]),
           tn_device_type_name(tn_tensor_device(a).type), sizeof *n == 8 ? "float64" : "float32", sizeof n / sizeof *n);
    printf("torch.%s\n", tn_dtype_name(tn_tensor_dtype(arange(2))));
    printf("%s %s\n", tn_repr(decimal(1.0 / 3, TN_DTYPE_NONE)), number(1.0 / 3, text[0]));
    printf("0.1 stored as float32: %.17f\n", tn_item(decimal(0.1, TN_FLOAT32)));
    printf("0.1 stored as float64: %.17f\n", tn_item(decimal(0.1, TN_FLOAT64)));
    printf("spacing near 1: %s %s\n", number(tn_finfo(TN_FLOAT32).eps, text[0]),
           number(tn_finfo(TN_FLOAT64).eps, text[1]));
    puts("# Figure 2: the same decimal as each type stores it");
    printf("%s\n%.19f\n", first_digits(tn_item(decimal(0.1, TN_FLOAT64)), 19, text[0]),
           tn_item(decimal(0.1, TN_FLOAT32))); /* the figure cuts the one and rounds the other */
    printf("%s\n", tn_repr(decimal(0.1, TN_FLOAT32)));
    printf("%s\n", first_digits(tn_item(decimal(1.0 / 3, TN_FLOAT32)), 10, text[0]));
}

/* from_numpy shares, tensor copies: here tn_from_blob and tn_from_array. */
static void sharing(void)
{
    char text[2][TEXT];
    double x[2][3] = {{0, 1, 2}, {3, 4, 5}};
    puts("# Memory that is shared, and memory that is not");
    tn_tensor *shared = tn_from_blob(x, SIZES(2, 3), TN_FLOAT64, NULL);
    tn_tensor *copied = tn_from_array(x, SIZES(2, 3), TN_FLOAT64);
    x[0][0] = 100;
    tn_tensor *corner = tn_select(tn_select(shared, 0, 0), 0, 0), *kept = tn_select(tn_select(copied, 0, 0), 0, 0);
    printf("%s %s torch.%s\n", number(tn_item(corner), text[0]), number(tn_item(kept), text[1]),
           tn_dtype_name(tn_tensor_dtype(shared)));
    double *back = tn_data_f64_mut(shared);
    if (back)
        back[1 * tn_stride(shared, 0) + 2 * tn_stride(shared, 1)] = -1;
    printf("%s\n", number(x[1][2], text[0]));
}

/* Reads v[index] from the storage by the formula s[o + sum of i_j * stride_j]. */
static int64_t element(const tn_tensor *storage, const tn_tensor *v, int64_t i, int64_t j)
{
    const int64_t *cells = tn_data_i64(storage);
    return cells ? cells[tn_storage_offset(v) + i * tn_stride(v, 0) + j * tn_stride(v, 1)] : -1;
}

static void show_view(const char *name, const tn_tensor *v)
{
    char text[2][TEXT];
    printf("%-22s shape %-10s stride %-11s offset %" PRId64 "  contiguous %s\n", name, shape(v, text[0]),
           stride(v, text[1]), tn_storage_offset(v), truth(tn_is_contiguous(v)));
}

static void views(void)
{
    puts("# Views through strides");
    tn_tensor *x = tn_view(arange(12), SIZES(3, 4)), *turned = tn_T(x);
    tn_tensor *slice = tn_slice(x, 1, 1, TN_SLICE_END, 2), *column = tn_slice(x, 1, 0, 1, 1);
    show_view("x", x);
    show_view("x.T", turned);
    show_view("x[:, 1::2]", slice);
    show_view("x.unsqueeze(0)", tn_unsqueeze(x, 0));
    show_view("x[:, :1].expand(3, 4)", tn_expand(column, SIZES(3, 4)));

    tn_tensor *storage = arange(12); /* x's storage, as a plain row */
    printf("%" PRId64 " %" PRId64 " %" PRId64 "\n", element(storage, turned, 2, 1),
           tn_item_i64(tn_select(tn_select(turned, 0, 2), 0, 1)), element(storage, slice, 2, 1));

    if (!tn_view(turned, SIZES(12)) && tn_error_code() == TN_ERROR_VIEW) {
        /* PyTorch's words, cut as the lesson does */
        puts("view failed: view size is not compatible with input tensor'");
        printf("  Tenon's: %s\n", tn_error_message());
        tn_error_clear();
    }
    printf("%s %s %s\n", truth(tn_is_same_storage(x, turned)),
           truth(tn_is_same_storage(x, tn_reshape(turned, SIZES(12)))),
           truth(tn_is_same_storage(x, tn_view(x, SIZES(12)))));
}

static void broadcasting(void)
{
    char text[2][TEXT];
    puts("# Broadcasting reads with stride 0");
    tn_tensor *x = tn_view(arange(12), SIZES(3, 4));
    tn_tensor *r = tn_arange(tn_int(0), tn_int(40), tn_int(10), TN_DTYPE_NONE), *total = tn_add(x, r);
    printf("%s %s %s\n", shape(total, text[0]), stride(tn_expand(r, SIZES(3, 4)), text[1]),
           truth(tn_is_same_storage(total, x)));
    const int64_t tall[] = {3, 1}, wide[] = {1, 4}, *const shapes[] = {tall, wide};
    int64_t both[TN_MAX_NDIM];
    int ndim = tn_broadcast_shapes(shapes, (int[]){2, 2}, 2, both);
    if (ndim < 0)
        return;
    tn_format_shape(text[0], TEXT, both, ndim);
    printf("torch.Size(%s) %s\n", text[0], tuple(both, ndim, text[1]));
}

/* Places and jumps of figure 4: the walk over x.T in row-major order, and that over x[:, 1::2]. */
static void walks(void)
{
    tn_tensor *x = tn_view(arange(12), SIZES(3, 4)), *turned = tn_contiguous(tn_T(x));
    tn_tensor *slice = tn_contiguous(tn_slice(x, 1, 1, TN_SLICE_END, 2));
    const int64_t *walk = tn_data_i64(turned), *odd = tn_data_i64(slice); /* each element tells its place in x */
    if (!walk || !odd)
        return;
    puts("# Figure 4: which places are visited, and by which jumps");
    for (int i = 0; i < 12; i++)
        printf("%s%" PRId64, i ? ", " : "", walk[i]);
    putchar('\n');
    for (int i = 0; i < 6; i++)
        printf("%s%+" PRId64, i ? ", " : "", walk[i + 1] - walk[i]);
    putchar('\n');
    for (int i = 0; i < 6; i++)
        printf("%s%" PRId64, i ? " " : "", odd[i]);
    putchar('\n');
}

static void exercise_1(void)
{
    char text[2][TEXT];
    puts("# Exercise 1: x = arange(24).view(2, 3, 4); x[1], x[:, 2], x.permute(2, 0, 1)");
    tn_tensor *x = tn_view(arange(24), SIZES(2, 3, 4));
    tn_tensor *asked[] = {tn_select(x, 0, 1), tn_select(x, 1, 2), tn_permute(x, SIZES(2, 0, 1))};
    for (int i = 0; i < 3; i++)
        printf("%" PRId64 " %s %s %s\n", tn_storage_offset(asked[i]), shape(asked[i], text[0]),
               stride(asked[i], text[1]), truth(tn_is_contiguous(asked[i])));
}

static void exercise_2(void)
{
    char text[2][TEXT];
    puts("# Exercise 2: the places that x[1:, ::3] reads, and what writing there does to x");
    tn_tensor *x = tn_view(arange(12), SIZES(3, 4)), *before = tn_clone(x);
    tn_tensor *corners = tn_slice(tn_slice(x, 0, 1, TN_SLICE_END, 1), 1, 0, TN_SLICE_END, 3);
    printf("%" PRId64 " %s %s", tn_storage_offset(corners), shape(corners, text[0]), stride(corners, text[1]));
    for (int64_t i = 0; i < tn_size(corners, 0); i++)
        for (int64_t j = 0; j < tn_size(corners, 1); j++)
            printf(" %" PRId64, tn_storage_offset(corners) + i * tn_stride(corners, 0) + j * tn_stride(corners, 1));
    tn_add_scalar_(corners, tn_int(1));
    tn_tensor *changed = tn_ne(x, before);
    const bool *is = tn_data_bool(changed);
    printf("\n  x[1:, ::3] += 1 changes");
    for (int i = 0; is && i < 12; i++)
        if (is[i])
            printf(" x[%d, %d]", i / 4, i % 4);
    putchar('\n');
}

/* What differs between w and a plain tensor of its shape, each thing asked of the tensor; how many things that is. */
static int list_differences(tn_tensor *w, tn_tensor *plain, tn_tensor *source)
{
    char text[2][TEXT];
    int n = 0;
    if (tn_tensor_dtype(w) != tn_tensor_dtype(plain))
        printf("  %d. its dtype is %s, not %s\n", ++n, tn_dtype_name(tn_tensor_dtype(w)),
               tn_dtype_name(tn_tensor_dtype(plain)));
    if (tn_is_same_storage(w, source))
        printf("  %d. it shares memory with W_in_out: a change there changes the weights\n", ++n);
    if (!tn_is_contiguous(w)) {
        printf("  %d. it is not contiguous: strides %s instead of %s", ++n, stride(w, text[0]), stride(plain, text[1]));
        if (!tn_view(w, SIZES(32)) && tn_error_code() == TN_ERROR_VIEW)
            printf(", so view(32) fails");
        tn_error_clear();
        putchar('\n');
    }
    if (tn_storage_owned_by(tn_storage_of(w)) != tn_storage_owned_by(tn_storage_of(plain)))
        printf("  %d. its storage is owned by the array, not by the library\n", ++n);
    return n;
}

static void exercise_3(void)
{
    static double w_in_out[2][16]; /* NumPy's side: contiguous float64, (in, out) */
    char text[3][TEXT];
    puts("# Exercise 3: from_numpy(W_in_out).T beside zeros(16, 2)");
    tn_tensor *shared = tn_from_blob(w_in_out, SIZES(2, 16), TN_FLOAT64, NULL), *w = tn_T(shared);
    tn_tensor *plain = tn_zeros(SIZES(16, 2), TN_FLOAT32), *fixed = tn_to(tn_contiguous(w), TN_FLOAT32);
    tn_tensor *shorter = tn_to(w, TN_FLOAT32); /* copies and converts, and keeps the order of strides */
    printf("%s %s %s\n", stride(w, text[0]), stride(fixed, text[1]), stride(shorter, text[2]));
    puts("  w:");
    int n = list_differences(w, plain, shared);
    puts("  w.contiguous().float():");
    int left = list_differences(fixed, plain, shared);
    puts("  w.float():");
    int left_by_shorter = list_differences(shorter, plain, shared);
    printf("  %d differences; the first line leaves %d of them, the second %d\n", n, left, left_by_shorter);
}

/* The tolerance that a refusal of assert_close names after the word. */
static const char *allowed(tn_dtype dtype, const char *after, char buf[TEXT])
{
    buf[0] = '\0';
    if (tn_assert_close(decimal(1, dtype), decimal(2, dtype), NULL) == TN_ERROR_NOT_CLOSE) {
        const char *at = strstr(tn_error_message(), after);
        at = at ? strstr(at, "up to ") : NULL;
        if (at)
            snprintf(buf, TEXT, "%.*s", (int)strcspn(at + 6, " "), at + 6);
        tn_error_clear();
    }
    return buf;
}

static void tolerances(void)
{
    char text[4][TEXT];
    puts("# assert_close's tolerances, float32 and float64: relative, absolute");
    printf("%s %s %s %s\n", allowed(TN_FLOAT32, "Relative", text[0]), allowed(TN_FLOAT32, "Absolute", text[1]),
           allowed(TN_FLOAT64, "Relative", text[2]), allowed(TN_FLOAT64, "Absolute", text[3]));
}

/* The article on slices: why a slice keeps strides that its own shape would not have. */
static void slices(void)
{
    char text[2][TEXT];
    puts("# Slices: x = arange(6).reshape(3, 1, 1, 2), s = x[:, :, :, 0:1]");
    tn_tensor *x = tn_reshape(arange(6), SIZES(3, 1, 1, 2)), *s = tn_slice(x, 3, 0, 1, 1);
    printf("%s\n%s %s\n", tn_repr(x), shape(x, text[0]), stride(x, text[1]));
    printf("%s\n%s %s\n", tn_repr(s), shape(s, text[0]), stride(s, text[1]));
    printf("%s\n", truth(tn_is_same_storage(x, s)));
    tn_fill_(tn_select(s, 0, 0), tn_int(555));
    printf("%s\n%s\n", tn_repr(s), tn_repr(x));
    const int64_t *cells = tn_storage_data(x);
    for (size_t i = 0; cells && i < tn_storage_nbytes(x) / sizeof *cells; i++)
        printf("%s%" PRId64, i ? " " : "", cells[i]);
    putchar('\n');
    for (int64_t i = 0; cells && i < 3; i++) /* [i, 0, 0, 0] by the formula */
        printf("%s%" PRId64, i ? " " : "", cells[tn_storage_offset(s) + i * tn_stride(s, 0)]);
    putchar('\n');

    puts("# A step of 2 in the last dim, and an offset");
    tn_tensor *wide = tn_reshape(arange(12), SIZES(3, 1, 1, 4)), *even = tn_slice(wide, 3, 0, TN_SLICE_END, 2);
    printf("%s %s %s\n", tn_repr(wide), shape(wide, text[0]), stride(wide, text[1]));
    printf("%s %s %s\n", tn_repr(even), shape(even, text[0]), stride(even, text[1]));
    tn_tensor *fresh = tn_reshape(arange(6), SIZES(3, 1, 1, 2)), *second = tn_slice(fresh, 3, 1, 2, 1);
    printf("%s %" PRId64 " %" PRId64 "\n", tn_repr(second), tn_storage_offset(second),
           tn_storage_offset(tn_slice(fresh, 3, 0, 1, 1)));
}

/* The article on tensor and storage: a transposed tensor is a second record over the same row. */
static void storage_page(void)
{
    char text[2][TEXT];
    const float row[] = {1, 2, 3, 4, 5, 6};
    puts("# Tensor and storage: a 2 x 3 tensor and its transpose");
    tn_tensor *a = tn_from_array(row, SIZES(2, 3), TN_FLOAT32), *b = tn_t(a), *apart = tn_clone(b);
    printf("%s %s\n", stride(a, text[0]), stride(b, text[1]));
    tn_fill_(tn_select(tn_select(b, 0, 2), 0, 0), tn_float(30));
    printf("  b = a.t(); b[2, 0] = 30 makes a[0, 2] %s; b.clone() keeps %s\n",
           number(tn_item(tn_select(tn_select(a, 0, 0), 0, 2)), text[0]),
           number(tn_item(tn_select(tn_select(apart, 0, 2), 0, 0)), text[1]));
    printf("  b is contiguous: %s; b.contiguous() is: %s, in memory of its own: %s\n", truth(tn_is_contiguous(b)),
           truth(tn_is_contiguous(tn_contiguous(b))), truth(!tn_is_same_storage(b, tn_contiguous(b))));
}

/* One layer of the forward pass over plain arrays, as NumPy does it: out = act(in W^T + b), biases 0. */
static void layer_of_arrays(const double *in, int64_t n, int64_t n_in, const double *w, int64_t n_out, bool last,
                            double *out)
{
    for (int64_t p = 0; p < n; p++)
        for (int64_t o = 0; o < n_out; o++) {
            double z = 0;
            for (int64_t i = 0; i < n_in; i++)
                z += in[p * n_in + i] * w[o * n_in + i];
            out[p * n_out + o] = last ? 1 / (1 + exp(-z)) : z > 0 ? z : 0;
        }
}

/* The net over plain arrays of C; [200, 1] as a tensor. */
static tn_tensor *forward_arrays(const tn_module *net, const tn_tensor *x)
{
    enum { POINTS = 200, WIDTH = 16 };
    static double rows[2][POINTS * WIDTH];
    const double *in = tn_data_f64(x);
    int64_t n_in = 2;
    for (int64_t l = 0; in && l < tn_parameter_count(net); l += 2) { /* weight, bias, weight ... */
        tn_tensor *weight = tn_parameter(net, l);
        double *out = rows[l / 2 % 2];
        bool last = l + 2 >= tn_parameter_count(net);
        const double *w = tn_data_f64(weight);
        if (!w)
            return NULL;
        layer_of_arrays(in, POINTS, n_in, w, tn_size(weight, 0), last, out);
        n_in = tn_size(weight, 0);
        in = out;
    }
    return in ? tn_from_array(in, SIZES(POINTS, 1), TN_FLOAT64) : NULL;
}

/* The same with tensors: A = relu(A W^T + b), a sigmoid in the end, in the arithmetic of PyTorch's wheel. */
static tn_tensor *forward_tensors(const tn_module *net, tn_tensor *a)
{
    for (int64_t l = 0; l < tn_parameter_count(net); l += 2) {
        tn_tensor *z = tn_linear_reference(a, tn_parameter(net, l), tn_parameter(net, l + 1), TN_ORDER_MKL);
        a = l + 2 < tn_parameter_count(net) ? tn_relu(z) : tn_sigmoid_reference(z, TN_ORDER_MKL);
    }
    return a;
}

static void forward(void)
{
    char text[2][TEXT];
    puts("# The forward pass, float64 and float32");
    tn_module *net = tn_mlp(SIZES(2, 16, 16, 1), TN_FLOAT64);
    tn_default_rng rng;
    tn_default_rng_seed(&rng, 0);
    tn_init_normal(net, &rng);
    tn_tensor *x = tn_dataset_x(tn_make_moons(200, 0.2, 0, TN_FLOAT64)), *out_arrays = forward_arrays(net, x);
    tn_tensor *out_64 = forward_tensors(net, x);
    tn_assert_close(out_64, out_arrays, NULL); /* float64 against float64: an error here ends the program */
    tn_tensor *out_32 = forward_tensors(tn_module_to(net, TN_FLOAT32), tn_to(x, TN_FLOAT32));
    tn_tensor *gap = tn_amax(tn_abs(tn_sub(tn_to(out_32, TN_FLOAT64), out_arrays)), NULL, 0, false);
    tn_format_scientific(text[1], TEXT, tn_item(gap), 1);
    printf("%s torch.%s torch.%s largest float32 gap %s\n", shape(out_64, text[0]),
           tn_dtype_name(tn_tensor_dtype(out_64)), tn_dtype_name(tn_tensor_dtype(out_32)), text[1]);
    if (tn_assert_close(out_32, out_arrays, NULL) == TN_ERROR_NOT_CLOSE) {
        printf("assert_close: %.45s\n", tn_error_message());
        tn_error_clear();
    }
}

int main(void)
{
    static void (*const parts[])(void) = {record,     sharing,    views,      broadcasting, walks,        exercise_1,
                                          exercise_2, exercise_3, tolerances, slices,       storage_page, forward};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && tn_error_code() == TN_OK; i++) {
        tn_scope scope = tn_scope_begin();
        parts[i]();
        tn_scope_end(scope);
    }
    if (tn_error_code() != TN_OK) {
        fprintf(stderr, "tensors: %s\n", tn_error_message());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
