/* The net that commands make: Linear layers with an activation between them, raw outputs at the end. */
#ifndef TENON_NET_H
#define TENON_NET_H

#include <stdint.h>
#include <tenon/nn.h>

#include "options.h"

extern const char *const activation_words[]; /* "relu", ...; ends in NULL */
extern const char *const dtype_words[];      /* "float32", "float64"; ends in NULL */

tn_dtype dtype_of_word(int word);

typedef struct net_shape {
    int64_t inputs, outputs;
    size_list hidden;
    int activation; /* number of its word */
} net_shape;

/* Weights are zero until they are initialised or loaded. NULL with an error. */
tn_module *net_build(const net_shape *shape, tn_dtype dtype);

#endif
