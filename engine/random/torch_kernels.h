/* The loops behind PyTorch's float deviates: compiled as they are, and once more for processors with FMA.
 * Equal bits. */
#ifndef TNI_RANDOM_TORCH_KERNELS_H
#define TNI_RANDOM_TORCH_KERNELS_H

#include <stdint.h>

typedef struct tni_torch_kernels {
    /* out = fma(u, width, low) with u = 24 bits of a word / 2^24; a result equal to high becomes low */
    void (*uniform_fused)(const uint32_t *words, int n, float width, float low, float high, float *out);
    /* the same with 53 bits of two words / 2^53 */
    void (*uniform_fused64)(const uint32_t *words, int n, double width, double low, double high, double *out);
    /* each block of 16 uniforms on [0, 1) becomes 16 normal deviates, in place */
    void (*normal_blocks)(float *data, int64_t blocks, float mean, float std);
} tni_torch_kernels;

extern const tni_torch_kernels tni_torch_kernels_base;
extern const tni_torch_kernels tni_torch_kernels_avx2;

/* The fastest table that the processor runs. */
static inline const tni_torch_kernels *tni_torch_kernels_pick(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &tni_torch_kernels_avx2;
#endif
    return &tni_torch_kernels_base;
}

#endif
