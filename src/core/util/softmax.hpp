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

// What fitting the added feature needs, with R(l) = [gold_t = l] - P(l) and weights w_t. A position with the
// weight 0 counts for nothing, whatever its gold label.
struct WeightedGold {
    const std::int32_t* labels;
    const double* weights;
};

// OUT, by label: gradient_l = sum over t of w_t q_t R(l), curvature_l = sum over t of w_t q_t^2 P(l).
// Terms are rounded to multiples of `unit`, so that the sums do not depend on the order of the positions nor
// on their division into parts: see rounded_sum.hpp.
void direction_sums(const PositionScores<double>& scores, const WeightedGold& gold, double unit,
                    double* gradient, double* curvature, std::int64_t n_threads);

// OUT, by position: along_t = w_t sum over l of eta_l R(l), variance_t = w_t times the variance of eta_l
// under P.
void along_direction(const PositionScores<double>& scores, const WeightedGold& gold, double* along,
                     double* variance, std::int64_t n_threads);

}  // namespace hedgerow
