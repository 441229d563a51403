// The gain of one candidate feature for label y. The other weights and the marginals of the neighbours are
// fixed. The feature occurs with values v at some positions of weight w, where the model gives y the
// probability p. With weight mu the penalised log-likelihood rises by
//
//     G(mu)   = sum of w (mu v [gold is y] - log(1 - p + p e^(mu v)))  -  l2 mu^2
//     G'(mu)  = sum of w v [gold is y]  -  sum of w v q  -  2 l2 mu,    q = p e^(mu v) / (1 - p + p e^(mu v))
//     -G''(mu) = sum of w v^2 q (1 - q)  +  2 l2
//
// G is concave. Its maximum is the gain of the feature.
#pragma once

#include <utility>
#include <vector>

namespace hedgerow {

// Relative slack of the upper bounds of gains, for rounding.
constexpr double kBoundSlack = 1e-9;

struct FeatureOccurrences {
    std::vector<double> p, weights, values;  // values: empty if all values are 1
    double observed = 0;                     // sum of w v where gold is the label

    void clear();

    // G(mu)
    double gain(double mu, double l2) const;

    // The mu of the maximum; 0 if the gain is certainly below `least_gain`.
    double best_weight(double l2, double least_gain) const;

  private:
    // (G'(mu), -G''(mu))
    std::pair<double, double> slope(double mu, double l2) const;
};

}  // namespace hedgerow
