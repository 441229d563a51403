// What a tree is fitted to: the residuals of all examples (position, label context).
#pragma once

#include <cstdint>

#include "trees/objective.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

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

    const std::int32_t* row(std::int32_t c) const { return residuals + c * width; }
    double weight(std::int32_t c) const { return weights ? weights[data.position[c]] : 1.0; }

    // Whether the weight of a position is the number of its examples, so that sums over label contexts
    // subtract.
    bool is_additive() const { return !objective.newton && !weights; }
    std::int64_t example_weight() const { return static_cast<std::int64_t>(objective.weight_unit); }

    // The sums of a position that has n examples in a node.
    Sums position_sums(std::int64_t residual, std::int64_t n, std::int32_t c) const {
        return is_additive() ? one_position(residual, n * example_weight())
                             : objective.position(residual, n, weight(c));
    }
    // The sums of a fraction of a position; `counted` is 1 if the fraction counts as the position, otherwise
    // 0.
    Sums position_sums(std::int64_t residual, std::int64_t n, std::int32_t c, double fraction,
                       std::int64_t counted) const {
        Sums sums = objective.position(residual, n, weight(c) * fraction);
        sums.packed -= (1 - counted) << kCountShift;
        return sums;
    }
};

}  // namespace hedgerow
