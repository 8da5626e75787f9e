/* The fast pass of the draw in C99: weights 2^-y of many numbers, their sums, and the look-up of many uniforms.

   Optional: `kernel.py` loads it where it was built, and the same bounds hold of numpy's operations where it was
   not. Nothing here decides an answer. What it computes lies within the error bounds that docs/explanation/draw.md
   proves, and an index is given out only by the certificate there, so answers are the same function of the random
   bits with and without this file.

   Loops run over tiles of a fixed length and have no branches, so that compilers make them vector instructions,
   and so that the work is a function of how many numbers there are, not of the numbers. A compiler may contract a
   product and a sum to one operation: the bounds hold for both. It must not reorder sums (no -ffast-math).

   Every function that computes sets the default floating-point environment first and restores the caller's: the
   bounds are those of rounding to nearest with subnormal numbers, and any library may leave another mode behind. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

#if defined(EXPORT) /* settle.c has said what it is */
#elif defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* One copy of each function for each level of instructions; the loader of the system picks one. Clang gives the copies
   other names. */
#if defined(__x86_64__) && defined(__ELF__) && defined(__GNUC__) && !defined(__clang__)
#define CLONED 1
#define FOR_EACH_LEVEL APART __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define CLONED 0
#define FOR_EACH_LEVEL APART
#endif

/* What computes is a function of its own, and is called between two barriers: so no operation moves across the lines
   that set the floating-point environment, of which compilers know nothing. */
#if defined(__GNUC__) && !defined(_WIN32)
#define APART __attribute__((noinline, visibility("hidden")))
#elif defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART __declspec(noinline)
#endif

/* Into each copy: what is called is compiled for the lowest level. */
#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#if defined(__GNUC__)
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

#if defined(__GNUC__)
#define BARRIER() __asm__ volatile("" ::: "memory")
#else
#define BARRIER()
#endif

/* The floating-point environment: rounding, whether subnormal numbers count as zero, and which exceptions trap. Every
   thread has its own. In the default one results are rounded to nearest, subnormal numbers are kept and nothing traps. */
#if defined(__x86_64__) || defined(_M_X64)

typedef unsigned Environment;
#define DEFAULT 0x1f80u
#define FLAGS 0x3fu /* what happened so far, which is no mode */

INLINE Environment enter(void)
{
    Environment saved = _mm_getcsr();
    if ((saved & 0xffffu & ~FLAGS) != DEFAULT)
        _mm_setcsr(DEFAULT);
    BARRIER();
    return saved;
}

INLINE void leave(Environment saved)
{
    BARRIER();
    if ((saved & 0xffffu & ~FLAGS) != DEFAULT)
        _mm_setcsr(saved);
}

#elif defined(__aarch64__) && defined(__GNUC__)

typedef uint64_t Environment;

INLINE Environment enter(void)
{
    Environment saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved)::"memory");
    if (saved != 0)
        __asm__ volatile("msr fpcr, %0" ::"r"((Environment)0) : "memory");
    return saved;
}

INLINE void leave(Environment saved)
{
    BARRIER();
    if (saved != 0)
        __asm__ volatile("msr fpcr, %0" ::"r"(saved) : "memory");
}

#else /* where `discreet_level` is 0 and nothing of this is used */

typedef int Environment;

INLINE Environment enter(void)
{
    return 0;
}

INLINE void leave(Environment saved)
{
    (void)saved;
}

#endif

#define TILE 64
#define GROUP 16 /* numbers that are weighed step by step together: they fill registers */
#define LANES 32 /* words that are looked up together */
#define LINE 8   /* doubles in a line of the cache */
#define INFINITE ((double)(1e300 * 1e10))
#define ROW 256

/* Exponents are cut here: what is lighter than 2^-CUT counts as anything from 0 to CUT_WEIGHT = 2^-92. */
static const double CUT = 93.0;

/* 1.5 * 2^52: added to a double of at most 2^50 it leaves the nearest integer in the lowest bits. */
static const double ROUNDING = 0x1.8p52;

/* (ln 2)^i / i!, rounded to double: the Taylor series of 2^r. */
static const double TAYLOR[12] = {
    /* coefficients */
    0x1.0000000000000p+0,
    0x1.62e42fefa39efp-1,
    0x1.ebfbdff82c58fp-3,
    0x1.c6b08d704a0c0p-5,
    0x1.3b2ab6fba4e77p-7,
    0x1.5d87fe78a6731p-10,
    0x1.430912f86c787p-13,
    0x1.ffcbfc588b0c7p-17,
    0x1.62c0223a5c824p-20,
    0x1.b5253d395e7c4p-24,
    0x1.e4cf5158b8ecap-28,
    0x1.e8cac7351bb25p-32,
    /* end of coefficients */
};

/* Return 2^-y for y from 0 to CUT: y = k - r with k whole and |r| <= 1/2, hence 2^-y = 2^r * 2^-k. */
INLINE double weight(double y)
{
    double shifted = y + ROUNDING;
    double k = shifted - ROUNDING;
    /* *The kernel* in draw.md, line "k and r": exact, by Sterbenz or as k is 0. Coq: KernelWeight.rest_is_exact */
    double r = k - y;
    /* lines "series and coefficients" and "rounding of the polynomial".
       Coq: Kernel.series_error, KernelRounding.rounding_error */
    double p = TAYLOR[11];
    p = p * r + TAYLOR[10];
    p = p * r + TAYLOR[9];
    p = p * r + TAYLOR[8];
    p = p * r + TAYLOR[7];
    p = p * r + TAYLOR[6];
    p = p * r + TAYLOR[5];
    p = p * r + TAYLOR[4];
    p = p * r + TAYLOR[3];
    p = p * r + TAYLOR[2];
    p = p * r + TAYLOR[1];
    p = p * r + TAYLOR[0];
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = ((uint64_t)1023 << 52) - (bits << 52); /* of 2^-k; only the lowest bits of k survive the shift */
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale; /* line "2^(-k)": exact, above 2^-94. Coq: KernelWeight.weight_error */
}

/* The series of 2^r without its last step, for GROUP numbers at once: each step for all of them before the next, so that a
   processor has others to work on while it waits for one. Each number goes through the operations of `weight` in their order. */
INLINE void series_of_group(const double *restrict y, double *restrict shifted, double *restrict r, double *restrict p)
{
    for (size_t i = 0; i < GROUP; i++)
        shifted[i] = y[i] + ROUNDING;
    for (size_t i = 0; i < GROUP; i++)
        r[i] = (shifted[i] - ROUNDING) - y[i];
    for (size_t i = 0; i < GROUP; i++)
        p[i] = TAYLOR[11];
#define STEP(j)                        \
    for (size_t i = 0; i < GROUP; i++) \
        p[i] = p[i] * r[i] + TAYLOR[j];
    STEP(10)
    STEP(9)
    STEP(8)
    STEP(7)
    STEP(6)
    STEP(5)
    STEP(4)
    STEP(3)
    STEP(2)
    STEP(1)
#undef STEP
}

/* 2^-k of a number whose lowest bits are those of k, as in `weight`. */
INLINE double scale_of(double shifted)
{
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = ((uint64_t)1023 << 52) - (bits << 52);
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

/* `weight` of GROUP numbers. */
INLINE void weights_of_group(const double *restrict y, double *restrict out)
{
    double shifted[GROUP], r[GROUP], p[GROUP];
    series_of_group(y, shifted, r, p);
    for (size_t i = 0; i < GROUP; i++)
        p[i] = p[i] * r[i] + TAYLOR[0];
    for (size_t i = 0; i < GROUP; i++)
        out[i] = p[i] * scale_of(shifted[i]);
}

/* 1 - 2^-y of GROUP numbers from 0 to CUT, with a small relative error near 0 too: *Falling runs* in draw.md. The series is
   that of 2^r - 1, which has no constant, and 1 - 2^-y = (1 - 2^-k) - (2^r - 1) * 2^-k. */
INLINE void complements_of_group(const double *restrict y, double *restrict out)
{
    double shifted[GROUP], r[GROUP], p[GROUP];
    series_of_group(y, shifted, r, p);
    for (size_t i = 0; i < GROUP; i++) {
        double scale = scale_of(shifted[i]);
        out[i] = (1.0 - scale) - (p[i] * r[i]) * scale; /* line "difference": k is 0 and this is -q, or it is 1 - 2^-1/2 at least */
    }
}

/* A word as a double, rounded once: its halves are put into the last bits of 2^52. Compilers would branch on its first bit,
   which is random. */
INLINE double whole(uint64_t word)
{
    uint64_t high = (word >> 32) | ((uint64_t)1075 << 52), low = (word & 0xffffffff) | ((uint64_t)1075 << 52);
    double upper, lower;
    memcpy(&upper, &high, sizeof upper);
    memcpy(&lower, &low, sizeof lower);
    return (upper - 0x1p52) * 0x1p32 + (lower - 0x1p52);
}

/* y = rate * (best - x), cut at CUT, for up to TILE numbers. A loop of its own: compilers make no vectors of
   a choice that is followed by the polynomial. An infinite product counts as cut. What is no number stays none, so
   that it cannot become a weight: nothing is certain of sums that have it among them. */
INLINE void exponents(const double *restrict x, size_t n, double best, double rate, double *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        /* line "argument": off by 5.32 u of itself at most. Coq: KernelWeight.argument_error */
        double product = rate * (best - x[i]);
        y[i] = product > CUT ? CUT : product; /* Coq: KernelWeight.cut_weight */
    }
}

/* Weights of n numbers, as doubles. Full tiles have a constant length, the last one has not. */
INLINE void weights(const double *restrict x, size_t n, double best, double rate, double *restrict out)
{
    double y[TILE];
    size_t start = 0;
    for (; start + TILE <= n; start += TILE) {
        exponents(x + start, TILE, best, rate, y);
        for (size_t i = 0; i < TILE; i += GROUP)
            weights_of_group(y + i, out + start + i);
    }
    exponents(x + start, n - start, best, rate, y);
    for (size_t i = 0; start + i < n; i++)
        out[start + i] = weight(y[i]);
}

/* The largest of n >= 1 numbers; `spoilt` becomes NaN if one of them is not finite. */
INLINE double largest(const double *restrict x, size_t n, double *restrict spoilt)
{
    double best[TILE], zero[TILE];
    for (size_t i = 0; i < TILE; i++) {
        best[i] = x[0];
        zero[i] = 0.0;
    }
    for (size_t start = 0; start < n; start += TILE) {
        size_t tile = n - start < TILE ? n - start : TILE;
        if (tile == TILE)
            for (size_t i = 0; i < TILE; i++) {
                best[i] = x[start + i] > best[i] ? x[start + i] : best[i];
                zero[i] += x[start + i] * 0.0;
            }
        else
            for (size_t i = 0; i < tile; i++) {
                best[i] = x[start + i] > best[i] ? x[start + i] : best[i];
                zero[i] += x[start + i] * 0.0;
            }
    }
    for (size_t half = TILE / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++) {
            best[i] = best[i + half] > best[i] ? best[i + half] : best[i];
            zero[i] += zero[i + half];
        }
    *spoilt += zero[0];
    return best[0];
}

/* The sum of the weights of n numbers, in at most n additions. Meanwhile as many numbers from `next` on are brought into
   the cache. */
INLINE double sum_of_weights(const double *restrict x, size_t n, double best, double rate, const double *next)
{
    double y[TILE], sum[TILE];
    for (size_t i = 0; i < TILE; i++)
        sum[i] = 0.0;
    size_t start = 0;
    for (; start + TILE <= n; start += TILE) {
        for (size_t i = 0; i < TILE; i += LINE)
            PREFETCH(next + start + i);
        exponents(x + start, TILE, best, rate, y);
        for (size_t i = 0; i < TILE; i += GROUP) {
            double group[GROUP];
            weights_of_group(y + i, group);
            for (size_t j = 0; j < GROUP; j++)
                sum[i + j] += group[j];
        }
    }
    exponents(x + start, n - start, best, rate, y);
    for (size_t i = 0; start + i < n; i++)
        sum[i] += weight(y[i]);
    for (size_t half = TILE / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            sum[i] += sum[i + half];
    return sum[0];
}

/* Running sums in place, each within (1 +- u)^c of the sum after c additions: *Sums* in draw.md. Long ones go by rows,
   four at a time: none goes through more than ROW + rows additions. */
INLINE void cumulate(double *restrict w, size_t n)
{
    size_t row = 0;
    for (; (row + 4) * ROW <= n; row += 4) {
        double *a = w + row * ROW, *b = a + ROW, *c = b + ROW, *d = c + ROW;
        double s = 0.0, t = 0.0, u = 0.0, v = 0.0;
        for (size_t i = 0; i < ROW; i++) {
            a[i] = s += a[i];
            b[i] = t += b[i];
            c[i] = u += c[i];
            d[i] = v += d[i];
        }
    }
    for (; row * ROW < n; row++) {
        double s = 0.0;
        for (size_t i = row * ROW; i < n && i < (row + 1) * ROW; i++)
            w[i] = s += w[i];
    }
    double before = 0.0;
    for (row = 1; row * ROW < n; row++) {
        size_t length = n - row * ROW < ROW ? n - row * ROW : ROW;
        double *a = w + row * ROW;
        before += row == 1 ? w[ROW - 1] : 0.0;
        for (size_t i = 0; i < length; i++)
            a[i] += before;
        before = a[length - 1];
    }
}

/* The level of instructions in use: 4 for x86-64-v4, 3 for x86-64-v3, 1 for others of two or more doubles at once,
   0 where numpy is faster. */
EXPORT int discreet_level(void)
{
#if CLONED
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512bw"))
        return 4;
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 3 : 0;
#elif defined(__AVX2__) && defined(__FMA__)
    return 3;
#elif defined(__aarch64__)
    return 1;
#else
    return 0;
#endif
}

/* Which text of this file was compiled: the beginning of its SHA-256, given by the build. */
#ifndef DISCREET_SOURCE
#define DISCREET_SOURCE 0
#endif

EXPORT uint64_t discreet_source(void)
{
    return DISCREET_SOURCE;
}

/* The largest number of each block, and the sum of the block's weights relative to it, 2^(-rate * (largest - x)).
   Return 1, or 0 if a number is not finite. */
FOR_EACH_LEVEL int compute_block_sums(
    const double *restrict x, size_t n, size_t block, double rate, double *restrict bests, double *restrict sums)
{
    double spoilt = 0.0;
    for (size_t start = 0, b = 0; start < n; start += block, b++) {
        size_t length = n - start < block ? n - start : block;
        bests[b] = largest(x + start, length, &spoilt);
        const double *next = n - start >= 2 * block ? x + start + block : x + start;
        sums[b] = sum_of_weights(x + start, length, bests[b], rate, next);
    }
    return spoilt == 0.0;
}

/* The running sums of the weights 2^(-rate * (best - x)). */
FOR_EACH_LEVEL void compute_running_sums(
    const double *restrict x, size_t n, double best, double rate, double *restrict out)
{
    weights(x, n, best, rate, out);
    cumulate(out, n);
}

/* For each of several rows of `width` numbers, the running sums of the weights relative to the row's largest.
   Return 1, or 0 if a number is not finite. */
FOR_EACH_LEVEL int compute_row_sums(const double *restrict x, size_t rows, size_t width, double rate, double *restrict out)
{
    double spoilt = 0.0;
    for (size_t start = 0; start < rows * width; start += width) {
        double best = largest(x + start, width, &spoilt);
        weights(x + start, width, best, rate, out + start);
        cumulate(out + start, width);
    }
    return spoilt == 0.0;
}

/* Replace n >= 0 numbers by their running sums. */
FOR_EACH_LEVEL void compute_cumulate(double *w, size_t n)
{
    cumulate(w, n);
}

/* Replace each gap >= 0 by its weight 2^(-rate * gap). */
FOR_EACH_LEVEL void compute_weights(double *gaps, size_t n, double rate)
{
    double x[TILE];
    for (size_t start = 0; start < n; start += TILE) {
        size_t length = n - start < TILE ? n - start : TILE;
        for (size_t i = 0; i < length; i++)
            x[i] = -gaps[start + i];
        weights(x, length, 0.0, rate, gaps + start);
    }
}

/* The runs between neighbours of n sorted places on a grid, `falling` for short: run i has the points above places[i - 1]
   up to places[i], and the score of point j in it is min(limit, n - i) * (low + j * step). All of these are whole. A key is
   the place plus one, or 0, as a double; key 0 stands in front. Places under `floor` count as `floor`, and so does the
   place before the first. */
typedef struct {
    double floor, low, step, limit, best, rate, dense;
} Falling;

INLINE double place_of(double key, double floor)
{
    double place = key - 1.0;
    return place < floor ? floor : place;
}

/* The weights of the `length` <= TILE runs from run i on: 2^(-rate * (best - top)) times (1 - 2^(-d m)) / (1 - 2^-d), or
   over d ln 2 if they are dense, for m points whose scores fall by d / rate from each to the next. */
INLINE void falling_weights(
    const double *restrict keys, size_t n, const Falling *f, size_t i, size_t length, double *restrict out)
{
    double y[TILE], span[TILE], fall[TILE], left = (double)(n - i), pace = f->rate * f->step;
    for (int j = 0; j < (int)length; j++) {
        double before = place_of(keys[i + (size_t)j], f->floor), place = place_of(keys[i + (size_t)j + 1], f->floor);
        double number = left - (double)j;
        number = number > f->limit ? f->limit : number;
        /* *Falling runs*, line "gap": the price is exact, and the gap is rounded once. */
        double gap = __builtin_fma(-(f->low + place * f->step), number, f->best);
        double product = f->rate * gap, d = pace * number, all = d * (place - before);
        /* A run without points may have any score: bids below all prices would pay more than the best if there were such a price. */
        y[j] = (product > CUT) | (place == before) ? CUT : product;
        fall[j] = d;
        span[j] = all > CUT ? CUT : all;
    }
    for (size_t j = length; j < TILE; j++)
        y[j] = fall[j] = span[j] = 0.0;
    double weighed[TILE], spanned[TILE], divisor[TILE];
    for (size_t j = 0; j < TILE; j += GROUP)
        weights_of_group(y + j, weighed + j);
    for (size_t j = 0; j < TILE; j += GROUP)
        complements_of_group(span + j, spanned + j);
    if (f->dense != 0.0)
        for (size_t j = 0; j < TILE; j++)
            divisor[j] = fall[j] * 0x1.62e42fefa39efp-1;
    else {
        for (size_t j = 0; j < TILE; j++)
            fall[j] = fall[j] > CUT ? CUT : fall[j];
        for (size_t j = 0; j < TILE; j += GROUP)
            complements_of_group(fall + j, divisor + j);
    }
    for (int j = 0; j < (int)length; j++)
        out[j] = weighed[j] * spanned[j] / divisor[j];
}

/* The keys of numbers by the highest of the points lowest, lowest + 1 / per_step, ... that are not above them, as
   `revenue.places` has them: point j is (low + j * step) / below, rounded once, and `highest` is the last of them. */
FOR_EACH_LEVEL void compute_grid_keys(
    const double *restrict x, size_t n, const double *restrict grid, double *restrict keys)
{
    double lowest = grid[0], highest = grid[1], per_step = grid[2], low = grid[3], step = grid[4], below = grid[5];
    double number[TILE], pays[TILE];
    for (size_t start = 0; start < n; start += TILE) {
        size_t tile = n - start < TILE ? n - start : TILE;
        for (size_t i = 0; i < tile; i++) {
            double one = x[start + i];
            pays[i] = one >= lowest ? 1.0 : 0.0;
            one = one >= lowest ? one : lowest;
            number[i] = one > highest ? highest : one;
        }
        for (size_t i = 0; i < tile; i++) {
            /* Off by less than 1/4 of the quotient: this point or the one below is the answer. */
            double point = ((number[i] - lowest) * per_step + ROUNDING) - ROUNDING;
            double above = (point * step + low) / below > number[i] ? 0.0 : 1.0;
            keys[start + i] = (point + above) * pays[i];
        }
    }
}

/* The largest rounded score at the better end of a run that has points, at least 0. */
FOR_EACH_LEVEL double compute_falling_best(const double *restrict keys, size_t n, const Falling *f)
{
    double best[TILE], top[TILE], points[TILE];
    for (size_t j = 0; j < TILE; j++)
        best[j] = 0.0;
    for (size_t i = 0; i < n; i += TILE) {
        double left = (double)(n - i);
        int tile = n - i < TILE ? (int)(n - i) : TILE;
        for (int j = 0; j < tile; j++) {
            double before = place_of(keys[i + (size_t)j], f->floor), place = place_of(keys[i + (size_t)j + 1], f->floor);
            double number = left - (double)j;
            number = number > f->limit ? f->limit : number;
            top[j] = (f->low + place * f->step) * number;
            points[j] = place - before;
        }
        for (int j = 0; j < tile; j++)
            points[j] = points[j] > 1.0 ? 1.0 : points[j];
        for (int j = 0; j < tile; j++) { /* points are whole, so a score is taken once or not at all */
            double counted = top[j] * points[j];
            best[j] = counted > best[j] ? counted : best[j];
        }
    }
    for (size_t half = TILE / 2; half > 0; half /= 2)
        for (size_t j = 0; j < half; j++)
            best[j] = best[j + half] > best[j] ? best[j + half] : best[j];
    return best[0];
}

/* The sums of the weights of the runs in each block, in at most `block` additions. */
FOR_EACH_LEVEL void compute_falling_sums(
    const double *restrict keys, size_t n, const Falling *f, size_t block, double *restrict sums)
{
    for (size_t start = 0, b = 0; start < n; start += block, b++) {
        size_t stop = n - start < block ? n : start + block;
        double sum[TILE], out[TILE];
        for (size_t j = 0; j < TILE; j++)
            sum[j] = 0.0;
        for (size_t i = start; i < stop; i += TILE) {
            size_t length = stop - i < TILE ? stop - i : TILE;
            falling_weights(keys, n, f, i, length, out);
            for (size_t j = 0; j < length; j++)
                sum[j] += out[j];
        }
        for (size_t half = TILE / 2; half > 0; half /= 2)
            for (size_t j = 0; j < half; j++)
                sum[j] += sum[j + half];
        sums[b] = sum[0];
    }
}

/* The weights of the runs from run `start` up to `stop`. */
FOR_EACH_LEVEL void compute_falling_weights(
    const double *restrict keys, size_t n, const Falling *f, size_t start, size_t stop, double *restrict out)
{
    size_t i = start;
    for (; i + TILE <= stop; i += TILE)
        falling_weights(keys, n, f, i, TILE, out + (i - start));
    falling_weights(keys, n, f, i, stop - i, out + (i - start));
}

/* How many of n >= 1 running sums lie below each of 2^bits cells of equal width, and below their end: one entry more. */
FOR_EACH_LEVEL void compute_guide(const double *restrict ends, size_t n, uint32_t *restrict guide, unsigned bits)
{
    size_t cells = (size_t)1 << bits;
    double scale = (double)cells / ends[n - 1];
    memset(guide, 0, (cells + 1) * sizeof *guide);
    for (size_t i = 0; i < n; i++) {
        size_t c = (size_t)(int64_t)(ends[i] * scale);
        guide[c < cells ? c + 1 : 0]++;
    }
    guide[0] = 0;
    for (size_t c = 0; c < cells; c++)
        guide[c + 1] += guide[c];
}

/* For each word the index it certainly falls on, or -1 where that is open: return for how many it is.

   `ends` are n >= 1 running sums; a word m stands for every target from m * cell to (m + 1) * cell. A guide of
   2^guide_bits cells says between which indices the search goes on; the first guide_bits of a word's `width` bits tell its
   cell. The guide may be wrong by rounding: the certificate below is all that decides, and indices stay within the sums
   whatever the guide says. */
FOR_EACH_LEVEL size_t compute_locate(
    const double *restrict ends, size_t n, const uint64_t *restrict words, size_t number, unsigned width, double cell,
    double slack, const uint32_t *restrict guide, unsigned guide_bits, int64_t *restrict found)
{
    size_t cells = (size_t)1 << guide_bits, last = n - 1, open = 0;
    for (size_t start = 0; start < number; start += LANES) {
        size_t lanes = number - start < LANES ? number - start : LANES, from[LANES], to[LANES];
        int further = 0;
        for (size_t j = 0; j < lanes; j++) {
            size_t c = guide_bits ? (size_t)(words[start + j] >> (width - guide_bits)) & (cells - 1) : 0;
            from[j] = guide[c];
            to[j] = guide[c + 1];
            PREFETCH(ends + from[j]);
        }
        for (size_t j = 0; j < lanes; j++) {
            double low = whole(words[start + j]) * cell;
            size_t i = from[j] < last ? from[j] : last;
            /* Two steps without a branch find most, as a cell holds few ends on average; bisection finds the rest. */
            i += (size_t)((i < last) & (ends[i] <= low));
            i += (size_t)((i < last) & (ends[i] <= low));
            further |= (i < to[j]) & (ends[i] <= low);
            from[j] = i;
        }
        for (size_t j = 0; further && j < lanes; j++) {
            double low = whole(words[start + j]) * cell;
            size_t i = from[j], stop = to[j];
            while (i < stop && ends[i] <= low) {
                size_t middle = i + (stop - i) / 2;
                if (ends[middle] <= low)
                    i = middle + 1;
                else
                    stop = middle;
            }
            from[j] = i < last ? i : last;
        }
        for (size_t j = 0; j < lanes; j++) {
            double low = whole(words[start + j]) * cell;
            size_t i = from[j];
            /* *Certificate* in draw.md: beyond (2 A + 8 u) Z the index holds for every real target in the word's cell.
               Coq: Doubles.locate_lower, Doubles.locate_all_upper */
            int after = (i == 0) | (low - ends[i - (i > 0)] > slack);
            int before = (i == last) | (ends[i] - low > slack + cell);
            int64_t is_open = 1 - (after & before);
            found[start + j] = (int64_t)i | -is_open;
            open += (size_t)is_open;
        }
    }
    return open;
}

/* The index of one of n running sums on which a word certainly falls, or -1 where that is open, in as many steps for
   any sums. `slack` and `cell` are relative to the total. */
INLINE int64_t locate_row(const double *restrict ends, size_t n, uint64_t word, double cell, double slack)
{
    size_t last = n - 1, i = 0, left = n;
    double total = ends[last], step = total * cell, low = whole(word) * step;
    while (left > 0) { /* i ends of those before `left` more are not above `low` */
        size_t half = (left + 1) / 2;
        i += ends[i + half - 1] <= low ? half : 0;
        left -= half;
    }
    i = i < last ? i : last;
    /* *Certificate*, relative to the total. */
    int after = i == 0 || low - ends[i - 1] > slack * total;
    int before = i == last || ends[i] - low > slack * total + step;
    return after && before ? (int64_t)i : -1;
}

/* For each row of `width` running sums the index on which its word certainly falls, or -1 where that is open: as
   above, with as many steps for any sums. `slack` and `cell` are relative to the row's total. */
APART void compute_locate_rows(
    const double *restrict ends, size_t rows, size_t width, const uint64_t *restrict words, double cell, double slack,
    int64_t *restrict found)
{
    for (size_t row = 0; row < rows; row++, ends += width)
        found[row] = locate_row(ends, width, words[row], cell, slack);
}

/* The sum of n numbers, in at most n additions. */
INLINE double sum_of(const double *restrict x, size_t n)
{
    double sum[TILE];
    for (size_t i = 0; i < TILE; i++)
        sum[i] = 0.0;
    size_t start = 0;
    for (; start + TILE <= n; start += TILE)
        for (size_t i = 0; i < TILE; i++)
            sum[i] += x[start + i];
    for (size_t i = 0; start + i < n; i++)
        sum[i] += x[start + i];
    for (size_t half = TILE / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            sum[i] += sum[i + half];
    return sum[0];
}

/* Rounds: each takes one of the numbers that are left, by two words, of which the first says its block and the second
   the number in it. `bests` and `masses` are what `block_sums` finds, and are kept up to date: a block that lost a number
   is summed anew. What was taken counts as -infinity, and its weight is set to 0. Return how many rounds are complete: a
   round of which a word is open is not. `scratch` has room for twice as many doubles as are in a block, or as blocks are. */
FOR_EACH_LEVEL size_t compute_rounds(
    const double *restrict x, size_t n, size_t block, double rate, double *restrict bests, double *restrict masses,
    const uint64_t *restrict words, size_t k, double cell, double outer, double inner, double *restrict scratch,
    int64_t *restrict answers)
{
    size_t blocks = (n + block - 1) / block, most = blocks > block ? blocks : block;
    double *ends = scratch, *part = scratch + most, spoilt = 0.0;
    for (size_t round = 0; round < k; round++) {
        weights(bests, blocks, largest(bests, blocks, &spoilt), rate, ends);
        for (size_t b = 0; b < blocks; b++)
            ends[b] *= masses[b];
        cumulate(ends, blocks);
        int64_t b = locate_row(ends, blocks, words[2 * round], cell, outer);
        if (b < 0)
            return round;
        size_t start = (size_t)b * block, length = n - start < block ? n - start : block;
        memcpy(part, x + start, length * sizeof *part);
        for (size_t r = 0; r < round; r++)
            if ((size_t)answers[r] - start < length)
                part[(size_t)answers[r] - start] = -INFINITE;
        for (int twice = 0; twice < 2; twice++) {
            weights(part, length, bests[b], rate, ends);
            for (size_t r = 0; r < round + (size_t)twice; r++)
                if ((size_t)answers[r] - start < length)
                    ends[(size_t)answers[r] - start] = 0.0;
            if (twice)
                break;
            cumulate(ends, length);
            int64_t j = locate_row(ends, length, words[2 * round + 1], cell, inner);
            if (j < 0)
                return round;
            answers[round] = (int64_t)start + j;
            part[j] = -INFINITE;
            bests[b] = largest(part, length, &spoilt);
        }
        masses[b] = sum_of(ends, length);
    }
    return k;
}

/* 1 / (2 j + 1): the series of artanh(s) / s in s^2. */
static const double ARTANH[10] = {
    1.0,
    1.0 / 3.0,
    1.0 / 5.0,
    1.0 / 7.0,
    1.0 / 9.0,
    1.0 / 11.0,
    1.0 / 13.0,
    1.0 / 15.0,
    1.0 / 17.0,
    1.0 / 19.0,
};

#define LN2 0x1.62e42fefa39efp-1
#define HALF_ROOT 0x3fe6a09e667f3bcd /* the bits of the double next to 1 / sqrt(2) */

/* Return ln(1 + f) for 1 + f from 1 / sqrt(2) to sqrt(2): *The logarithm* in draw.md, line "logarithm near 1". */
INLINE double log_near_one(double f)
{
    double s = f / (2.0 + f), z = s * s;
    double p = ARTANH[9];
    p = p * z + ARTANH[8];
    p = p * z + ARTANH[7];
    p = p * z + ARTANH[6];
    p = p * z + ARTANH[5];
    p = p * z + ARTANH[4];
    p = p * z + ARTANH[3];
    p = p * z + ARTANH[2];
    p = p * z + ARTANH[1];
    p = p * z + ARTANH[0];
    return (s + s) * p;
}

/* Return x 2^-k for the whole k that leaves it from 1 / sqrt(2) to sqrt(2), exactly; x is positive and not subnormal. */
INLINE double reduce(double x, double *k)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t raised = (bits - HALF_ROOT + ((uint64_t)1023 << 52)) >> 52; /* k + 1023 */
    bits -= (raised - 1023) << 52;
    raised |= (uint64_t)1075 << 52;
    memcpy(k, &raised, sizeof raised);
    *k = (*k - 0x1p52) - 1023.0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Return `one` where all bits of the mask are set, and `other` where none is. */
INLINE double choose(uint64_t mask, double one, double other)
{
    uint64_t a, b;
    memcpy(&a, &one, sizeof a);
    memcpy(&b, &other, sizeof b);
    a = (a & mask) | (b & ~mask);
    memcpy(&one, &a, sizeof one);
    return one;
}

/* Return ln(-ln(1 - U)) for U = (word + ahead) / 2^64, `ahead` 0 or 1; no number for U = 0 and U = 1. */
INLINE double log_time(uint64_t word, double ahead)
{
    double u = (whole(word) + ahead) * 0x1p-64, left = (whole(~word) + (1.0 - ahead)) * 0x1p-64;
    double k, exponent, near = reduce(left, &k) - 1.0;
    uint64_t early = (word >> 62) == 0 ? ~(uint64_t)0 : 0; /* U is at most 1/4 */
    k = choose(early, 0.0, k);
    near = choose(early, -u, near);
    /* *The logarithm* in draw.md, lines "time" and "logarithm of the time". */
    double time = -(k * LN2 + log_near_one(near));
    double mantissa = reduce(time, &exponent);
    return exponent * LN2 + log_near_one(mantissa - 1.0);
}

/* The logarithms of times at both ends of the cells of words of 64 bits: from -infinity for U = 0 to infinity for 1. */
FOR_EACH_LEVEL void compute_log_times(const uint64_t *restrict words, size_t n, double *restrict starts, double *restrict ends)
{
    for (size_t i = 0; i < n; i++)
        starts[i] = log_time(words[i], 0.0);
    for (size_t i = 0; i < n; i++)
        ends[i] = log_time(words[i], 1.0);
    for (size_t i = 0; i < n; i++) {
        starts[i] = words[i] == 0 ? -INFINITE : starts[i];
        ends[i] = words[i] == ~(uint64_t)0 ? INFINITE : ends[i];
    }
}

/* Delays are cut here, on both sides: *How it is drawn* in docs/reference/mechanisms/top_k.md#peeling. */
#define CUT_DELAY 64.0

INLINE double delay(double gap, double rate)
{
    double product = rate * gap;
    product = product > CUT_DELAY ? CUT_DELAY : product;
    return product < -CUT_DELAY ? -CUT_DELAY : product;
}

/* a - b, rounded once. */
INLINE double gap_of_integers(int64_t a, int64_t b)
{
    double gap = whole(a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b);
    return a < b ? -gap : gap;
}

/* The bits of a double as an integer in the order of doubles, and back again; -0 is below 0. */
INLINE int64_t in_order(int64_t bits)
{
    return bits ^ (bits < 0 ? INT64_MAX : 0);
}

/* The k-th largest of n integers, two bits in a pass: it is the largest number that k of them reach. Quickselect is
   quicker, but takes up to fifteen times as long where few numbers differ, which would tell that they do. */
INLINE int32_t kth_of_short(const int32_t *restrict x, size_t n, size_t k)
{
    uint32_t key = 0; /* numbers and 2^31: in the same order */
    for (int shift = 30; shift >= 0; shift -= 2) {
        int32_t a = (int32_t)((key | (uint32_t)1 << shift) ^ (uint32_t)1 << 31);
        int32_t b = (int32_t)((key | (uint32_t)2 << shift) ^ (uint32_t)1 << 31);
        int32_t c = (int32_t)((key | (uint32_t)3 << shift) ^ (uint32_t)1 << 31);
        uint32_t below_a = 0, below_b = 0, below_c = 0;
        for (size_t i = 0; i < n; i++) {
            below_a += a > x[i];
            below_b += b > x[i];
            below_c += c > x[i];
        }
        key |= (uint32_t)((n - below_a >= k) + (n - below_b >= k) + (n - below_c >= k)) << shift;
    }
    return (int32_t)(key ^ (uint32_t)1 << 31);
}

/* The same of n < 2^31 doubles, by their bits, or integers of 64 bits: first the upper halves. Of the lower halves
   count those under the upper half that was found; all under a larger one reach whatever is asked. */
FOR_EACH_LEVEL int64_t compute_kth(
    const int64_t *restrict x, int are_integers, size_t n, size_t k, int32_t *restrict halves)
{
    for (size_t i = 0; i < n; i++)
        halves[i] = (int32_t)((are_integers ? x[i] : in_order(x[i])) >> 32);
    int32_t upper = kth_of_short(halves, n, k);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = (uint64_t)(are_integers ? x[i] : in_order(x[i]));
        int32_t lower = (int32_t)((uint32_t)bits ^ (uint32_t)1 << 31), own = halves[i];
        lower = own > upper ? INT32_MAX : lower;
        halves[i] = own < upper ? INT32_MIN : lower;
    }
    uint32_t lower = (uint32_t)kth_of_short(halves, n, k) ^ (uint32_t)1 << 31;
    int64_t kth = (int64_t)((uint64_t)(uint32_t)upper << 32 | lower);
    return are_integers ? kth : in_order(kth);
}

/* The delays of n numbers behind a good one. Return 1, or 0 if a number is not finite. */
FOR_EACH_LEVEL int compute_delays(const double *restrict x, size_t n, double good, double rate, double *restrict out)
{
    double spoilt[TILE];
    for (size_t j = 0; j < TILE; j++)
        spoilt[j] = 0.0;
    for (size_t start = 0; start < n; start += TILE) {
        size_t tile = n - start < TILE ? n - start : TILE;
        for (size_t j = 0; j < tile; j++) {
            out[start + j] = delay(good - x[start + j], rate);
            spoilt[j] += x[start + j] * 0.0;
        }
    }
    for (size_t j = 1; j < TILE; j++)
        spoilt[0] += spoilt[j];
    return spoilt[0] == 0.0;
}

FOR_EACH_LEVEL int compute_delays_of_integers(
    const int64_t *restrict x, size_t n, int64_t good, double rate, double *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = delay(gap_of_integers(good, x[i]), rate);
    return 1;
}

#define MOST_NEAR 512 /* looks; for more, sorting is faster than counting */

/* The rank of each of n numbers: how many are less, or equal and before it. As many steps for any numbers. */
#define RANK(NAME, TYPE)                                                                                      \
    INLINE void NAME(const TYPE *restrict x, size_t n, int64_t *restrict ranks)                               \
    {                                                                                                         \
        for (size_t i = 0; i < n; i++) {                                                                      \
            TYPE one = x[i];                                                                                  \
            int64_t rank = 0;                                                                                 \
            for (size_t j = 0; j < i; j++)                                                                    \
                rank += x[j] <= one;                                                                          \
            for (size_t j = i + 1; j < n; j++)                                                                \
                rank += x[j] < one;                                                                           \
            ranks[i] = rank;                                                                                  \
        }                                                                                                     \
    }

RANK(rank_doubles, double)
RANK(rank_integers, int64_t)

INLINE double gap_of_doubles(double a, double b)
{
    return a - b;
}

/* k candidates with these numbers, and the logarithms of their noise between `starts` and `ends`, in the order in which
   they arrive. Return 1, or 0 if that is not certain. From the best to the next to the next, so that neighbours in the
   order are near in doubles too; the order is certified by the differences of neighbours alone: *In which order* in
   top_k.md#peeling. */
#define ARRIVALS(NAME, TYPE, RANKS, GAP)                                                                      \
    FOR_EACH_LEVEL int NAME(const TYPE *restrict x, const double *restrict starts, const double *restrict ends, size_t k, \
                            double rate, double apart, int64_t *restrict order)                              \
    {                                                                                                         \
        TYPE falling[MOST_NEAR];                                                                              \
        double behind[MOST_NEAR], times[MOST_NEAR];                                                           \
        int64_t ranks[MOST_NEAR];                                                                             \
        int certain = 1;                                                                                      \
        RANKS(x, k, ranks);                                                                                   \
        for (size_t i = 0; i < k; i++)                                                                        \
            falling[k - 1 - (size_t)ranks[i]] = x[i];                                                         \
        behind[0] = 0.0;                                                                                      \
        for (size_t i = 1; i < k; i++)                                                                        \
            behind[i] = behind[i - 1] + delay(GAP(falling[i - 1], falling[i]), rate);                         \
        for (size_t i = 0; i < k; i++)                                                                        \
            times[i] = starts[i] + behind[k - 1 - (size_t)ranks[i]];                                          \
        rank_doubles(times, k, ranks);                                                                        \
        for (size_t i = 0; i < k; i++)                                                                        \
            order[ranks[i]] = (int64_t)i;                                                                     \
        for (size_t i = 1; i < k; i++) {                                                                      \
            size_t before = (size_t)order[i - 1], after = (size_t)order[i];                                   \
            certain &= starts[after] - ends[before] + delay(GAP(x[before], x[after]), rate) > apart;          \
        }                                                                                                     \
        return certain;                                                                                       \
    }

ARRIVALS(arrivals_of_doubles, double, rank_doubles, gap_of_doubles)
ARRIVALS(arrivals_of_integers, int64_t, rank_integers, gap_of_integers)

/* The places among n <= MOST_NEAR candidates of the k that are first, with their logarithms of times. Return 1, or 0 if that is
   open: *Who is among the first k* in top_k.md#peeling. */
FOR_EACH_LEVEL int compute_first(
    const double *restrict delays, const int64_t *restrict near, double *restrict starts, double *restrict ends, size_t n,
    size_t k, double rest, double apart, double latest, int64_t *restrict first)
{
    double looks[MOST_NEAR], bar = -INFINITE;
    int64_t ranks[MOST_NEAR];
    size_t chosen = 0, early = 0;
    for (size_t i = 0; i < n; i++)
        looks[i] = starts[i] + delays[near[i]];
    rank_doubles(looks, n, ranks);
    for (size_t i = 0; i < n; i++) {
        int taken = ranks[i] < (int64_t)k;
        double late = ends[i] + delays[near[i]];
        bar = taken & (late > bar) ? late : bar;
        first[chosen] = (int64_t)i;
        starts[chosen] = starts[i];
        ends[chosen] = ends[i];
        chosen += (size_t)taken;
    }
    bar += apart;
    for (size_t i = 0; i < n; i++)
        early += looks[i] <= bar;
    return (bar < latest) & (rest > bar) & (early == k);
}

/* The entries, each in the default environment. */

EXPORT int discreet_block_sums(const double *x, size_t n, size_t block, double rate, double *bests, double *sums)
{
    Environment saved = enter();
    int finite = compute_block_sums(x, n, block, rate, bests, sums);
    leave(saved);
    return finite;
}

EXPORT void discreet_running_sums(const double *x, size_t n, double best, double rate, double *out)
{
    Environment saved = enter();
    compute_running_sums(x, n, best, rate, out);
    leave(saved);
}

EXPORT int discreet_row_sums(const double *x, size_t rows, size_t width, double rate, double *out)
{
    Environment saved = enter();
    int finite = compute_row_sums(x, rows, width, rate, out);
    leave(saved);
    return finite;
}

EXPORT void discreet_cumulate(double *w, size_t n)
{
    Environment saved = enter();
    compute_cumulate(w, n);
    leave(saved);
}

EXPORT void discreet_weights(double *gaps, size_t n, double rate)
{
    Environment saved = enter();
    compute_weights(gaps, n, rate);
    leave(saved);
}

EXPORT void discreet_guide(const double *ends, size_t n, uint32_t *guide, unsigned bits)
{
    Environment saved = enter();
    compute_guide(ends, n, guide, bits);
    leave(saved);
}

EXPORT size_t discreet_locate(
    const double *ends, size_t n, const uint64_t *words, size_t number, unsigned width, double cell, double slack,
    const uint32_t *guide, unsigned guide_bits, int64_t *found)
{
    Environment saved = enter();
    size_t open = compute_locate(ends, n, words, number, width, cell, slack, guide, guide_bits, found);
    leave(saved);
    return open;
}

EXPORT void discreet_locate_rows(
    const double *ends, size_t rows, size_t width, const uint64_t *words, double cell, double slack, int64_t *found)
{
    Environment saved = enter();
    compute_locate_rows(ends, rows, width, words, cell, slack, found);
    leave(saved);
}

EXPORT void discreet_grid_keys(const double *x, size_t n, const double *grid, double *keys)
{
    Environment saved = enter();
    compute_grid_keys(x, n, grid, keys);
    leave(saved);
}

EXPORT void discreet_falling_best(const double *keys, size_t n, double *falling)
{
    Environment saved = enter();
    Falling f;
    memcpy(&f, falling, sizeof f);
    falling[4] = compute_falling_best(keys, n, &f);
    leave(saved);
}

EXPORT void discreet_falling_sums(const double *keys, size_t n, const double *falling, size_t block, double *sums)
{
    Environment saved = enter();
    Falling f;
    memcpy(&f, falling, sizeof f);
    compute_falling_sums(keys, n, &f, block, sums);
    leave(saved);
}

EXPORT void discreet_falling_weights(
    const double *keys, size_t n, const double *falling, size_t start, size_t stop, double *out)
{
    Environment saved = enter();
    Falling f;
    memcpy(&f, falling, sizeof f);
    compute_falling_weights(keys, n, &f, start, stop, out);
    leave(saved);
}

/* Rows of a column, counted in cells with exact ends: see tables/engines/index_counts.py.
 *
 * A guess in doubles says where to look first, and decides nothing: a row is counted in the cell i with
 * edges[i] <= row < edges[i + 1], compared exactly; in the last cell if it is at least edges[cells - 1]. Each row takes
 * the same instructions but where the guess is not within one cell; otherwise only addresses depend on it.
 */
typedef struct {
    double start, low, rate; /* a row from `start` on is in the cell `first` + (row - low) * rate, or near */
    double least, most;      /* 0, and the last cell of this piece, counted from its first */
    int64_t first;
} discreet_piece;

#define MOST_PIECES 5

#define COUNT_ROWS(NAME, TYPE)                                                                                \
    static void NAME(const TYPE *rows, size_t length, const TYPE *edges, size_t cells,                        \
                     const discreet_piece *pieces, size_t parts, const uint8_t *valid, size_t offset,         \
                     int64_t *counts)                                                                         \
    {                                                                                                         \
        double starts[MOST_PIECES];                                                                           \
        for (size_t k = 0; k < MOST_PIECES; k++)                                                              \
            starts[k] = k < parts ? pieces[k].start : INFINITY;                                               \
        for (size_t i = 0; i < length; i++) {                                                                 \
            TYPE row = rows[i];                                                                               \
            double x = (double)row;                                                                           \
            size_t place = (size_t)(x >= starts[1]) + (size_t)(x >= starts[2]) + (size_t)(x >= starts[3]) +   \
                           (size_t)(x >= starts[4]);                                                          \
            place = place < parts ? place : parts - 1; /* of infinity */                                       \
            const discreet_piece *p = pieces + place;                                                         \
            double above = (x - p->low) * p->rate;                                                            \
            above = above > p->least ? above : p->least; /* of NaN too; no constant: GCC would jump */         \
            above = above < p->most ? above : p->most;                                                        \
            size_t cell = (size_t)(p->first + (int64_t)above);                                                \
            if ((row < edges[cell]) | (row >= edges[cell + 1])) { /* false for NaN */                         \
                size_t low = 0, high = cells; /* the row is at or above edges[low], and below edges[high] */  \
                while (high - low > 1) {                                                                      \
                    size_t middle = low + (high - low) / 2;                                                   \
                    if (row < edges[middle])                                                                  \
                        high = middle;                                                                        \
                    else                                                                                      \
                        low = middle;                                                                         \
                }                                                                                             \
                cell = low;                                                                                   \
            }                                                                                                 \
            int counted = row == row;                                                                         \
            if (valid)                                                                                        \
                counted &= valid[(offset + i) >> 3] >> ((offset + i) & 7);                                    \
            counts[counted & 1 ? cell : cells]++;                                                             \
        }                                                                                                     \
    }

COUNT_ROWS(count_doubles, double)
COUNT_ROWS(count_floats, float)
COUNT_ROWS(count_words, int64_t)
COUNT_ROWS(count_integers, int32_t)

/* Adds the numbers of rows in each cell to counts[0 .. cells), and of those that are null or NaN to counts[cells].
 * `kind` is Arrow's format of the rows and the edges, `valid` its bitmap or NULL, `offset` where the rows begin. After
 * the edges of the cells stands one more, NaN or the largest integer: a row at or above it is in the last cell. */
static int count_cells(const void *rows, unsigned kind, const void *valid, size_t offset, size_t length,
                       const void *edges, size_t cells, const void *pieces, size_t parts, void *counts)
{
#define COUNT_AS(NAME, TYPE)                                                                                  \
    NAME((const TYPE *)rows + offset, length, edges, cells, pieces, parts, valid, offset, counts)
    if (parts > MOST_PIECES)
        return 1;
    switch (kind) {
    case 'g': COUNT_AS(count_doubles, double); return 0;
    case 'f': COUNT_AS(count_floats, float); return 0;
    case 'l': COUNT_AS(count_words, int64_t); return 0;
    case 'i': COUNT_AS(count_integers, int32_t); return 0;
    default: return 1;
    }
#undef COUNT_AS
}

EXPORT int discreet_count_cells(const void *rows, unsigned kind, const void *valid, size_t offset, size_t length,
                                const void *edges, size_t cells, const void *pieces, size_t parts, void *counts)
{
    Environment saved = enter(); /* a subnormal row is above 0, whatever the caller's mode says */
    int failed = count_cells(rows, kind, valid, offset, length, edges, cells, pieces, parts, counts);
    leave(saved);
    return failed;
}

EXPORT size_t discreet_rounds(
    const double *x, size_t n, size_t block, double rate, double *bests, double *masses, const uint64_t *words, size_t k,
    double cell, double outer, double inner, double *scratch, int64_t *answers)
{
    Environment saved = enter();
    size_t complete = compute_rounds(x, n, block, rate, bests, masses, words, k, cell, outer, inner, scratch, answers);
    leave(saved);
    return complete;
}

EXPORT void discreet_log_times(const uint64_t *words, size_t n, double *starts, double *ends)
{
    Environment saved = enter();
    compute_log_times(words, n, starts, ends);
    leave(saved);
}

/* Write the k-th largest of n finite doubles or integers, ties counted. There is room for n integers of 32 bits. */
EXPORT void discreet_kth_largest(const void *x, int are_integers, size_t n, size_t k, void *room, void *out)
{
    int64_t kth = compute_kth(x, are_integers, n, k, room);
    memcpy(out, &kth, sizeof kth);
}

EXPORT int discreet_delays(const void *x, int are_integers, size_t n, const void *good, double rate, double *out)
{
    Environment saved = enter();
    int finite = are_integers ? compute_delays_of_integers(x, n, *(const int64_t *)good, rate, out)
                              : compute_delays(x, n, *(const double *)good, rate, out);
    leave(saved);
    return finite;
}

/* The first 16 bits of the uniform of candidate i: four are in a word. */
INLINE uint64_t short_word(const uint64_t *restrict words, size_t i)
{
    return words[i / 4] >> (16 * (i % 4)) & 0xffff;
}

/* The earliest arrivals of n candidates by the first 16 bits of their uniforms, whose logarithms of times are in a table. */
EXPORT void discreet_looks(const uint64_t *words, const double *table, const double *delays, size_t n, double *out)
{
    Environment saved = enter();
    for (size_t i = 0; i < n; i++)
        out[i] = table[short_word(words, i)] + delays[i];
    leave(saved);
}

/* The k of n <= MOST_NEAR candidates that arrive first, in order, where that is certain; return whether it is. `x` and
   `delays` are the numbers, doubles or integers, and the delays of all; `near` says which candidates these are, whose
   uniforms are read on with `more`, and nobody else arrives before `rest`. */
EXPORT int discreet_first_arrivals(
    const void *x, int are_integers, const double *delays, const int64_t *near, const uint64_t *words,
    const uint64_t *more, size_t n, size_t k, double rest, double rate, double apart, double latest, int64_t *answers)
{
    double starts[MOST_NEAR], ends[MOST_NEAR];
    uint64_t uniforms[MOST_NEAR];
    int64_t first[MOST_NEAR], order[MOST_NEAR];
    union {
        double doubles[MOST_NEAR];
        int64_t integers[MOST_NEAR];
    } chosen;
    Environment saved = enter();
    for (size_t i = 0; i < n; i++)
        uniforms[i] = short_word(words, (size_t)near[i]) << 48 | more[i] >> 16;
    compute_log_times(uniforms, n, starts, ends);
    int certain = compute_first(delays, near, starts, ends, n, k, rest, apart, latest, first);
    if (certain) {
        for (size_t i = 0; i < k; i++) /* both kinds have eight bytes */
            memcpy(chosen.integers + i, (const char *)x + 8 * near[first[i]], 8);
        certain = are_integers ? arrivals_of_integers(chosen.integers, starts, ends, k, rate, apart, order)
                               : arrivals_of_doubles(chosen.doubles, starts, ends, k, rate, apart, order);
    }
    if (certain)
        for (size_t i = 0; i < k; i++)
            answers[i] = near[first[order[i]]];
    leave(saved);
    return certain;
}

/* Rows of a column counted by their index on an even grid: see tables/engines/index_counts.py.
 *
 * A row x is at the numerator x * below, and index i begins at the numerator first + i * step, which is an integer below
 * 2^53. The quotient of both, in doubles, is off by less than a half: so the nearest integer is the index or the one
 * after it, and one comparison with its border tells which. *By arithmetic* in docs/explanation/out_of_core.md.
 */
typedef struct {
    double below, first, step, rate; /* rate is 1 / step, rounded */
    double low, high;                /* two numbers of the first index and of the last: others count as these */
} EvenGrid;

/* Indices from `start` on, up to the next stretch. Index i is counted at ((i >> shift) & mask) + offset; where mask is
   0 all are counted together, in one of the places (row & spread) + offset. If `listed` is 1 each is listed besides. */
typedef struct {
    double start;
    int64_t mask, offset, spread, listed;
} Stretch;

#define STRETCHES 7 /* of every pass but the first */

#define MISSING (-1.0) /* the index of null and of NaN */

/* The indices of up to TILE rows. Loops by themselves: of a choice among other arithmetic GCC makes a jump. */
#define INDICES_OF(NAME, TYPE)                                                                                \
    INLINE void NAME(                                                                                         \
        const void *rows, size_t start, size_t length, const EvenGrid *grid, double *restrict indices)        \
    {                                                                                                         \
        const TYPE *column = (const TYPE *)rows + start;                                                      \
        double low = grid->low, high = grid->high, inside[TILE], there[TILE], before[TILE];                   \
        double below = grid->below, first = grid->first, step = grid->step, rate = grid->rate;                \
        for (size_t i = 0; i < length; i++) {                                                                 \
            double x = (double)column[i]; /* of a longer integer a number beyond the grid */                  \
            there[i] = x == x ? 1.0 : 0.0;                                                                    \
            x = x > low ? x : low;                                                                            \
            inside[i] = x < high ? x : high;                                                                  \
        }                                                                                                     \
        for (size_t i = 0; i < length; i++) {                                                                 \
            double near = (__builtin_fma(inside[i], below, -first) * rate + ROUNDING) - ROUNDING;             \
            /* Rounded once, so its sign is that of the exact difference. */                                  \
            double beyond = __builtin_fma(inside[i], below, -(first + near * step));                          \
            indices[i] = near;                                                                                \
            before[i] = beyond < 0.0 ? 1.0 : 0.0;                                                             \
        }                                                                                                     \
        for (size_t i = 0; i < length; i++) /* or MISSING */                                                  \
            indices[i] = (indices[i] - before[i]) * there[i] + (there[i] - 1.0);                              \
    }

INDICES_OF(indices_of_doubles, double)
INDICES_OF(indices_of_floats, float)
INDICES_OF(indices_of_words, int64_t)
INDICES_OF(indices_of_integers, int32_t)

/* `kind` is Arrow's format of the rows, `valid` its bitmap of those that are not null, or NULL. */
INLINE void indices_of(
    const void *rows, unsigned kind, const uint8_t *valid, size_t start, size_t length, const EvenGrid *grid,
    double *restrict indices)
{
    switch (kind) {
    case 'g': indices_of_doubles(rows, start, length, grid, indices); break;
    case 'f': indices_of_floats(rows, start, length, grid, indices); break;
    case 'l': indices_of_words(rows, start, length, grid, indices); break;
    default: indices_of_integers(rows, start, length, grid, indices);
    }
    if (valid)
        for (size_t i = 0; i < length; i++) {
            double there = (double)(valid[(start + i) >> 3] >> ((start + i) & 7) & 1);
            indices[i] = indices[i] * there + (there - 1.0);
        }
}

/* In which of the stretches the indices of a tile are. One sum and no loop over the stretches, so that it stays in
   registers. */
INLINE void find_stretches(const double *restrict indices, const Stretch *stretches, int64_t *restrict places)
{
    double starts[STRETCHES];
    for (size_t k = 0; k < STRETCHES; k++)
        starts[k] = stretches[k].start;
    for (size_t i = 0; i < TILE; i++) {
        double x = indices[i];
        places[i] = (int64_t)(x >= starts[1]) + (int64_t)(x >= starts[2]) + (int64_t)(x >= starts[3]) +
                    (int64_t)(x >= starts[4]) + (int64_t)(x >= starts[5]) + (int64_t)(x >= starts[6]);
    }
}

/* Add the numbers of rows to `counts`: with STRETCHES as they say, and without (NULL) at 1 + (i >> shift), of rows
   without an index at 0. Put the indices that are to be listed into `list`, which has a place for every row, and return
   how many. Cells are not fetched before they are counted: in the second pass that alone took longer than to wait. */
FOR_EACH_LEVEL size_t compute_count_indices(
    const void *rows, unsigned kind, const uint8_t *valid, size_t offset, size_t length, const EvenGrid *grid,
    unsigned shift, const Stretch *stretches, uint32_t *restrict counts, double *restrict list)
{
    double indices[TILE] = {0.0}, scale = 1.0 / (double)((int64_t)1 << shift);
    int64_t places[TILE];
    int32_t cells[TILE];
    size_t listed = 0;
    for (size_t start = 0; start < length; start += TILE) {
        size_t tile = length - start < TILE ? length - start : TILE;
        indices_of(rows, kind, valid, offset + start, tile, grid, indices);
        if (stretches == NULL)
            for (size_t i = 0; i < TILE; i++)
                cells[i] = (int32_t)(indices[i] * scale + 1.0);
        else {
            find_stretches(indices, stretches, places);
            for (size_t i = 0; i < tile; i++) {
                const Stretch *s = stretches + places[i];
                cells[i] =
                    (int32_t)((((int64_t)indices[i] >> shift & s->mask) | ((int64_t)i & s->spread)) + s->offset);
                list[listed] = indices[i];
                listed += (size_t)s->listed;
            }
        }
        for (size_t i = 0; i < tile; i++)
            counts[cells[i]]++;
    }
    return listed;
}

EXPORT size_t discreet_count_indices(
    const void *rows, unsigned kind, const void *valid, size_t offset, size_t length, const void *grid, unsigned shift,
    const void *stretches, void *counts, void *list)
{
    Environment saved = enter(); /* a subnormal row is above 0, whatever the caller's mode says */
    size_t listed = compute_count_indices(rows, kind, valid, offset, length, grid, shift, stretches, counts, list);
    leave(saved);
    return listed;
}

/* Places of numbers on a grid, sorted, and quantiles of them: see scores/sorted_places.py. */

/* The indices of the points nearest to numbers, on a grid of points (low + j * step) / below: the largest j with
   (2 low + (2 j - 1) step) / (2 below) <= x, from 0 to the last one. All three and that numerator are whole and below 2^52.
   `grid` has the two ends of the grid and the number of steps per unit, each rounded once, and these three. */
FOR_EACH_LEVEL void compute_nearest_places(
    const double *restrict x, size_t n, const double *restrict grid, uint32_t *restrict places)
{
    double lowest = grid[0], highest = grid[1], per_step = grid[2], low = 2.0 * grid[3], step = grid[4], below = 2.0 * grid[5];
    double number[TILE], point[TILE], less[TILE];
    for (size_t start = 0; start < n; start += TILE) {
        size_t tile = n - start < TILE ? n - start : TILE;
        for (size_t i = 0; i < tile; i++) {
            double one = x[start + i] >= lowest ? x[start + i] : lowest;
            number[i] = one > highest ? highest : one;
        }
        for (size_t i = 0; i < tile; i++) {
            /* Off by less than 1/4: this point or the one below is the answer. The product is exact in two doubles, so
               that it is compared exactly: *Places* in draw.md. */
            point[i] = ((number[i] - lowest) * per_step + 0.5 + ROUNDING) - ROUNDING;
            double border = (2.0 * point[i] - 1.0) * step + low, product = number[i] * below;
            double rest = __builtin_fma(number[i], below, -product);
            less[i] = product > border ? 0.0 : product < border ? 1.0 : rest < 0.0 ? 1.0 : 0.0;
        }
        for (size_t i = 0; i < tile; i++) {
            double shifted = (point[i] - less[i]) + 0x1p52;
            uint64_t raw;
            memcpy(&raw, &shifted, sizeof raw);
            places[start + i] = (uint32_t)raw;
        }
    }
}

/* A sort by a network and merges of fixed length: the same instructions, and but for two addresses in a merge the same
   memory, for any words. */
#if defined(__x86_64__) && defined(__GNUC__)
#define SORTED_BY_NETWORK 1
#include <immintrin.h>
#define WIDE __attribute__((target("avx2")))
#define WIDE_INLINE static inline __attribute__((always_inline, target("avx2")))
#define EIGHT 8
#define SORTED_AT_ONCE 64

WIDE_INLINE __m256i load_words(const uint32_t *words)
{
    return _mm256_loadu_si256((const __m256i *)words);
}

WIDE_INLINE void store_words(uint32_t *words, __m256i eight)
{
    _mm256_storeu_si256((__m256i *)words, eight);
}

WIDE_INLINE __m256i join_halves(__m128i first, __m128i last)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), last, 1);
}

/* Eight words, the last first. */
WIDE_INLINE __m256i load_backwards(const uint32_t *words)
{
    const __m128i *halves = (const __m128i *)words;
    return _mm256_shuffle_epi32(join_halves(_mm_loadu_si128(halves + 1), _mm_loadu_si128(halves)), 0x1b);
}

WIDE_INLINE __m256i turn_around(__m256i eight)
{
    return _mm256_shuffle_epi32(_mm256_permute2x128_si256(eight, eight, 0x01), 0x1b);
}

WIDE_INLINE void exchange(__m256i *low, __m256i *high)
{
    __m256i least = _mm256_min_epu32(*low, *high);
    *high = _mm256_max_epu32(*low, *high);
    *low = least;
}

/* Sort sixteen words that first rise and then fall, or the other way round: four rounds of exchanges, at distances of 8,
   4, 2 and 1. */
WIDE_INLINE void settle_sixteen(__m256i *low, __m256i *high)
{
    __m256i l = *low, h = *high, p, q;
    exchange(&l, &h);
    p = _mm256_inserti128_si256(l, _mm256_castsi256_si128(h), 1);
    q = _mm256_permute2x128_si256(l, h, 0x31);
    exchange(&p, &q);
    l = _mm256_unpacklo_epi64(p, q);
    h = _mm256_unpackhi_epi64(p, q);
    exchange(&l, &h);
    p = _mm256_blend_epi32(l, _mm256_slli_epi64(h, 32), 0xaa);
    q = _mm256_blend_epi32(_mm256_srli_epi64(l, 32), h, 0xaa);
    exchange(&p, &q);
    l = _mm256_unpacklo_epi32(p, q);
    h = _mm256_unpackhi_epi32(p, q);
    *low = _mm256_inserti128_si256(l, _mm256_castsi256_si128(h), 1);
    *high = _mm256_permute2x128_si256(l, h, 0x31);
}

/* Turn eight rows of eight words into eight columns. */
WIDE_INLINE void transpose(__m256i *v)
{
    __m256i t[8], u[8];
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_epi32(v[i], v[i + 1]);
        t[i + 1] = _mm256_unpackhi_epi32(v[i], v[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        u[i] = _mm256_unpacklo_epi64(t[i], t[i + 2]);
        u[i + 1] = _mm256_unpackhi_epi64(t[i], t[i + 2]);
        u[i + 2] = _mm256_unpacklo_epi64(t[i + 1], t[i + 3]);
        u[i + 3] = _mm256_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        v[i] = _mm256_permute2x128_si256(u[i], u[i + 4], 0x20);
        v[i + 4] = _mm256_permute2x128_si256(u[i], u[i + 4], 0x31);
    }
}

/* Sort 64 words: eight columns by a network of 19 exchanges, then merges of 8, 16 and 32. */
WIDE_INLINE void sort_block(uint32_t *words)
{
    static const unsigned char network[19][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1}, {2, 3},
                                                 {4, 5}, {6, 7}, {2, 4}, {3, 5}, {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
    __m256i v[8];
    for (int i = 0; i < 8; i++)
        v[i] = load_words(words + EIGHT * i);
#pragma GCC unroll 19
    for (int i = 0; i < 19; i++)
        exchange(v + network[i][0], v + network[i][1]);
    transpose(v);
    for (int i = 0; i < 8; i += 2) {
        v[i + 1] = turn_around(v[i + 1]);
        settle_sixteen(v + i, v + i + 1);
    }
    for (int i = 0; i < 8; i += 4) {
        __m256i last = turn_around(v[i + 2]);
        v[i + 2] = turn_around(v[i + 3]);
        v[i + 3] = last;
        exchange(v + i, v + i + 2);
        exchange(v + i + 1, v + i + 3);
        settle_sixteen(v + i, v + i + 1);
        settle_sixteen(v + i + 2, v + i + 3);
    }
    for (int i = 0; i < 2; i++) {
        __m256i last = turn_around(v[4 + i]);
        v[4 + i] = turn_around(v[7 - i]);
        v[7 - i] = last;
    }
    for (int i = 0; i < 4; i++)
        exchange(v + i, v + i + 4);
    for (int i = 0; i < 8; i += 4) {
        exchange(v + i, v + i + 2);
        exchange(v + i + 1, v + i + 3);
        settle_sixteen(v + i, v + i + 1);
        settle_sixteen(v + i + 2, v + i + 3);
    }
    for (int i = 0; i < 8; i++)
        store_words(words + EIGHT * i, v[i]);
}

/* The one address where all bits of `chosen` are set, the other where none is. */
WIDE_INLINE const uint32_t *one_of(const uint32_t *one, const uint32_t *other, size_t chosen)
{
    return (const uint32_t *)((uintptr_t)other ^ (((uintptr_t)one ^ (uintptr_t)other) & chosen));
}

#define AT_ONCE 16
#define CHOSEN_BYTES (AT_ONCE * sizeof(uint32_t))

/* Merge sixteen sorted words with sixteen more at an address: the least go to `low`, the largest to `high`, both sorted.
   One of these is where the first sixteen are. */
WIDE_INLINE void merge_sixteen(__m256i *low, __m256i *high, const __m256i *sorted, const uint32_t *more)
{
    __m256i one = sorted[0], two = sorted[1], three = load_backwards(more + EIGHT), four = load_backwards(more);
    exchange(&one, &three);
    exchange(&two, &four);
    settle_sixteen(&one, &two);
    settle_sixteen(&three, &four);
    low[0] = one;
    low[1] = two;
    high[0] = three;
    high[1] = four;
}

/* Two runs, from which sixteen words are taken at a time: the one whose next word is chosen. */
typedef struct {
    const uint32_t *a, *b;
    uintptr_t both; /* the sum of both addresses */
} Heads;

WIDE_INLINE const uint32_t *take_from_front(Heads *heads, size_t chosen)
{
    const uint32_t *taken = one_of(heads->a, heads->b, chosen);
    heads->both += CHOSEN_BYTES;
    heads->a = (const uint32_t *)((uintptr_t)heads->a + (CHOSEN_BYTES & chosen));
    heads->b = (const uint32_t *)(heads->both - (uintptr_t)heads->a);
    return taken;
}

WIDE_INLINE const uint32_t *take_from_back(Heads *heads, size_t chosen)
{
    const uint32_t *taken = one_of(heads->a, heads->b, chosen);
    heads->both -= CHOSEN_BYTES;
    heads->a = (const uint32_t *)((uintptr_t)heads->a - (CHOSEN_BYTES & chosen));
    heads->b = (const uint32_t *)(heads->both - (uintptr_t)heads->a);
    return taken - AT_ONCE;
}

/* All bits, if `choice` is 1. */
WIDE_INLINE size_t mask(int choice)
{
    return -(size_t)choice;
}

/* Merge two sorted runs of whole blocks of 64 from both ends at once: from the front the sixteen least of those that are
   held and of the run with the lesser next word, from the back the sixteen largest. Half of the words come from either end,
   so that of runs of equal length none ends before the last step; else a run that has ended is not taken from. Where all
   words of a run are smaller, those behind its last or before its first are read, which may be any, and not used. */
WIDE_INLINE void merge_runs(const uint32_t *a, size_t la, const uint32_t *b, size_t lb, uint32_t *out)
{
    const uint32_t *end_a = a + la, *end_b = b + lb;
    uint32_t *back = out + la + lb;
    size_t pairs = (la + lb) / AT_ONCE / 2, k = 0; /* the number of steps is even, as blocks are of four */
    Heads front = {a, b, (uintptr_t)a + (uintptr_t)b}, rear = {end_a, end_b, (uintptr_t)end_a + (uintptr_t)end_b};
    __m256i least[2], most[2];
    const uint32_t *taken = take_from_front(&front, mask(*a <= *b));
    least[0] = load_words(taken);
    least[1] = load_words(taken + EIGHT);
    taken = take_from_back(&rear, mask(end_a[-1] > end_b[-1]));
    most[0] = load_words(taken);
    most[1] = load_words(taken + EIGHT);
    size_t unchecked = la == lb ? pairs - 1 : 0;
    for (; k < pairs; k++) {
        __m256i low[2], high[2];
        size_t lesser, larger;
        if (k < unchecked) {
            lesser = mask(*front.a <= *front.b);
            larger = mask(rear.a[-1] > rear.b[-1]);
        } else {
            lesser = mask((front.a < end_a) & ((front.b >= end_b) | (*front.a <= *front.b)));
            larger = mask((rear.a > a) & ((rear.b <= b) | (rear.a[-1] > rear.b[-1])));
        }
        merge_sixteen(low, least, least, take_from_front(&front, lesser));
        store_words(out, low[0]);
        store_words(out + EIGHT, low[1]);
        out += AT_ONCE;
        merge_sixteen(most, high, most, take_from_back(&rear, larger));
        back -= AT_ONCE;
        store_words(back, high[0]);
        store_words(back + EIGHT, high[1]);
    }
}

/* Sort n words, a multiple of 64, with room for eight before and behind them, and as much at `other`; return where they
   are: 0 for `words`, 1 for `other`. */
WIDE APART int compute_sort_words(uint32_t *words, uint32_t *other, size_t n)
{
    int place = 0;
    for (size_t start = 0; start < n; start += SORTED_AT_ONCE)
        sort_block(words + start);
    for (size_t run = SORTED_AT_ONCE; run < n; run *= 2) {
        for (size_t start = 0; start < n; start += 2 * run) {
            size_t la = n - start < run ? n - start : run, rest = n - start - la, lb = rest < run ? rest : run;
            if (lb == 0)
                memcpy(other + start, words + start, la * sizeof *words);
            else
                merge_runs(words + start, la, words + start + la, lb, other + start);
        }
        uint32_t *swapped = words;
        words = other;
        other = swapped;
        place = 1 - place;
    }
    return place;
}

/* The same for doubles that are not below zero, as many bytes at a time: they are in the order of their bits, which is how
   the next ones of two runs are compared. */
#define FOUR 4
#define DOUBLES_AT_ONCE 8
#define DOUBLES_IN_BLOCK 32
#define DOUBLES_IN_CACHE 512 /* with as much room beside them they fill a quarter of the first cache */

WIDE_INLINE void exchange_doubles(__m256d *low, __m256d *high)
{
    __m256d least = _mm256_min_pd(*low, *high);
    *high = _mm256_max_pd(*low, *high);
    *low = least;
}

/* Exchange the last half of the first four with the first half of the last. */
WIDE_INLINE void swap_halves(__m256d *first, __m256d *last)
{
    __m256d firsts = _mm256_insertf128_pd(*first, _mm256_castpd256_pd128(*last), 1);
    *last = _mm256_permute2f128_pd(*first, *last, 0x31);
    *first = firsts;
}

/* Exchange, in both halves, the second of the first four with the first of the last. */
WIDE_INLINE void swap_neighbours(__m256d *first, __m256d *last)
{
    __m256d firsts = _mm256_unpacklo_pd(*first, *last);
    *last = _mm256_unpackhi_pd(*first, *last);
    *first = firsts;
}

/* Sort eight doubles that first rise and then fall, or the other way round: rounds of exchanges at distances of 4, 2, 1. */
WIDE_INLINE void settle_eight(__m256d *low, __m256d *high)
{
    exchange_doubles(low, high);
    swap_halves(low, high);
    exchange_doubles(low, high);
    swap_neighbours(low, high);
    exchange_doubles(low, high);
    swap_neighbours(low, high);
    swap_halves(low, high);
}

/* The same, the largest first. */
WIDE_INLINE void settle_eight_falling(__m256d *high, __m256d *low)
{
    exchange_doubles(low, high);
    swap_halves(high, low);
    exchange_doubles(low, high);
    swap_neighbours(high, low);
    exchange_doubles(low, high);
    swap_neighbours(high, low);
    swap_halves(high, low);
}

WIDE_INLINE __m256d turn_doubles(__m256d four)
{
    return _mm256_permute_pd(_mm256_permute2f128_pd(four, four, 0x01), 0x5);
}

/* Merge sorted doubles, `half` times four of them and as many behind them, in at most 32. */
WIDE_INLINE void merge_in_place(__m256d *v, int half)
{
    __m256d turned[FOUR];
    for (int i = 0; i < half; i++)
        turned[i] = turn_doubles(v[2 * half - 1 - i]);
    for (int i = 0; i < half; i++)
        v[half + i] = turned[i];
    for (int distance = half; distance > 1; distance /= 2)
        for (int i = 0; i < 2 * half; i++)
            if (!(i & distance))
                exchange_doubles(v + i, v + i + distance);
    for (int i = 0; i < 2 * half; i += 2)
        settle_eight(v + i, v + i + 1);
}

/* Turn four rows of four doubles into columns. */
WIDE_INLINE void transpose_doubles(__m256d *a, __m256d *b, __m256d *c, __m256d *d)
{
    swap_neighbours(a, b);
    swap_neighbours(c, d);
    swap_halves(a, c);
    swap_halves(b, d);
}

/* Sort 32 doubles: four columns of eight by a network of 19 exchanges, then merges of 8 and 16. */
WIDE_INLINE void sort_block_of_doubles(double *x)
{
    static const unsigned char network[19][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1}, {2, 3},
                                                 {4, 5}, {6, 7}, {2, 4}, {3, 5}, {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
    __m256d rows[8], v[8];
    for (int i = 0; i < 8; i++)
        rows[i] = _mm256_loadu_pd(x + FOUR * i);
#pragma GCC unroll 19
    for (int i = 0; i < 19; i++)
        exchange_doubles(rows + network[i][0], rows + network[i][1]);
    transpose_doubles(rows, rows + 1, rows + 2, rows + 3);
    transpose_doubles(rows + 4, rows + 5, rows + 6, rows + 7);
    for (int i = 0; i < 8; i++)
        v[i] = rows[i / 2 + i % 2 * 4];
    merge_in_place(v, 2);
    merge_in_place(v + 4, 2);
    merge_in_place(v, 4);
    for (int i = 0; i < 8; i++)
        _mm256_storeu_pd(x + FOUR * i, v[i]);
}

/* Whether one double is not above another, both at addresses and neither below zero. */
WIDE_INLINE int not_above(const double *one, const double *other)
{
    int64_t first, second;
    memcpy(&first, one, sizeof first);
    memcpy(&second, other, sizeof second);
    return first <= second;
}

/* A merge of two runs from both ends at once, as `merge_runs` does it: eight doubles are taken at a time, of the run with the
   lesser next one from the front, with the larger one from the back. `least` and `most` are those that are held, four of them
   each, the largest of `least` first and the largest of `most` last, so that none is turned around to be merged. */
typedef struct {
    const double *a, *b, *last_a, *last_b, *end_a, *end_b, *front_a, *front_b;
    double *out, *back;
    __m256d least[2], most[2];
} Merge;

WIDE_INLINE const double *next_of_front(Merge *m, int lesser)
{
    size_t chosen = mask(lesser);
    const double *taken = (const double *)one_of((const void *)m->a, (const void *)m->b, chosen);
    m->a += DOUBLES_AT_ONCE & chosen;
    m->b += DOUBLES_AT_ONCE & ~chosen;
    return taken;
}

WIDE_INLINE const double *next_of_back(Merge *m, int larger)
{
    size_t chosen = mask(larger);
    const double *taken = (const double *)one_of((const void *)m->last_a, (const void *)m->last_b, chosen);
    m->last_a -= DOUBLES_AT_ONCE & chosen;
    m->last_b -= DOUBLES_AT_ONCE & ~chosen;
    return taken - DOUBLES_AT_ONCE;
}

WIDE_INLINE void step_in_front(Merge *m, int lesser)
{
    const double *taken = next_of_front(m, lesser);
    __m256d low = _mm256_loadu_pd(taken), high = _mm256_loadu_pd(taken + FOUR);
    exchange_doubles(&low, m->least);
    exchange_doubles(&high, m->least + 1);
    settle_eight(&low, &high);
    settle_eight_falling(m->least, m->least + 1);
    _mm256_storeu_pd(m->out, low);
    _mm256_storeu_pd(m->out + FOUR, high);
    m->out += DOUBLES_AT_ONCE;
}

WIDE_INLINE void step_at_back(Merge *m, int larger)
{
    const double *taken = next_of_back(m, larger);
    __m256d low = _mm256_loadu_pd(taken), high = _mm256_loadu_pd(taken + FOUR);
    exchange_doubles(m->most, &low);
    exchange_doubles(m->most + 1, &high);
    settle_eight(&low, &high);
    settle_eight_falling(m->most, m->most + 1);
    m->back -= DOUBLES_AT_ONCE;
    _mm256_storeu_pd(m->back, low);
    _mm256_storeu_pd(m->back + FOUR, high);
}

WIDE_INLINE void begin_merge(Merge *m, const double *a, size_t la, const double *b, size_t lb, double *out)
{
    m->a = m->front_a = a;
    m->b = m->front_b = b;
    m->last_a = m->end_a = a + la;
    m->last_b = m->end_b = b + lb;
    m->out = out;
    m->back = out + la + lb;
    const double *taken = next_of_front(m, not_above(a, b));
    m->least[0] = turn_doubles(_mm256_loadu_pd(taken + FOUR));
    m->least[1] = turn_doubles(_mm256_loadu_pd(taken));
    taken = next_of_back(m, !not_above(m->last_a - 1, m->last_b - 1));
    m->most[0] = turn_doubles(_mm256_loadu_pd(taken + FOUR));
    m->most[1] = turn_doubles(_mm256_loadu_pd(taken));
}

/* A step of either end, where neither run has ended. */
WIDE_INLINE void step(Merge *m)
{
    step_in_front(m, not_above(m->a, m->b));
    step_at_back(m, !not_above(m->last_a - 1, m->last_b - 1));
}

/* The same where one may have: it is not taken from. */
WIDE_INLINE void step_with_ends(Merge *m)
{
    step_in_front(m, (m->a < m->end_a) & ((m->b >= m->end_b) | not_above(m->a, m->b)));
    step_at_back(m, (m->last_a > m->front_a) & ((m->last_b <= m->front_b) | !not_above(m->last_a - 1, m->last_b - 1)));
}

WIDE APART void compute_merge(const double *a, size_t la, const double *b, size_t lb, double *out)
{
    Merge m;
    begin_merge(&m, a, la, b, lb, out);
    size_t steps = (la + lb) / DOUBLES_AT_ONCE / 2, k = 0;
    for (; la == lb && k + 1 < steps; k++)
        step(&m);
    for (; k < steps; k++)
        step_with_ends(&m);
}

/* Merge four runs of equal length in pairs, both pairs at a time: they do not wait for each other. */
WIDE APART void compute_two_merges(const double *runs, size_t length, double *out)
{
    Merge m, other;
    begin_merge(&m, runs, length, runs + length, length, out);
    begin_merge(&other, runs + 2 * length, length, runs + 3 * length, length, out + 2 * length);
    for (size_t k = 1; k < length / DOUBLES_AT_ONCE; k++) {
        step(&m);
        step(&other);
    }
    step_with_ends(&m);
    step_with_ends(&other);
}

/* Sort what fits into the first cache, a multiple of 32 doubles; return where they are, as below. */
WIDE APART int sort_in_cache(double *x, double *other, size_t n)
{
    int place = 0;
    for (size_t start = 0; start < n; start += DOUBLES_IN_BLOCK)
        sort_block_of_doubles(x + start);
    for (size_t run = DOUBLES_IN_BLOCK; run < n; run *= 2) {
        size_t start = 0;
        for (; start + 4 * run <= n; start += 4 * run)
            compute_two_merges(x + start, run, other + start);
        for (; start < n; start += 2 * run) {
            size_t la = n - start < run ? n - start : run, rest = n - start - la, lb = rest < run ? rest : run;
            if (lb == 0)
                memcpy(other + start, x + start, la * sizeof *x);
            else
                compute_merge(x + start, la, x + start + la, lb, other + start);
        }
        double *swapped = x;
        x = other;
        other = swapped;
        place = 1 - place;
    }
    return place;
}

/* Sort n doubles, a multiple of 64, with room for eight before and behind them, and as much at `other`; they are at `other`
   then if `to_other` is 1, else where they were. Halves are sorted first, so that what is merged is in a cache. */
WIDE APART void compute_sort_doubles(double *x, double *other, size_t n, int to_other)
{
    if (n <= DOUBLES_IN_CACHE) {
        int place = sort_in_cache(x, other, n);
        if (place != to_other)
            memcpy(to_other ? other : x, to_other ? x : other, n * sizeof *x);
        return;
    }
    size_t half = DOUBLES_IN_CACHE;
    while (2 * half < n)
        half *= 2;
    compute_sort_doubles(x, other, half, !to_other);
    compute_sort_doubles(x + half, other + half, n - half, !to_other);
    if (to_other)
        compute_merge(x, half, x + half, n - half, other);
    else
        compute_merge(other, half, other + half, n - half, x);
}
#else
#define SORTED_BY_NETWORK 0
#endif

/* Records of consecutive ranks, all on points from `first` up to `end`. */
typedef struct {
    size_t low, high;
    uint64_t first, end;
} Part;

/* What is wanted of a part: numerator / denominator of its records below; candidates weigh 2^(-rate * gap), and those of
   ranks farther than `width` from the wanted one are left out. */
typedef struct {
    int64_t numerator, denominator;
    size_t width;
    double rate;
} Wanted;

/* What is worked with: for the ranks of a window, the first record at the same point and the one after the last, and the
   sizes of runs with their gaps, which become running sums. */
typedef struct {
    size_t *starts, *ends;
    double *sizes, *sums;
} Room;

/* The first of the places in order, from `low` up to `high`, that is at least `place`, in as many steps for any. */
INLINE size_t first_not_below(const uint32_t *places, size_t low, size_t high, uint64_t place)
{
    size_t left = high - low;
    while (left > 0) {
        size_t half = (left + 1) / 2;
        low += places[low + half - 1] < place ? half : 0;
        left -= half;
    }
    return low;
}

/* For the records from `start` up to `stop`, where those of the part at the same point begin and end. */
INLINE void find_ties(const uint32_t *places, const Part *part, size_t start, size_t stop, const Room *room)
{
    if (start >= stop)
        return;
    size_t length = stop - start;
    size_t begin = first_not_below(places, part->low, part->high, places[start]);
    for (size_t j = 0; j < length; j++) {
        begin = j > 0 && places[start + j] != places[start + j - 1] ? start + j : begin;
        room->starts[j] = begin;
    }
    size_t end = first_not_below(places, part->low, part->high, (uint64_t)places[stop - 1] + 1);
    for (size_t j = length; j-- > 0;) {
        end = j + 1 < length && places[start + j] != places[start + j + 1] ? start + j + 1 : end;
        room->ends[j] = end;
    }
}

/* The first of `parts` parts of all points that cuts off as many records as are below `rank`, or more. */
INLINE uint64_t first_cut(
    const uint32_t *places, const Part *part, size_t rank, size_t start, const Room *room, uint64_t parts)
{
    if (rank <= part->low)
        return 0;
    if (rank > part->high)
        return (part->end - part->first) * parts;
    size_t j = rank - 1 - start;
    uint64_t ways = room->ends[j] - room->starts[j] + 1, cut = rank - room->starts[j];
    return (places[rank - 1] - part->first) * parts + (cut * parts + ways - 1) / ways;
}

/* The index among the runs on which a word certainly falls, or -1: weights of the gaps, times sizes, summed up. What is
   left out weighs `beyond` at most for each of `points` candidates. */
INLINE int64_t locate_run(const Room *room, size_t runs, double rate, double points, double beyond, uint64_t word)
{
    double *sums = room->sums, y[TILE], sum = 0.0;
    for (size_t start = 0; start < runs; start += TILE) {
        size_t tile = runs - start < TILE ? runs - start : TILE;
        for (size_t i = 0; i < tile; i++) {
            double product = rate * sums[start + i];
            y[i] = product > CUT ? CUT : product;
        }
        for (size_t i = 0; i < tile; i++)
            y[i] = weight(y[i]) * room->sizes[start + i];
        for (size_t i = 0; i < tile; i++)
            sums[start + i] = sum += y[i];
    }
    /* *Ranks* in draw.md: the error of running sums, relative to the total, and what was cut or left out. */
    double error = 1.001 * (0x1p-43 + (double)runs * 0x1p-53) + 4.0 * points * (beyond + 0x1p-92) / sum;
    double slack = (2.0 * error + 0x1p-50) * sum, cell = sum * 0x1p-64, low = whole(word) * cell;
    size_t i = 0, left = runs;
    while (left > 0) {
        size_t half = (left + 1) / 2;
        i += sums[i + half - 1] <= low ? half : 0;
        left -= half;
    }
    i = i < runs - 1 ? i : runs - 1;
    /* *Certificate*; at both ends too, as there may be weight beyond them. Coq: Doubles.locate_lower,
       Doubles.locate_all_upper */
    int after = low - (i > 0 ? sums[i - 1] : 0.0) > slack, before = sums[i] - low > slack + cell;
    return after && before ? (int64_t)i : -1;
}

/* The wanted rank, its window, and how far the ranks at the ends of the window are from it. */
typedef struct {
    size_t base, low, high;
    double rest, least, beyond;
} Window;

INLINE double distance(const Window *window, const Wanted *wanted, size_t rank)
{
    double scaled = ((double)rank - (double)window->base) * (double)wanted->denominator - window->rest;
    return scaled < 0.0 ? -scaled : scaled;
}

INLINE Window window_of(const Part *part, const Wanted *wanted)
{
    Window window;
    int64_t scaled = wanted->numerator * (int64_t)(part->high - part->low);
    window.base = part->low + (size_t)(scaled / wanted->denominator);
    window.rest = (double)(scaled % wanted->denominator);
    window.low = window.base - part->low > wanted->width ? window.base - wanted->width : part->low;
    window.high = part->high - window.base > wanted->width ? window.base + wanted->width : part->high;
    return window;
}

/* The weight that a candidate beyond the window has at most, at both ends together, where the best score is -`least`. */
INLINE double weight_beyond(const Part *part, const Wanted *wanted, const Window *window, double least)
{
    double low = wanted->rate * (distance(window, wanted, window->low) - least);
    double high = wanted->rate * (distance(window, wanted, window->high) - least);
    double below = window->low > part->low ? 1.0 : 0.0, above = window->high < part->high ? 1.0 : 0.0;
    return weight(low > CUT ? CUT : low) * below + weight(high > CUT ? CUT : high) * above;
}

/* The uniform draw from `n` alternatives by two words, or -1 where they leave it open. */
INLINE int64_t draw_below(uint64_t n, const uint64_t *words)
{
#if defined(__SIZEOF_INT128__)
    unsigned __int128 high = (unsigned __int128)words[0] * n, low = (unsigned __int128)words[1] * n;
    unsigned __int128 sum = (unsigned __int128)(uint64_t)high + (uint64_t)(low >> 64);
    uint64_t index = (uint64_t)(high >> 64) + (uint64_t)(sum >> 64);
    return (uint64_t)sum == UINT64_MAX && (uint64_t)low > 0 - n ? -1 : (int64_t)index;
#else
    (void)n;
    (void)words;
    return -1;
#endif
}

/* Draw a cut of a part, by three words: the rank at which it cuts, and the point; return 0 where that is open. There is a
   run a rank: of the parts of points that cut off as many records. */
INLINE int draw_cut(
    const uint32_t *places, const Part *part, const Wanted *wanted, uint64_t parts, const uint64_t *words, const Room *room,
    size_t *rank, uint64_t *point)
{
    Window window = window_of(part, wanted);
    size_t runs = window.high - window.low + 1, start = window.low > part->low ? window.low - 1 : part->low;
    size_t stop = window.high < part->high ? window.high + 1 : part->high;
    find_ties(places, part, start, stop, room);
    double least = distance(&window, wanted, window.base);
    if (window.base < window.high && (double)wanted->denominator - window.rest < least)
        least = (double)wanted->denominator - window.rest;
    uint64_t begin = first_cut(places, part, window.low, start, room, parts);
    for (size_t i = 0; i < runs; i++) {
        uint64_t end = first_cut(places, part, window.low + i + 1, start, room, parts);
        room->sizes[i] = (double)(int64_t)(end - begin);
        room->sums[i] = distance(&window, wanted, window.low + i) - least;
        begin = end;
    }
    double points = (double)(part->end - part->first) * (double)parts;
    double beyond = weight_beyond(part, wanted, &window, least);
    int64_t run = locate_run(room, runs, wanted->rate, points, beyond, words[0]);
    if (run < 0)
        return 0;
    *rank = window.low + (size_t)run;
    begin = first_cut(places, part, *rank, start, room, parts);
    int64_t step = draw_below(first_cut(places, part, *rank + 1, start, room, parts) - begin, words + 1);
    *point = part->first + (begin + (uint64_t)step) / parts;
    return step >= 0;
}

/* Draw a point of a part, by three words; return 0 where that is open. There are two runs a rank: the points without
   records that cut off as many, and after them the point of the next record, if it is the first one there. */
INLINE int draw_point(
    const uint32_t *places, const Part *part, const Wanted *wanted, const uint64_t *words, const Room *room, uint64_t *point)
{
    Window window = window_of(part, wanted);
    size_t ranks = window.high - window.low, runs = 2 * ranks + 1;
    double q = (double)wanted->denominator, least = INFINITE;
    find_ties(places, part, window.low, window.high, room);
    for (size_t i = 0; i <= ranks; i++) {
        size_t rank = window.low + i;
        int64_t begin = rank > part->low ? (int64_t)places[rank - 1] + 1 : (int64_t)part->first;
        int64_t end = rank < part->high ? (int64_t)places[rank] : (int64_t)part->end;
        double size = (double)(end - begin), away = distance(&window, wanted, rank);
        room->sizes[2 * i] = size < 0.0 ? 0.0 : size;
        room->sums[2 * i] = away;
        least = away < least ? away : least;
    }
    for (size_t i = 0; i < ranks; i++) {
        size_t rank = window.low + i;
        double over = ((double)room->starts[i] - (double)window.base) * q - window.rest;
        double under = ((double)window.base - (double)room->ends[i]) * q + window.rest, away = over > under ? over : under;
        room->sizes[2 * i + 1] = i == 0 || places[rank] != places[rank - 1] ? 1.0 : 0.0;
        room->sums[2 * i + 1] = away;
        least = away < least ? away : least;
    }
    for (size_t i = 0; i < runs; i++)
        room->sums[i] -= least;
    double beyond = weight_beyond(part, wanted, &window, least);
    int64_t run = locate_run(room, runs, wanted->rate, (double)(part->end - part->first), beyond, words[0]);
    if (run < 0)
        return 0;
    size_t rank = window.low + (size_t)run / 2;
    uint64_t begin = rank > part->low ? (uint64_t)places[rank - 1] + 1 : part->first;
    if (run % 2)
        begin = places[rank];
    int64_t step = draw_below((uint64_t)room->sizes[run], words + 1);
    *point = begin + (uint64_t)step;
    return step >= 0;
}

#define DEEPEST 80 /* parts that wait: at most one a level of the recursion, of which there are no more than 64, and one more */

/* Draw quantiles of n records on points in order, with three words each: the middle one of several first, which cuts the
   records in two, then those of the records below it and above it; or all from all records where `parts` is 0. Return how many
   were drawn before one was open. */
FOR_EACH_LEVEL size_t compute_quantiles(
    const uint32_t *restrict places, size_t n, uint64_t points, uint64_t parts, const Wanted *wanted, size_t number,
    const uint64_t *restrict words, const Room *room, uint64_t *restrict answers)
{
    struct {
        Part part;
        size_t lowest, highest;
    } waiting[DEEPEST];
    size_t depth = 1, drawn = 0;
    waiting[0].part.low = 0;
    waiting[0].part.high = n;
    waiting[0].part.first = 0;
    waiting[0].part.end = points;
    waiting[0].lowest = 0;
    waiting[0].highest = number;
    if (parts == 0) {
        while (drawn < number
               && draw_point(places, &waiting[0].part, wanted + drawn, words + 3 * drawn, room, answers + drawn))
            drawn++;
        return drawn;
    }
    while (depth > 0) {
        Part part = waiting[--depth].part;
        size_t lowest = waiting[depth].lowest, highest = waiting[depth].highest, middle = (lowest + highest) / 2, rank;
        if (lowest == highest)
            continue;
        if (highest - lowest == 1) {
            if (!draw_point(places, &part, wanted + middle, words + 3 * drawn++, room, answers + middle))
                return drawn - 1;
            continue;
        }
        if (!draw_cut(places, &part, wanted + middle, parts, words + 3 * drawn++, room, &rank, answers + middle))
            return drawn - 1;
        waiting[depth].part = part;
        waiting[depth].part.low = rank;
        waiting[depth].part.first = answers[middle];
        waiting[depth].lowest = middle + 1;
        waiting[depth++].highest = highest;
        waiting[depth].part = part;
        waiting[depth].part.high = rank;
        waiting[depth].part.end = answers[middle] + 1;
        waiting[depth].lowest = lowest;
        waiting[depth++].highest = middle;
    }
    return drawn;
}

EXPORT void discreet_nearest_places(const double *x, size_t n, const double *grid, uint32_t *places)
{
    Environment saved = enter();
    compute_nearest_places(x, n, grid, places);
    leave(saved);
}

/* Where the sorted words are, as above; -1 where there is no such sort. */
EXPORT int discreet_sort_words(uint32_t *words, uint32_t *other, size_t n)
{
#if SORTED_BY_NETWORK
    return n > 0 && discreet_level() >= 3 ? compute_sort_words(words, other, n) : -1;
#else
    (void)words;
    (void)other;
    (void)n;
    return -1;
#endif
}

/* Sort doubles into `other`, as above; return 0, or -1 where there is no such sort. */
EXPORT int discreet_sort_doubles(double *x, double *other, size_t n)
{
#if SORTED_BY_NETWORK
    if (n > 0 && discreet_level() >= 3) {
        Environment saved = enter(); /* the least of two subnormal numbers, whatever the caller's mode says */
        compute_sort_doubles(x, other, n, 1);
        leave(saved);
        return 0;
    }
#endif
    (void)x;
    (void)other;
    (void)n;
    return -1;
}

EXPORT size_t discreet_quantiles(
    const uint32_t *places, size_t n, size_t points, size_t parts, const void *wanted, size_t number, const uint64_t *words,
    size_t most, void *room, uint64_t *answers)
{
    Environment saved = enter();
    Room parted;
    parted.starts = room; /* `most` of each */
    parted.ends = parted.starts + most;
    parted.sizes = (double *)(parted.ends + most);
    parted.sums = parted.sizes + most;
    size_t drawn = compute_quantiles(places, n, points, parts, wanted, number, words, &parted, answers);
    leave(saved);
    return drawn;
}

/* Masses of joint quantiles: see mechanisms/joint/masses.py, and docs/reference/mechanisms/joint_quantiles.md for the
   sums and their errors. Only sums and products of numbers >= 0 are computed here; factors exp(+-2 eta e) are the
   caller's. Cuts are whole and below 2^50.

   A *slot* has an end of a place, or none; *Slots* in joint_quantiles.md. How many there are, and how many states a quantile
   has, is for the caller to say: what is none has the weight 0, and every loop is as long for any records. */

#define ABSENT 0
#define ALONE 1  /* the cut of a place of one cut */
#define BOTTOM 2 /* the ends of a tied place */
#define TOP 3
#define INSIDE 4 /* none, within a tied place */

#define NO_CUT (INT64_C(1) << 62)  /* of states that are none: above all cuts */
#define LAST_CUT (INT64_C(3) << 61) /* above these, and above them with what is added to a cut */

/* The states of one quantile, of which the last ones may be none, and the slots within its reach and around. */
typedef struct {
    int64_t *cuts;                         /* of the states, in order */
    double *up, *down;                     /* their masses */
    double *entries;                       /* by slot: `down` of the quantile as the first one in a place of one cut, else 0 */
    const int64_t *ends;                   /* by slot, in order: its cut; if it has none, one up to the next slot's */
    const int8_t *kinds;                   /* by slot */
    const double *sizes;                   /* by slot: the points of a place of one cut */
    const double *grow, *shrink, *least;   /* by slot: exp(2 eta e), exp(-2 eta e) and the smaller one; any numbers beyond the reach */
    int64_t number, first, slots, target;  /* how many states; the number of the first slot, and how many slots */
    double unit, error;
} JointStage;

/* For n cuts, the largest multiple of `width` that is not above each, with 1 / width rounded: the quotient is off by less than a
   half, so it is rounded to the answer, or to one more or one less. A double and a whole number below 2^51 are turned into each
   other by the addition of 1.5 * 2^52, whose bits are MAGIC. Of NO_CUT it is some number or other. */
#define SHIFT 0x1.8p52
#define MAGIC UINT64_C(0x4338000000000000)

INLINE void floors_of(
    const int64_t *restrict cuts, size_t n, int64_t width, double *restrict room, int64_t *restrict floors)
{
    double real_width = (double)width, inverse = 1.0 / real_width;
    for (size_t i = 0; i < n; i++)
        floors[i] = (int64_t)((uint64_t)cuts[i] + MAGIC);
    memcpy(room, floors, n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        double quotient = (room[i] - SHIFT) * inverse + SHIFT;
        room[i] = (quotient - SHIFT) * real_width + SHIFT;
    }
    memcpy(floors, room, n * sizeof(double));
    for (size_t i = 0; i < n; i++) {
        uint64_t floor = (uint64_t)floors[i] - MAGIC, cut = (uint64_t)cuts[i];
        floor -= (int64_t)(cut - floor) < 0 ? (uint64_t)width : 0;
        floor += (int64_t)(cut - floor) >= width ? (uint64_t)width : 0;
        floors[i] = (int64_t)floor;
    }
}

/* Three merges at once, so that a processor has others to work on while it waits for one: how many of `number` cuts are below
   each of n keys. All ascend, and after the last of each stands LAST_CUT. As many steps for any cuts, without a branch. Of the first keys
   also how many are not above each cut, and the order in which cuts and keys come, the keys after the cuts and one more. */
INLINE void count_below(
    const int64_t *restrict cuts, size_t number, const int64_t *const keys[3], size_t n, int64_t *const counts[3],
    int64_t *restrict above, int64_t *restrict order)
{
    const int64_t *restrict keys_a = keys[0], *restrict keys_b = keys[1], *restrict keys_c = keys[2];
    int64_t *restrict counts_a = counts[0], *restrict counts_b = counts[1], *restrict counts_c = counts[2];
    size_t a = 0, b = 0, c = 0;
    for (size_t step = 0; step < n + number; step++) {
        size_t i = step - a, j = step - b, k = step - c;
        size_t over_a = cuts[a] < keys_a[i], over_b = cuts[b] < keys_b[j], over_c = cuts[c] < keys_c[k];
        counts_a[i] = (int64_t)a;
        counts_b[j] = (int64_t)b;
        counts_c[k] = (int64_t)c;
        above[a] = (int64_t)i;
        order[step] = over_a ? (int64_t)a : (int64_t)(number + 1 + i);
        a += over_a;
        b += over_b;
        c += over_c;
    }
}

/* The running sums of n numbers, from the empty one on, in `all`; and those that begin anew where a block begins, forwards
   and backwards, each from the number itself on: *By the kernel* in joint_quantiles.md. None goes through more than ROW + n / ROW + 2 additions: sums of up to
   ROW numbers and sums of those. A block is a stretch of equal `blocks`. */
INLINE void sums_in_blocks(
    const double *restrict up, const double *restrict down, const int64_t *restrict blocks, size_t n, double *restrict all,
    double *restrict forwards, double *restrict backwards)
{
    double rows = 0.0, row = 0.0, before = 0.0, part = 0.0, after = 0.0, rest = 0.0;
    all[0] = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (i % ROW == 0) {
            rows += row;
            before += part;
            after += rest;
            row = part = rest = 0.0;
        }
        size_t last = n - 1 - i;
        double same = i > 0 && blocks[i] == blocks[i - 1] ? 1.0 : 0.0;
        double stays = i > 0 && blocks[last] == blocks[last + 1] ? 1.0 : 0.0;
        row += up[i];
        part = part * same + down[i]; /* a product with 0 or 1 is exact */
        rest = rest * stays + down[last];
        before *= same;
        after *= stays;
        all[i + 1] = rows + row;
        forwards[i] = before + part;
        backwards[last] = after + rest;
    }
}

/* The weights of places of one cut in the slots of quantile `rank`. C(s + j - i, j - i + 1) ways for quantiles i to j among
   s points: a factor for each of them, by Horner. *By the kernel* in joint_quantiles.md: none is above 1 where a quantile comes. */
INLINE void weigh_places(const JointStage *stages, size_t rank, double *restrict masses)
{
    const JointStage *stage = stages + rank;
    size_t n = (size_t)stage->slots;
    for (size_t s = 0; s < n; s++)
        masses[s] = 0.0;
    for (size_t i = 1; i <= rank; i++) {
        const JointStage *earlier = stages + i;
        size_t apart = (size_t)(stage->first - earlier->first), slots = (size_t)earlier->slots;
        /* Slots of a later quantile begin and end later; in others this one has no mass. */
        size_t shared = slots > apart ? slots - apart : 0;
        const double *restrict row = earlier->entries + (shared > 0 ? apart : 0), *restrict sizes = stage->sizes;
        double more = (double)(rank - i), share = earlier->unit / (more + 1.0);
        shared = shared < n ? shared : n;
        for (size_t s = 0; s < shared; s++)
            masses[s] = (masses[s] + row[s]) * ((sizes[s] + more) * share);
    }
}

INLINE void shift_by(const int64_t *restrict cuts, size_t n, int64_t by, int64_t *restrict shifted)
{
    for (size_t i = 0; i < n; i++)
        shifted[i] = cuts[i] + by;
}

INLINE void scale_by(const double *restrict masses, size_t n, double by, double *restrict scaled)
{
    for (size_t i = 0; i < n; i++)
        scaled[i] = masses[i] * by;
}

/* The states of quantile `rank` from those of the quantile before, at least `padded` of them: return how many there are.

   States of the quantile before may stay within a tied place: at cut + ahead, for nothing. The arrays of states have room for those
   of the quantile before and an end in every slot, and for one more. `scratch` has room for 13 numbers a slot and 11 a state, and 24
   more. *The state*, and *A quantile* in the error of the pass in doubles, in joint_quantiles.md. */
FOR_EACH_LEVEL size_t compute_joint_stage(
    const JointStage *restrict stages, size_t rank, int64_t reach, size_t padded, int64_t *restrict scratch)
{
    const JointStage *before = stages + (rank - 1), *stage = stages + rank;
    size_t number = (size_t)before->number, n = (size_t)stage->slots;
    int64_t ahead = stage->target - before->target, width = ahead > 1 ? ahead : 1;
    int64_t lowest = stage->target - reach, highest = stage->target + reach;
    int64_t *states = scratch, *above = states + number + 1, *free_keys = above + number + 1;
    int64_t *split_keys = free_keys + n + 1, *lower = split_keys + n + 1, *split = lower + n + 1, *earlier = split + n + 1;
    int64_t *moved = earlier + n + 1, *keys = moved + number + 1; /* one after the other: all cuts that states may have */
    int64_t *stays = keys + n + 1, *emits = stays + number + 1;   /* and whether they have them */
    int64_t *stay_from = emits + n + 1, *order = stay_from + n + 1, *blocks = order + number + n;
    double *below = (double *)(blocks + number), *forwards = below + number + 1, *backwards = forwards + number + 1;
    double *ups = backwards + number + 1, *downs = ups + number + n + 2; /* and the masses */
    double *slot_ups = ups + number + 1, *slot_downs = downs + number + 1, *entering = downs + number + n + 2;
    double unit = stage->unit;
    const double *restrict up = before->up, *restrict down = before->down;
    const double *restrict grow = stage->grow, *restrict shrink = stage->shrink;
    const int8_t *restrict kinds = stage->kinds;
    double *restrict entries = stage->entries;
    memcpy(states, before->cuts, number * sizeof *states);
    memcpy(keys, stage->ends, n * sizeof *keys);
    shift_by(states, number, ahead, moved);
    shift_by(keys, n, -ahead, free_keys);
    scale_by(up, number, unit, ups);
    scale_by(down, number, unit, downs);
    floors_of(states, number, width, backwards, blocks); /* where the sums will be */
    floors_of(keys, n, width, entering, split_keys);
    states[number] = moved[number] = free_keys[n] = split_keys[n] = keys[n] = LAST_CUT;
    ups[number] = downs[number] = slot_ups[n] = slot_downs[n] = forwards[number] = backwards[number] = 0.0;
    count_below(
        states, number, (const int64_t *const[3]){free_keys, split_keys, keys}, n, (int64_t *const[3]){lower, split, earlier},
        above, order);
    sums_in_blocks(up, down, blocks, number, below, forwards, backwards);
    stay_from[0] = LAST_CUT;
    const int64_t stays_above[] = {[ALONE] = LAST_CUT, [BOTTOM] = 1, [TOP] = LAST_CUT, [INSIDE] = 0, [ABSENT] = LAST_CUT};
    const double only[] = {0.0, 1.0};
    for (size_t i = 0; i < n; i++) {
        int kind = kinds[i], within = (keys[i] >= lowest) & (keys[i] <= highest);
        int64_t single = within & (kind == ALONE), bottom = within & (kind == BOTTOM), top = within & (kind == TOP);
        int64_t low = lower[i], early = earlier[i];
        /* e <= a rises to a at exp(-eta (a - e)), from places before a place of one cut only; nothing rises to a top. */
        int64_t risen = low + (states[low] == free_keys[i]);
        risen -= (risen - early) & -(single & (risen > early));
        /* e >= b falls to b, from a tied place itself too; nothing falls to a bottom. A window ends below the cut and is as
           wide as blocks are, so it lies in two: the end of one and the beginning of the next. */
        int64_t begin = risen + ((low - risen) & -top), end = early + (top & (states[early] == keys[i]));
        int64_t some = (single | top) & (begin < end), last = some & (begin < split[i]), next = some & (end > split[i]);
        /* Behind the sums stands a 0, and in front of those of `up`. */
        double sum = below[risen & -(single | bottom)] * shrink[i];
        sum += backwards[(int64_t)number + ((begin - (int64_t)number) & -last)];
        sum += forwards[(int64_t)number + ((end - 1 - (int64_t)number) & -next)];
        entering[i] = sum;
        entries[i] = sum * only[single]; /* exact */
        emits[i] = single | bottom | top;
        /* A state stays within a tied place if the last slot that is not above it is inside, or a bottom and another cut. */
        stay_from[i + 1] = keys[i] + stays_above[kind];
    }
    weigh_places(stages, rank, slot_downs);
    for (size_t i = 0; i < n; i++) {
        slot_downs[i] += (entering[i] - entries[i]) * unit; /* one of both is 0 */
        slot_ups[i] = slot_downs[i] * grow[i];
    }
    for (size_t i = 0; i < number; i++)
        stays[i] = (moved[i] >= stay_from[above[i]]) & (moved[i] < NO_CUT);
    /* States that stay and ends, in order: as many steps for any of them, without a branch. */
    int64_t *restrict cuts = stage->cuts;
    double *restrict new_ups = stage->up, *restrict new_downs = stage->down;
    size_t out = 0;
    for (size_t step = 0; step < n + number; step++) {
        size_t from = (size_t)order[step];
        cuts[out] = moved[from];
        new_ups[out] = ups[from];
        new_downs[out] = downs[from];
        out += (size_t)stays[from];
    }
    for (size_t k = 0; k < padded; k++) {
        cuts[k] = k < out ? cuts[k] : NO_CUT;
        new_ups[k] = k < out ? new_ups[k] : 0.0;
        new_downs[k] = k < out ? new_downs[k] : 0.0;
    }
    return out > padded ? out : padded;
}

/* How many of n ascending cuts are not above one. */
INLINE size_t count_to(const int64_t *cuts, size_t n, int64_t cut)
{
    size_t i = 0, left = n;
    while (left > 0) {
        size_t half = (left + 1) / 2;
        i += cuts[i + half - 1] <= cut ? half : 0;
        left -= half;
    }
    return i;
}

/* The index of the running sums on which a word certainly falls, or -1; sums before `first` are 0. There is weight of up to `omission`
   that they leave out, below all if `outside` is 1 and above all, so the word must be certain on both sides. */
INLINE int64_t locate_choice(
    const double *sums, size_t n, size_t first, uint64_t word, double error, double omission, size_t outside)
{
    if (n == 0)
        return -1;
    /* *What is left out* in joint_quantiles.md: each choice divides the bounds by its own total. */
    double total = sums[n - 1], relative = 1.001 * (error + (double)(n + 10) * 0x1p-53 + omission / total);
    double slack = (2.0 * relative + 0x1p-50) * total, cell = total * 0x1p-64, low = whole(word) * cell;
    size_t i = 0, left = n;
    while (left > 0) {
        size_t half = (left + 1) / 2;
        i += sums[i + half - 1] <= low ? half : 0;
        left -= half;
    }
    i = i < n - 1 ? i : n - 1;
    /* *Certificate* in draw.md. Coq: Doubles.locate_lower, Doubles.locate_all_upper */
    int after = (outside == 0 && i == first) || low - (i > 0 ? sums[i - 1] : 0.0) > slack;
    int before = sums[i] - low > slack + cell;
    return (relative < 0x1p-30) & after & before ? (int64_t)i : -1; /* false for NaN */
}

/* A draw of joint quantiles: the stages of a state of none, of the quantiles from 1 to `number`, and of the end; what a choice adds
   to their errors, what is left out, and whether there may be some below all; room for sums and for the cut of each group and how many
   quantiles it has. And how far it is: the quantiles that are left, the state of the one before them, whether that one is
   placed but not yet its group, and how many groups there are. */
typedef struct {
    const JointStage *stages;
    int64_t number;
    double stage_error, omission;
    int64_t outside;
    double *sums;
    int64_t *groups;
    int64_t left, state, placed, found;
} JointDraw;

#define NEEDS_A_WORD 1

/* Go on drawing quantiles backwards, by a word for every choice: *Then backwards* in joint_quantiles.md. Return
   NEEDS_A_WORD where the next choice is to be made, 0 in the end, and -1 where the word leaves its choice open. */
FOR_EACH_LEVEL int compute_joint_draw(JointDraw *restrict draw, uint64_t word)
{
    const JointStage *stages = draw->stages;
    size_t number = (size_t)draw->number, outside = (size_t)draw->outside;
    double stage_error = draw->stage_error, omission = draw->omission, *restrict sums = draw->sums;
    int64_t *groups = draw->groups;
    int has_word = draw->state >= 0; /* in the beginning it is below 0, and the word is none */
    if (!has_word)
        draw->state = stages[number + 1].target;
    while (draw->left > 0) {
        size_t rank = (size_t)draw->left;
        const JointStage *stage = stages + rank, *next = stage + 1;
        int is_last = rank == number;
        int64_t state = draw->state, same = state - next->target + stage->target;
        size_t slot = count_to(next->ends, (size_t)next->slots, state);
        int kind = slot > 0 ? next->kinds[slot - 1] : 0, there = slot > 0 && next->ends[slot - 1] == state;
        if (!draw->placed && !is_last && (kind == INSIDE || (kind == BOTTOM && !there)))
            draw->state = same;
        else if (!draw->placed) {
            if (!has_word)
                return NEEDS_A_WORD;
            has_word = 0;
            size_t states = (size_t)stage->number, first = 0;
            size_t before = count_to(stage->cuts, states, state), stays = count_to(stage->cuts, states, same);
            double grow = 1.0, shrink = 1.0, sum = 0.0;
            if (is_last)
                before = states;
            else if (kind == ALONE)
                before -= before > 0 && stage->cuts[before - 1] == state;
            else if (kind == BOTTOM)
                before = stays;
            size_t middle = stays < before ? stays : before;
            if (kind == TOP && !is_last) {
                first = stays - (stays > 0 && stage->cuts[stays - 1] == same);
                middle = first;
            }
            if (!is_last && state > next->target)
                shrink = next->least[slot - 1];
            else if (!is_last)
                grow = next->least[slot - 1];
            for (size_t i = 0; i < states; i++) { /* all of them, so that the choice does not show */
                double rises = (double)((i >= first) & (i < middle)), falls = (double)((i >= middle) & (i < before));
                sums[i] = sum += rises * (stage->up[i] * shrink) + falls * (stage->down[i] * grow);
            }
            int64_t i = before <= first ? -1 : locate_choice(sums, states, first, word, stage->error + stage_error, omission, outside);
            if (i < 0)
                return -1;
            draw->state = stage->cuts[i];
        }
        draw->placed = 1;
        int64_t group = 1;
        slot = count_to(stage->ends, (size_t)stage->slots, draw->state);
        if (rank > 1 && slot > 0 && stage->kinds[slot - 1] == ALONE) { /* a place of one cut: its cut is the state */
            if (!has_word)
                return NEEDS_A_WORD;
            has_word = 0;
            /* C(s + j - i, j - i + 1) ways for quantiles i to j; entries are `down`, in units of the smaller one. */
            slot--;
            double sum = 0.0, ways = 1.0, grow = draw->state < stage->target ? stage->least[slot] : 1.0;
            for (size_t i = 0; i < rank; i++) {
                const JointStage *earlier = stage - i;
                size_t place = slot + (size_t)(stage->first - earlier->first);
                double entry = place < (size_t)earlier->slots ? earlier->entries[place] : 0.0;
                ways *= (stage->sizes[slot] + (double)i) * (earlier->unit / ((double)i + 1.0));
                sums[i] = sum += entry == 0.0 ? 0.0 : entry * ways * grow; /* ways may overflow where no quantile comes */
            }
            double error = stage->error + stage_error + (double)rank * 0x1p-53;
            group = locate_choice(sums, rank, 0, word, error, omission, outside) + 1;
            if (group == 0)
                return -1;
        }
        groups[2 * draw->found] = draw->state;
        groups[2 * draw->found++ + 1] = group;
        draw->left -= group;
        draw->placed = 0;
    }
    return 0;
}

EXPORT size_t discreet_joint_stage(void *stages, size_t rank, size_t reach, size_t padded, int64_t *scratch)
{
    Environment saved = enter();
    JointStage *all = stages;
    size_t number = compute_joint_stage(all, rank, (int64_t)reach, padded, scratch);
    all[rank].number = (int64_t)number;
    leave(saved);
    return number;
}

EXPORT int discreet_joint_draw(void *draw, size_t word)
{
    Environment saved = enter();
    int status = compute_joint_draw(draw, word);
    leave(saved);
    return status;
}
