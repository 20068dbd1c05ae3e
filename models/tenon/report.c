/* See report.h. UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#include "report.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

static bool as_json;

void report_as_json(bool yes)
{
    as_json = yes;
}

bool report_is_json(void)
{
    return as_json;
}

void report_json(const char *message, int column)
{
    fputs("{\"error\":{\"message\":", stderr);
    write_json_string(stderr, message, (int)strlen(message));
    if (column)
        fprintf(stderr, ",\"column\":%d}}\n", column);
    else
        fputs(",\"column\":null}}\n", stderr);
}

void report(const char *command, const char *format, ...)
{
    char message[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    if (as_json)
        report_json(message, 0);
    else
        fprintf(stderr, "tenon%s%s: %s\n", command ? " " : "", command ? command : "", message);
}

void report_hint(const char *command)
{
    if (!as_json)
        fprintf(stderr, "Try 'tenon %s%s--help'.\n", command ? command : "", command ? " " : "");
}

int utf8_length(const char *text, int length)
{
    static const uint32_t least[] = {0, 0x20, 0xA0, 0x800, 0x10000};
    unsigned char first = length > 0 ? (unsigned char)text[0] : 0;
    int n = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    uint32_t code = n == 1 ? first : first & (0x7Fu >> n);
    if (n > length)
        return 0;
    for (int i = 1; i < n; i++) {
        unsigned char byte = (unsigned char)text[i];
        if ((byte & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (byte & 0x3F);
    }
    return code < least[n] || code == 0x7F || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) ? 0 : n;
}

int utf8_step(const char *text, int length, int at)
{
    int n = utf8_length(text + at, length - at);
    return n ? n : 1;
}

int utf8_count(const char *text, int length)
{
    int n = 0;
    for (int at = 0; at < length; at += utf8_step(text, length, at))
        n++;
    return n;
}

const char *utf8_shown(const char *text, int length, char buf[SHOWN_BYTES])
{
    int used = 0, shown = 0, at = 0;
    for (; at < length && shown < SHOWN_CHARACTERS; shown++) {
        int n = utf8_length(text + at, length - at);
        if (n)
            memcpy(buf + used, text + at, (size_t)n);
        else
            buf[used] = '?';
        used += n ? n : 1;
        at += n ? n : 1;
    }
    memcpy(buf + used, "...", 4);
    if (at == length)
        buf[used] = '\0';
    return buf;
}

void write_json_string(FILE *stream, const char *text, int length)
{
    fputc('"', stream);
    for (int at = 0; at < length; at += utf8_step(text, length, at)) {
        unsigned char c = (unsigned char)text[at];
        int n = utf8_length(text + at, length - at);
        if (c == '"' || c == '\\')
            fprintf(stream, "\\%c", c);
        else if (c < 0x20 || c == 0x7F)
            fprintf(stream, "\\u%04x", c);
        else if (n)
            fwrite(text + at, 1, (size_t)n, stream);
        else
            fputc('?', stream);
    }
    fputc('"', stream);
}
