// Virtual evidence: the probability of each gold label given what the other positions say of its neighbours,
// in a lattice of order 1. With E_t(u, v) the score of label v at t after label u,
//
//     before_t(u) = sum over the paths that end in u at t: the evidence of positions up to t
//     after_t(v)  = sum over the paths that continue from v at t: the evidence of the positions after t
//     P_t(v)      ~ [sum over u of before_(t-1)(u) exp E_t(u, v)]
//                   [sum over w of exp E_(t+1)(v, w) after_(t+1)(w)]
//     likelihood  = sum over t of log P_t(gold_t)
//
// With the neighbours' gold labels as certain evidence, P_t is that of the pseudo-likelihood: see
// pseudo_sums.hpp.
#pragma once

#include <cstdint>

#include "lattice/lattice_batch.hpp"

namespace hedgerow {

// A stand-in for marginal probabilities: gold minus it is the derivative of the likelihood above by
// E_t(u, v), with the evidence held fixed. E_t(u, v) is part of P_t and of P_(t-1), so the derivative is
//
//     ([v = gold_t] - P_t(v)) Q(u | v) + ([u = gold_(t-1)] - P_(t-1)(u)) Q(v | u)
//
// where Q is the share of a neighbour's label in the sum of the other label. At the first position there is
// one u, and the second term is absent.
struct EvidenceSums {
    double* log_likelihood;  // [n_sequences]; minus infinity for a sequence without a path
    float* marginals;        // [positions, K, K]
};

template <class Real>
void evidence_sums(const LatticeBatch<Real>& batch, const std::int32_t* gold, const EvidenceSums& out);

}  // namespace hedgerow
