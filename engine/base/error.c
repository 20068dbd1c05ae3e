/* The pending error of a thread. */
#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <tenon/extend.h>

static const char *const status_names[] = {
#define TN_STATUS(name, text) text,
#include <tenon/status.def>
#undef TN_STATUS
};
_Static_assert(sizeof status_names / sizeof *status_names == TN_STATUS_COUNT, "one name a status");

static tn_status record(tn_status code, const char *function, const char *file, int line, const char *prefix,
                        const char *format, va_list arguments)
{
    tn_error *error = &tni_this_thread.error;
    if (error->code != TN_OK)
        return error->code;
    error->code = code != TN_OK ? code : TN_ERROR_STATE; /* a message without an error would never be cleared */
    error->file = file;
    error->line = line;
    error->function = function ? function : "tenon";
    size_t room = sizeof error->message;
    int used = prefix ? snprintf(error->message, room, "%s%s", error->function, prefix) : 0;
    if (used >= 0 && (size_t)used < room)
        vsnprintf(error->message + used, room - (size_t)used, format, arguments);
    return error->code;
}

tn_status tni_fail_report(tn_status code, const char *function, const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tn_status status = record(code, function, file, line, NULL, format, arguments);
    va_end(arguments);
    return status;
}

tn_status tn_fail(tn_status code, const char *function, const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tn_status status = record(code, function, file, line, ": ", format, arguments);
    va_end(arguments);
    return status;
}

void tn_error_context(const char *context)
{
    tn_error *error = &tni_this_thread.error;
    char message[TN_ERROR_MESSAGE_SIZE];
    if (error->code == TN_OK || !context)
        return;
    memcpy(message, error->message, sizeof message);
    int used = snprintf(error->message, sizeof error->message, "%s: ", context);
    if (used >= 0 && (size_t)used < sizeof error->message)
        snprintf(error->message + used, sizeof error->message - (size_t)used, "%s", message);
}

/* What follows "name: " at the message's beginning; NULL if it begins otherwise. */
static const char *after(const char *message, const char *name)
{
    const size_t length = name ? strlen(name) : 0;
    return length > 0 && strncmp(message, name, length) == 0 && strncmp(message + length, ": ", 2) == 0
               ? message + length + 2
               : NULL;
}

void tn_error_rename(const char *function, const char *where)
{
    tn_error *error = &tni_this_thread.error;
    if (error->code == TN_OK || !function)
        return;
    const bool has_it = after(error->message, function) != NULL;
    const char *rest = after(error->message, error->function);
    error->function = function;
    if (has_it)
        return;
    if (rest)
        memmove(error->message, rest, strlen(rest) + 1);
    if (where)
        tn_error_context(where);
    tn_error_context(function);
}

void tni_error_adopt(const tn_error *error)
{
    if (tni_this_thread.error.code == TN_OK)
        tni_this_thread.error = *error;
}

tn_status tn_error_code(void)
{
    return tni_this_thread.error.code;
}

const char *tn_error_message(void)
{
    return tni_this_thread.error.message;
}

const tn_error *tn_error_get(void)
{
    return &tni_this_thread.error;
}

void tn_error_clear(void)
{
    tn_error *error = &tni_this_thread.error;
    error->code = TN_OK;
    error->line = 0;
    error->file = NULL;
    error->function = NULL;
    error->message[0] = '\0';
}

void tn_error_push(tn_error *saved)
{
    if (saved)
        *saved = tni_this_thread.error;
    tn_error_clear();
}

void tn_error_pop(const tn_error *saved)
{
    if (saved)
        tni_this_thread.error = *saved;
}

const char *tn_status_name(tn_status status)
{
    return (unsigned)status < TN_STATUS_COUNT ? status_names[status] : "unknown";
}
