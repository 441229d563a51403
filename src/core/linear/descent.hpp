// Steps down a function with the penalty l1 * sum |w| + l2 * sum w^2, as OWL-QN takes them (Andrew & Gao
// 2007): the penalty has no slope where a weight is 0, and a step stays in the orthant that it starts in.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "util/ordered_sum.hpp"

namespace hedgerow {

// The penalty's value; the slope of its smooth part is added to the gradient.
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

// out <- the gradient with that of the penalty l1; where a weight of 0 makes it undefined, what is left of
// it.
inline void slope_of(const double* weights, const double* gradient, double l1, double* out,
                     const OrderedSum& sums) {
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i) {
            const double g = gradient[i], w = weights[i];
            const double left = g - std::min(std::max(g, -l1), l1);
            out[i] = w > 0 ? g + l1 : w < 0 ? g - l1 : left;
        }
    });
}

// direction <- 0 wherever it does not lead down the slope.
inline void turn_down(double* direction, const double* slope, const OrderedSum& sums) {
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i)
            if (!(direction[i] * slope[i] < 0)) direction[i] = 0;
    });
}

// reached <- weights + step, where step <- length * direction. `within` its orthant: a weight that would
// change its sign becomes 0.
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
