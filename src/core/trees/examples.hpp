// What a tree is fitted to: the residuals of all examples (position, label context).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "trees/objective.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

// (x + r) - r, for this number r, is x rounded to a multiple of a power of two, 2^-24 or more. Sums over n
// such numbers of at most 1 are exact in double precision, in any order.
inline double exact_rounding(double n) {
    const int bits = std::min(24, 50 - std::ilogb(std::max(n, 1.0)));
    return std::ldexp(1.5, 52 - bits);
}

struct Examples {
    const TreeData& data;
    Objective objective;
    std::int64_t k, order;
    const double* weights;  // by position, at most 1; null if all are 1
    // (cells, width) in units of 2^-30. Of a cell with fewer than `order` labels before it, the first K^depth
    // of a row matter, and the others are 0.
    const std::int32_t* residuals = nullptr;
    std::int64_t width = 1;
    const Sums* sums_by_cell = nullptr;  // instead of residuals, for trees of order 0

    // Fractions of residuals and of weights are rounded before they are added up: see exact_rounding().
    double rounding = 0;
    void choose_rounding() {
        rounding = exact_rounding(static_cast<double>(data.n_all_positions) * std::pow(k, order));
    }
    double rounded(double fraction) const { return (fraction + rounding) - rounding; }

    const std::int32_t* row(std::int32_t c) const { return residuals + c * width; }
    double weight(std::int32_t c) const { return weights ? weights[data.position[c]] : 1.0; }

    // Whether the weight of a position is the number of its examples, so that sums over label contexts
    // subtract.
    bool is_additive() const { return !objective.newton && !weights; }
    std::int64_t example_weight() const { return static_cast<std::int64_t>(objective.packing.weight_unit); }

    // The sums of a position that has n examples in a node.
    Sums position_sums(std::int64_t residual, std::int64_t n, std::int32_t c) const {
        return is_additive() ? objective.one_position(residual, n * example_weight())
                             : objective.position(residual, n, weight(c));
    }
    // The sums of a fraction of a position; `counted` is 1 if the fraction counts as the position, otherwise
    // 0.
    Sums position_sums(std::int64_t residual, std::int64_t n, std::int32_t c, double fraction,
                       std::int64_t counted) const {
        Sums sums = objective.position(residual, n, weight(c) * fraction);
        sums.packed -= (1 - counted) * objective.packing.one();
        return sums;
    }
};

}  // namespace hedgerow
