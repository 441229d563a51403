// Sums over positions, in whole numbers: residuals are rounded once to multiples of 2^-30. So a sum is exact
// in any order, subtraction gives to the bit what counting anew would give, and neither threads nor the order
// of sequences can change a tree.
#pragma once

#include <cmath>
#include <cstdint>

#include "trees/growth_kernels.hpp"

namespace hedgerow {

constexpr double kResidualUnit = 1 << 30;
inline std::int64_t units_of_residual(double residual) {
    return static_cast<std::int64_t>(residual * kResidualUnit);
}

// How the number `packed` of Sums is divided: a count of positions above bit count_shift, and below it a
// weight in units of 1 / weight_unit. The sums over all positions must fit: see choose_packing().
struct Packing {
    double weight_unit = 1;  // a power of two
    int count_shift = 38;
    int curvature_shift = 60;  // from a product of two residuals to the unit of weights

    std::int64_t one() const { return std::int64_t{1} << count_shift; }  // a position that weighs nothing
    std::int64_t count(std::int64_t packed) const { return packed >> count_shift; }
    std::int64_t raw_weight(std::int64_t packed) const { return packed & (one() - 1); }
};

struct Sums : RawSums {
    Sums() : RawSums{0, 0} {}
    Sums(std::int64_t residual_, std::int64_t packed_) : RawSums{residual_, packed_} {}

    bool is_zero() const { return packed == 0 && residual == 0; }
    // Written number by number: a processor that loads a pair at once would wait for both stores.
    void set(std::int64_t residual_, std::int64_t packed_) {
        residual = residual_;
        packed = packed_;
    }
    void operator+=(const Sums& other) {
        residual += other.residual;
        packed += other.packed;
    }
    void operator-=(const Sums& other) {
        residual -= other.residual;
        packed -= other.packed;
    }
    friend Sums operator-(Sums a, const Sums& b) {
        a -= b;
        return a;
    }
};

// |r| (1 - |r|), or 0 where |r| exceeds 1.
inline double curvature(double residual) {
    const double r = residual < 0 ? -residual : residual;
    return r < 1 ? r * (1 - r) : 0.0;
}

}  // namespace hedgerow
