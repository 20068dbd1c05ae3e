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

/* A zero-filled object of that class, held by the innermost scope.
 * errors  TN_ERROR_ARGUMENT (no class, or one without room for a tn_object), TN_ERROR_MEMORY; then NULL */
TN_API void *tn_object_new(const tn_object_class *type);

/* Turns a scope's hold on the object into a reference of the caller's, who must release it: for an object that keeps
 * what it has just made. The opposite of tn_adopt; works while an error is pending. Returns the object; NULL passes.
 * errors  TN_ERROR_STATE (no scope of this thread holds it); then NULL */
TN_API void *tn_object_keep(void *object);

/* The object's class. object must not be NULL.
 * errors  none */
TN_API const tn_object_class *tn_object_type(const void *object);

/* 64-byte aligned memory from the library's allocator, zero-filled. `function` names the caller in the error.
 * errors  TN_ERROR_MEMORY; then NULL */
TN_API void *tn_allocate(size_t bytes, const char *function);

/* Gives a block back, with the size that it was asked for. Works while an error is pending; NULL is ignored.
 * errors  none */
TN_API void tn_deallocate(void *block, size_t bytes);

/* Raises an error of the calling thread unless one is pending. The message becomes "function: formatted". Formats as
 * printf; give floating-point numbers as text (tn_format_double), since printf's depend on the locale.
 * code      TN_OK counts as TN_ERROR_STATE
 * function  what the user called, file where it failed: string constants. function NULL: "tenon"
 * result    the pending code, never TN_OK
 * errors    the one that is raised */
TN_API tn_status tn_fail(tn_status code, const char *function, const char *file, int line, const char *format, ...)
    __attribute__((cold, format(printf, 5, 6)));
#define TN_FAIL(code, function, ...) tn_fail((code), (function), __FILE__, __LINE__, __VA_ARGS__)

/* "matmul: argument 2 (other) is NULL" */
#define TN_FAIL_NULL(function, number, name)                                                                           \
    TN_FAIL(TN_ERROR_NULL, (function), "argument %d (%s) is NULL", (number), (name))

/* Puts "context: " in front of the pending message: a module's path, a file's name. Nothing happens when no error is
 * pending.
 * errors  none of its own */
TN_API void tn_error_context(const char *context);

/* Gives the pending error to the function that the user called, where one that this calls raised it: "zeros: no memory"
 * becomes "linear_module: no memory", with `where` "linear_module: bias: no memory", and tn_error.function the new
 * name. Of a message that begins with `function` already only that changes. Nothing happens when no error is pending.
 * function  a string constant
 * where     NULL: nothing more
 * errors    none of its own */
TN_API void tn_error_rename(const char *function, const char *where);

/* Text, whatever the locale:
 * tn_format_double      Python's repr ("0.1", "5.4e-08", "inf")
 * tn_format_float       the same of a float, in the fewest digits that read back as it
 * tn_format_scientific  Python's f"{value:.{digits}e}": `digits` after the point, in exponent form
 * tn_format_shape       "[3, 4]"; "[3, ...]" where buf does not hold all
 * buf     gets the text, cut to size and terminated; may be NULL if size is 0. 32 bytes hold any tn_format_double
 * result  the length of the whole text, as snprintf gives it
 * errors  none; they work while one is pending */
TN_API int tn_format_double(char *buf, size_t size, double value);
TN_API int tn_format_float(char *buf, size_t size, float value);
TN_API int tn_format_scientific(char *buf, size_t size, double value, int digits);
TN_API int tn_format_shape(char *buf, size_t size, const int64_t *sizes, int ndim);

TN_END

#endif
