// A node while its tree grows: a rectangle of positions × label contexts, with its best split.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "trees/cell_order.hpp"
#include "trees/histogram.hpp"
#include "trees/label_contexts.hpp"
#include "trees/splitter.hpp"
#include "trees/sums.hpp"
#include "trees/tree.hpp"

namespace hedgerow {

// Sums of fractions of positions, before rounding. They are exact: see Examples.
struct FractionalSums {
    double residual = 0, weight = 0, count = 0;

    void operator+=(const FractionalSums& other) {
        residual += other.residual;
        weight += other.weight;
        count += other.count;
    }
};

struct GrowingNode {
    std::int32_t index = -1;  // in the tree
    std::size_t layer = 0;    // which copy of the positions
    Range counted;            // its positions in this process, as a range of the layer
    std::shared_ptr<const NodeContexts> contexts;
    Sums total;
    bool has_fractions = false;  // whether some positions are there in part
    double n_examples = 0;       // in this process, fractions as fractions; only where splits send fractions
    double gain = 0;
    Test best;
    std::vector<std::int32_t> entries;  // of the best test, if it tests an attribute
    Split::Side missing_side = Split::Side::unknown;
    std::int64_t n_yes = 0, n_no = 0;  // positions where that test holds and where it does not
    std::vector<Sums> label_sums;      // by previous label: see LabelContextSums
    std::vector<FractionalSums> fractional_label_sums;  // the same before rounding, if there are fractions
    std::unique_ptr<Histogram> histogram;               // kept where subtracting it saves counting
};

// The two sides of a split, and how it treats missing values (see TreeNode).
struct Division {
    GrowingNode if_true, if_false;
    double true_fraction = -1;
    std::vector<std::int32_t> surrogates;
    bool yes_is_smaller = false;  // whether fewer positions of all members are on that side
    bool counts_twice = false;    // whether the split of an attribute lets positions count on both sides
};

}  // namespace hedgerow
