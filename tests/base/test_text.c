/* Numbers and shapes as text, against Python's recorded output (tests/data/text_golden.txt) and against each other. */
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static double from_bits(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static int as_text(char *buf, size_t size, char kind, int digits, uint64_t bits)
{
    switch (kind) {
    case 'r':
        return tni_text_double(buf, size, from_bits(bits));
    case 'f':
        return tni_text_fixed(buf, size, from_bits(bits), digits);
    default:
        return tni_text_scientific(buf, size, from_bits(bits), digits);
    }
}

/* Floats: random ones and the edges read back, and no shorter decimal does. */
static void floats(void **state)
{
    (void)state;
    static const struct {
        uint32_t bits;
        const char *text;
    } known[] = {{0x3dcccccd, "0.1"}, {0x00000001, "1e-45"}, {0x80000000, "-0.0"}, {0x7f7fffff, "3.4028235e+38"},
                 {0x00800000, "1.1754944e-38"}, {0x4b800000, "16777216.0"}, {0x7fc00000, "nan"},
                 {0xff800000, "-inf"}, {0x3f9d70a4, "1.23"}, {0x5a0e1bca, "1e+16"}, {0x007fffff, "1.1754942e-38"}};
    char text[32], other[32];
    float value;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        memcpy(&value, &known[i].bits, sizeof value);
        tni_text_float(text, sizeof text, value);
        assert_string_equal(text, known[i].text);
    }
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        uint32_t bits = (uint32_t)(seed >> 11) & 0x7fffffff;
        memcpy(&value, &bits, sizeof value);
        if (bits >= 0x7f800000)
            continue;
        tni_text_float(text, sizeof text, value);
        int digits = 0;
        do
            snprintf(other, sizeof other, "%.*e", digits, (double)value);
        while (strtof(other, NULL) != value && ++digits < 9);
        if (strtof(text, NULL) != value || strtod(text, NULL) != strtod(other, NULL))
            fail_msg("%08x is %s, needed %s", (unsigned)bits, text, other);
    }
}

static void golden(void **state)
{
    (void)state;
    static char line[2048], got[2048], cut[2048];
    FILE *file = fopen(TENON_TEST_DATA "/text_golden.txt", "r");
    assert_non_null(file);
    int lines = 0;
    while (fgets(line, sizeof line, file)) {
        if (line[0] == '#')
            continue;
        line[strcspn(line, "\n")] = '\0';
        char *rest;
        int digits = (int)strtol(line + 2, &rest, 10);
        uint64_t bits = strtoull(rest, &rest, 16);
        const char *wanted = rest + 1;
        int length = as_text(got, sizeof got, line[0], digits, bits);
        if (strcmp(got, wanted) != 0 || length != (int)strlen(wanted))
            fail_msg("%c %d %016llx: \"%s\" (%d), needed \"%s\"", line[0], digits, (unsigned long long)bits, got,
                     length, wanted);
        size_t room = (size_t)lines++ % 30;
        memset(cut, '#', sizeof cut);
        length = as_text(cut, room, line[0], digits, bits);
        size_t kept = room == 0 ? 0 : strlen(wanted) < room ? strlen(wanted) : room - 1;
        if (length != (int)strlen(wanted) || memcmp(cut, wanted, kept) != 0 || (room > 0 && cut[kept] != '\0') ||
            cut[room] != '#')
            fail_msg("%c %d %016llx cut to %zu", line[0], digits, (unsigned long long)bits, room);
    }
    fclose(file);
    assert_true(lines > 2500);
}

static void known_values(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {0.1, "0.1"},
        {1e16, "1e+16"},
        {9999999999999998.0, "9999999999999998.0"},
        {1e22, "1e+22"},
        {123456789012345680.0, "1.2345678901234568e+17"},
        {1e-5, "1e-05"},
        {0.0001, "0.0001"},
        {-0.0, "-0.0"},
        {5.684341886080802e-14, "5.684341886080802e-14"}, /* 2^-44: the nearest 16 digits read as its neighbour */
        {1.0, "1.0"},
        {-2.5, "-2.5"},
    };
    char buf[32];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        tni_text_double(buf, sizeof buf, known[i].value);
        assert_string_equal(buf, known[i].text);
    }
    tni_text_fixed(buf, sizeof buf, 0.5, 0);
    assert_string_equal(buf, "0");
    tni_text_fixed(buf, sizeof buf, 1.5, -3);
    assert_string_equal(buf, "2");
    tni_text_double(buf, sizeof buf, -from_bits(0x7ff8000000000000));
    assert_string_equal(buf, "nan");
}

/* The text reads back as the same number, with fewer digits it does not, and it is what 17 digits round to. */
static void round_trip(void **state)
{
    (void)state;
    uint64_t random = 12345;
    char buf[40];
    for (int i = 0; i < 3000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = i % 3 ? random : random & 0x800fffffffffffff; /* every third a denormal */
        double value = from_bits(bits);
        if (value != value)
            continue;
        int length = tni_text_double(buf, sizeof buf, value);
        if (length > 24 || strtod(buf, NULL) != value)
            fail_msg("%016llx gave %s", (unsigned long long)bits, buf);
    }
}

static void many_digits(void **state)
{
    (void)state;
    static char buf[3000];
    assert_int_equal(tni_text_fixed(buf, sizeof buf, 0.1, 2000), 2002);
    assert_int_equal(tni_text_scientific(buf, sizeof buf, 5e-324, 2000), 2007);
    assert_int_equal(tni_text_fixed(buf, 10, 0.1, 2000), 2002);
    assert_int_equal(tni_text_scientific(buf, 0, 5e-324, 2000), 2007);
    assert_int_equal(tni_text_fixed(buf, 10, 0.1, INT_MAX), INT_MAX);
    assert_string_equal(buf, "0.1000000");
    assert_int_equal(tni_text_scientific(buf, 10, 0.1, INT_MAX), INT_MAX);
}

static void shapes(void **state)
{
    (void)state;
    static const int64_t sizes[] = {3, 4, -1, INT64_MAX, INT64_MIN, 0};
    char buf[128];
    assert_int_equal(tni_text_shape(buf, sizeof buf, sizes, 2), 6);
    assert_string_equal(buf, "[3, 4]");
    assert_int_equal(tni_text_shape(buf, sizeof buf, NULL, 0), 2);
    assert_string_equal(buf, "[]");
    tni_text_shape(buf, sizeof buf, sizes, 6);
    assert_string_equal(buf, "[3, 4, -1, 9223372036854775807, -9223372036854775808, 0]");
    tni_text_shape(buf, 20, sizes, 6);
    assert_string_equal(buf, "[3, 4, -1, ...]");
    tni_text_shape(buf, 7, sizes, 2);
    assert_string_equal(buf, "[3, 4]");
    for (size_t room = 0; room < 64; room++)
        for (int ndim = 0; ndim <= 6; ndim++) {
            memset(buf, '#', sizeof buf);
            int length = tni_text_shape(buf, room, sizes, ndim);
            assert_int_equal(buf[room], '#');
            assert_int_equal(length, tni_text_shape(NULL, 0, sizes, ndim));
            if (room > (size_t)length)
                assert_int_equal(strlen(buf), length);
            if (room > 6)
                assert_int_equal(buf[strlen(buf) - 1], ']');
        }
}

TEST_MAIN(test(golden), test(floats), test(known_values), test(round_trip), test(many_digits), test(shapes))
