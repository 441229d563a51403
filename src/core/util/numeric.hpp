// Vectors, one exp, and the precision argument. Included only by files that are compiled once for each
// instruction set, hence the namespace. No standard containers here: the linker keeps one copy of their
// inline functions, and that copy could be the one for a processor that is not there. Functions of <bit> are
// single instructions, which optimising compilers inline.
//
// Precision. exp: n = round(x / ln 2), r = x - n ln 2 with |r| <= ln 2 / 2, exp r by its Taylor series up to
// r^7 (float, remainder 5e-9) or r^13 (double, remainder 5e-18), times 2^n through the exponent bits. Below
// `lowest()` the result is exactly 0; minus infinity therefore gives 0. Arguments are at most 8 (float) or
// 100 (double): shifted, or near 0.
//
// Every instruction set rounds alike, to the bit. No product is fused with a sum (-ffp-contract=off), and a
// sum over a row is spread over kSumLanes lanes on all of them: where the processor's vectors are shorter,
// Wide holds several.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#ifndef HEDGEROW_ISA
#define HEDGEROW_ISA portable
#endif

#if defined(__AVX512F__)
#define HEDGEROW_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define HEDGEROW_VECTOR_BYTES 32
#else
#define HEDGEROW_VECTOR_BYTES 16
#endif

namespace hedgerow::HEDGEROW_ISA {

template <int N>
struct Lanes {
    static constexpr int value = N;
};

template <class Real>
struct Bits;
template <>
struct Bits<float> {
    using Int = std::int32_t;
    using Unsigned = std::uint32_t;
    static constexpr int mantissa = 23;
    static constexpr float round = 0x1.8p23f, log2e = 0x1.715476p0f, ln2_high = 0x1.62e4p-1f,
                           ln2_low = 0x1.7f7d1cp-20f, lowest = -86.0f;
    static constexpr int terms = 7;
    static constexpr float inverse_factorial[] = {1.f,      1.f,       1.f / 2,   1.f / 6,
                                                  1.f / 24, 1.f / 120, 1.f / 720, 1.f / 5040};
};
template <>
struct Bits<double> {
    using Int = std::int64_t;
    using Unsigned = std::uint64_t;
    static constexpr int mantissa = 52;
    static constexpr double round = 0x1.8p52, log2e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42feep-1,
                            ln2_low = 0x1.a39ef35793c76p-33, lowest = -707.0;
    static constexpr int terms = 13;
    static constexpr double inverse_factorial[] = {
        1.,        1.,         1. / 2,      1. / 6,       1. / 24,       1. / 120,       1. / 720,
        1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800.};
};

template <>
struct Bits<std::int32_t> {  // whole numbers: only sums
    using Int = std::int32_t;
};

// The widest vector of the instruction set; narrower ones serve narrow rows.
template <class Real>
constexpr int kLanes = HEDGEROW_VECTOR_BYTES / sizeof(Real);
// The lanes of a sum, the same on every instruction set: the order of additions, so their rounding, follows
// from it.
template <class Real>
constexpr int kSumLanes = 64 / sizeof(Real);

#if defined(__GNUC__)

template <class Real, int N>
struct VectorOf {
    typedef Real type __attribute__((vector_size(N * sizeof(Real))));
    typedef typename Bits<Real>::Int Int __attribute__((vector_size(N * sizeof(Real))));
};

// More lanes than a vector of the processor has: two halves, which may be wide themselves.
template <class Real, int N>
struct Wide;
template <class Real, int N>
constexpr bool kIsWide = N > kLanes<Real>;
template <class Real, int N>
using Vec =
    typename std::conditional_t<kIsWide<Real, N>, std::type_identity<Wide<Real, N>>, VectorOf<Real, N>>::type;

template <class Real, int N>
struct Wide {
    using Half = Vec<Real, N / 2>;
    Half low, high;

    Real operator[](int i) const { return i < N / 2 ? low[i] : high[i - N / 2]; }
    friend inline Wide operator+(Wide a, Wide b) { return {a.low + b.low, a.high + b.high}; }
    friend inline Wide operator*(Wide a, Wide b) { return {a.low * b.low, a.high * b.high}; }
    friend inline Wide operator*(Wide a, Real b) { return {a.low * b, a.high * b}; }
    friend inline Wide operator*(Real a, Wide b) { return {a * b.low, a * b.high}; }
    friend inline Wide operator+(Real a, Wide b) { return {a + b.low, a + b.high}; }
    friend inline Wide operator-(Wide a, Real b) { return {a.low - b, a.high - b}; }
    inline Wide& operator+=(Wide b) { return *this = {low + b.low, high + b.high}; }
};

template <class Real, int N>
static inline Vec<Real, N> fill(Real x) {
    if constexpr (kIsWide<Real, N>)
        return {fill<Real, N / 2>(x), fill<Real, N / 2>(x)};
    else
        return x - Vec<Real, N>{};
}
template <class Real, int N>
static inline Vec<Real, N> larger(Vec<Real, N> a, Vec<Real, N> b) {
    if constexpr (kIsWide<Real, N>)
        return {larger<Real, N / 2>(a.low, b.low), larger<Real, N / 2>(a.high, b.high)};
    else
        return a > b ? a : b;
}
template <class Real, int N>
static inline Vec<Real, N> smaller(Vec<Real, N> a, Vec<Real, N> b) {
    if constexpr (kIsWide<Real, N>)
        return {smaller<Real, N / 2>(a.low, b.low), smaller<Real, N / 2>(a.high, b.high)};
    else
        return a < b ? a : b;
}
template <class Real, int N>
static inline Vec<Real, N> where_equal(Vec<Real, N> a, Vec<Real, N> b, Vec<Real, N> then,
                                       Vec<Real, N> otherwise) {
    return a == b ? then : otherwise;
}
// v[i] <- x
template <class Real, int N>
static inline void set_lane(Vec<Real, N>& v, int i, Real x) {
    if constexpr (!kIsWide<Real, N>)
        v[i] = x;
    else if (i < N / 2)
        set_lane<Real, N / 2>(v.low, i, x);
    else
        set_lane<Real, N / 2>(v.high, i - N / 2, x);
}

// exp(x) for x that is not large.
template <class Real, int N>
static inline Vec<Real, N> exponential(Vec<Real, N> x) {
    if constexpr (kIsWide<Real, N>) {
        return {exponential<Real, N / 2>(x.low), exponential<Real, N / 2>(x.high)};
    } else {
        using B = Bits<Real>;
        using Int = typename VectorOf<Real, N>::Int;
        const Vec<Real, N> floor = fill<Real, N>(B::lowest);
        const Vec<Real, N> inside = larger<Real, N>(x, floor);
        const Vec<Real, N> shifted = inside * B::log2e + B::round;
        const Vec<Real, N> n = shifted - B::round;
        const Vec<Real, N> r = (inside - n * B::ln2_high) - n * B::ln2_low;
        Vec<Real, N> sum = fill<Real, N>(B::inverse_factorial[B::terms]);
        for (int i = B::terms - 1; i >= 0; --i) sum = sum * r + B::inverse_factorial[i];
        const Int scaled = std::bit_cast<Int>(sum) + (std::bit_cast<Int>(shifted) << B::mantissa);
        return x > floor ? std::bit_cast<Vec<Real, N>>(scaled) : Vec<Real, N>{};
    }
}

#else

// The same for compilers without vector types; loops of fixed length, which they vectorise or not.
template <class Real, int N>
struct Vec {
    Real lane[N];
    Real& operator[](int i) { return lane[i]; }
    Real operator[](int i) const { return lane[i]; }
    template <class F>
    static Vec map(F f) {
        Vec v;
        for (int i = 0; i < N; ++i) v.lane[i] = f(i);
        return v;
    }
    friend Vec operator+(Vec a, Vec b) {
        return map([&](int i) { return a[i] + b[i]; });
    }
    friend Vec operator*(Vec a, Vec b) {
        return map([&](int i) { return a[i] * b[i]; });
    }
    friend Vec operator*(Vec a, Real b) {
        return map([&](int i) { return a[i] * b; });
    }
    friend Vec operator*(Real a, Vec b) { return b * a; }
    friend Vec operator+(Vec a, Real b) {
        return map([&](int i) { return a[i] + b; });
    }
    friend Vec operator+(Real a, Vec b) { return b + a; }
    friend Vec operator-(Vec a, Real b) { return a + -b; }
    Vec& operator+=(Vec b) { return *this = *this + b; }
};
template <class Real, int N>
constexpr bool kIsWide = false;
template <class Real, int N>
static inline Vec<Real, N> fill(Real x) {
    return Vec<Real, N>::map([&](int) { return x; });
}
template <class Real, int N>
static inline void set_lane(Vec<Real, N>& v, int i, Real x) {
    v[i] = x;
}
template <class Real, int N>
static inline Vec<Real, N> larger(Vec<Real, N> a, Vec<Real, N> b) {
    return Vec<Real, N>::map([&](int i) { return a[i] > b[i] ? a[i] : b[i]; });
}
template <class Real, int N>
static inline Vec<Real, N> smaller(Vec<Real, N> a, Vec<Real, N> b) {
    return Vec<Real, N>::map([&](int i) { return a[i] < b[i] ? a[i] : b[i]; });
}
template <class Real, int N>
static inline Vec<Real, N> where_equal(Vec<Real, N> a, Vec<Real, N> b, Vec<Real, N> then,
                                       Vec<Real, N> otherwise) {
    return Vec<Real, N>::map([&](int i) { return a[i] == b[i] ? then[i] : otherwise[i]; });
}
template <class Real, int N>
static inline Vec<Real, N> exponential(Vec<Real, N> x) {
    using B = Bits<Real>;
    using Unsigned = typename B::Unsigned;
    return Vec<Real, N>::map([&](int i) {
        const Real inside = x[i] > B::lowest ? x[i] : B::lowest;
        const Real shifted = inside * B::log2e + B::round;
        const Real n = shifted - B::round;
        const Real r = (inside - n * B::ln2_high) - n * B::ln2_low;
        Real sum = B::inverse_factorial[B::terms];
        for (int j = B::terms - 1; j >= 0; --j) sum = sum * r + B::inverse_factorial[j];
        const Unsigned scaled =
            std::bit_cast<Unsigned>(sum) + (std::bit_cast<Unsigned>(shifted) << B::mantissa);
        return x[i] > B::lowest ? std::bit_cast<Real>(scaled) : Real(0);
    });
}

#endif

template <int N, class Real>
static inline Vec<Real, N> load(const Real* p) {
    if constexpr (kIsWide<Real, N>) {
        return {load<N / 2>(p), load<N / 2>(p + N / 2)};
    } else {
        Vec<Real, N> v;
        std::memcpy(&v, p, sizeof v);
        return v;
    }
}
template <int N, class Real>
static inline void store(Real* p, Vec<Real, N> v) {
    if constexpr (kIsWide<Real, N>) {
        store<N / 2>(p, v.low);
        store<N / 2>(p + N / 2, v.high);
    } else {
        std::memcpy(p, &v, sizeof v);
    }
}

// The N / 2 lanes of v from `First` on. Compilers without this built-in go by way of memory.
#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define HEDGEROW_SHUFFLES
#endif
#endif
template <class Real, int N, int First, int... I>
static inline Vec<Real, N / 2> half(Vec<Real, N> v, std::integer_sequence<int, I...>) {
#if defined(__GNUC__)
    if constexpr (kIsWide<Real, N>) return First == 0 ? v.low : v.high;
#endif
#if defined(HEDGEROW_SHUFFLES)
    if constexpr (!kIsWide<Real, N> && N > 2) return __builtin_shufflevector(v, v, (First + I)...);
#endif
    Vec<Real, N / 2> part;
    std::memcpy(&part, reinterpret_cast<const char*>(&v) + First * sizeof(Real), sizeof part);
    return part;
}

// Folds the lanes of v into one with a function of two vectors of half the width.
template <class Real, int N, class Fold>
static inline Real reduce(Vec<Real, N> v, Fold fold) {
    if constexpr (N == 1) {
        return v[0];
    } else {
        constexpr auto lanes = std::make_integer_sequence<int, N / 2>{};
        return reduce<Real, N / 2>(fold(half<Real, N, 0>(v, lanes), half<Real, N, N / 2>(v, lanes)), fold);
    }
}
template <class Real, int N>
static inline Real total(Vec<Real, N> v) {
    return reduce<Real, N>(v, [](auto a, auto b) { return a + b; });
}
template <class Real, int N>
static inline Real greatest(Vec<Real, N> v) {
    return reduce<Real, N>(v, [](auto a, auto b) { return larger<Real, sizeof(a) / sizeof(Real)>(a, b); });
}
template <class Real, int N>
static inline Real least(Vec<Real, N> v) {
    return reduce<Real, N>(v, [](auto a, auto b) { return smaller<Real, sizeof(a) / sizeof(Real)>(a, b); });
}

// The width of a row of n numbers, padded to whole vectors.
template <class Real>
static inline std::int64_t padded(std::int64_t n) {
    return (n + kSumLanes<Real> - 1) / kSumLanes<Real> * kSumLanes<Real>;
}

// Calls f with the lane count to use for rows of n numbers, as a compile-time constant.
template <class Real, int widest = kLanes<Real>, class F>
static inline auto with_lanes(std::int64_t n, F f) {
    constexpr int half = widest >= 4 ? widest / 2 : widest, quarter = widest >= 8 ? widest / 4 : half;
    if (n <= quarter) return f(Lanes<quarter>{});
    if (n <= half) return f(Lanes<half>{});
    return f(Lanes<widest>{});
}

}  // namespace hedgerow::HEDGEROW_ISA
