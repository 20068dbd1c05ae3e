/* Finding and forcing the CPU level. */
#include "cpu/level.h"

#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/error.h"

_Atomic int tni_cpu_level_now = -1;

static const char *const texts[TNI_CPU_LEVELS] = {
    [TNI_CPU_BASELINE] = "default",
    [TNI_CPU_AVX2] = "avx2",
    [TNI_CPU_AVX512] = "avx512",
};

/* __builtin_cpu_supports also asks whether the operating system saves the wide registers. F16C is not a name that every
 * compiler knows there: bit 29 of leaf 1's ecx. */
int tni_cpu_level_detected(void)
{
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;
    __builtin_cpu_init();
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 29)))
        return TNI_CPU_BASELINE;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2"))
        return TNI_CPU_BASELINE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return TNI_CPU_AVX512;
    return TNI_CPU_AVX2;
#else
    return TNI_CPU_BASELINE;
#endif
}

/* A level that was forced meanwhile by another thread stays. */
int tni_cpu_level_start(void)
{
    int unset = -1, found = tni_cpu_level_detected();
    return atomic_compare_exchange_strong(&tni_cpu_level_now, &unset, found) ? found : unset;
}

const char *tn_get_cpu_capability(void)
{
    return texts[tni_cpu_level()];
}

tn_status tn_set_cpu_capability(const char *name)
{
    if (tni_pending())
        return tni_pending();
    int detected = tni_cpu_level_detected(), wanted = detected;
    if (name && *name) {
        for (wanted = 0; wanted < TNI_CPU_LEVELS && strcmp(name, texts[wanted]) != 0; wanted++)
            ;
        if (wanted == TNI_CPU_LEVELS)
            return TNI_FAIL(
                TN_ERROR_NAME, "set_cpu_capability",
                "\"%.40s\" is no level, needed \"default\", \"avx2\" or \"avx512\", up to this machine's \"%s\"", name,
                texts[detected]);
        if (wanted > detected)
            return TNI_FAIL(TN_ERROR_ARGUMENT, "set_cpu_capability", "this machine has \"%s\", not \"%s\"",
                            texts[detected], texts[wanted]);
    }
    atomic_store(&tni_cpu_level_now, wanted);
    return TN_OK;
}
