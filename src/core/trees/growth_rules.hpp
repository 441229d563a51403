// How a tree grows. The only declaration of these rules and of their defaults; Python sees the same struct.
#pragma once

#include <cstdint>

namespace hedgerow {

// Where positions go whose tested value is missing. The published rules are those of the dissertation,
// sections 4.2 and 4.3.
enum class Missing {
    weighting,  // C4.5: a fraction to each side, as large as that side's share of the other positions
    published_weighting,  // the same, where a position counts on both sides
    surrogate,            // CART: where the test goes that agrees most often with the split
    published_surrogate,  // the same with all other attributes, ranked by the examples that they predict
    learned,              // all to the side that gives the greater gain
};

inline bool uses_weighting(Missing missing) {
    return missing == Missing::weighting || missing == Missing::published_weighting;
}
inline bool uses_surrogates(Missing missing) {
    return missing == Missing::surrogate || missing == Missing::published_surrogate;
}

// What is left out of a tree because its residuals are near 0.
enum class TrimBy {
    position,  // positions whose absolute residuals sum to less
    example,   // examples whose absolute residual is less
};

enum class CategorySplits {
    one_hot,  // one value, or one previous label, against all others
    subset,   // two sets of values or of previous labels
};

struct GrowthRules {
    static constexpr std::int32_t most_values_of_sets = 50;  // of a column whose values are split into sets

    double l2 = 1.0;               // leaf = sum(residuals) / (l2 + sum(weights))
    bool newton = true;            // weights are curvatures |r| (1 - |r|); otherwise numbers of examples
    double max_step = 1.0;         // Newton leaves are clipped to [-max_step, max_step]
    std::int64_t min_leaf = 1;     // positions of a leaf, at least
    std::int64_t max_leaves = 50;  // leaves of a tree, at most
    double influence_trim = 0.0;   // what has smaller absolute residuals does not count; see TrimBy
    TrimBy trim_by = TrimBy::position;
    double example_share = 1.0;  // each example counts with this probability, drawn anew for each tree
    CategorySplits category_splits = CategorySplits::one_hot;
    double max_features = 1.0;  // the fraction of tests that a node chooses among
    Missing missing = Missing::weighting;

    // The rules that grow the same trees where all weights are multiplied by `factor`.
    GrowthRules for_weights_times(double factor) const {
        GrowthRules scaled = *this;
        scaled.l2 *= factor;
        return scaled;
    }

    bool trims_positions() const { return influence_trim > 0 && trim_by == TrimBy::position; }
    bool trims_examples() const { return influence_trim > 0 && trim_by == TrimBy::example; }
    // Whether a position may count with some of its examples only.
    bool leaves_out_examples() const { return trims_examples() || example_share < 1; }

    bool uses_subsets() const { return category_splits == CategorySplits::subset; }
    // Sets of rare values overfit, so a column of many values is split one value at a time.
    bool uses_subsets(std::int32_t n_values) const {
        return uses_subsets() && n_values <= most_values_of_sets;
    }
    // Values that fewer positions have can never be split off, so the training data have no code for them.
    std::int64_t min_value_count() const { return uses_subsets() ? 1 : min_leaf; }
};

}  // namespace hedgerow
