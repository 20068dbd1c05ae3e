/* Operators of the library that need no line in the table of methods: what they take is asked of the library. */
#include <string.h>

#include "explain_reader.h"

/* What shows memory as it was found, or takes what has no text. */
static bool is_left_out(const char *name)
{
    static const char *const prefixes[] = {"empty", "resize", "set_", "tensor_from", "from_shared", "zero"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0 && strcmp(name, "zero_") != 0)
            return true;
    size_t length = strlen(name);
    return (length > 4 && strcmp(name + length - 4, "_out") == 0) || strstr(name, "_reference");
}

/* The schema of the operator of that name, or of the one whose in-place form has it. */
static bool find_schema(const char *name, char *buf, size_t size)
{
    const size_t length = strlen(name);
    for (int i = 0; i < tn_operator_count(); i++) {
        const char *known = tn_operator_name(i);
        size_t n = strlen(known);
        if (strcmp(known, name) == 0 || (n + 1 == length && name[n] == '_' && strncmp(known, name, n) == 0)) {
            tn_operator_schema(i, buf, size);
            return true;
        }
    }
    for (int i = 0; i < tn_composite_count(); i++)
        if (strcmp(tn_composite_name(i), name) == 0) {
            tn_composite_schema(i, buf, size);
            return true;
        }
    return false;
}

bool explain_operator(const char *name, int length, char buf[32], char *parameters, size_t size)
{
    char schema[256];
    if (length <= 0 || length > 31)
        return false;
    memcpy(buf, name, (size_t)length);
    buf[length] = '\0';
    if (is_left_out(buf) || !tn_is_callable(buf) || !find_schema(buf, schema, sizeof schema))
        return false;
    const char *first = strchr(schema, ':');
    if (!first || (first[1] != 'T' && first[1] != 'X') || first[2] == '?')
        return false;
    const char *rest = first + 2 + (first[2] == ' ');
    int n = 0;
    for (const char *at = rest; (at = strchr(at, ':')); n++)
        if (!strchr("TXSILJBDM", *++at))
            return false;
    return n <= 5 && (size_t)snprintf(parameters, size, "%s", rest) < size;
}
