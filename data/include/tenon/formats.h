/* Files of numbers: .npy, safetensors and CSV, read and written.
 *
 * Any file may be hostile. A reader checks all of it before it gives anything out; until then it allocates at most four
 * times the file's size and 1 MB. A failed call gives nothing out and leaves nothing behind. Files are written by
 * tn_file_replace: whole or not at all. A path that names a pipe (/dev/stdin) is read too.
 *
 * Common   what every function may raise, and its own lines do not repeat: TN_ERROR_NULL, TN_ERROR_FILE (the operating
 *          system refused), TN_ERROR_MEMORY. Readers: TN_ERROR_DATA (the content is not what the format asks for; the
 *          message says where, what was found and what was needed). Tensors that are read are on the CPU.
 *
 * Threads  several threads may read and write at once, different files. */
#ifndef TENON_FORMATS_H
#define TENON_FORMATS_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/data.h>
#include <tenon/tensor.h>

TN_BEGIN

/* .npy */

/* The array that numpy.save wrote, or the first of several. Column-major arrays keep their order: the result then has
 * such strides.
 * dtype   float16 to float64, int8 to int64, uint8 to uint64, bool, of either byte order; what else NumPy has is
 *         TN_ERROR_DATA
 * errors  common
 * cost    O(file)
 * source  numpy.load(path, allow_pickle=False); versions 1.0, 2.0 and 3.0 */
TN_API tn_tensor *tn_load_npy(const char *path);

/* What numpy.save writes for x, byte for byte: version 1.0, column-major when x's strides are.
 * dtype   as tn_load_npy
 * errors  common; TN_ERROR_DTYPE, TN_ERROR_DEVICE (on meta)
 * cost    O(numel)
 * source  numpy.save */
TN_API tn_status tn_save_npy(tn_tensor *x, const char *path);

/* safetensors */

/* What a file holds: tensors by name, and strings by key. An object of the library (tenon/scope.h). */
typedef struct tn_safetensors tn_safetensors;

typedef struct tn_named_tensor {
    const char *name;
    tn_tensor *tensor;
} tn_named_tensor;

typedef struct tn_metadata {
    const char *key, *value;
} tn_metadata;

typedef struct tn_safetensors_options {
    const tn_metadata *metadata; /* writing: n_metadata of them, in this order */
    int64_t n_metadata;
    /* __metadata__.sum holds the CRC-32 of the whole file, its own eight hex digits taken as zeros. Writing: add it as
     * the last string. Reading: refuse a file without it, or with another. */
    bool sum;
    bool verify; /* reading: as sum, but of a file that has such a string alone; one without is taken as it is */
} tn_safetensors_options;

/* Reads all of a file. Strict: the tensors' bytes tile the data exactly, names and keys are unique, names hold no zero
 * byte; fields that are not known are stepped over.
 * dtype    F16, BF16, F32, F64, I8 to I64, U8 to U64, BOOL; what else there is is TN_ERROR_DATA
 * options  NULL: all zero
 * errors   common
 * cost     O(file), O(n log n) for n tensors
 * source   safetensors' load_file */
TN_API tn_safetensors *tn_load_safetensors(const char *path, const tn_safetensors_options *options);

/* How many tensors and strings it holds; both are in the order of their names' bytes.
 * errors  TN_ERROR_NULL; then, and while an error is pending, 0 */
TN_API int64_t tn_safetensors_count(const tn_safetensors *file);
TN_API int64_t tn_safetensors_metadata_count(const tn_safetensors *file);

/* The tensor, or string, number i. All belong to the file.
 * errors  TN_ERROR_NULL, TN_ERROR_INDEX; then, and while an error is pending, NULLs */
TN_API tn_named_tensor tn_safetensors_at(const tn_safetensors *file, int64_t i);
TN_API tn_metadata tn_safetensors_metadata_at(const tn_safetensors *file, int64_t i);

/* The tensor of that name, the string of that key; NULL without an error if there is none.
 * errors  TN_ERROR_NULL
 * cost    O(log n) */
TN_API tn_tensor *tn_safetensors_find(const tn_safetensors *file, const char *name);
TN_API const char *tn_safetensors_metadata_find(const tn_safetensors *file, const char *key);

/* Writes tensors, row-major, as the reference writer lays them out: the widest dtypes first, then by name, the header
 * padded with spaces to a multiple of 8. Equal to safetensors' save_file byte for byte (of several strings of metadata
 * that one has the order vary).
 * tensors  n of them, of unique names in UTF-8 other than "__metadata__"
 * dtype    as tn_load_safetensors
 * options  NULL: all zero. The keys are unique, and with sum none is "sum"
 * errors   common; TN_ERROR_ARGUMENT (a negative count, names or keys that are not as said), TN_ERROR_DTYPE,
 *          TN_ERROR_DEVICE (on meta), TN_ERROR_OVERFLOW (a header of more than 100,000,000 bytes)
 * cost     O(numel), O(n log n)
 * source   safetensors' save_file */
TN_API tn_status tn_save_safetensors(const char *path, const tn_named_tensor *tensors, int64_t n,
                                     const tn_safetensors_options *options);

/* CSV */

/* Whether the first row is a header. AUTO: it is one if none of its fields is a number. */
typedef enum tn_csv_header { TN_CSV_HEADER_AUTO, TN_CSV_HEADER, TN_CSV_NO_HEADER } tn_csv_header;

/* What the labels are: classes (y is int64, numbers from 0), or numbers (y has the dtype of x). LABELS: each label that
 * occurs is a class, as of scikit-learn's LabelEncoder: whole numbers in their order, else words by their bytes; the
 * classes have these names, unless they are 0, 1, ... themselves. SKIPPED: the column is left out, y is NULL. */
typedef enum tn_csv_target { TN_CSV_CLASSES, TN_CSV_NUMBERS, TN_CSV_LABELS, TN_CSV_SKIPPED } tn_csv_target;

#define TN_MAX_CLASSES 65536

typedef struct tn_csv_options {
    tn_dtype dtype; /* of x: float32 (the zero value) or float64; each number is rounded to it once */
    char delimiter; /* 0: a comma */
    char comment;   /* lines that begin with it are stepped over; 0: none are */
    bool finite;    /* refuse nan and inf */
    tn_csv_header header;
    /* The column of labels: its name in the header, else its number, from 0, or from -1 for the last one on backwards.
     * NULL: no column is. */
    const char *label;
    tn_csv_target target;
    /* Labels that are whole numbers are the classes themselves, below this many; 0: below TN_MAX_CLASSES. Labels that
     * are words (the first one decides) are numbered in the order of their bytes. */
    int64_t classes;
    const char *const *class_names; /* `classes` of them: the labels are among these, whatever they are. NULL: any */
    /* The columns of x, n_usecols of them in this order, each named or numbered as the label's is; what stands in
     * others, that of the label apart, may be anything. NULL: all but that of the label. */
    const char *const *usecols;
    int64_t n_usecols;
} tn_csv_options;

/* A table of numbers: x [rows, columns without that of the labels], y [rows], or NULL without labels. Fields are plain
 * decimals, nan, inf or infinity in any case; quotes may be around them. Nothing is guessed: an empty field, another
 * number of fields, a word, a number that the dtype cannot hold, a label that is no class are refused with line and
 * column. The dataset has the names of columns and classes, too.
 * options  NULL: all zero
 * errors   common; TN_ERROR_DTYPE; TN_ERROR_ARGUMENT (a delimiter or comment that a number may have, classes out of
 *          range), TN_ERROR_NAME (no column of that name or number), TN_ERROR_OVERFLOW
 * cost     O(file), three walks */
TN_API tn_dataset *tn_load_csv(const char *path, const tn_csv_options *options);

typedef struct tn_csv_form {
    char delimiter;
    bool header; /* the first row is one */
    int64_t columns;
} tn_csv_form;

/* How a CSV file is to be read, by its first row that is not blank. The delimiter, unless the options have one: a
 * comma, or, where the row has none outside of quotes, a semicolon or a tab. Of the options dtype, label and what
 * follows it do not count.
 * options  NULL: all zero
 * errors   common; TN_ERROR_ARGUMENT as tn_load_csv. *form stays then
 * cost     O(file)
 * source   csv.Sniffer of Python */
TN_API tn_status tn_csv_sniff(const char *path, const tn_csv_options *options, tn_csv_form *form);

/* Writes a dataset as such a table: tn_load_csv with the same options, its dtype and header given, reads the same bits
 * back. Numbers have the fewest digits that do so, NaN is nan; classes that have names are words, which are numbered
 * anew in the order of their bytes where class_names does not say how. Fields stand in quotes where they need them;
 * lines end in LF.
 * dataset  of tensors: x [n, features], y [n] or none; at least one sample and one feature
 * dtype    of x and y: floats (16 bits and 8 as float32), integers but uint64, bool
 * options  NULL: all zero. header: AUTO writes one if the dataset has names of columns; where those are missing x0, x1
 *          ... stand in for them. label: the name of y's column, which is the last one, or its number; NULL: "label",
 *          the last one. finite refuses nan and inf; comment is what readers will step over; the other fields do not
 *          count
 * errors   common; TN_ERROR_ARGUMENT (a dataset of a function, or without samples, a delimiter or comment as in
 *          tn_load_csv, what is not finite), TN_ERROR_SHAPE, TN_ERROR_DTYPE, TN_ERROR_NAME (no column of that number),
 *          TN_ERROR_INDEX (a class without a name among those that have one), TN_ERROR_DEVICE (on meta). What stood at
 *          path stays then
 * cost     O(elements)
 * source   RFC 4180 */
TN_API tn_status tn_save_csv(const char *path, tn_dataset *dataset, const tn_csv_options *options);

TN_END

#endif
