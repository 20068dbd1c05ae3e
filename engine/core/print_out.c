/* Where text goes: a buffer that cuts, or pieces for a function. */
#include <limits.h>
#include <string.h>

#include "core/print.h"

tni_out tni_out_buffer(char *buf, size_t size)
{
    return (tni_out){.buf = size > 0 ? buf : NULL, .size = buf && size > 0 ? size - 1 : 0};
}

int tni_out_end(tni_out *out)
{
    if (out->buf)
        out->buf[out->used] = '\0';
    return out->whole < INT_MAX ? (int)out->whole : INT_MAX;
}

void tni_flush(tni_out *out)
{
    if (out->write && out->used > 0 && !out->refused)
        out->refused = out->write(out->context, out->buf, out->used) != 0;
    out->used = 0;
}

void tni_put(tni_out *out, const char *text, size_t bytes)
{
    out->whole += bytes;
    while (bytes > 0 && !out->refused) {
        size_t room = out->size - out->used, now = bytes < room ? bytes : room;
        if (now > 0)
            memcpy(out->buf + out->used, text, now);
        out->used += now;
        text += now;
        bytes -= now;
        if (bytes == 0 || !out->write)
            return;
        tni_flush(out);
    }
}

void tni_put_text(tni_out *out, const char *text)
{
    tni_put(out, text, strlen(text));
}

void tni_put_spaces(tni_out *out, int64_t n)
{
    static const char spaces[] = "                                ";
    for (; n > 0; n -= (int64_t)sizeof spaces - 1)
        tni_put(out, spaces, n < (int64_t)sizeof spaces - 1 ? (size_t)n : sizeof spaces - 1);
}

void tni_put_newlines(tni_out *out, int n)
{
    for (int i = 0; i < n; i++)
        tni_put(out, "\n", 1);
    out->line = out->whole;
}
