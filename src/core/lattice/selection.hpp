// Which labels of a position a beam keeps: those with the highest numbers of a row. The threshold is found by
// bisection. Included only by files that are compiled once for each instruction set.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "util/numeric.hpp"

#if defined(__AVX2__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace hedgerow::HEDGEROW_ISA {

// Bit i is set where v[i] >= x[i].
template <class Real, int N>
static inline std::uint32_t lanes_from(Vec<Real, N> v, Vec<Real, N> x) {
#if defined(__AVX512F__) && defined(__GNUC__)
    if constexpr (sizeof(Real) == 4)
        return _mm512_cmp_ps_mask((__m512)v, (__m512)x, _CMP_GE_OQ);
    else
        return _mm512_cmp_pd_mask((__m512d)v, (__m512d)x, _CMP_GE_OQ);
#elif defined(__AVX2__) && defined(__GNUC__)
    if constexpr (sizeof(Real) == 4)
        return _mm256_movemask_ps(_mm256_cmp_ps((__m256)v, (__m256)x, _CMP_GE_OQ));
    else
        return _mm256_movemask_pd(_mm256_cmp_pd((__m256d)v, (__m256d)x, _CMP_GE_OQ));
#else
    std::uint32_t bits = 0;
    for (int i = 0; i < N; ++i) bits |= static_cast<std::uint32_t>(v[i] >= x[i]) << i;
    return bits;
#endif
}

// How many of n numbers are at least x. n is a multiple of the vector's length.
template <class Real>
static inline std::int64_t count_from(const Real* row, std::int64_t n, Real x) {
    constexpr int N = kLanes<Real>;
    const Vec<Real, N> least = fill<Real, N>(x);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < n; i += N)
        count += std::popcount(lanes_from<Real, N>(load<N>(row + i), least));
    return count;
}

template <class Real>
static inline Real largest(const Real* row, std::int64_t n) {
    constexpr int N = kLanes<Real>;
    Vec<Real, N> most = fill<Real, N>(-INFINITY);
    std::int64_t i = 0;
    for (; i + N <= n; i += N) most = larger<Real, N>(most, load<N>(row + i));
    Real found = greatest<Real, N>(most);
    for (; i < n; ++i) found = row[i] > found ? row[i] : found;
    return found;
}

// Keeps every number >= sure and, of the other numbers >= perhaps, the first `spare`.
template <class Real>
struct Cut {
    Real sure, perhaps;
    std::int64_t spare;
};

// The cut that keeps the `beam` highest of n numbers, more than `beam` of which must be >= low. middle(a, b)
// returns a number between a and b, or a or b if there is none.
template <class Real, class Middle>
static inline Cut<Real> cut(const Real* row, std::int64_t n, std::int64_t beam, Real low, Middle middle) {
    Real high = largest(row, n);
    std::int64_t n_high = count_from(row, n, high);
    if (n_high > beam) return {INFINITY, high, beam};
    while (n_high < beam) {
        const Real x = middle(low, high);
        if (!(x > low && x < high)) return {high, low, beam - n_high};
        const std::int64_t n_x = count_from(row, n, x);
        if (n_x > beam) {
            low = x;
        } else {
            high = x;
            n_high = n_x;
        }
    }
    return {high, high, 0};
}

// labels <- the indices of the numbers that the cut keeps, and `also` unless it is negative, in increasing
// order. Returns how many.
template <class Real>
static inline std::int64_t take(const Real* row, std::int64_t n, const Cut<Real>& cut, std::int64_t also,
                                std::int32_t* labels) {
    constexpr int N = kLanes<Real>;
    const Vec<Real, N> sure = fill<Real, N>(cut.sure), perhaps = fill<Real, N>(cut.perhaps);
    std::int64_t kept = 0, spare = cut.spare;
    for (std::int64_t first = 0; first < n; first += N) {
        const Vec<Real, N> v = load<N>(row + first);
        std::uint32_t in = lanes_from<Real, N>(v, sure);
        if (spare > 0) {
            std::uint32_t tied = lanes_from<Real, N>(v, perhaps) & ~in;
            for (; tied != 0 && spare > 0; tied &= tied - 1, --spare) in |= 1u << std::countr_zero(tied);
        }
        if (also >= first && also < first + N) in |= 1u << (also - first);
        for (; in != 0; in &= in - 1)
            labels[kept++] = static_cast<std::int32_t>(first + std::countr_zero(in));
    }
    return kept;
}

}  // namespace hedgerow::HEDGEROW_ISA
