// What a tree is fitted to: the residuals of all examples (position, label context).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "trees/label_contexts.hpp"
#include "trees/objective.hpp"
#include "trees/tree_data.hpp"

namespace hedgerow {

// (x + r) - r, for this number r, is x rounded to a multiple of a power of two, 2^-24 or more. Sums over n
// such numbers of at most 1 are exact in double precision, in any order.
inline double exact_rounding(double n) {
    const int bits = std::min(24, 50 - std::ilogb(std::max(n, 1.0)));
    return std::ldexp(1.5, 52 - bits);
}

// In the place of a residual: the tree is not fitted to this example. Residuals are always greater.
constexpr std::int32_t kLeftOut = std::numeric_limits<std::int32_t>::min();

// The residuals of some examples of a position that are not left out, and their number.
struct KeptSums {
    std::int64_t residual = 0, n = 0;

    static KeptSums of(std::int32_t residual) {
        const bool kept = residual != kLeftOut;
        return {kept ? residual : 0, kept};
    }
    void operator+=(const KeptSums& other) {
        residual += other.residual;
        n += other.n;
    }
    friend KeptSums operator-(const KeptSums& a, const KeptSums& b) {
        return {a.residual - b.residual, a.n - b.n};
    }
};

struct Examples {
    const TreeData& data;
    Objective objective;
    std::int64_t k, order;
    const double* weights;  // by position, at most 1; null if all are 1
    bool leaves_out;        // whether residuals may be kLeftOut
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
    bool is_additive() const { return !objective.newton && !weights && !leaves_out; }
    std::int64_t example_weight() const { return static_cast<std::int64_t>(objective.packing.weight_unit); }

    // The examples of a position with some label contexts, without those that are left out.
    KeptSums kept(const std::vector<std::int32_t>& contexts, std::int32_t c) const {
        KeptSums sums;
        for (const std::int32_t h : contexts) sums += KeptSums::of(row(c)[h]);
        return sums;
    }
    // The number of examples of a position in a node.
    std::int64_t n_examples(const NodeContexts& contexts, std::int32_t c) const {
        const std::vector<std::int32_t>& members = contexts.members[data.depth_at[c]];
        return leaves_out ? kept(members, c).n : static_cast<std::int64_t>(members.size());
    }

    // The sums of a position that has n examples in a node.
    Sums position_sums(std::int64_t residual, std::int64_t n, std::int32_t c) const {
        return is_additive() ? objective.one_position(residual, n * example_weight())
                             : objective.position(residual, n, weight(c));
    }
    // The same for examples that may be none; then all sums are 0.
    Sums position_sums(const KeptSums& kept, std::int32_t c) const {
        Sums sums = position_sums(kept.residual, kept.n, c);
        sums.packed -= kept.n == 0 ? objective.packing.one() : 0;
        return sums;
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
