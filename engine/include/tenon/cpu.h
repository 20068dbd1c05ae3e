/* Which instruction set the kernels use: one binary holds several copies of the hot loops, chosen at run time.
 *
 *     "default"   what every machine of the architecture has
 *     "avx2"      x86-64 with AVX2, FMA, F16C and BMI2
 *     "avx512"    those, and AVX-512 F, BW, DQ and VL
 *
 * Results at different levels may differ in last bits (the level without fused multiply-add rounds more often). */
#ifndef TENON_CPU_H
#define TENON_CPU_H

#include <tenon/error.h>

TN_BEGIN

/* The level in use: the best that processor and operating system support, unless another was set. A constant string.
 * Works while an error is pending.
 * errors  none
 * source  torch.backends.cpu.get_cpu_capability, in lower case */
TN_API const char *tn_get_cpu_capability(void);

/* Sets the level for the whole process, from the next operator call on; a lower one than the machine's is for tests and
 * benchmarks. NULL or "" is the machine's own.
 * errors  TN_ERROR_NAME (no such level), TN_ERROR_ARGUMENT (the machine does not have it); then nothing changes */
TN_API tn_status tn_set_cpu_capability(const char *name);

TN_END

#endif
