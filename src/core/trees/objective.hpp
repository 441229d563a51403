// Leaf values and gains of splits, from sums.
#pragma once

#include <cmath>
#include <cstdint>

#include "trees/sums.hpp"

namespace hedgerow {

// With r the sum of residuals and w the sum of weights of a leaf:
//   value = r / (l2 + w), clipped to [-max_step, max_step] in Newton mode
//   gain  = r1^2 / (l2 + w1) + r2^2 / (l2 + w2) - r^2 / (l2 + w) for the two sides of a split
// The weight of an example (position, label context) is 1; in Newton mode a position weighs its curvature
// |r| (1 - |r|).
struct Objective {
    double l2;
    bool newton;
    double max_step;
    std::int64_t min_leaf;
    Packing packing;

    std::int64_t count(const Sums& sums) const { return packing.count(sums.packed); }
    std::int64_t raw_weight(const Sums& sums) const { return packing.raw_weight(sums.packed); }
    Sums one_position(std::int64_t residual, std::int64_t raw_weight) const {
        return {residual, packing.one() + raw_weight};
    }

    // The sums of one position with `residual` over n_examples label contexts, times the weight of the
    // position.
    Sums position(std::int64_t residual, std::int64_t n_examples, double position_weight) const {
        const std::int64_t weight =
            newton ? curvature(residual) : n_examples * static_cast<std::int64_t>(packing.weight_unit);
        if (position_weight == 1) return one_position(residual, weight);
        return one_position(std::llrint(static_cast<double>(residual) * position_weight),
                            std::llrint(static_cast<double>(weight) * position_weight));
    }
    // A fraction of sums, rounded; `counted`: with the count of positions, or without.
    Sums times(const Sums& sums, double fraction, bool counted) const {
        const auto weight = std::llrint(static_cast<double>(raw_weight(sums)) * fraction);
        return {std::llrint(static_cast<double>(sums.residual) * fraction),
                (counted ? count(sums) * packing.one() : 0) + weight};
    }
    // The curvature of a residual in units of 2^-30, in units of 1 / weight_unit.
    std::int64_t curvature(std::int64_t residual) const {
        const int shift = packing.curvature_shift;
        const std::int64_t one = std::int64_t{1} << 30, r = residual < 0 ? -residual : residual;
        return r < one ? (r * (one - r) + (std::int64_t{1} << (shift - 1))) >> shift : 0;
    }
    double weight(const Sums& sums) const {
        return static_cast<double>(raw_weight(sums)) / packing.weight_unit;
    }
    double residual(const Sums& sums) const { return static_cast<double>(sums.residual) / kResidualUnit; }

    // r^2 / (l2 + w): by how much the penalised squared error falls with the best value of a leaf.
    double merit(const Sums& sums) const {
        const double r = residual(sums), w = l2 + weight(sums);
        return w > 0 ? r * r / w : 0.0;
    }
    double value(const Sums& sums) const {
        const double w = l2 + weight(sums);
        const double v = w > 0 ? residual(sums) / w : 0.0;
        return newton ? std::fmin(std::fmax(v, -max_step), max_step) : v;
    }
    // The same arithmetic as the kernel that scans entries.
    double gain(const Sums& yes, const Sums& no, double before) const {
        if (!large_enough(yes) || !large_enough(no)) return 0;
        const double r1 = residual(yes), w1 = l2 + weight(yes), r2 = residual(no), w2 = l2 + weight(no);
        return w1 > 0 && w2 > 0 ? (r1 * r1 * w2 + r2 * r2 * w1) / (w1 * w2) - before : 0;
    }
    bool large_enough(const Sums& sums) const { return count(sums) >= min_leaf; }
    ScanRules scan_rules(const Sums& total) const {
        return {l2, 1 / kResidualUnit, 1 / packing.weight_unit, merit(total), min_leaf, packing.count_shift};
    }
};

}  // namespace hedgerow
