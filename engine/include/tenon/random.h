/* Random streams: NumPy's two generators and PyTorch's CPU generator, bit for bit.
 *
 *     tn_random_state      numpy.random.RandomState       MT19937, the stream behind scikit-learn's random_state
 *     tn_default_rng       numpy.random.default_rng       PCG64 seeded through SeedSequence
 *     tn_torch_generator   torch.Generator (CPU)          MT19937, the stream behind torch.manual_seed
 *
 * A generator is plain data that the caller allocates: no heap, no release; assignment copies the stream, and its bytes
 * may be saved and loaded. It must be seeded before use: {0} is "not seeded", which every call refuses.
 *
 *     tn_default_rng rng;
 *     double x[100];
 *     tn_default_rng_seed(&rng, 0);
 *     tn_default_rng_normal(&rng, 0.0, 1.0, x, 100);
 *
 * The same draws in another order, or one array in two calls, may give other numbers, exactly as they do in the
 * original; each block says when. Values rest on libm (log, log1p, exp, sin, cos) in float64: equal bits are promised
 * with glibc on x86-64, elsewhere an absolute difference of up to 5e-16 may appear in normal deviates.
 *
 * Common   what every function may raise, and its own lines do not repeat: TN_ERROR_NULL if the generator is NULL, or
 *          an array is NULL and its length is not 0; TN_ERROR_ARGUMENT if a length is negative; TN_ERROR_STATE if the
 *          generator was not seeded. After an error, and while one is pending, neither the generator nor the array
 *          changes. Single draws then return 0, or NaN if they are double.
 *
 * Threads  a generator belongs to one thread at a time; nothing here is shared. */
#ifndef TENON_RANDOM_H
#define TENON_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <tenon/error.h>

TN_BEGIN

/* The Mersenne Twister of Matsumoto and Nishimura: 624 words and how many of them are used up. */
typedef struct tn_mt19937 {
    uint32_t key[624];
    int32_t position; /* 0 .. 624; 624: the next draw renews the words */
} tn_mt19937;

/* numpy.random.RandomState */

/* The fields of RandomState.get_state(). NumPy has frozen this stream for ever (NEP 19), and so has Tenon. */
typedef struct tn_random_state {
    tn_mt19937 mt;
    int32_t has_gauss; /* 1: the second value of the last pair waits in gauss */
    double gauss;
} tn_random_state;

/* RandomState(seed).
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (seed above 2^32-1, as NumPy) */
TN_API tn_status tn_random_state_seed(tn_random_state *state, uint64_t seed);

/* The next word, and two of them with the first one high.
 * errors  common */
TN_API uint32_t tn_random_state_next_uint32(tn_random_state *state);
TN_API uint64_t tn_random_state_next_uint64(tn_random_state *state);

/* One value of random_sample(): uniform on [0, 1), 53 bits from two words.
 * errors  common */
TN_API double tn_random_state_next_double(tn_random_state *state);

/* One value of standard_normal(): Marsaglia's polar method, which makes two and keeps one for the next call.
 * errors  common */
TN_API double tn_random_state_next_gauss(tn_random_state *state);

/* Uniform on 0 .. max, both included: words under a mask of ones until one fits. A max of 0 draws nothing; above 2^32-1
 * it takes two words a try. It is what shuffle and randint draw with.
 * errors  common */
TN_API uint64_t tn_random_state_interval(tn_random_state *state, uint64_t max);

/* random_sample(n): n values uniform on [0, 1). Any split into calls gives the same values.
 * errors  common
 * cost    O(n) */
TN_API tn_status tn_random_state_random_sample(tn_random_state *state, double *out, int64_t n);

/* uniform(low, high, n) = low + (high - low) u. Any split into calls gives the same values.
 * errors  common; TN_ERROR_ARGUMENT: high < low, or high - low not finite (NumPy's RandomState lets high < low pass)
 * cost    O(n) */
TN_API tn_status tn_random_state_uniform(tn_random_state *state, double low, double high, double *out, int64_t n);

/* normal(loc, scale, n) = loc + scale z. Any split into calls gives the same values.
 * errors  common; TN_ERROR_ARGUMENT: scale negative or NaN
 * cost    O(n) */
TN_API tn_status tn_random_state_normal(tn_random_state *state, double loc, double scale, double *out, int64_t n);

/* randint(low, high, n, dtype=int64): uniform on low .. high-1. Any split into calls gives the same values.
 * errors  common; TN_ERROR_ARGUMENT: high <= low
 * cost    O(n) */
TN_API tn_status tn_random_state_randint(tn_random_state *state, int64_t low, int64_t high, int64_t *out, int64_t n);

/* shuffle(values): for i = n-1 .. 1, swaps values[i] with values[interval(i)].
 * errors  common
 * cost    O(n) */
TN_API tn_status tn_random_state_shuffle(tn_random_state *state, int64_t *values, int64_t n);

/* permutation(n): 0 .. n-1, shuffled.
 * errors  common
 * cost    O(n) */
TN_API tn_status tn_random_state_permutation(tn_random_state *state, int64_t *out, int64_t n);

/* numpy.random.SeedSequence */

/* Entropy of any length, hashed into four words from which the words of seeds are made. */
typedef struct tn_seed_sequence {
    uint32_t pool[4];
} tn_seed_sequence;

/* SeedSequence(entropy, spawn_key=spawn_key). `entropy` holds an integer's 32-bit words, low word first, without zero
 * words at the high end (0 itself is one zero word); a list of integers is their words in a row. `spawn_key` likewise,
 * NULL and 0 for none: child i of SeedSequence(entropy).spawn(n) has the key {i}, and its child j the key {i, j}.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (a negative length), TN_ERROR_OVERFLOW (lengths beyond 2^63-1 together)
 * cost    O(n_entropy + n_spawn_key) */
TN_API tn_status tn_seed_sequence_init(tn_seed_sequence *sequence, const uint32_t *entropy, int64_t n_entropy,
                                       const uint32_t *spawn_key, int64_t n_spawn_key);

/* generate_state(n): the same words on every call; more words begin with fewer. The second is generate_state(n,
 * uint64): words in pairs, low one first.
 * errors  TN_ERROR_NULL, TN_ERROR_ARGUMENT (a negative length)
 * cost    O(n) */
TN_API tn_status tn_seed_sequence_generate_state(const tn_seed_sequence *sequence, uint32_t *out, int64_t n);
TN_API tn_status tn_seed_sequence_generate_state64(const tn_seed_sequence *sequence, uint64_t *out, int64_t n);

/* numpy.random.default_rng */

/* A PCG64 bit generator (O'Neill's PCG XSL RR 128/64) with the fields of its state dictionary. NumPy may change
 * Generator's streams in a release, with caution; these equal NumPy 1.24 to 2.4. */
typedef struct tn_default_rng {
    uint64_t state_high, state_low;
    uint64_t inc_high, inc_low; /* odd once seeded */
    int32_t has_uint32;         /* 1: the high half of the last word that was cut in two waits in uinteger */
    uint32_t uinteger;
} tn_default_rng;

/* default_rng(seed), any 64-bit seed; longer ones go through tn_seed_sequence_init.
 * errors  TN_ERROR_NULL */
TN_API tn_status tn_default_rng_seed(tn_default_rng *rng, uint64_t seed);

/* default_rng(sequence).
 * errors  TN_ERROR_NULL */
TN_API tn_status tn_default_rng_from_seed_sequence(tn_default_rng *rng, const tn_seed_sequence *sequence);

/* One word of bit_generator.random_raw(). A half word that waits goes on waiting.
 * errors  common */
TN_API uint64_t tn_default_rng_next_uint64(tn_default_rng *rng);

/* Half a word: the low half of a new one, then its high half.
 * errors  common */
TN_API uint32_t tn_default_rng_next_uint32(tn_default_rng *rng);

/* One value of random(): the top 53 bits of a word, on [0, 1).
 * errors  common */
TN_API double tn_default_rng_next_double(tn_default_rng *rng);

/* One value of standard_normal(): the ziggurat of Marsaglia and Tsang with 256 layers, NumPy's tables.
 * errors  common */
TN_API double tn_default_rng_next_normal(tn_default_rng *rng);

/* random(n), and random(n, dtype=float32) with 24 bits from half a word each: uniform on [0, 1). Any split into calls
 * gives the same values.
 * errors  common
 * cost    O(n) */
TN_API tn_status tn_default_rng_random(tn_default_rng *rng, double *out, int64_t n);
TN_API tn_status tn_default_rng_random_float32(tn_default_rng *rng, float *out, int64_t n);

/* uniform(low, high, n) = low + (high - low) u. Any split into calls gives the same values.
 * errors  common; TN_ERROR_ARGUMENT: high < low, or high - low not finite
 * cost    O(n) */
TN_API tn_status tn_default_rng_uniform(tn_default_rng *rng, double low, double high, double *out, int64_t n);

/* normal(loc, scale, n) = loc + scale z. Any split into calls gives the same values.
 * errors  common; TN_ERROR_ARGUMENT: scale negative or NaN
 * cost    O(n) */
TN_API tn_status tn_default_rng_normal(tn_default_rng *rng, double loc, double scale, double *out, int64_t n);

/* integers(low, high, n, endpoint=endpoint), int64: uniform on low .. high-1, or low .. high with endpoint, by Lemire's
 * multiplication. Any split into calls gives the same values.
 * errors  common; TN_ERROR_ARGUMENT: no integer in the range
 * cost    O(n)
 * source  Lemire 2019, arXiv:1805.10941 */
TN_API tn_status tn_default_rng_integers(tn_default_rng *rng, int64_t low, int64_t high, bool endpoint, int64_t *out,
                                         int64_t n);

/* shuffle(values) and permutation(n), as RandomState's but over half words.
 * errors  common
 * cost    O(n) */
TN_API tn_status tn_default_rng_shuffle(tn_default_rng *rng, int64_t *values, int64_t n);
TN_API tn_status tn_default_rng_permutation(tn_default_rng *rng, int64_t *out, int64_t n);

/* torch.Generator */

/* PyTorch's CPU generator. PyTorch does not promise its streams across releases, platforms or CPU levels. These equal
 * PyTorch 2.15 on x86-64 Linux; where 1.13 or a CPU level differs, the block says so. */
typedef struct tn_torch_generator {
    tn_mt19937 mt;
    int32_t has_normal; /* 1: the second value of the last Box-Muller pair waits in normal */
    double normal;
    uint64_t initial_seed; /* what manual_seed was given; only its low 32 bits move the stream */
} tn_torch_generator;

/* generator.manual_seed(seed). A negative seed of PyTorch is its two's complement here.
 * errors  TN_ERROR_NULL */
TN_API tn_status tn_torch_manual_seed(tn_torch_generator *generator, uint64_t seed);

/* The next word; two of them with the first one high; and what torch.empty((), dtype=torch.int64).random_() holds, the
 * latter's low 63 bits.
 * errors  common */
TN_API uint32_t tn_torch_next_uint32(tn_torch_generator *generator);
TN_API uint64_t tn_torch_next_uint64(tn_torch_generator *generator);
TN_API int64_t tn_torch_next_random(tn_torch_generator *generator);

/* uniform_(low, high), and rand with 0 and 1:  u (high - low) + low  in the dtype, u having 24 bits of one word
 * (float32) or 53 of two (float64). A value that rounds up to high becomes low. Any split into calls gives the same
 * values.
 * fused   one FMA for that line, as PyTorch's AVX2 and AVX-512 kernels; false: rounded twice, as its `default` kernels.
 *         The same for low 0
 * errors  common; TN_ERROR_ARGUMENT: high < low, or low, high or high - low not finite in the dtype
 * cost    O(n) */
TN_API tn_status tn_torch_uniform_float32(tn_torch_generator *generator, double low, double high, bool fused,
                                          float *out, int64_t n);
TN_API tn_status tn_torch_uniform_float64(tn_torch_generator *generator, double low, double high, bool fused,
                                          double *out, int64_t n);

/* normal_(mean, std), and randn with 0 and 1, on a contiguous tensor of n elements, by Box and Muller.
 * n < 16   pairs in float64, rounded to the dtype; the second one of a pair waits in the generator. PyTorch 1.13 takes
 *          log(1 - u) where this takes log1p(-u): last bits of float64 differ
 * n >= 16  blocks of 16 uniforms, in float32 with PyTorch's single precision log, sin and cos; if 16 does not divide n
 *          the last 16 are drawn anew. So one call of 32 is not two of 16 in general, and not 32 of 1
 * errors   common; TN_ERROR_ARGUMENT: std negative or NaN
 * cost     O(n) */
TN_API tn_status tn_torch_normal_float32(tn_torch_generator *generator, double mean, double std, float *out, int64_t n);
TN_API tn_status tn_torch_normal_float64(tn_torch_generator *generator, double mean, double std, double *out,
                                         int64_t n);

/* randint(low, high, (n,)), int64: a word modulo high - low, two words from 2^28 on (PyTorch 1.13: from 2^32 on).
 * Any split into calls gives the same values.
 * errors  common; TN_ERROR_ARGUMENT: high <= low
 * cost    O(n) */
TN_API tn_status tn_torch_randint(tn_torch_generator *generator, int64_t low, int64_t high, int64_t *out, int64_t n);

/* randperm(n).
 * errors  common
 * cost    O(n) */
TN_API tn_status tn_torch_randperm(tn_torch_generator *generator, int64_t *out, int64_t n);

/* One epoch of DataLoader(dataset of n, shuffle=True, generator=generator): begin draws what iter(loader) and its first
 * batch draw and writes the order of the samples; end draws what the sampler does when the epoch is exhausted. An epoch
 * that is left early has no end.
 * errors  common
 * cost    O(n) */
TN_API tn_status tn_torch_loader_begin_epoch(tn_torch_generator *generator, int64_t *order, int64_t n);
TN_API tn_status tn_torch_loader_end_epoch(tn_torch_generator *generator, int64_t n);

/* One epoch of DataLoader(dataset of n, shuffle=True) without a generator: `generator` is PyTorch's global one, from
 * which the loader draws a seed for workers and a seed for the order. Nothing is drawn at the end.
 * errors  common
 * cost    O(n) */
TN_API tn_status tn_torch_loader_epoch(tn_torch_generator *generator, int64_t *order, int64_t n);

/* torch.nn.Linear(fan_in, fan_out): weight [fan_out, fan_in] by kaiming_uniform_(a=sqrt(5)), then bias [fan_out]
 * uniform within 1/sqrt(fan_in); bias NULL for none. The same call serves convolutions: fan_in is then channels /
 * groups times the kernel's elements.
 * fused   as in tn_torch_uniform_float32
 * errors  common; TN_ERROR_ARGUMENT (a negative fan), TN_ERROR_OVERFLOW (fan_in fan_out does not fit 64 bits)
 * cost    O(fan_in fan_out) */
TN_API tn_status tn_torch_linear_float32(tn_torch_generator *generator, int64_t fan_in, int64_t fan_out, bool fused,
                                         float *weight, float *bias);
TN_API tn_status tn_torch_linear_float64(tn_torch_generator *generator, int64_t fan_in, int64_t fan_out, bool fused,
                                         double *weight, double *bias);

TN_END

#endif
