// The arguments of kernels: plain pointers with their sizes.
#pragma once

#include <cmath>
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

// Which nodes each position keeps: the best `size`, or, with a bound, the fewest that hold so much of the
// position's probability that -log of it is at most the bound; 0 and 0 keep all. keep: a path whose nodes are
// always kept, one label for each position, negative for none; or null.
struct Beam {
    std::int64_t size = 0;
    double bound = 0;
    const std::int32_t* keep = nullptr;

    // One number says both: below 1 it is a bound, otherwise a size.
    static Beam of(double number, const std::int32_t* keep = nullptr) {
        if (number < 1) return {0, number, keep};
        return {static_cast<std::int64_t>(number), 0, keep};
    }
    static bool is_valid(double number) {
        return number >= 0 && number < 0x1p53 &&
               (number < 1 || number == static_cast<double>(static_cast<std::int64_t>(number)));
    }

    bool keeps_all() const { return size == 0 && bound == 0; }
    // How many of n nodes are kept at most, besides that of the path to keep.
    std::int64_t most(std::int64_t n) const { return bound > 0 || n < size ? n : size; }
    // The share of the probability that may be dropped.
    double allowance() const { return -std::expm1(-bound); }
};

}  // namespace hedgerow
