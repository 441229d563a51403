// What the kernels for sums share: shifts, exponentials, the limits of the certificate, and products of rows
// with a matrix. Included only by files that are compiled once for each instruction set.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "util/numeric.hpp"

namespace hedgerow::HEDGEROW_ISA {
namespace {

template <class Real>
struct Safe;
template <>
struct Safe<float> {
    static constexpr float value = 1e-20f;
    static constexpr float range = 16;  // scores of one sequence this close together share one shift
    static constexpr float apart = 64;  // times half a unit in the last place of 1: 4e-6
};
template <>
struct Safe<double> {
    static constexpr double value = 1e-270;
    static constexpr double range = 200;
    static constexpr double apart = 1e6;
};

// log Π x of many positive numbers. A logarithm is computed only when the product nears the end of the range.
class LogProduct {
  public:
    void times(double x) {
        if (x < 1e-100 || x > 1e100) return plus(std::log(x));
        product_ *= x;
        if (product_ < 1e-200 || product_ > 1e200) flush();
    }
    void plus(double log_x) { sum_ += log_x; }
    double value() {
        flush();
        return sum_;
    }

  private:
    void flush() {
        sum_ += std::log(product_);
        product_ = 1;
    }
    double sum_ = 0, product_ = 1;
};

template <class Real>
void set(Real* row, std::int64_t begin, std::int64_t end, Real value) {
    for (std::int64_t i = begin; i < end; ++i) row[i] = value;
}

// The largest of n numbers, and the lowest of those above minus infinity.
template <class Real>
void extremes(const Real* x, std::int64_t n, Real* largest, Real* lowest) {
    constexpr int N = kLanes<Real>;
    const Vec<Real, N> never = fill<Real, N>(-INFINITY), always = fill<Real, N>(INFINITY);
    Vec<Real, N> high = never, low = always;
    std::int64_t i = 0;
    for (; i + N <= n; i += N) {
        const Vec<Real, N> v = load<N>(x + i);
        high = larger<Real, N>(high, v);
        low = smaller<Real, N>(low, where_equal<Real, N>(v, never, always, v));
    }
    *largest = greatest<Real, N>(high);
    *lowest = least<Real, N>(low);
    for (; i < n; ++i) {
        *largest = x[i] > *largest ? x[i] : *largest;
        *lowest = x[i] < *lowest && x[i] != -INFINITY ? x[i] : *lowest;
    }
}

// to[i] <- exp(from[i] - shift). `to` has room for whole vectors; numbers after n are finite but undefined.
template <class Real>
void exponentiate(const Real* from, std::int64_t n, Real shift, Real* to) {
    constexpr int N = kLanes<Real>;
    std::int64_t i = 0;
    for (; i + N <= n; i += N) store<N>(to + i, exponential<Real, N>(load<N>(from + i) - shift));
    if (i == n) return;
    Real rest[N];
    set<Real>(rest, 0, N, -INFINITY);
    std::memcpy(rest, from + i, sizeof(Real) * (n - i));
    store<N>(to + i, exponential<Real, N>(load<N>(rest) - shift));
}

// The shift for n numbers: the largest, or 0 if all are minus infinity.
template <class Real>
Real shift_of(const Real* x, std::int64_t n) {
    Real largest, lowest;
    extremes(x, n, &largest, &lowest);
    return largest == -INFINITY ? 0 : largest;
}

// A row of numbers times a matrix: from[h], h < k, and to[y], y < padded k.
template <class Real>
struct Product {
    const Real* from;
    Real* to;
};

// Rows of k numbers, read as whole vectors, in panels of kPanel columns.
template <class Real>
constexpr std::int64_t kPanel = 2 * kSumLanes<Real>;
template <class Real>
struct Matrix {
    const Real* first;
    std::int64_t k, stride;  // between the rows of a panel
    std::int64_t panel;      // between panels

    static Matrix of_rows(const Real* rows, std::int64_t k) { return {rows, k, k, kPanel<Real>}; }
    // Panel after panel: a product reads them one after the other.
    static Matrix of_panels(const Real* panels, std::int64_t k) {
        return {panels, k, kPanel<Real>, k * kPanel<Real>};
    }
    static std::int64_t size_of_panels(std::int64_t k) {
        return (k + kPanel<Real> - 1) / kPanel<Real> * kPanel<Real> * k;
    }
    const Real* column(std::int64_t y) const { return first + y / kPanel<Real> * panel + y % kPanel<Real>; }
};

// How many vectors of the processor hold the lanes of a sum.
constexpr int kVectorsOfSum = 64 / HEDGEROW_VECTOR_BYTES;

// to[y] <- Σ_h from[h] matrix[h,y], for R rows and W vectors of N lanes, whose sums stay in registers. A row
// has the same sum, to the bit, whichever rows are multiplied beside it.
template <int N, int W, int R, class Real>
inline void multiply_tile(const Product<Real>* rows, const Matrix<Real>& matrix, std::int64_t first) {
    Vec<Real, N> even[R][W], odd[R][W];
    for (int r = 0; r < R; ++r) {
        for (int j = 0; j < W; ++j) even[r][j] = odd[r][j] = fill<Real, N>(0);
    }
    const std::int64_t k = matrix.k, stride = matrix.stride;
    const Real* at[W];
    for (int j = 0; j < W; ++j) at[j] = matrix.column(first + j * N);
    const auto add = [&](Vec<Real, N>(&sums)[R][W], std::int64_t h) {
        Vec<Real, N> column[W];
        for (int j = 0; j < W; ++j) column[j] = load<N>(at[j] + h * stride);
        for (int r = 0; r < R; ++r) {
            for (int j = 0; j < W; ++j) sums[r][j] += rows[r].from[h] * column[j];
        }
    };
    std::int64_t h = 0;
    for (; h + 1 < k; h += 2) {
        add(even, h);
        add(odd, h + 1);
    }
    if (h < k) add(even, h);
    for (int r = 0; r < R; ++r) {
        for (int j = 0; j < W; ++j) store<N>(rows[r].to + first + j * N, even[r][j] + odd[r][j]);
    }
}

template <int N, int R, class Real>
inline void multiply_rows(const Product<Real>* rows, const Matrix<Real>& matrix) {
    if constexpr (N == kSumLanes<Real>) {
        constexpr int kWide = kVectorsOfSum > 1 ? (R == 1 && kVectorsOfSum == 2 ? 2 : 1) : R <= 3 ? 4 : 2;
        const std::int64_t width = padded<Real>(matrix.k);
        std::int64_t i = 0;
        for (; i + kWide * N <= width; i += kWide * N) multiply_tile<N, kWide, R>(rows, matrix, i);
        if constexpr (kWide > 2) {
            if (i + 2 * N <= width) {
                multiply_tile<N, 2, R>(rows, matrix, i);
                i += 2 * N;
            }
        }
        if (kWide > 1 && i < width) multiply_tile<N, 1, R>(rows, matrix, i);
    } else {
        multiply_tile<N, 1, R>(rows, matrix, 0);
    }
}

// How many rows a matrix is multiplied with at once: their sums fill the registers.
constexpr int kMostRows = kVectorsOfSum == 1 ? 6 : kVectorsOfSum == 2 ? 3 : 1;

template <int N, int R = kMostRows, class Real>
inline void multiply(const Product<Real>* rows, std::int64_t n, const Matrix<Real>& matrix) {
    for (; n >= R; n -= R, rows += R) multiply_rows<N, R>(rows, matrix);
    if constexpr (R > 1) multiply<N, R - 1>(rows, n, matrix);
}

}  // namespace
}  // namespace hedgerow::HEDGEROW_ISA
