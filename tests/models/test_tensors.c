/* The examples models/tensors.c and models/attention.c from outside: what they print, beside what the lesson and the
 * articles print. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "support/test.h"

enum { TEXT = 32768 };

static char said[TEXT];

static void run(const char *command)
{
    FILE *program = popen(command, "r");
    assert_non_null(program);
    said[fread(said, 1, TEXT - 1, program)] = '\0';
    if (pclose(program) != 0)
        fail_msg("%s failed\n%s", command, said);
}

/* The place after the line at or after `from` that is `line`; NULL if there is none. */
static const char *after_line(const char *from, const char *line)
{
    size_t length = strlen(line);
    for (const char *at = from; *at; at += strcspn(at, "\n"), at += *at == '\n')
        if (strncmp(at, line, length) == 0 && at[length] == '\n')
            return at + length + 1;
    return NULL;
}

/* The same for a text that has no blanks: those of `from` do not count, and it begins where a line does. */
static const char *after_text(const char *from, const char *text)
{
    for (const char *line = from; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = line, *wanted = text;
        while (*wanted) {
            while (isspace((unsigned char)*at))
                at++;
            if (*at != *wanted)
                break;
            at++;
            wanted++;
            wanted += strspn(wanted, " ");
        }
        if (!*wanted && *at == '\n')
            return at + 1;
    }
    return NULL;
}

static void test_every_line_of_the_documents(void **unused)
{
    (void)unused;
    char line[512];
    int lines = 0;
    FILE *file = fopen(TENON_TEST_DATA "/lesson_lines.txt", "r");
    assert_non_null(file);
    run(TENON_EXAMPLES "/tensors");
    const char *at = said;
    while (fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *text = strchr(line, '\t');
        if (line[0] == '#' || !text)
            continue;
        *text++ = '\0';
        const char *next = strncmp(line, "slices/", 7) == 0 ? after_text(at, text) : after_line(at, text);
        if (!next)
            fail_msg("%s: no line \"%s\" after \"%.60s\"", line, text, at);
        at = next;
        lines++;
    }
    fclose(file);
    assert_int_equal(lines, 46);
}

static void test_exercises_say_why(void **unused)
{
    (void)unused;
    static const char *const needed[] = {
        "stride 1 of dim 0 should be 3 x 4 = 12",
        "x[1:, ::3] += 1 changes x[1, 0] x[1, 3] x[2, 0] x[2, 3]\n",
        "1. its dtype is float64, not float32\n",
        "2. it shares memory with W_in_out",
        "3. it is not contiguous: strides (1, 16) instead of (2, 1), so view(32) fails\n",
        "4. its storage is owned by the array",
        "4 differences; the first line leaves 0 of them, the second 1\n",
        "makes a[0, 2] 30.0; b.clone() keeps 3.0\n",
    };
    run(TENON_EXAMPLES "/tensors");
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!strstr(said, needed[i]))
            fail_msg("no \"%s\" in\n%s", needed[i], said);
}

/* PyTorch 2.15's scaled_dot_product_attention(q, k, v, is_causal=True) on the same numbers, printed. */
static void test_attention_is_pytorchs(void **unused)
{
    (void)unused;
    static const char *const needed[] = {
        "y.transpose(1, 2)                    [2, 4, 2, 3]  [24, 3, 12, 1]  no\n",
        "stride 12 of dim 2 should be 3 x 1 = 3",
        "contiguous has copied: yes; view has not: yes\n",
        "against plain loops: largest difference at most 1e-15\n",
        "tensor([[-2.2500,  0.3333,  1.1111,  0.0833, -0.5833,  0.5556],\n"
        "        [-2.1834,  0.3517,  1.1165, -0.0576, -0.6505,  0.5914],\n"
        "        [ 0.4097,  1.0553,  1.3109, -1.2814, -1.1435,  0.7943],\n"
        "        [ 0.3550,  0.3925,  0.3675, -1.2128, -1.0848,  0.7436]],\n"
        "       dtype=torch.float64)\n",
    };
    run(TENON_EXAMPLES "/attention");
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!strstr(said, needed[i]))
            fail_msg("no \"%s\" in\n%s", needed[i], said);
}

TEST_MAIN(test(test_attention_is_pytorchs), test(test_every_line_of_the_documents), test(test_exercises_say_why))
