// Sums over the paths of every sequence of a batch: log Z and marginal probabilities.
#pragma once

#include <cstdint>

#include "lattice/lattice_batch.hpp"

namespace hedgerow {

// TableCells of a transition table, numbered row by row.
struct TableCells {
    const std::int64_t* numbers;
    std::int64_t n;
};

// log Z = log Σ_y exp(score of path y) for every sequence and, where the pointer is not null,
//   state[t, y]    = P(y_t = y)                                    [positions, K]
//   pair[t, h, y]  = P(label context of t is h, y_t = y)           [positions, K^order, K]
// Marginals are 0 where a sequence has no path.
template <class Real>
void sum_over_paths(const LatticeBatch<Real>& batch, double* log_z, Real* state, Real* pair);

// log Z, state marginals, and the pair marginals of all positions summed by row of the table:
//   table[r, y] = Σ_i weights[i] Σ_t P(y_t = y, label context of t has row r)
// Of cells that `cells` does not list, only the sum of each label is defined; null lists all. A null
// `weights` means 1 for every sequence. The result does not depend on the number of threads. What a sequence
// (in the general sweep: an edge) adds is rounded to a multiple of `unit`, a power of two, so that the sums
// over any groups of sequences add up to the same bits; a unit of 0 rounds nothing.
template <class Real>
void sum_pairs(const LatticeBatch<Real>& batch, const double* weights, double unit, const TableCells* cells,
               double* log_z, Real* state, double* table);

}  // namespace hedgerow
