// The softmax of a position's scores when a feature speaks: scores_l + q * eta_l, in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace hedgerow {

// Scores of one position after another; eta may be null where no feature speaks.
template <class Real>
struct SpokenScores {
    const Real* scores;  // (positions, labels)
    std::int64_t n_labels;
    const double* eta;  // by label
    const double* q;    // by position

    // OUT: powers, exp(score - the highest). Returns (the highest, the sum of powers).
    struct Sum {
        double highest, sum;
    };
    Sum powers(std::int64_t t, double* to) const {
        const Real* row = scores + t * n_labels;
        for (std::int64_t l = 0; l < n_labels; ++l)
            to[l] = eta ? static_cast<double>(row[l]) + q[t] * eta[l] : static_cast<double>(row[l]);
        const double highest = *std::max_element(to, to + n_labels);
        double sum = 0;
        for (std::int64_t l = 0; l < n_labels; ++l) sum += to[l] = std::exp(to[l] - highest);
        return {highest, sum};
    }
    double score(std::int64_t t, std::int64_t label) const {
        const auto own = static_cast<double>(scores[t * n_labels + label]);
        return eta ? own + q[t] * eta[label] : own;
    }
};

}  // namespace hedgerow
