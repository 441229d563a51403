// The only types kernels take: plain pointers with their sizes.
#pragma once

#include <cstdint>

namespace hedgerow {

// Log-scores of one sequence of `length` positions and K labels. A score is state + edge + table; a part
// that is not there is null. Minus infinity forbids.
template <class Real>
struct Scores {
    std::int64_t length;
    const Real* state;  // [length, K]
    const Real* edge;   // [length, K^order, K]: row = label context, see Topology
    const Real* table;  // [label contexts of every length 0..order, K]
};

// Where the answers of one sequence go; a part that is null is not asked for.
template <class Real>
struct Marginals {
    Real* state;    // [length, K]
    Real* pair;     // [length, K^order, K]
    double* table;  // [label contexts of every length, K]: pair marginals are added to it, times `weight`
    double weight;
};

// How many nodes a position of a sequence may keep, 0 for all; and the path that is kept besides, whatever
// its nodes are worth: a label for each position, negative where there is none, or null.
struct Beam {
    std::int64_t size = 0;
    const std::int32_t* keep = nullptr;
};

}  // namespace hedgerow
