// Pair marginals summed by row of the transition table.
#pragma once

#include <cstdint>

#include "lattice/topology.hpp"

namespace hedgerow {

// table[r, y] += sum over sequences i of weights[i] times the sum over positions t of P(y_t = y, label
// context of t has row r). Each product is rounded to a multiple of `unit`, a power of two, so that sums do
// not depend on their order; a unit of 0 rounds nothing.
// pair: (positions, label contexts, labels); starts: of the n sequences, and the end.
template <class Real>
void add_pairs_by_row(const Topology& topology, const std::int64_t* starts, std::int64_t n, const Real* pair,
                      const double* weights, double unit, double* table);

}  // namespace hedgerow
