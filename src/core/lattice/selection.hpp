// Which labels of a position a beam keeps: those with the highest numbers of a row. For a number of labels
// the threshold is found by bisection. For a share of the sum nearly all labels are decided at once: numbers
// so small that together they may be dropped, and numbers that alone may not. The few between are dropped one
// by one, the smallest first. Included only by files that are compiled once for each instruction set.
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

// v where it is below x, otherwise 0.
template <class Real, int N>
static inline Vec<Real, N> where_below(Vec<Real, N> v, Vec<Real, N> x) {
#if defined(__GNUC__)
    return v < x ? v : Vec<Real, N>{};
#else
    return Vec<Real, N>::map([&](int i) { return v[i] < x[i] ? v[i] : Real(0); });
#endif
}

// The indices of masses in a heap: the smallest first, of equals the last.
template <class Real>
class SmallestFirst {
  public:
    SmallestFirst(const Real* row, const std::int32_t* labels, std::int32_t* heap)
        : row_(row), labels_(labels), heap_(heap) {}

    // place: of the label in `labels`.
    void add(std::int64_t place) { heap_[n_++] = static_cast<std::int32_t>(place); }
    void order() {
        for (std::int64_t i = n_ / 2; i-- > 0;) sink(i);
    }
    bool empty() const { return n_ == 0; }
    std::int32_t place() const { return heap_[0]; }
    Real mass() const { return row_[labels_[heap_[0]]]; }
    void pop() {  // before the label changes
        heap_[0] = heap_[--n_];
        sink(0);
    }

  private:
    bool before(std::int32_t a, std::int32_t b) const {
        const Real of_a = row_[labels_[a]], of_b = row_[labels_[b]];
        return of_a != of_b ? of_a < of_b : a > b;
    }
    void sink(std::int64_t i) {
        while (2 * i + 1 < n_) {
            std::int64_t child = 2 * i + 1;
            if (child + 1 < n_ && before(heap_[child + 1], heap_[child])) ++child;
            if (!before(heap_[child], heap_[i])) return;
            const std::int32_t swap = heap_[i];
            heap_[i] = heap_[child];
            heap_[child] = swap;
            i = child;
        }
    }

    const Real* row_;
    const std::int32_t* labels_;
    std::int32_t* heap_;
    std::int64_t n_ = 0;
};

// x <- exp(x - the largest x), for n numbers and as many more as fill a vector; 0 behind them. Minus infinity
// becomes 0.
static inline void to_masses(double* x, std::int64_t n) {
    constexpr int N = kLanes<double>;
    const std::int64_t width = padded<double>(n);
    for (std::int64_t i = n; i < width; ++i) x[i] = -INFINITY;
    const double most = largest(x, width);
    for (std::int64_t i = 0; i < width; i += N)
        store<N>(x + i, exponential<double, N>(load<N>(x + i) - (most == -INFINITY ? 0 : most)));
}

// The sum and the number of the numbers below x.
template <class Real>
struct Below {
    Real sum;
    std::int64_t n;
};
template <class Real>
static inline Below<Real> below(const Real* row, std::int64_t n, Real x) {
    constexpr int N = kLanes<Real>;
    const Vec<Real, N> least = fill<Real, N>(x);
    Vec<Real, N> sum = fill<Real, N>(0);
    std::int64_t from = 0;
    for (std::int64_t i = 0; i < n; i += N) {
        const Vec<Real, N> v = load<N>(row + i);
        sum += where_below<Real, N>(v, least);
        from += std::popcount(lanes_from<Real, N>(v, least));
    }
    return {total<Real, N>(sum), n - from};
}

// The number half-way between low > 0 and high by their bits, so that bisection takes equally many steps at
// every magnitude.
template <class Real>
static inline Real middle(Real low, Real high) {
    using Int = typename Bits<Real>::Int;
    const Int a = std::bit_cast<Int>(low), b = std::bit_cast<Int>(high);
    return std::bit_cast<Real>(a + (b - a) / 2);
}

// labels <- the fewest indices that leave out at most the share `allowance` of the sum of the row, and `also`
// unless it is negative, in increasing order. Of equal numbers the first is kept. Returns how many. The row
// is padded with zeros. n_labels: without the padding. OUT: certain_from, a number below all that are kept
// but for `also`. `heap` has room for all labels.
template <class Real>
static inline std::int64_t take_mass(const Real* row, std::int64_t n, std::int64_t n_labels, Real allowance,
                                     std::int64_t also, std::int32_t* labels, std::int32_t* heap,
                                     Real* certain_from) {
    constexpr int N = kLanes<Real>;
    constexpr std::int64_t kFew = 6;
    Vec<Real, N> sum = fill<Real, N>(0);
    for (std::int64_t i = 0; i < n; i += N) sum += load<N>(row + i);
    const Real budget = allowance * total<Real, N>(sum);
    // All numbers below `low` may be dropped, not all below `high`.
    Real low = budget / static_cast<Real>(n_labels), high = budget + budget / 1024;
    *certain_from = low;
    if (!(low > 0)) return 0;
    Below<Real> dropped = below(row, n, high);
    std::int64_t n_high = dropped.n;
    if (dropped.sum <= budget) {
        low = high;
    } else {
        dropped = below(row, n, low);
    }
    while (n_high - dropped.n > kFew) {
        const Real x = middle(low, high);
        if (!(x > low && x < high)) break;
        const Below<Real> tried = below(row, n, x);
        if (tried.sum <= budget) {
            low = x;
            dropped = tried;
        } else {
            high = x;
            n_high = tried.n;
        }
    }
    const Vec<Real, N> least = fill<Real, N>(low);
    std::int64_t n_tried = 0;
    for (std::int64_t first = 0; first < n; first += N) {
        std::uint32_t in = lanes_from<Real, N>(load<N>(row + first), least);
        if (also >= first && also < first + N) in |= 1u << (also - first);
        for (; in != 0; in &= in - 1)
            labels[n_tried++] = static_cast<std::int32_t>(first + std::countr_zero(in));
    }
    Real left = budget - dropped.sum;
    if (n_high == dropped.n || !(left > 0)) return n_tried;
    SmallestFirst<Real> doubtful(row, labels, heap);
    for (std::int64_t i = 0; i < n_tried; ++i)
        if (row[labels[i]] >= low && row[labels[i]] < high) doubtful.add(i);
    doubtful.order();
    while (!doubtful.empty() && doubtful.mass() <= left) {
        const std::int32_t place = doubtful.place();
        left -= doubtful.mass();
        doubtful.pop();
        if (labels[place] != also) labels[place] = -1;
    }
    std::int64_t kept = 0;
    for (std::int64_t i = 0; i < n_tried; ++i) {
        labels[kept] = labels[i];
        kept += labels[i] >= 0;
    }
    return kept;
}

}  // namespace hedgerow::HEDGEROW_ISA
