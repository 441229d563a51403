// Vectors, one exp, and the precision argument. Included only by files that are compiled once for each
// instruction set, hence the namespace; no standard containers here, so that no inline function of theirs
// is compiled for a processor that may not be there.
//
// Precision. exp: n = round(x / ln 2), r = x - n ln 2 with |r| <= ln 2 / 2, exp r by its Taylor series up to
// r^7 (float, remainder 5e-9) or r^13 (double, remainder 5e-18), times 2^n through the exponent bits. Below
// `lowest()` the result is exactly 0; minus infinity therefore gives 0. Arguments are at most 0 (shifted).
#pragma once

#include <cstdint>
#include <cstring>

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

template <class Real>
struct Bits;
template <>
struct Bits<float> {
    using Int = std::int32_t;
    static constexpr int mantissa = 23;
    static constexpr float round = 0x1.8p23f, log2e = 0x1.715476p0f, ln2_high = 0x1.62e4p-1f,
                           ln2_low = 0x1.7f7d1cp-20f, lowest = -86.0f;
    static constexpr int terms = 7;
};
template <>
struct Bits<double> {
    using Int = std::int64_t;
    static constexpr int mantissa = 52;
    static constexpr double round = 0x1.8p52, log2e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42feep-1,
                            ln2_low = 0x1.a39ef35793c76p-33, lowest = -707.0;
    static constexpr int terms = 13;
};

template <class Real>
constexpr int kLanes = HEDGEROW_VECTOR_BYTES / sizeof(Real);

#if defined(__GNUC__)

template <class Real>
struct VectorOf;
template <>
struct VectorOf<float> {
    typedef float Type __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
    typedef std::int32_t Int __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
};
template <>
struct VectorOf<double> {
    typedef double Type __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
    typedef std::int64_t Int __attribute__((vector_size(HEDGEROW_VECTOR_BYTES)));
};
template <class Real>
using Vec = typename VectorOf<Real>::Type;

template <class Real>
static inline Vec<Real> fill(Real x) {
    return x - Vec<Real>{};
}
template <class Real>
static inline Vec<Real> larger(Vec<Real> a, Vec<Real> b) {
    return a > b ? a : b;
}
template <class Real>
static inline Vec<Real> smaller(Vec<Real> a, Vec<Real> b) {
    return a < b ? a : b;
}

// exp(x) for x <= 0.
template <class Real>
static inline Vec<Real> exponential(Vec<Real> x) {
    using B = Bits<Real>;
    using Int = typename VectorOf<Real>::Int;
    const Vec<Real> floor = fill<Real>(B::lowest);
    const Vec<Real> inside = larger<Real>(x, floor);
    const Vec<Real> shifted = inside * B::log2e + B::round;
    const Vec<Real> n = shifted - B::round;
    const Vec<Real> r = (inside - n * B::ln2_high) - n * B::ln2_low;
    Vec<Real> sum = fill<Real>(1);
    for (int i = B::terms; i > 0; --i) sum = sum * (r * (Real(1) / Real(i))) + Real(1);
    Int raw, power;
    std::memcpy(&raw, &sum, sizeof raw);
    std::memcpy(&power, &shifted, sizeof power);
    raw += power << B::mantissa;
    Vec<Real> result;
    std::memcpy(&result, &raw, sizeof result);
    return x > floor ? result : Vec<Real>{};
}

#else

// The same for compilers without vector types; loops of fixed length, which they vectorise or not.
template <class Real>
struct Vec {
    Real lane[kLanes<Real>];
    Real& operator[](int i) { return lane[i]; }
    Real operator[](int i) const { return lane[i]; }
    template <class F>
    static Vec map(F f) {
        Vec v;
        for (int i = 0; i < kLanes<Real>; ++i) v.lane[i] = f(i);
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
    Vec& operator*=(Real b) { return *this = *this * b; }
};
template <class Real>
static inline Vec<Real> fill(Real x) {
    return Vec<Real>::map([&](int) { return x; });
}
template <class Real>
static inline Vec<Real> larger(Vec<Real> a, Vec<Real> b) {
    return Vec<Real>::map([&](int i) { return a[i] > b[i] ? a[i] : b[i]; });
}
template <class Real>
static inline Vec<Real> smaller(Vec<Real> a, Vec<Real> b) {
    return Vec<Real>::map([&](int i) { return a[i] < b[i] ? a[i] : b[i]; });
}
template <class Real>
static inline Vec<Real> exponential(Vec<Real> x) {
    using B = Bits<Real>;
    using Int = typename B::Int;
    return Vec<Real>::map([&](int i) {
        const Real inside = x[i] > B::lowest ? x[i] : B::lowest;
        const Real shifted = inside * B::log2e + B::round;
        const Real n = shifted - B::round;
        const Real r = (inside - n * B::ln2_high) - n * B::ln2_low;
        Real sum = 1;
        for (int j = B::terms; j > 0; --j) sum = sum * (r * (Real(1) / Real(j))) + Real(1);
        Int raw, power;
        std::memcpy(&raw, &sum, sizeof raw);
        std::memcpy(&power, &shifted, sizeof power);
        raw = static_cast<Int>(static_cast<std::uint64_t>(raw) + (static_cast<std::uint64_t>(power) << B::mantissa));
        Real result;
        std::memcpy(&result, &raw, sizeof result);
        return x[i] > B::lowest ? result : Real(0);
    });
}

#endif

template <class Real>
static inline Vec<Real> load(const Real* p) {
    Vec<Real> v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class Real>
static inline void store(Real* p, Vec<Real> v) {
    std::memcpy(p, &v, sizeof v);
}
template <class Real>
static inline Real total(Vec<Real> v) {
    Real parts[kLanes<Real>];
    store(parts, v);
    for (int half = kLanes<Real> / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) parts[i] += parts[i + half];
    }
    return parts[0];
}

// The width of a row of n numbers, padded to whole vectors.
template <class Real>
static inline std::int64_t padded(std::int64_t n) {
    return (n + kLanes<Real> - 1) / kLanes<Real> * kLanes<Real>;
}

}  // namespace hedgerow::HEDGEROW_ISA
