// The softmax of the scores of a position, optionally with one added feature of value q_t and weights eta:
//
//     s_l = scores_(t,l) + q_t eta_l,    P(l) = exp(s_l - max s) / sum over l' of exp(s_l' - max s)
#pragma once

#include <cstdint>

namespace hedgerow {

// eta and q are null without the feature.
template <class Real>
struct PositionScores {
    const Real* scores;  // (positions, labels)
    std::int64_t n_positions, n_labels;
    const double* eta;  // by label
    const double* q;    // by position
};

// OUT: out_t = log P(gold_t). A negative gold label stands for label 0. Real is float or double.
template <class Real>
void log_gold(const PositionScores<Real>& scores, const std::int32_t* gold, double* out,
              std::int64_t n_threads);

// OUT: out (positions, labels), P(l) at each position.
template <class Real>
void softmax(const PositionScores<Real>& scores, double* out, std::int64_t n_threads);

}  // namespace hedgerow
