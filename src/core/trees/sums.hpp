// Sums over positions, in whole numbers: residuals are rounded once to multiples of 2^-30. So a sum is exact
// in any order, subtraction gives to the bit what counting anew would give, and neither threads nor the order
// of sequences can change a tree.
#pragma once

#include <cmath>
#include <cstdint>

#include "trees/growth_kernels.hpp"

namespace hedgerow {

constexpr double kResidualUnit = 1 << 30;
constexpr int kCountShift = 38;  // `packed` holds a count of positions above this bit, and a weight below it
constexpr std::int64_t kMostPositions = std::int64_t{1}
                                        << 24;  // the sum of their curvatures stays below 2^38

struct Sums : RawSums {
    Sums() : RawSums{0, 0} {}
    Sums(std::int64_t residual_, std::int64_t packed_) : RawSums{residual_, packed_} {}

    std::int64_t count() const { return packed >> kCountShift; }
    bool is_zero() const { return packed == 0 && residual == 0; }
    std::int64_t raw_weight() const { return packed & ((std::int64_t{1} << kCountShift) - 1); }
    // One position. Written number by number: a processor that loads a pair at once would wait for both
    // stores.
    void set_position(std::int64_t residual_, std::int64_t raw_weight_) {
        residual = residual_;
        packed = (std::int64_t{1} << kCountShift) + raw_weight_;
    }
    void operator+=(const Sums& other) {
        residual += other.residual;
        packed += other.packed;
    }
    void operator-=(const Sums& other) {
        residual -= other.residual;
        packed -= other.packed;
    }
    // A fraction of the sums, rounded; `counted`: with the count of positions, or without.
    Sums times(double fraction, bool counted) const {
        const auto weight = std::llrint(static_cast<double>(raw_weight()) * fraction);
        return {std::llrint(static_cast<double>(residual) * fraction),
                ((counted ? count() : 0) << kCountShift) + weight};
    }
    friend Sums operator-(Sums a, const Sums& b) {
        a -= b;
        return a;
    }
};

inline Sums one_position(std::int64_t residual, std::int64_t raw_weight) {
    return {residual, (std::int64_t{1} << kCountShift) + raw_weight};
}

// |r| (1 - |r|), or 0 where |r| exceeds 1.
inline double curvature(double residual) {
    const double r = residual < 0 ? -residual : residual;
    return r < 1 ? r * (1 - r) : 0.0;
}

}  // namespace hedgerow
