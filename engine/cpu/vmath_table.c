/* Picks the table of a level. */
#include "cpu/vmath_table.h"

const tni_vmath *tni_vmath_at(int level)
{
#if defined(__x86_64__)
    static const tni_vmath *const tables[TNI_CPU_LEVELS] = {
        [TNI_CPU_BASELINE] = &tni_vmath_baseline,
        [TNI_CPU_AVX2] = &tni_vmath_avx2,
        [TNI_CPU_AVX512] = &tni_vmath_avx512,
    };
    return tables[level];
#else
    (void)level;
    return &tni_vmath_baseline;
#endif
}
