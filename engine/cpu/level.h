/* The CPU level that kernels run at: which of the copies of a kernel file, compiled once per level, is called. */
#ifndef TNI_CPU_LEVEL_H
#define TNI_CPU_LEVEL_H

#include <stdatomic.h>
#include <tenon/cpu.h>

#include "base/thread.h"

/* Lowest first; a machine that has one has those below. */
typedef enum tni_cpu_level_name {
    TNI_CPU_BASELINE,
    TNI_CPU_AVX2,   /* AVX2, FMA, F16C, BMI2 */
    TNI_CPU_AVX512, /* those and AVX-512 F, BW, DQ, VL */
    TNI_CPU_LEVELS
} tni_cpu_level_name;

/* -1 until somebody asks. */
extern _Atomic int tni_cpu_level_now;

/* Finds the machine's level, makes it the one in use unless there is one already, and returns the one in use. */
int tni_cpu_level_start(void);

/* The best level of this machine under this operating system, whatever is in use. */
int tni_cpu_level_detected(void);

/* The level in use: an index of tables with TNI_CPU_LEVELS entries. A call that has several steps asks once. */
static inline int tni_cpu_level(void)
{
    int level = atomic_load_explicit(&tni_cpu_level_now, memory_order_relaxed);
    return TNI_LIKELY(level >= 0) ? level : tni_cpu_level_start();
}

#endif
