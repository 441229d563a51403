#include "linear/descent.hpp"

#include <algorithm>
#include <cmath>

namespace hedgerow {

double penalize(const double* weights, double l1, double l2, double* gradient, const OrderedSum& sums) {
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

void pseudo_gradient(const double* weights, const double* gradient, double l1, double* out,
                     const OrderedSum& sums) {
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i) {
            const double g = gradient[i], w = weights[i];
            const double at_zero = g - std::min(std::max(g, -l1), l1);
            out[i] = w > 0 ? g + l1 : w < 0 ? g - l1 : at_zero;
        }
    });
}

void keep_descent(double* direction, const double* slope, const OrderedSum& sums) {
    sums.for_each_block([&](std::int64_t begin, std::int64_t end, std::int64_t) {
        for (std::int64_t i = begin; i < end; ++i)
            if (!(direction[i] * slope[i] < 0)) direction[i] = 0;
    });
}

void take_step(const double* weights, const double* direction, double length, bool within, double* reached,
               double* step, const OrderedSum& sums) {
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
