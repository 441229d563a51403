// The arguments of kernels: plain pointers with their sizes.
#pragma once

#include <cstdint>

namespace hedgerow {

// Scores (log potentials) of one sequence of `length` positions and K labels. A score is state + edge +
// table; an absent part is null. Minus infinity forbids a label.
template <class Real>
struct Scores {
    std::int64_t length;
    const Real* state;  // [length, K]
    const Real* edge;   // [length, K^order, K]: row = label context, see Topology
    const Real* table;  // [label contexts of every length 0..order, K]
};

// Where the marginals of one sequence are written; a null part is not computed.
template <class Real>
struct Marginals {
    Real* state;    // [length, K]
    Real* pair;     // [length, K^order, K]
    double* table;  // [label contexts of every length, K]: pair marginals are added to it, times `weight`
    double weight;
    double rounder = 0;  // of what is added to the table, see rounded_sum.hpp; 0: nothing is rounded
};

// size: how many nodes each position keeps, 0 for all. keep: a path whose nodes are always kept, one label
// for each position, negative for none; or null.
struct Beam {
    std::int64_t size = 0;
    const std::int32_t* keep = nullptr;
};

}  // namespace hedgerow
