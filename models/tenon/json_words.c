/* See json_words.h. RFC 8259; a string is decoded where it stands, since it never grows by that. */
#include "json_words.h"

#include <stdint.h>
#include <string.h>

enum { DEPTH = 16 };

typedef struct reader {
    char *at, *end;
} reader;

static char peek(reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at) && *r->at)
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool take(reader *r, char c)
{
    if (peek(r) != c || r->at == r->end)
        return false;
    r->at++;
    return true;
}

static bool read_hex(reader *r, uint32_t *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;
        if (!digit)
            return false;
        int value = (int)(digit - digits);
        *code = *code << 4 | (uint32_t)(value < 16 ? value : value - 6);
    }
    return true;
}

static char *put_utf8(char *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    *to++ = (char)((0xFF00 >> (more + 1) & 0xFF) | code >> 6 * more);
    while (more-- > 0)
        *to++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return to;
}

/* Behind "\u"; surrogates come in pairs. */
static bool read_code(reader *r, uint32_t *code)
{
    uint32_t low;
    if (!read_hex(r, code) || (*code >= 0xDC00 && *code < 0xE000) || *code == 0)
        return false;
    if (*code < 0xD800 || *code > 0xDFFF)
        return true;
    if (r->end - r->at < 2 || r->at[0] != '\\' || r->at[1] != 'u')
        return false;
    r->at += 2;
    if (!read_hex(r, &low) || low < 0xDC00 || low > 0xDFFF)
        return false;
    *code = 0x10000 + ((*code - 0xD800) << 10) + (low - 0xDC00);
    return true;
}

/* Decodes a string and ends it with a zero; NULL if it is none. */
static char *read_string(reader *r)
{
    if (!take(r, '"'))
        return NULL;
    char *start = r->at, *to = start;
    while (r->at < r->end && *r->at != '"') {
        static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
        char c = *r->at++;
        uint32_t code;
        if ((unsigned char)c < 0x20)
            return NULL;
        if (c != '\\') {
            *to++ = c;
            continue;
        }
        const char *letter = r->at < r->end && *r->at ? strchr(letters, *r->at) : NULL;
        if (letter) {
            *to++ = meant[letter - letters];
            r->at++;
        } else if (r->at < r->end && *r->at++ == 'u' && read_code(r, &code)) {
            to = put_utf8(to, code);
        } else {
            return NULL;
        }
    }
    if (r->at == r->end)
        return NULL;
    r->at++;
    *to = '\0';
    return start;
}

static bool skip_value(reader *r, int depth);

static bool skip_members(reader *r, char close, int depth)
{
    if (take(r, close))
        return true;
    do {
        if (close == '}' && (!read_string(r) || !take(r, ':')))
            return false;
        if (!skip_value(r, depth))
            return false;
    } while (take(r, ','));
    return take(r, close);
}

static bool skip_value(reader *r, int depth)
{
    static const char *const words[] = {"true", "false", "null"};
    char c = peek(r);
    if (c == '"')
        return read_string(r) != NULL;
    if (c == '{' || c == '[') {
        r->at++;
        return depth < DEPTH && skip_members(r, c == '{' ? '}' : ']', depth + 1);
    }
    for (int i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(r->end - r->at) >= n && memcmp(r->at, words[i], n) == 0) {
            r->at += n;
            return true;
        }
    }
    char *start = r->at;
    while (r->at < r->end && *r->at && strchr("0123456789+-.eE", *r->at))
        r->at++;
    return r->at > start;
}

static int read_words(reader *r, char **words, int limit)
{
    int n = 0;
    if (!take(r, '['))
        return -1;
    if (take(r, ']'))
        return 0;
    do {
        if (n == limit || !(words[n++] = read_string(r)))
            return -1;
    } while (take(r, ','));
    return take(r, ']') ? n : -1;
}

int json_words(char *text, size_t length, const char *key, char **words, int limit)
{
    reader r = {text, text + length};
    int n = -1;
    if (!take(&r, '{'))
        return -1;
    do {
        const char *name = read_string(&r);
        if (!name || !take(&r, ':'))
            return -1;
        if (n < 0 && strcmp(name, key) == 0) {
            n = read_words(&r, words, limit);
            if (n < 0)
                return -1;
        } else if (!skip_value(&r, 1)) {
            return -1;
        }
    } while (take(&r, ','));
    return take(&r, '}') && peek(&r) == '\0' && r.at == r.end ? n : -1;
}
