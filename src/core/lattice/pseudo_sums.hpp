// The pseudo-likelihood: the probability of each gold label given all other gold labels of its sequence.
//
//     s_t(v)     = score of the gold path of the sequence with the label v at position t
//     P_t(v)     = exp s_t(v) / sum over the allowed labels v' of exp s_t(v')
//     likelihood = sum over t of log P_t(gold_t)
//
// Only the scores at t, ..., t + order depend on the label at t, so nothing is swept along the sequence.
#pragma once

#include <cstdint>

#include "lattice/lattice_batch.hpp"

namespace hedgerow {

// The gold labels and what they are compared with.
struct PseudoGold {
    const std::int32_t* labels;  // [positions]
    const bool* allowed;         // [positions, K]: labels that P_t is over; null: all
    const double* weights;       // [n_sequences]
    double unit;                 // of what is added to the table, a power of two: see rounded_sum.hpp
};

// A stand-in for marginal probabilities: gold minus it is the derivative of the pseudo-likelihood. A score is
// that of a label context and a label. The score of the gold ones at t is part of s_u(gold_u) for
// u = t - order, ..., t; that of a context or a label that differs from gold in the label at u alone is part
// of s_u.
struct StandIns {
    double* log_likelihood;  // [n_sequences]; minus infinity where no label has a finite score
    float* marginals;        // [positions, K^order, K] if the batch has edge scores, else [positions, 1, K]
    double* table;           // [label contexts of every length, K], times the weights; null without a table
};

template <class Real>
void pseudo_sums(const LatticeBatch<Real>& batch, const PseudoGold& gold, const StandIns& out);

}  // namespace hedgerow
