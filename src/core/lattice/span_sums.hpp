// Probabilities of spans: of runs of positions that neighbouring labels join.
#pragma once

#include <cstdint>

#include "lattice/topology.hpp"

namespace hedgerow {

// The marginals of a batch of sequences, and how labels mark spans.
template <class Real>
struct SpanReading {
    Topology topology;          // K labels, order k
    const Real* pair;           // [positions, K^k, K]: P(label context, label)
    const std::uint8_t* joins;  // [K, K]: whether a span continues from the first label to the second
    const std::int32_t* types;  // [K]: the type of the spans of each label; negative outside of spans
    std::int64_t n_sequences;
    const std::int64_t* starts;  // [n_sequences + 1]
};

// A span of positions first..end, without end.
struct LabelSpan {
    std::int64_t first, end;
    std::int32_t type;
};

// The probability that the labels mark exactly this span: no label joins it from before, all of its labels
// join, and the next label does not. The distribution over label sequences is a Markov chain of order k, so
//
//   P(y[first-k..end]) = P(c[first], y[first]) Π_t P(y[t] | c[t]),   P(y | c) = P(c, y) / Σ_z P(c, z)
//
// and the sum over all such label sequences is a sweep over label contexts, from first to end.
template <class Real>
double span_probability(const SpanReading<Real>& reading, const LabelSpan& span);

}  // namespace hedgerow
