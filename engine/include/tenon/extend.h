/* For those who add kinds of objects from outside the engine: modules, datasets, loaders, formats.
 *
 * Such an object begins with a tn_object, is made by tn_object_new, and from then on is owned by scopes and references
 * like every other (tenon/scope.h). Errors are raised by tn_fail, memory comes from tn_allocate. */
#ifndef TENON_EXTEND_H
#define TENON_EXTEND_H

#include <stddef.h>
#include <stdint.h>
#include <tenon/error.h>
#include <tenon/scope.h>

TN_BEGIN

/* A kind of object. One static constant a kind; its address is the kind's identity. */
typedef struct tn_object_class {
    const char *name;              /* "Linear", for messages */
    size_t bytes;                  /* of the whole struct */
    void (*destroy)(void *object); /* releases what the object holds, not the object itself; may be NULL. Runs with
                                      errors pending, too */
} tn_object_class;

/* The first member of every object. The library alone touches its fields. */
typedef struct tn_object {
    const tn_object_class *type;
    void *owner;   /* the scope stack that holds it, or NULL */
    uint32_t slot; /* its place there */
    uint32_t references;
} tn_object;

/* A zero-filled object of that class, held by the innermost scope. errors TN_ERROR_MEMORY */
TN_API void *tn_object_new(const tn_object_class *type);

/* The object's class. object must not be NULL. */
TN_API const tn_object_class *tn_object_type(const void *object);

/* 64-byte aligned memory from the library's allocator, zero-filled; given back with the same size. `function` names the
 * caller in the error. errors TN_ERROR_MEMORY; then NULL. tn_deallocate ignores NULL. */
TN_API void *tn_allocate(size_t bytes, const char *function);
TN_API void tn_deallocate(void *block, size_t bytes);

/* Raises an error of the calling thread unless one is pending; returns the pending code. The message becomes "function:
 * formatted"; function and file must be string constants. Formats as printf; give floating-point numbers as text. */
TN_API tn_status tn_fail(tn_status code, const char *function, const char *file, int line, const char *format, ...)
    __attribute__((cold, format(printf, 5, 6)));
#define TN_FAIL(code, function, ...) tn_fail((code), (function), __FILE__, __LINE__, __VA_ARGS__)

/* Puts "context: " in front of the pending message: a module's path, a file's name. Nothing when no error is pending.
 */
TN_API void tn_error_context(const char *context);

/* Python's repr of a double ("0.1", "5.4e-08", "inf") into buf, always terminated; returns its length. Locale plays no
 * part. */
TN_API int tn_format_double(char *buf, size_t size, double value);
/* With `digits` after the point, in exponent form: Python's f"{value:.{digits}e}". */
TN_API int tn_format_scientific(char *buf, size_t size, double value, int digits);
/* "[3, 4]" */
TN_API int tn_format_shape(char *buf, size_t size, const int64_t *sizes, int ndim);

TN_END

#endif
