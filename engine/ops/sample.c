/* Reading samples. Numbers are read here, whatever the locale: they are short. */
#include "ops/sample.h"

#include <math.h>
#include <string.h>

static bool read_whole(const char **at, int64_t *value)
{
    const char *p = *at;
    bool negative = *p == '-';
    int64_t sum = 0;
    p += negative;
    if (*p < '0' || *p > '9')
        return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_sub_overflow(sum, *p - '0', &sum))
            return false;
    }
    if (!negative && sum == INT64_MIN)
        return false;
    *value = negative ? sum : -sum;
    *at = p;
    return true;
}

static bool ends(char c)
{
    return c == '\0' || c == ' ' || c == '\n' || c == '\t' || c == '|';
}

/* "3,4]" behind its bracket. */
static bool read_list(const char **at, char close, int64_t *numbers, int *n)
{
    *n = 0;
    while (**at != close) {
        if (*n == TNI_SAMPLE_NUMBERS || !read_whole(at, &numbers[(*n)++]) || (**at != ',' && **at != close))
            return false;
        *at += **at == ',';
    }
    ++*at;
    return true;
}

/* "2,3:4>" behind its bracket. */
static bool read_positions(const char **at, tni_sample_tensor *x)
{
    x->ndim = 0;
    while (**at != ':') {
        if (x->ndim == TNI_SAMPLE_NUMBERS || !read_whole(at, &x->sizes[x->ndim++]) || (**at != ',' && **at != ':'))
            return false;
        *at += **at == ',';
    }
    ++*at;
    return read_whole(at, &x->range) && x->range != 0 && *(*at)++ == '>';
}

static bool read_tensors(const char **at, tni_sample_argument *a)
{
    a->kind = TN_VALUE_TENSORS;
    do {
        if (a->n == TNI_SAMPLE_LIST)
            return false;
        tni_sample_tensor *x = &a->as.list[a->n++];
        const char first = *(*at)++;
        int n = 0;
        x->absent = first == '_';
        if (first == '[' ? !read_list(at, ']', x->sizes, &n) : first != '_' && (first != '<' || !read_positions(at, x)))
            return false;
        if (first == '[')
            x->ndim = n;
    } while (**at == ';' && ++*at);
    return true;
}

/* A bound of a slice, which may be left off. */
static int64_t read_bound(const char **at, int64_t otherwise)
{
    int64_t bound = otherwise;
    return read_whole(at, &bound) ? bound : otherwise;
}

static bool read_index(const char **at, tni_sample_argument *a)
{
    a->kind = TN_VALUE_INDEX;
    while (**at != '}') {
        if (a->n == TNI_SAMPLE_NUMBERS)
            return false;
        tn_index *entry = &a->as.index[a->n++];
        if (strncmp(*at, "...", 3) == 0) {
            *entry = tn_index_ellipsis();
            *at += 3;
        } else if (**at == '^') {
            *entry = tn_index_new_axis();
            ++*at;
        } else {
            int64_t start = read_bound(at, 0), stop, step = 1;
            *entry = tn_index_integer(start);
            if (**at == ':') {
                ++*at;
                stop = read_bound(at, TN_SLICE_END);
                if (**at == ':') {
                    ++*at;
                    step = read_bound(at, 1);
                }
                *entry = tn_index_step(start, stop, step);
            }
        }
        if (**at != ',' && **at != '}')
            return false;
        *at += **at == ',';
    }
    ++*at;
    return true;
}

/* "2.5", "1e3": what follows the whole number before the point, which is `whole`. */
static bool read_rest(const char **at, bool negative, int64_t whole, double *value)
{
    double number = (double)(whole < 0 ? -whole : whole), divisor = 1;
    int64_t exponent = 0;
    if (**at == '.')
        for (++*at; **at >= '0' && **at <= '9'; ++*at) {
            number = 10 * number + (**at - '0');
            divisor *= 10;
        }
    if (**at == 'e') {
        ++*at;
        if (!read_whole(at, &exponent) || exponent < -300 || exponent > 300)
            return false;
    }
    number = number / divisor * pow(10, (double)exponent);
    *value = negative ? -number : number;
    return true;
}

static bool read_number(const char **at, tni_sample_argument *a)
{
    int64_t whole;
    double value;
    const bool negative = **at == '-';
    a->kind = TN_VALUE_SCALAR;
    if (!read_whole(at, &whole))
        return false;
    a->as.scalar = tn_int(whole);
    if (**at != '.' && **at != 'e')
        return true;
    if (!read_rest(at, negative, whole, &value))
        return false;
    a->as.scalar = tn_float(value);
    return true;
}

static bool read_word(const char **at, tni_sample_argument *a)
{
    static const struct word {
        const char *text;
        tn_scalar number;
    } words[] = {{"true", {TN_SCALAR_BOOL, {.i = 1}}},
                 {"false", {TN_SCALAR_BOOL, {.i = 0}}},
                 {"inf", {TN_SCALAR_FLOAT, {.f = INFINITY}}},
                 {"-inf", {TN_SCALAR_FLOAT, {.f = -INFINITY}}},
                 {"nan", {TN_SCALAR_FLOAT, {.f = NAN}}}};
    char word[32];
    size_t n = 0;
    while (!ends((*at)[n]) && n < sizeof word - 1) {
        word[n] = (*at)[n];
        n++;
    }
    word[n] = '\0';
    *at += n;
    a->kind = TN_VALUE_NONE;
    if (strcmp(word, "none") == 0)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].text, word) == 0) {
            a->kind = TN_VALUE_SCALAR;
            a->as.scalar = words[i].number;
            return true;
        }
    a->kind = TN_VALUE_DTYPE;
    a->as.dtype = tn_dtype_from_name(word);
    return a->as.dtype != TN_DTYPE_NONE;
}

static bool read_argument(const char **at, tni_sample_argument *a)
{
    const char first = **at;
    memset(a, 0, sizeof *a);
    if (first >= '0' && first <= '9')
        return read_number(at, a);
    if (first == '-' && (*at)[1] >= '0' && (*at)[1] <= '9')
        return read_number(at, a);
    if (!strchr("[(<@{", first))
        return read_word(at, a);
    ++*at;
    switch (first) {
    case '[':
        a->kind = TN_VALUE_TENSOR;
        return read_list(at, ']', a->as.tensor.sizes, &a->as.tensor.ndim);
    case '(':
        a->kind = TN_VALUE_INTS;
        return read_list(at, ')', a->as.numbers, &a->n);
    case '<':
        a->kind = TN_VALUE_TENSOR;
        return read_positions(at, &a->as.tensor);
    case '@':
        return read_tensors(at, a);
    default:
        return read_index(at, a);
    }
}

static void skip_blanks(const char **at)
{
    while (**at == ' ' || **at == '\n' || **at == '\t')
        ++*at;
}

static void copy_text(tni_sample *s, const char *from, const char *end)
{
    while (end > from && ends(end[-1]))
        end--;
    size_t n = (size_t)(end - from);
    n = n < sizeof s->text - 1 ? n : sizeof s->text - 1;
    memcpy(s->text, from, n);
    s->text[n] = '\0';
}

bool tni_sample_next(const char **text, tni_sample *s)
{
    const char *at = *text;
    memset(s, 0, sizeof *s);
    skip_blanks(&at);
    if (*at == '\0')
        return false;
    const char *end = at + strcspn(at, "|");
    *text = *end ? end + 1 : end;
    copy_text(s, at, end);
    s->fails = *at == '!';
    at += s->fails;
    for (skip_blanks(&at); at < end; skip_blanks(&at))
        if (s->n == TNI_SAMPLE_ARGUMENTS || !read_argument(&at, &s->arguments[s->n++]) || !ends(*at)) {
            s->n = -1;
            break;
        }
    return true;
}
