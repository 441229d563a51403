#include "linear/feature_gain.hpp"

#include <cmath>
#include <cstddef>

namespace hedgerow {

namespace {

constexpr double kLargestWeight = 20;  // without a penalty the best weight of a perfect feature is infinite
constexpr int kMaxSteps = 100;
constexpr double kTolerance = 1e-7;  // of the weight; the gain is flat there, so its error is far smaller

}  // namespace

void FeatureOccurrences::clear() {
    p.clear();
    weights.clear();
    values.clear();
    observed = 0;
}

std::pair<double, double> FeatureOccurrences::slope(double mu, double l2) const {
    double expected = 0, spread = 0;
    const double odds = std::exp(mu);
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double v = values.empty() ? 1.0 : values[i];
        const double raised = p[i] * (values.empty() ? odds : std::exp(mu * v));
        const double q = raised / (1 - p[i] + raised);
        expected += weights[i] * v * q;
        spread += weights[i] * v * v * q * (1 - q);
    }
    return {observed - expected - 2 * l2 * mu, spread + 2 * l2};
}

double FeatureOccurrences::gain(double mu, double l2) const {
    double sum = 0;
    const double odds = std::exp(mu);
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double raised = p[i] * (values.empty() ? odds : std::exp(mu * values[i]));
        sum += weights[i] * std::log(1 - p[i] + raised);
    }
    return mu * observed - sum - l2 * mu * mu;
}

// Newton steps mu <- mu - G' / G'' inside a bracket [low, high] that holds the maximum; a Newton step
// that leaves the bracket, or is more than half as long as the step before (such steps can jump between two
// points forever), is replaced by a step to the middle. After the first step, to mu, G(mu) <= G'(0) mu, and
// if the maximum lies beyond mu, the rest of the gain is at most G'(mu)^2 / (4 l2): if the sum is below
// least_gain, the search stops.
double FeatureOccurrences::best_weight(double l2, double least_gain) const {
    double low = -kLargestWeight, high = kLargestWeight, mu = 0, first_rise = 0;
    double last_move = high - low;
    for (int step = 0; step < kMaxSteps; ++step) {
        const auto [rise, bend] = slope(mu, l2);
        if (rise == 0) break;
        if (step == 0) first_rise = rise;
        if (step == 1) {
            const double beyond = (rise > 0) == (first_rise > 0) ? rise * rise / (4 * l2) : 0;
            if ((first_rise * mu + beyond) * (1 + kBoundSlack) < least_gain) return 0;
        }
        (rise > 0 ? low : high) = mu;
        const double newton = bend > 0 ? mu + rise / bend : (rise > 0 ? high : low);
        const bool shrinks = std::abs(newton - mu) <= last_move / 2;
        const double next = shrinks && newton > low && newton < high ? newton : (low + high) / 2;
        last_move = std::abs(next - mu);
        mu = next;
        if (last_move <= kTolerance) break;
    }
    return mu;
}

}  // namespace hedgerow
