/* The ziggurat of Marsaglia and Tsang for normal deviates (J. Stat. Software 5(8), 2000), 256 layers, as NumPy has it.
 *
 * Layer i spans 0 .. x[i] under heights f[i] = exp(-x[i]^2 / 2); x[255] = TNI_ZIGGURAT_R, every layer has area
 * TNI_ZIGGURAT_V. The tables hold wi = x[i] / 2^52, fi = f[i], and ki: below which of 2^52 steps layer i lies wholly
 * under the curve. They are NumPy's bit for bit: correctly rounded ones differ in 213 of 256 widths. */
#ifndef TNI_RANDOM_ZIGGURAT_H
#define TNI_RANDOM_ZIGGURAT_H

#include <stdint.h>

#define TNI_ZIGGURAT_R 3.6541528853610087963519472518
#define TNI_ZIGGURAT_V 0.0049286732339746519

extern const uint64_t tni_ziggurat_ki[256];
extern const double tni_ziggurat_wi[256];
extern const double tni_ziggurat_fi[256];

#endif
