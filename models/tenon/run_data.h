/* The data of a run: made, or read from a file. */
#ifndef TENON_RUN_DATA_H
#define TENON_RUN_DATA_H

#include <tenon/tenon.h>

#include "data_options.h"
#include "input_file.h"
#include "model_file.h"

/* x [n, features] of dtype, all finite; y [n]: classes int64 from 0, or numbers of dtype. `known`, unless NULL, is the
 * net that the data are for: they must fit it, and labels are its classes. An error names the file and the place. */
tn_dataset *data_load(const data_options *asked, tn_dtype dtype, const model *known, input_file *file);

/* x alone, for a net that says the rest; a column of labels among them is left out. */
tn_tensor *data_load_inputs(input_file *file, const data_options *asked, const model *known);

/* A sum over the bytes of a tensor, and over the names of classes that its numbers stand for (n of them; NULL: none).
 * Another element anywhere gives another sum. 0 with an error. */
uint64_t data_sum(tn_tensor *x, const char *const *names, int64_t n);

/* How many classes the labels have: one more than the largest. */
int64_t data_classes(tn_dataset *dataset);

#endif
