// Minimising with the penalty l1 * sum |w| + l2 * sum w^2 by OWL-QN (Andrew & Gao 2007): |w| has no
// derivative at 0, so the gradient is replaced by a pseudo-gradient, and a step stays within the orthant of
// its start.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "util/ordered_sum.hpp"

namespace hedgerow {

// Returns l1 sum |w| + l2 sum w^2; gradient += 2 l2 w, the derivative of the smooth part.
inline double penalize(const double* weights, double l1, double l2, double* gradient,
                       const OrderedSum& sums) {
    return sums.sum([&](std::int64_t begin, std::int64_t end) {
        double sizes = 0, squares = 0;
        for (std::int64_t i = begin; i < end; ++i) {
            sizes += std::abs(weights[i]);
            squares += weights[i] * weights[i];
            gradient[i] += 2 * l2 * weights[i];
        }
        return l1 * sizes + l2 * squares;
    });
}

// out <- the pseudo-gradient of f(w) + l1 sum |w|, with g the gradient of f:
//
//     g + l1 for w > 0,   g - l1 for w < 0,   g - clamp(g, -l1, l1) for w = 0
inline void pseudo_gradient(const double* weights, const double* gradient, double l1, double* out,
                            const OrderedSum& sums) {
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i) {
            const double g = gradient[i], w = weights[i];
            const double at_zero = g - std::min(std::max(g, -l1), l1);
            out[i] = w > 0 ? g + l1 : w < 0 ? g - l1 : at_zero;
        }
    });
}

// direction_i <- 0 wherever direction_i slope_i >= 0: only descent remains.
inline void keep_descent(double* direction, const double* slope, const OrderedSum& sums) {
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i)
            if (!(direction[i] * slope[i] < 0)) direction[i] = 0;
    });
}

// step <- length * direction; reached <- weights + step. within: the step stays in its orthant, a weight that
// would change its sign becomes 0.
inline void take_step(const double* weights, const double* direction, double length, bool within,
                      double* reached, double* step, const OrderedSum& sums) {
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i) {
            const double w = weights[i], by = length * direction[i];
            const bool crosses = within && w != 0 && (w + by) * w <= 0;
            reached[i] = crosses ? 0.0 : w + by;
            step[i] = crosses ? -w : by;
        }
    });
}

}  // namespace hedgerow
